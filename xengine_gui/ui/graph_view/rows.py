"""Which row and column each node stands in.

Layers by longest path, as Sugiyama, Tagawa and Toda (1981) draw directed graphs, but folded: the forward side goes
down, the backward side comes up beside it, and a gradient stands level with what it belongs to or below. So the edges
that matter, from a stored result to the gradient that reads it, are short and level. A node goes on in the column of
the node before it, which keeps chains straight; the others of a row take the nearest free column further out.

Libraries were tried: grandalf 0.8 takes 4 s of CPU time for the 353 operators of ResNet-50, and none folds.
"""

from collections import defaultdict
from dataclasses import dataclass

from xengine_gui.language import tr
from xengine_gui.ui.graph_view.nodes import LayoutStoppedError, Nodes, ShouldStop
from xengine_gui.ui.graph_view.structure import Side, Structure

_Arc = tuple[int, int]


class CyclicBlocksError(Exception):
    """Closed blocks that wait for one another; `nodes` are the nodes concerned."""

    def __init__(self, nodes: tuple[int, ...]) -> None:
        super().__init__(tr("the blocks form a cycle"))
        self.nodes = nodes


@dataclass(frozen=True)
class Grid:
    """Row and column of each node; rows count from the top, columns from the middle of the drawing outwards."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]


def grid_of(structure: Structure, nodes: Nodes, should_stop: ShouldStop) -> Grid:
    """Rows and columns of all nodes."""
    rows = _rows(structure, nodes, should_stop)
    return Grid(tuple(rows), tuple(_columns(nodes, rows, should_stop)))


def _arcs(nodes: Nodes) -> list[tuple[int, int, int]]:
    """`(a, b, w)`: row of b ≥ row of a + w. The backward side is turned round, since it goes up."""
    arcs = []
    for a, b in nodes.edges:
        sides = nodes.nodes[a].side, nodes.nodes[b].side
        if sides == (Side.FORWARD, Side.FORWARD):
            arcs.append((a, b, 1))
        elif sides == (Side.BACKWARD, Side.BACKWARD):
            arcs.append((b, a, 1))
        elif sides == (Side.FORWARD, Side.BACKWARD):
            arcs.append((a, b, 0))
    return arcs


def _rows(structure: Structure, nodes: Nodes, should_stop: ShouldStop) -> list[int]:
    count = len(nodes.nodes)
    after: list[list[_Arc]] = [[] for _ in range(count)]
    waiting = [0] * count
    for a, b, weight in _arcs(nodes):
        after[a].append((b, weight))
        waiting[b] += 1
    rows = [0] * count
    order = [n for n in range(count) if not waiting[n]]
    for at in order:  # grows while it is walked
        if should_stop():
            raise LayoutStoppedError
        for b, weight in after[at]:
            rows[b] = max(rows[b], rows[at] + weight)
            waiting[b] -= 1
            if not waiting[b]:
                order.append(b)
    if len(order) < count:
        raise CyclicBlocksError(tuple(set(range(count)) - set(order)))
    _pull_down(nodes, after, order, rows)
    _place_updates(structure, nodes, rows)
    used = {row: i for i, row in enumerate(sorted(set(rows)))}
    return [used[row] for row in rows]


def _pull_down(nodes: Nodes, after: list[list[_Arc]], order: list[int], rows: list[int]) -> None:
    """Level forward nodes with their gradients, and what nothing holds up with what it is joined to."""
    is_training = any(n.side is Side.BACKWARD for n in nodes.nodes)
    is_held = {b for arcs in after for b, _weight in arcs}
    for n in reversed(order):
        is_loose = n not in is_held or (is_training and nodes.nodes[n].side is Side.FORWARD)
        if is_loose and after[n]:
            rows[n] = min(rows[b] - weight for b, weight in after[n])


def _place_updates(structure: Structure, nodes: Nodes, rows: list[int]) -> None:
    """An update stands level with the gradient, else with the operator, that has its parameters."""
    indexed = structure.problem.indexed
    home: dict[int, int] = {}
    for wanted in (Side.FORWARD, Side.BACKWARD):
        for o, side in enumerate(structure.sides):
            if side is wanted:
                home.update(dict.fromkeys(indexed.parameters[o], nodes.of_operator[o]))
    last = max((row for n, row in enumerate(rows) if nodes.nodes[n].side is not Side.UPDATE), default=0)
    for n, node in enumerate(nodes.nodes):
        if node.side is Side.UPDATE:
            found = [rows[home[p]] for o in node.operators for p in indexed.parameters[o] if p in home]
            read = [rows[a] for a, b in nodes.edges if b == n] if not found else []
            rows[n] = min(found or read, default=last)


def _columns(nodes: Nodes, rows: list[int], should_stop: ShouldStop) -> list[int]:
    before: defaultdict[int, list[int]] = defaultdict(list)
    after: defaultdict[int, list[int]] = defaultdict(list)
    for a, b in nodes.edges:
        if nodes.nodes[a].side is nodes.nodes[b].side:
            before[b].append(a)
            after[a].append(b)
    # The node that goes on in another's column: its nearest successor that leads on itself.
    heir = {a: min(bs, key=lambda b: (b not in after, abs(rows[b] - rows[a]), b)) for a, bs in after.items()}
    columns = [0] * len(rows)
    in_row: defaultdict[tuple[Side, int], list[int]] = defaultdict(list)
    for n, node in enumerate(nodes.nodes):
        in_row[node.side, rows[n]].append(n)
    for _place, inside in sorted(in_row.items(), key=lambda i: (i[0][0], -i[0][1] if i[0][0] else i[0][1])):
        if should_stop():
            raise LayoutStoppedError
        taken: set[int] = set()
        wishes = []
        for n in inside:
            is_heir = any(heir[a] == n for a in before[n])
            wish = min((columns[a] for a in before[n]), default=0)
            wishes.append((n not in after, not is_heir, wish, n))
        for *_rank, wish, n in sorted(wishes):
            columns[n] = min((c for c in range(len(inside) + wish) if c not in taken), key=lambda c: abs(c - wish))
            taken.add(columns[n])
    return columns
