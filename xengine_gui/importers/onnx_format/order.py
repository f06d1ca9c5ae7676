"""Whether nodes form a network at all, and a topological order that stays close to the file's."""

from collections.abc import Iterator

import networkx as nx

from xengine_gui.errors import InputError
from xengine_gui.importers.onnx_format.records import FileGraph, FileNode, printable

_MOST_SHOWN = 20


def check_edges(graph: FileGraph, source: str) -> None:
    """Raise an `InputError` that lists every tensor with two producers and every one with none."""
    mistakes = [*_two_producers(graph), *_dangling(graph)]
    if len(mistakes) > _MOST_SHOWN:
        mistakes[_MOST_SHOWN:] = [f"and {len(mistakes) - _MOST_SHOWN} more of the kind"]
    if mistakes:
        raise InputError(source, mistakes)


def in_order(graph: FileGraph, source: str) -> list[FileNode]:
    """The nodes in the first topological order by place in the file; an `InputError` prints a cycle's path."""
    producer = {name: node.index for node in graph.nodes for name in node.outputs if name}
    follows = nx.DiGraph()
    follows.add_nodes_from(node.index for node in graph.nodes)
    follows.add_edges_from((producer[name], n.index) for n in graph.nodes for name in n.reads if name in producer)
    try:
        order = list(nx.lexicographical_topological_sort(follows))
    except nx.NetworkXUnfeasible:
        ring = [graph.nodes[index] for index, _ in nx.find_cycle(follows)]
        raise InputError(source, f"the network has a cycle: {_path(ring)}") from None
    if order != sorted(order):
        graph.notes.append("The nodes were not in a topological order; they were sorted")
    return [graph.nodes[index] for index in order]


def _two_producers(graph: FileGraph) -> Iterator[str]:
    producer: dict[str, str] = dict.fromkeys(graph.initializers, "an initializer")
    producer |= dict.fromkeys(graph.sparse, "an initializer")
    producer |= dict.fromkeys(graph.inputs, "an input of the network")
    for node in graph.nodes:
        for name in node.outputs:
            if not name:
                continue
            if name in producer:
                yield f"tensor {printable(name)!r} has two producers: {producer[name]} and {node.place}"
            producer[name] = node.place


def _dangling(graph: FileGraph) -> Iterator[str]:
    known = graph.given
    for node in graph.nodes:
        known.update(node.outputs)
    for node in graph.nodes:
        for name in dict.fromkeys(node.reads):
            if name not in known:
                yield f"input {printable(name)!r} of {node.place} is produced by nothing"
    for name in graph.outputs:
        if name and name not in known:
            yield f"output {printable(name)!r} of the network is produced by nothing"


def _path(ring: list[FileNode]) -> str:
    """The way around a cycle from its first node in the file back to it; the middle of a long one is left out."""
    first = min(range(len(ring)), key=lambda place: ring[place].index)
    shown = [node.place for node in ring[first:] + ring[:first]]
    if len(shown) > _MOST_SHOWN:
        shown[_MOST_SHOWN // 2 : -(_MOST_SHOWN // 2)] = [f"… {len(shown) - _MOST_SHOWN} nodes …"]
    return " → ".join([*shown, shown[0]])
