"""Rows of large files read at once where all is as it should be; else `None`, and they are read field by field.

A plan of a hundred thousand events has a million fields. Asking each of them for its mistakes, with its place, takes
most of the time of opening it, and files that the planner wrote have none.
"""

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from xengine_gui.model.json_file import Json
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.plan import Compute, Event, Free, Transfer
from xengine_gui.model.tensor import Tensor
from xengine_gui.units import LARGEST

_PHASES: Mapping[Any, Phase] = {str(phase): phase for phase in Phase}
_UNUSUAL = (KeyError, TypeError, AttributeError, ValueError)


def quick_events(rows: Json) -> tuple[Event, ...] | None:
    """The events of a plan's file."""
    if type(rows) is not list:
        return None
    try:
        events = tuple(map(_event, rows))
        _check_numbers(chain.from_iterable((e.start_ns, e.end_ns) for e in events))
        _check_texts(chain.from_iterable(map(_event_texts, events)))
    except _UNUSUAL:
        return None
    return events


def _event(row: Mapping[str, Any]) -> Event:
    kind, start_ns, end_ns = row["kind"], row["start_ns"], row["end_ns"]
    if kind == "free":
        if start_ns != end_ns or type(end_ns) is not int:
            raise ValueError
        return Free(row["tensor"], row["device"], start_ns)
    if kind in ("compute", "recompute"):
        return Compute(row["operator"], row["device"], start_ns, end_ns, kind == "recompute", row.get("implementation"))
    if kind != "transfer":
        raise ValueError
    return Transfer(row["tensor"], row["source"], row["destination"], start_ns, end_ns)


def _event_texts(event: Event) -> tuple[str, ...]:
    if isinstance(event, Compute):
        way = event.implementation
        return (event.operator, event.device) if way is None else (event.operator, event.device, way)
    if isinstance(event, Free):
        return event.tensor, event.device
    return event.tensor, event.source, event.destination


def quick_tensors(rows: Json) -> tuple[Tensor, ...] | None:
    """The tensors of a problem's file."""
    if type(rows) is not list:
        return None
    try:
        tensors = tuple(Tensor(row["name"], row["bytes"]) for row in rows)
        _check_numbers(tensor.size_bytes for tensor in tensors)
        _check_texts(tensor.name for tensor in tensors)
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
        _check_numbers(way.time_ns for way in ways)
        _check_numbers(way.workspace_bytes for way in ways)
        _check_texts(way.name for way in ways if way.name is not None)
        _check_texts(chain.from_iterable((o.name, o.kind, *o.inputs, *o.outputs, *o.parameters) for o in operators))
    except _UNUSUAL:
        return None
    return operators


def _operator(row: Mapping[str, Any]) -> Operator:
    recomputable = row.get("recomputable", True)
    inputs, outputs, parameters = row["inputs"], row["outputs"], row.get("parameters", [])
    if recomputable is not True and recomputable is not False:
        raise TypeError
    if type(inputs) is not list or type(outputs) is not list or type(parameters) is not list:
        raise TypeError
    return Operator(
        row["name"],
        row.get("kind", ""),
        _PHASES[row.get("phase", "forward")],
        tuple(inputs),
        tuple(outputs),
        tuple(parameters),
        recomputable,
        {device: _ways(ways) for device, ways in row["costs"].items()},
    )


def _ways(rows: Any) -> tuple[Implementation, ...]:
    if type(rows) is not list:
        raise TypeError
    return tuple(
        [Implementation(row["time_ns"], row.get("workspace_bytes", 0), row.get("implementation")) for row in rows]
    )


def _check_texts(texts: Iterable[Any]) -> None:
    # What is beyond ASCII may hold half of a character. All at once, since asking each takes as long as reading it.
    if not "".join(texts).isascii():  # a TypeError where one is no text
        raise ValueError


def _check_numbers(numbers: Iterable[Any]) -> None:
    every = list(numbers)
    if every and (set(map(type, every)) != {int} or min(every) < 0 or max(every) > LARGEST):
        raise ValueError
