"""What a graph tells beside plain attributes: its devices and links, and what our own export adds to be read exactly.

Values are JSON, in a GraphML file as text. `devices` and `links` are for everyone to write; names that begin with
`xengine_` are those of `schedule.export.graphml`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from xengine_gui.errors import InputError
from xengine_gui.model.device import Device, Link, TransferTime
from xengine_gui.model.json_file import Fields, Json, kind_of, parse_json, show
from xengine_gui.model.operator import Implementation, Phase
from xengine_gui.model.tensor import Parameter
from xengine_gui.units import LARGEST, parse_bytes_per_s, parse_duration_ns, parse_size_bytes

DEVICES, LINKS = "devices", "links"
TRANSFERS, KEEP, PARAMETERS = "xengine_transfers", "xengine_keep", "xengine_parameters"
EXACT_FORM = "xengine_form"
"""Stands at graphs that our own export has written."""
TENSORS = "xengine_tensors"
"""Names of the tensors in an order of their own."""
PHASE, INPUTS, OUTPUTS = "xengine_phase", "xengine_inputs", "xengine_outputs"
READ_PARAMETERS, IMPLEMENTATIONS = "xengine_read_parameters", "xengine_implementations"
EXACT = "xengine_exact"
"""Texts that XML cannot hold as they are, by attribute."""

_LIMITS = ("memory_limit_bytes", "memory_limit", "memory", "limit")


@dataclass(frozen=True)
class GraphFacts:
    """What stands at the graph itself; `None` where nothing is said."""

    devices: tuple[Device, ...] = ()
    links: tuple[Link, ...] = ()
    transfers: tuple[TransferTime, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    tensors: tuple[str, ...] | None = None
    keep: tuple[str, ...] | None = None


@dataclass(frozen=True)
class NodeFacts:
    """What stands at a node beside its plain attributes; `None` where nothing is said."""

    phase: Phase | None = None
    inputs: tuple[str, ...] | None = None
    outputs: Mapping[str, int] | None = None
    parameters: tuple[str, ...] | None = None
    implementations: Mapping[str, tuple[Implementation, ...]] | None = None


def graph_facts(values: Mapping[str, object], wrong: list[str]) -> GraphFacts:
    """The devices and the rest of a graph's own attributes; what cannot be used is told in `wrong`."""
    fields = Fields()
    opened = {key: _opened(values[key], key, fields) for key in values if key in _GRAPH_KEYS}
    rows = {key: list(_objects(opened, key, fields)) for key in (DEVICES, LINKS, TRANSFERS, PARAMETERS)}
    facts = GraphFacts(
        devices=tuple(_device(fields, row, place) for place, row in rows[DEVICES]),
        links=tuple(_link(fields, row, place) for place, row in rows[LINKS]),
        transfers=tuple(
            TransferTime(
                fields.name(row, "tensor", place), fields.name(row, "source", place),
                fields.name(row, "destination", place), fields.whole(row, "time_ns", place),
            )
            for place, row in rows[TRANSFERS]
        ),
        parameters=tuple(
            Parameter(fields.name(row, "name", place), fields.whole(row, "bytes", place))
            for place, row in rows[PARAMETERS]
        ),
        tensors=fields.names(opened, TENSORS, "") if TENSORS in opened else None,
        keep=fields.names(opened, KEEP, "") if KEEP in opened else None,
    )  # fmt: skip
    wrong.extend(f"of the graph, {mistake}" for mistake in fields.mistakes)
    return facts


_GRAPH_KEYS = frozenset({DEVICES, LINKS, TRANSFERS, KEEP, PARAMETERS, TENSORS})
_NODE_KEYS = frozenset({INPUTS, OUTPUTS, READ_PARAMETERS, IMPLEMENTATIONS})


def node_facts(values: Mapping[str, object], place: str, wrong: list[str]) -> NodeFacts:
    """What our own export has added to a node."""
    if values.keys().isdisjoint(_NODE_KEYS | {PHASE}):
        return NodeFacts()
    fields = Fields()
    opened = {key: _opened(values[key], key, fields) for key in values if key in _NODE_KEYS}
    facts = NodeFacts(
        phase=fields.choice(values, PHASE, "", Phase, Phase.FORWARD) if PHASE in values else None,
        inputs=fields.names(opened, INPUTS, "") if INPUTS in opened else None,
        outputs=_sizes(opened[OUTPUTS], fields) if OUTPUTS in opened else None,
        parameters=fields.names(opened, READ_PARAMETERS, "") if READ_PARAMETERS in opened else None,
        implementations=_ways(opened[IMPLEMENTATIONS], fields) if IMPLEMENTATIONS in opened else None,
    )
    wrong.extend(f"{place}: {mistake}" for mistake in fields.mistakes)
    return facts


def exact_texts(values: Mapping[str, object]) -> Mapping[str, str]:
    """Texts that stand in `xengine_exact`, by attribute; nothing where that makes no sense."""
    if EXACT not in values:
        return {}
    opened = _opened(values[EXACT], EXACT, Fields())
    return {key: text for key, text in opened.items() if is_text(text)} if isinstance(opened, dict) else {}


def is_text(value: object) -> bool:
    """Whether a value is a text of whole characters."""
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)


def _opened(value: object, key: str, fields: Fields) -> Json:
    """The JSON value in an attribute, which may be its text."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value.encode("utf-8", "replace"), key)
    except InputError as error:
        fields.mistakes.extend(f"{key}: {mistake}" for mistake in error.mistakes)
        return []


def _objects(opened: Mapping[str, Json], key: str, fields: Fields) -> Iterator[tuple[str, dict[str, Json]]]:
    """Place and content of each object in a list, or in an object by their names."""
    rows = opened.get(key)
    if isinstance(rows, dict):
        for name, row in rows.items():
            if isinstance(row, dict):
                yield f"{key}.{name}", {"name": name, **row}
            else:
                fields.wrong(f"{key}.{name}", f"must be an object, not {kind_of(row)}")
    else:
        yield from fields.objects(opened, key, "")


def _device(fields: Fields, row: Mapping[str, Json], place: str) -> Device:
    given = [key for key in _LIMITS if row.get(key) is not None]
    if len(given) > 1:
        fields.wrong(place, f"has both {given[0]} and {given[1]}")
    limit = _amount(fields, row, given[0], place, parse_size_bytes) if given else None
    return Device(
        fields.name(row, "name", place), fields.text(row, "kind", place), limit,
        fields.whole_or_none(row, "power_uw", place),
    )  # fmt: skip


def _link(fields: Fields, row: Mapping[str, Json], place: str) -> Link:
    bandwidth = next((key for key in ("bandwidth_bytes_per_s", "bandwidth") if key in row), "bandwidth")
    latency = next((key for key in ("latency_ns", "latency") if key in row), "")
    return Link(
        fields.name(row, "source", place),
        fields.name(row, "destination" if "destination" in row else "target", place),
        _amount(fields, row, bandwidth, place, parse_bytes_per_s),
        _amount(fields, row, latency, place, parse_duration_ns) if latency else 0,
        fields.whole_or_none(row, "power_uw", place),
    )


def _amount(fields: Fields, row: Mapping[str, Json], key: str, place: str, parse: Callable[[str], int]) -> int:
    """A whole number, or a text with a unit."""
    value = row.get(key)
    if not isinstance(value, str):
        return fields.whole(row, key, place)
    try:
        return parse(value)
    except InputError as error:
        fields.wrong(f"{place}.{key}", f"cannot be read: {error}")
        return 0


def _sizes(value: Json, fields: Fields) -> dict[str, int]:
    if not isinstance(value, dict):
        fields.wrong(OUTPUTS, f"must be an object of sizes, not {kind_of(value)}")
        return {}
    for name, size in value.items():
        if not is_text(name) or not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= LARGEST:
            fields.wrong(OUTPUTS, f"must give whole bytes to names, not {show(size)} to {show(name)}")
            return {}
    return {name: size for name, size in value.items() if isinstance(size, int)}


def _ways(value: Json, fields: Fields) -> dict[str, tuple[Implementation, ...]]:
    if not isinstance(value, dict):
        fields.wrong(IMPLEMENTATIONS, f"must be an object of devices, not {kind_of(value)}")
        return {}
    return {
        device: tuple(
            Implementation(
                fields.whole(row, "time_ns", place),
                fields.whole(row, "workspace_bytes", place, default=0),
                fields.text_or_none(row, "implementation", place),
            )
            for place, row in fields.objects(value, device, IMPLEMENTATIONS)
        )
        for device in value
    }
