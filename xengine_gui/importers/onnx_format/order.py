"""Whether nodes form a network at all, and a topological order that stays close to the file's."""

import heapq
from collections.abc import Iterator

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
    sources = [{producer[name] for name in node.reads if name in producer} for node in graph.nodes]
    readers: list[list[int]] = [[] for _ in graph.nodes]
    for index, needed in enumerate(sources):
        for other in needed:
            readers[other].append(index)
    missing = [len(needed) for needed in sources]
    ready = [index for index, count in enumerate(missing) if count == 0]
    order: list[FileNode] = []
    while ready:
        index = heapq.heappop(ready)
        order.append(graph.nodes[index])
        for reader in readers[index]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heapq.heappush(ready, reader)
    if len(order) < len(graph.nodes):
        raise InputError(source, f"the network has a cycle: {_cycle(graph.nodes, sources, missing)}")
    if any(node.index != place for place, node in enumerate(order)):
        graph.notes.append("The nodes were not in a topological order; they were sorted")
    return order


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


def _cycle(nodes: list[FileNode], sources: list[set[int]], missing: list[int]) -> str:
    # Every node that could not be ordered has a source that could not either: walking back must meet itself.
    index = next(place for place, count in enumerate(missing) if count > 0)
    path: list[int] = []
    seen: dict[int, int] = {}
    while index not in seen:
        seen[index] = len(path)
        path.append(index)
        index = min(other for other in sources[index] if missing[other] > 0)
    ring = path[seen[index] :][::-1]
    ring = ring[ring.index(min(ring)) :] + ring[: ring.index(min(ring))]
    shown = [nodes[place].place for place in ring]
    if len(shown) > _MOST_SHOWN:
        shown[_MOST_SHOWN // 2 : -(_MOST_SHOWN // 2)] = [f"… {len(shown) - _MOST_SHOWN} nodes …"]
    return " → ".join([*shown, shown[0]])
