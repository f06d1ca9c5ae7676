"""A whole drawing of a graph: made beside the window, and never changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xengine_gui.ui.graph_view.nodes import Nodes, ShouldStop, visible_nodes
from xengine_gui.ui.graph_view.routes import NODE_HEIGHT, EdgeKind, FloatArray, Placed, place
from xengine_gui.ui.graph_view.rows import CyclicBlocksError, Grid, grid_of
from xengine_gui.ui.graph_view.structure import Side, Structure

_PAD = 5.0
_PAD_PER_LEVEL = 4.0


@dataclass(frozen=True, slots=True)
class BlockFrame:
    """The frame around an open block on one side."""

    block: str
    title: str
    side: Side
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True)
class Scene:
    """Nodes, where they are, and the open blocks around them."""

    structure: Structure
    expanded: frozenset[str]
    nodes: Nodes
    grid: Grid
    placed: Placed
    frames: tuple[BlockFrame, ...]

    @property
    def is_training(self) -> bool:
        """Whether there is a backward side."""
        return any(n.side is Side.BACKWARD for n in self.nodes.nodes)

    @cached_property
    def segments(
        self,
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, "np.ndarray[tuple[int], np.dtype[np.int64]]"]:
        """All edges as lines: their ends, and the edge that each belongs to."""
        points, first = self.placed.points, self.placed.first
        edge = np.repeat(np.arange(len(first) - 1), np.diff(first))
        starts = np.flatnonzero(edge[:-1] == edge[1:]) if len(edge) else np.zeros(0, np.int64)
        a, b = points[starts], points[starts + 1]
        return a[:, 0], a[:, 1], b[:, 0], b[:, 1], edge[starts].astype(np.int64)

    def prepare(self) -> None:
        """Compute what painting wants of it, beside the window."""
        _ = self.segments, self.edge_boxes, self.is_saved, self.edges_of

    @cached_property
    def edge_boxes(self) -> FloatArray:
        """Left, top, right and bottom of each edge."""
        points, first = self.placed.points, self.placed.first[:-1]
        if not len(first):
            return np.zeros((0, 4))
        low = np.minimum.reduceat(points, first, axis=0)
        high = np.maximum.reduceat(points, first, axis=0)
        return np.hstack([low, high])

    @cached_property
    def is_saved(self) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """Which edges go from the forward to the backward side."""
        return np.array([k is EdgeKind.SAVED for k in self.placed.kinds], np.bool_)

    @cached_property
    def edges_of(self) -> Mapping[int, tuple[int, ...]]:
        """Per node its edges."""
        found: dict[int, list[int]] = {}
        for e, pair in enumerate(self.placed.pairs):
            for n in pair:
                found.setdefault(n, []).append(e)
        return {n: tuple(edges) for n, edges in found.items()}


def scene_of(structure: Structure, expanded: frozenset[str], should_stop: ShouldStop = lambda: False) -> Scene:
    """The drawing with these blocks open; blocks that would wait for one another when closed are opened too."""
    while True:
        nodes = visible_nodes(structure, expanded, should_stop)
        try:
            grid = grid_of(structure, nodes, should_stop)
            break
        except CyclicBlocksError as error:
            tangled = {nodes.nodes[n].block for n in error.nodes} - {""}
            expanded |= tangled
    placed = place(nodes, grid, should_stop)
    return Scene(structure, expanded, nodes, grid, placed, _frames(structure, expanded, nodes, placed))


def _frames(structure: Structure, expanded: frozenset[str], nodes: Nodes, placed: Placed) -> tuple[BlockFrame, ...]:
    inside: dict[tuple[str, Side], set[int]] = {}
    for o, chain in enumerate(structure.chains):
        n = nodes.of_operator[o]
        for key in chain:
            if key not in expanded:
                break
            inside.setdefault((key, structure.sides[o]), set()).add(n)
    deepest = max((structure.blocks[key].depth for key, _ in inside), default=0)
    found = []
    for (key, side), members in inside.items():
        if len(members) < 2 or side is Side.UPDATE:
            continue
        at = np.array(sorted(members))
        pad = _PAD + _PAD_PER_LEVEL * (deepest - structure.blocks[key].depth)
        found.append(
            BlockFrame(
                key,
                structure.blocks[key].title,
                side,
                float(placed.left[at].min()) - pad - _PAD_PER_LEVEL,
                float(placed.top[at].min()) - _PAD,
                float((placed.left[at] + placed.width[at]).max()) + pad + _PAD_PER_LEVEL,
                float(placed.top[at].max()) + NODE_HEIGHT + _PAD,
            )
        )
    return tuple(sorted(found, key=lambda f: structure.blocks[f.block].depth))
