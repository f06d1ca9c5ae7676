"""What is drawn of a graph with some blocks open: nodes, and the edges between them."""

from collections.abc import Callable
from dataclasses import dataclass

from xengine_gui.ui.graph_view.structure import Side, Structure

ShouldStop = Callable[[], bool]


class LayoutStoppedError(Exception):
    """The layout was given up, since another one is wanted."""


@dataclass(frozen=True, slots=True)
class Node:
    """An operator, or the operators that a closed block has on one side (`block` is then its key)."""

    side: Side
    title: str
    operators: tuple[int, ...]
    block: str = ""


@dataclass(frozen=True)
class Nodes:
    """The nodes in base order, `of_operator[o]` the node of each operator.

    `edges` are pairs of nodes with the tensors that go from one to the other; a pair within one node is none.
    """

    nodes: tuple[Node, ...]
    of_operator: tuple[int, ...]
    edges: dict[tuple[int, int], tuple[int, ...]]


def visible_nodes(structure: Structure, expanded: frozenset[str], should_stop: ShouldStop) -> Nodes:
    """The nodes that are drawn with these blocks open."""
    members: dict[tuple[Side, str | int], list[int]] = {}
    for o, side in enumerate(structure.sides):
        members.setdefault((side, structure.visible_of(o, expanded) or o), []).append(o)
    nodes: list[Node] = []
    of_operator = [0] * len(structure.sides)
    for (side, key), inside in members.items():
        block = key if isinstance(key, str) and len(inside) > 1 else ""
        title = structure.blocks[block].title if block else structure.problem.operators[inside[0]].name
        for o in inside:
            of_operator[o] = len(nodes)
        nodes.append(Node(side, title, tuple(inside), block))
    return Nodes(tuple(nodes), tuple(of_operator), _edges(structure, of_operator, should_stop))


def _edges(
    structure: Structure, of_operator: list[int], should_stop: ShouldStop
) -> dict[tuple[int, int], tuple[int, ...]]:
    indexed = structure.problem.indexed
    edges: dict[tuple[int, int], dict[int, None]] = {}
    for tensor, consumers in enumerate(indexed.consumers):
        if should_stop():
            raise LayoutStoppedError
        source = of_operator[indexed.producer[tensor]]
        for consumer in consumers:
            if of_operator[consumer] != source:
                edges.setdefault((source, of_operator[consumer]), {})[tensor] = None
    return {pair: tuple(tensors) for pair, tensors in edges.items()}
