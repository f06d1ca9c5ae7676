"""From nodes with attributes and edges to a problem; everything is checked before a graph is made of it."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xengine_gui.errors import InputError
from xengine_gui.importers.costed.fields import Fields, fields_of
from xengine_gui.importers.costed.raw import Node, RawGraph
from xengine_gui.importers.costed.rows import Row, rows_of
from xengine_gui.importers.costed.structured import DEVICES, EXACT_FORM, GraphFacts, exact_texts, graph_facts, is_text
from xengine_gui.model.device import Device
from xengine_gui.model.limits import tiny_limits
from xengine_gui.model.operator import Operator, Phase
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Parameter, Tensor
from xengine_gui.units import format_count, format_names

DEVICE = "device"
"""The one device of a graph that tells of no devices; `--limit device=8GiB` limits it."""


def problem_of(raw: RawGraph, source: str, *, mapping: Mapping[str, str], sizes: Mapping[str, int]) -> Problem:
    """The problem of running the operators of a graph on the devices that it tells of, else on one without a limit.

    An `InputError` tells every mistake with its place; what is merely missing is told by a `MappingWantedError`.
    """
    mistakes = list(_mistakes(raw))
    facts = graph_facts(raw.values, mistakes)
    if mistakes:
        raise InputError(source, mistakes)
    import networkx as nx  # noqa: PLC0415 - takes a while to load

    graph = nx.DiGraph()
    graph.add_nodes_from(node.key for node in raw.nodes)
    graph.add_edges_from((edge.source, edge.target) for edge in raw.edges)
    order = _order(graph, raw, source)
    keys = tuple(dict.fromkeys(key for node in raw.nodes for key in node.values if not key.startswith("xengine_")))
    fields = fields_of(mapping, keys, source)
    _refuse_strange_sizes(raw, sizes, source)
    devices = facts.devices or tuple(Device(name) for name in fields.devices or (DEVICE,))
    strange = [name for name in fields.devices if name not in {device.name for device in devices}]
    if strange:
        known = format_names(device.name for device in devices)
        raise InputError(
            source, f"nodes have costs on {format_names(strange)}, but the devices of the graph are {known}"
        )
    rows = rows_of(raw, fields, sizes, [device.name for device in devices], keys, source)
    try:
        return _Making(raw, graph, order, rows, fields, replace(facts, devices=devices)).problem(source)
    except InputError as error:
        raise InputError(source, error.mistakes) from None


def _mistakes(raw: RawGraph) -> Iterator[str]:
    first: dict[str, Node] = {}
    for node in raw.nodes:
        if node.key in first:
            yield f"{first[node.key].place} and {node.place} have the same id {node.key!r}"
        first.setdefault(node.key, node)
    for edge in raw.edges:
        for end, word in ((edge.source, "source"), (edge.target, "target")):
            if end not in first:
                yield f"{edge.place}: its {word} {end!r} is no node of the graph"
        if edge.source == edge.target and edge.source in first:
            yield f"{edge.place}: node {edge.source!r} would read its own result"


def _order(graph: Any, raw: RawGraph, source: str) -> list[str]:
    """A topological order as close to that of the file as can be."""
    place = {node.key: index for index, node in enumerate(raw.nodes)}
    waiting = dict(graph.in_degree())
    ready = [place[key] for key, count in waiting.items() if not count]
    heapq.heapify(ready)
    order: list[str] = []
    while ready:
        key = raw.nodes[heapq.heappop(ready)].key
        order.append(key)
        for reader in graph.successors(key):
            waiting[reader] -= 1
            if not waiting[reader]:
                heapq.heappush(ready, place[reader])
    if len(order) < len(raw.nodes):
        import networkx as nx  # noqa: PLC0415

        circle = [edge[0] for edge in nx.find_cycle(graph)]
        shown = [*circle[:8], "…"] if len(circle) > 8 else circle
        raise InputError(source, f"the nodes are in a cycle: {' → '.join(map(repr, (*shown, circle[0])))}")
    return order


def _refuse_strange_sizes(raw: RawGraph, sizes: Mapping[str, int], source: str) -> None:
    strange = sizes.keys() - {node.key for node in raw.nodes}
    if strange:
        raise InputError(source, [f"a size is given for {name!r}, which is no node" for name in sorted(strange)])


@dataclass
class _Making:
    raw: RawGraph
    graph: Any
    order: Sequence[str]
    rows: Mapping[str, Row]
    fields: Fields
    facts: GraphFacts

    def problem(self, source: str) -> Problem:
        """Operators in their order, each with its results, and what the graph tells of itself."""
        self.names = _names(self.raw, self.fields)
        self.results = {
            key: {self.names[key]: row.size_bytes} if row.facts.outputs is None else row.facts.outputs
            for key, row in self.rows.items()
        }
        mistakes = list(self._strange_inputs())
        if mistakes:
            raise InputError(source, mistakes)
        nodes = {node.key: node for node in self.raw.nodes}
        made = Problem(
            name=text_of(self.raw.values, "name") or ("" if EXACT_FORM in self.raw.values else self.raw.name),
            devices=self.facts.devices,
            operators=tuple(self._operator(nodes[key]) for key in self.order),
            tensors=self._tensors(),
            parameters=(*self.facts.parameters, *self._own_parameters()),
            links=self.facts.links,
            transfers=self.facts.transfers,
            keep=self._keep(),
            notes="\n".join(self._notes()),
        )
        tiny = () if EXACT_FORM in self.raw.values else tuple(tiny_limits(made))
        return replace(made, notes="\n".join((made.notes, *tiny))) if tiny else made

    def _operator(self, node: Node) -> Operator:
        row, name = self.rows[node.key], self.names[node.key]
        own = (f"{name}/parameters",) if row.parameter_bytes and row.facts.parameters is None else ()
        return Operator(
            name=name,
            kind=text_of(node.values, self.fields.attributes["kind"].key) if "kind" in self.fields.attributes else "",
            phase=row.facts.phase or (Phase.BACKWARD if row.backward else Phase.FORWARD),
            inputs=self._inputs(node.key),
            outputs=tuple(self.results[node.key]),
            parameters=row.facts.parameters or own,
            recomputable=row.recomputable,
            costs=row.costs,
        )

    def _inputs(self, key: str) -> tuple[str, ...]:
        told = self.rows[key].facts.inputs
        if told is not None:
            return told
        return tuple(name for before in self.graph.predecessors(key) for name in self.results[before])

    def _tensors(self) -> tuple[Tensor, ...]:
        tensors = [Tensor(name, size) for key in self.order for name, size in self.results[key].items()]
        place = {name: i for i, name in enumerate(self.facts.tensors or ())}
        return tuple(sorted(tensors, key=lambda tensor: place.get(tensor.name, len(place))))

    def _own_parameters(self) -> Iterator[Parameter]:
        for key in self.order:
            row = self.rows[key]
            if row.parameter_bytes and row.facts.parameters is None:
                yield Parameter(f"{self.names[key]}/parameters", row.parameter_bytes)

    @property
    def _trained(self) -> bool:
        return any(row.backward or (row.facts.phase or Phase.FORWARD) != Phase.FORWARD for row in self.rows.values())

    def _keep(self) -> tuple[str, ...]:
        if self.facts.keep is not None:
            return self.facts.keep
        last = (name for key in self.order if not self.graph.out_degree(key) for name in self.results[key])
        return () if self._trained else tuple(last)

    def _strange_inputs(self) -> Iterator[str]:
        """Inputs that are listed, but not as the edges have them."""
        for node in self.raw.nodes:
            told = self.rows[node.key].facts.inputs
            if told is None:
                continue
            before = {name: key for key in self.graph.predecessors(node.key) for name in self.results[key]}
            yield from (f"{node.place}: no edge brings its input {name!r}" for name in told if name not in before)
            unread = set(before.values()) - {before[name] for name in told if name in before}
            yield from (f"{node.place}: nothing is read over its edge from {key!r}" for key in sorted(unread))

    def _notes(self) -> Iterator[str]:
        told = text_of(self.raw.values, "notes")
        if told:
            yield told
        pairs = [(edge.source, edge.target) for edge in self.raw.edges]
        doubled = len(pairs) - len(set(pairs))
        if doubled:
            yield f"{format_count(doubled, 'parallel edge')} left out: a tensor that is read twice counts once"
        if list(self.order) != [node.key for node in self.raw.nodes]:
            yield "The nodes do not stand in an order in which they can run; they were sorted"
        if self.facts.keep is None and not self._trained and self.raw.nodes:
            plain = "No node is marked as backward: the graph is planned as it is"
            yield f"{plain}, and what nothing reads is kept to the end"
        if rounded := _rounded(self.raw, self.fields):
            yield f"Times below a nanosecond are taken as one: {format_names(rounded)}"
        if EXACT_FORM not in self.raw.values:
            yield from self._device_notes()
            yield "Times and sizes are those of the file; numbers without a unit are nanoseconds and bytes"

    def _device_notes(self) -> Iterator[str]:
        if self.fields.devices and DEVICES not in self.raw.values:
            yield f"Its devices are those that attributes name, such as time.{self.fields.devices[0]}"
        if len(self.facts.devices) > 1 and not self.facts.links and not self.facts.transfers:
            yield "The graph tells of no links, so nothing can move from one device to another"


def text_of(values: Mapping[str, object], key: str) -> str:
    """A text of a graph or a node, as it was before XML; empty where there is none."""
    value = exact_texts(values).get(key, values.get(key))
    return value if isinstance(value, str) and is_text(value) else ""


def _names(raw: RawGraph, fields: Fields) -> dict[str, str]:
    """Names for people where every node has one of its own, ids where not."""
    attribute = fields.attributes.get("name")
    named = {node.key: text_of(node.values, attribute.key) if attribute else "" for node in raw.nodes}
    are_names = all(named.values()) or EXACT_FORM in raw.values
    return named if are_names and len(set(named.values())) == len(named) else {key: key for key in named}


def _rounded(raw: RawGraph, fields: Fields) -> list[str]:
    """Nodes whose time is less than a nanosecond, and not nothing."""
    timed = [a for field, a in fields.attributes.items() if field.partition(".")[0] == "time" and a.unit in ("", "ns")]
    values = ((node.key, node.values.get(attribute.key)) for node in raw.nodes for attribute in timed)
    return list(dict.fromkeys(key for key, value in values if isinstance(value, float) and 0 < value < 0.5))
