"""Rows of large files read at once where all is as it should be; else `None`, and they are read field by field.

A plan of a hundred thousand events has a million fields. Asking each of them for its mistakes, with its place, takes
most of the time of opening it, and files that the planner wrote have none.
"""

from collections.abc import Iterable, Mapping
from itertools import chain

from xengine_gui.model.json_file import Json
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.plan import Compute, Event, Free, Transfer
from xengine_gui.model.tensor import Tensor
from xengine_gui.units import LARGEST

_PHASES: Mapping[Json, Phase] = {str(phase): phase for phase in Phase}
_UNUSUAL = (KeyError, TypeError, AttributeError, ValueError)


def quick_events(rows: Json) -> tuple[Event, ...] | None:
    """The events of a plan's file."""
    if type(rows) is not list:
        return None
    try:
        events = tuple(map(_event, rows))
        _check_numbers(chain.from_iterable((e.start_ns, e.end_ns) for e in events))
    except _UNUSUAL:
        return None
    return events


def _event(row: Mapping[str, Json]) -> Event:
    kind, start_ns, end_ns = row["kind"], row["start_ns"], row["end_ns"]
    if kind == "free":
        if start_ns != end_ns or type(end_ns) is not int:
            raise ValueError
        return Free(_text(row["tensor"]), _text(row["device"]), start_ns)  # type: ignore[arg-type]
    if kind in ("compute", "recompute"):
        way = row.get("implementation")
        way = way if way is None else _text(way)
        name, device = _text(row["operator"]), _text(row["device"])
        return Compute(name, device, start_ns, end_ns, kind == "recompute", way)  # type: ignore[arg-type]
    if kind != "transfer":
        raise ValueError
    ends = _text(row["source"]), _text(row["destination"])
    return Transfer(_text(row["tensor"]), *ends, start_ns, end_ns)  # type: ignore[arg-type]


def quick_tensors(rows: Json) -> tuple[Tensor, ...] | None:
    """The tensors of a problem's file."""
    if type(rows) is not list:
        return None
    try:
        tensors = tuple(Tensor(_text(row["name"]), row["bytes"]) for row in rows)
        _check_numbers(tensor.size_bytes for tensor in tensors)
    except _UNUSUAL:
        return None
    return tensors


def quick_operators(rows: Json) -> tuple[Operator, ...] | None:
    """The operators of a problem's file."""
    if type(rows) is not list:
        return None
    try:
        operators = tuple(map(_operator, rows))
        ways = [way for o in operators for row in o.costs.values() for way in row]
        _check_numbers(chain.from_iterable((way.time_ns, way.workspace_bytes) for way in ways))
    except _UNUSUAL:
        return None
    return operators


def _operator(row: Mapping[str, Json]) -> Operator:
    recomputable = row.get("recomputable", True)
    if recomputable is not True and recomputable is not False:
        raise TypeError
    return Operator(
        _text(row["name"]),
        _text(row.get("kind", "")),
        _PHASES[row.get("phase", "forward")],
        _texts(row["inputs"]),
        _texts(row["outputs"]),
        _texts(row.get("parameters", [])),
        recomputable,
        {device: _ways(ways) for device, ways in row["costs"].items()},  # type: ignore[attr-defined]
    )


def _ways(rows: Json) -> tuple[Implementation, ...]:
    if type(rows) is not list:
        raise TypeError
    return tuple(map(_way, rows))


def _way(row: Mapping[str, Json]) -> Implementation:
    name = row.get("implementation")
    workspace_bytes = row.get("workspace_bytes", 0)
    return Implementation(row["time_ns"], workspace_bytes, name if name is None else _text(name))  # type: ignore[arg-type]


def _text(value: Json) -> str:
    # What is beyond ASCII may hold half of a character.
    if type(value) is str and value.isascii():
        return value
    raise TypeError


def _texts(value: Json) -> tuple[str, ...]:
    if type(value) is not list:
        raise TypeError
    return tuple(map(_text, value))


def _check_numbers(numbers: Iterable[Json]) -> None:
    for number in numbers:
        if type(number) is not int or not 0 <= number <= LARGEST:
            raise ValueError
