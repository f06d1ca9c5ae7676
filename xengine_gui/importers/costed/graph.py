"""From nodes with attributes and edges to a problem; everything is checked before a graph is made of it."""

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xengine_gui.errors import InputError
from xengine_gui.importers.costed.fields import NEEDED, Fields, MappingWantedError, fields_of
from xengine_gui.model.device import Device
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Parameter, Tensor
from xengine_gui.units import format_count, format_names

DEVICE = "device"
"""The one device of a graph that brings its costs; `--limit device=8GiB` limits it."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node as it stands in a file: its id, its attributes, and where it is."""

    key: str
    values: Mapping[str, object]
    place: str


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge as it stands in a file: the second node reads the result of the first."""

    source: str
    target: str
    place: str


@dataclass
class RawGraph:
    """All that a file holds, not yet checked; `name` is what the graph is called."""

    name: str
    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


def problem_of(raw: RawGraph, source: str, *, mapping: Mapping[str, str], sizes: Mapping[str, int]) -> Problem:
    """The problem of running the operators of a graph on one device without a limit.

    An `InputError` tells every mistake with its place; what is merely missing is told by a `MappingWantedError`.
    """
    mistakes = list(_mistakes(raw))
    if mistakes:
        raise InputError(source, mistakes)
    import networkx as nx  # noqa: PLC0415 - takes a while to load

    graph = nx.DiGraph()
    graph.add_nodes_from(node.key for node in raw.nodes)
    graph.add_edges_from((edge.source, edge.target) for edge in raw.edges)
    order = _order(graph, raw, source)
    keys = tuple(dict.fromkeys(key for node in raw.nodes for key in node.values))
    fields = fields_of(mapping, keys, source)
    _refuse_strange_sizes(raw, sizes, source)
    rows = _rows(raw, fields, sizes, keys, source)
    return _problem(raw, graph, order, rows, fields)


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


@dataclass(frozen=True, slots=True)
class _Row:
    time_ns: int
    size_bytes: int
    workspace_bytes: int
    parameter_bytes: int
    backward: bool
    recomputable: bool


def _rows(
    raw: RawGraph, fields: Fields, sizes: Mapping[str, int], keys: tuple[str, ...], source: str
) -> dict[str, _Row]:
    wrong: list[str] = []
    missing: dict[str, list[str]] = {}
    rows: dict[str, _Row] = {}

    def take(node: Node, name: str, otherwise: int | None = None) -> int:
        if name == "size" and node.key in sizes:
            return sizes[node.key]
        value = fields.taken(name, node.values, wrong, f"{node.place} ({node.key!r})")
        if value is None and otherwise is None:
            missing.setdefault(name, []).append(node.key)
        return (otherwise or 0) if value is None else value

    for node in raw.nodes:
        rows[node.key] = _Row(
            take(node, "time"), take(node, "size"), take(node, "workspace", 0), take(node, "parameters", 0),
            bool(take(node, "backward", 0)), bool(take(node, "recomputable", 1)),
        )  # fmt: skip
    if wrong:
        raise InputError(source, wrong)
    if missing:
        guessed = {name: f"{a.key}:{a.unit}" if a.unit else a.key for name, a in fields.attributes.items()}
        sentences = [_missing(name, missing[name], fields, keys) for name in NEEDED if name in missing]
        raise MappingWantedError(source, sentences, keys, guessed, missing)
    return rows


def _missing(name: str, nodes: Sequence[str], fields: Fields, keys: Sequence[str]) -> str:
    attribute = fields.attributes.get(name)
    remedy = f"give a default with --default {name}={'1ms' if name == 'time' else '8MB'}"
    if name == "size":
        remedy += f" or sizes with --size {nodes[0]}=8MB"
    if attribute is None:
        there = f"the attributes are {format_names(keys)}" if keys else "no node has attributes"
        which = f"say which with --map {name}=KEY, or {remedy}"
        return f"no attribute of the nodes is known to be the {name} ({there}): {which}"
    return (
        f"{format_count(len(nodes), 'node')} without a {name}, the attribute {attribute.key!r}: "
        f"{format_names(map(repr, nodes))}; {remedy}"
    )


def _problem(raw: RawGraph, graph: Any, order: Sequence[str], rows: Mapping[str, _Row], fields: Fields) -> Problem:
    nodes = {node.key: node for node in raw.nodes}
    names = _names(raw, fields)
    operators, tensors, parameters = [], [], []
    for key in order:
        row, name = rows[key], names[key]
        tensors.append(Tensor(name, row.size_bytes))
        own: tuple[str, ...] = ()
        if row.parameter_bytes:
            own = (f"{name}/parameters",)
            parameters.append(Parameter(own[0], row.parameter_bytes))
        operators.append(
            Operator(
                name=name,
                kind=fields.text("kind", nodes[key].values),
                phase=Phase.BACKWARD if row.backward else Phase.FORWARD,
                inputs=tuple(names[k] for k in graph.predecessors(key)),
                outputs=(name,),
                parameters=own,
                recomputable=row.recomputable,
                costs={DEVICE: (Implementation(row.time_ns, row.workspace_bytes),)},
            )
        )
    trained = any(row.backward for row in rows.values())
    last = tuple(names[key] for key in order if not graph.out_degree(key))
    return Problem(
        name=raw.name,
        devices=(Device(DEVICE, "", None),),
        operators=tuple(operators),
        tensors=tuple(tensors),
        parameters=tuple(parameters),
        keep=() if trained else last,
        notes="\n".join(_notes(raw, order, _rounded(raw, fields), trained=trained)),
    )


def _names(raw: RawGraph, fields: Fields) -> dict[str, str]:
    """Names for people where every node has one of its own, ids where not."""
    named = {node.key: fields.text("name", node.values) for node in raw.nodes}
    return named if all(named.values()) and len(set(named.values())) == len(named) else {key: key for key in named}


def _rounded(raw: RawGraph, fields: Fields) -> list[str]:
    """Nodes whose time is less than a nanosecond, and not nothing."""
    attribute = fields.attributes.get("time")
    if attribute is None or attribute.unit not in ("", "ns"):
        return []
    values = ((node.key, node.values.get(attribute.key)) for node in raw.nodes)
    return [key for key, value in values if isinstance(value, float) and 0 < value < 0.5]


def _notes(raw: RawGraph, order: Sequence[str], rounded: Sequence[str], *, trained: bool) -> Iterator[str]:
    doubled = sum(Counter((e.source, e.target) for e in raw.edges).values()) - len(
        {(e.source, e.target) for e in raw.edges}
    )
    if doubled:
        yield f"{format_count(doubled, 'parallel edge')} left out: a tensor that is read twice counts once"
    if list(order) != [node.key for node in raw.nodes]:
        yield "The nodes do not stand in an order in which they can run; they were sorted"
    if not trained and raw.nodes:
        yield "No node is marked as backward: the graph is planned as it is, and what nothing reads is kept to the end"
    if rounded:
        yield f"Times below a nanosecond are taken as one: {format_names(rounded)}"
    yield "Times and sizes are those of the file; numbers without a unit are nanoseconds and bytes"
