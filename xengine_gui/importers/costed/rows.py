"""What each node of a graph costs, on every device; all that is missing or wrong is told at once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xengine_gui.errors import InputError
from xengine_gui.importers.costed.fields import NEEDED, Fields, MappingWantedError, spread_keys
from xengine_gui.importers.costed.raw import Node, RawGraph
from xengine_gui.importers.costed.structured import NodeFacts, node_facts
from xengine_gui.model.operator import Implementation
from xengine_gui.units import format_count, format_names


@dataclass(frozen=True, slots=True)
class Row:
    """A node's figures. What `facts` says holds before the rest."""

    costs: Mapping[str, tuple[Implementation, ...]]
    size_bytes: int
    parameter_bytes: int
    backward: bool
    recomputable: bool
    facts: NodeFacts


@dataclass
class _Taking:
    fields: Fields
    sizes: Mapping[str, int]
    devices: Sequence[str]
    wrong: list[str] = field(default_factory=list)
    missing: dict[str, list[str]] = field(default_factory=dict)

    def row(self, node: Node) -> Row:
        place = f"{node.place} ({node.key!r})"
        facts = node_facts(node.values, place, self.wrong)
        return Row(
            costs=facts.implementations if facts.implementations is not None else self._costs(node, place),
            size_bytes=self._size(node, place, facts),
            parameter_bytes=self._taken(node, place, "parameters", 0),
            backward=bool(self._taken(node, place, "backward", 0)),
            recomputable=bool(self._taken(node, place, "recomputable", 1)),
            facts=facts,
        )

    def _size(self, node: Node, place: str, facts: NodeFacts) -> int:
        if facts.outputs is None:
            given = self.sizes.get(node.key)
            return self._taken(node, place, "size", None) if given is None else given
        total = sum(facts.outputs.values())
        told = self.fields.there("size", node.values, self.wrong, place)
        if told is not None and told != total:
            self.wrong.append(f"{place}: its size is {told:,} bytes, but its results come to {total:,} bytes")
        return total

    def _costs(self, node: Node, place: str) -> dict[str, tuple[Implementation, ...]]:
        """A time per device, its own or else that of all; a device that has none cannot run the node."""

        def on(device: str, name: str, otherwise: int | None) -> int | None:
            own = self.fields.there(f"{name}.{device}", node.values, self.wrong, place)
            return otherwise if own is None else own

        every = self.fields.there("time", node.values, self.wrong, place)
        times = {device: on(device, "time", every) for device in self.devices}
        if all(time_ns is None for time_ns in times.values()):
            times = dict.fromkeys(self.devices, self._taken(node, place, "time", None))
        workspace = self._taken(node, place, "workspace", 0)
        return {
            device: (Implementation(time_ns, on(device, "workspace", workspace) or 0),)
            for device, time_ns in times.items()
            if time_ns is not None
        }

    def _taken(self, node: Node, place: str, name: str, otherwise: int | None) -> int:
        value = self.fields.taken(name, node.values, self.wrong, place)
        if value is None and otherwise is None:
            self.missing.setdefault(name, []).append(node.key)
        return (otherwise or 0) if value is None else value


def rows_of(
    raw: RawGraph, fields: Fields, sizes: Mapping[str, int], devices: Sequence[str], keys: tuple[str, ...], source: str
) -> dict[str, Row]:
    """The figures of every node by its id; an `InputError` for what is wrong, else `MappingWantedError`."""
    taking = _Taking(fields, sizes, devices)
    rows = {node.key: taking.row(node) for node in raw.nodes}
    if taking.wrong:
        raise InputError(source, taking.wrong)
    missing = taking.missing
    if missing:
        spread = spread_keys(keys)
        offered = (*keys, *(base for base in spread if base not in keys))
        guessed = {
            name.partition(".")[0]: f"{key}:{a.unit}" if a.unit else key
            for name, a in reversed(list(fields.attributes.items()))
            for key in [a.key.removesuffix(f".{name.partition('.')[2]}") if "." in name else a.key]
        }
        sentences = [_missing(name, missing[name], fields, keys) for name in NEEDED if name in missing]
        raise MappingWantedError(source, sentences, offered, guessed, missing)
    return rows


def _missing(name: str, nodes: Sequence[str], fields: Fields, keys: Iterable[str]) -> str:
    known = [a.key for field, a in fields.attributes.items() if field.partition(".")[0] == name]
    remedy = f"give a default with --default {name}={'1ms' if name == 'time' else '8MB'}"
    if name == "size":
        remedy += f" or sizes with --size {nodes[0]}=8MB"
    if not known:
        there = f"the attributes are {format_names(keys)}" if keys else "no node has attributes"
        which = f"say which with --map {name}=KEY, or {remedy}"
        return f"no attribute of the nodes is known to be the {name} ({there}): {which}"
    attribute = f"the attribute {known[0]!r}" if len(known) == 1 else f"the attributes {format_names(known)}"
    return (
        f"{format_count(len(nodes), 'node')} without a {name}, {attribute}: {format_names(map(repr, nodes))}; {remedy}"
    )
