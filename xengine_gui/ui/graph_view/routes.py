"""Where nodes lie and which way edges take, in units of the drawing: x grows to the right, y down, 0 is the middle.

Edges within a side go down (or up) their column where it is free. Those that would cut through nodes, the skips of a
residual network, take a rail beside the columns, one rail for all that leave the same node.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from xengine_gui.ui.graph_view.nodes import LayoutStoppedError, Nodes, ShouldStop
from xengine_gui.ui.graph_view.rows import Grid
from xengine_gui.ui.graph_view.structure import Side

FloatArray = npt.NDArray[np.float64]
Points = list[tuple[float, float]]

NODE_WIDTH = 168.0
NODE_HEIGHT = 26.0
PITCH = 38.0
GUTTER = 150.0
_COLUMN_GAP = 24.0
_RAIL = 9.0
_MOST_LANES = 10
_UPDATE_WIDTH = 96.0
_UPDATE_GAP = 84.0
_CURVE_POINTS = 17


class EdgeKind(IntEnum):
    """What an edge joins."""

    FLOW = 0
    """Two nodes of one side."""
    SAVED = 1
    """A forward node and a gradient that reads its result."""


@dataclass(frozen=True)
class Placed:
    """Boxes of nodes, and edges as lines of points: edge e has `points[first[e]:first[e + 1]]`."""

    left: FloatArray
    top: FloatArray
    width: FloatArray
    pairs: tuple[tuple[int, int], ...]
    kinds: tuple[EdgeKind, ...]
    points: FloatArray
    first: npt.NDArray[np.int64]

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of everything."""
        if not len(self.left):
            return 0.0, 0.0, 1.0, 1.0
        x = self.points[:, 0] if len(self.points) else self.left
        return (
            float(min(self.left.min(), x.min())),
            float(self.top.min()),
            float(max((self.left + self.width).max(), x.max())),
            float(self.top.max()) + NODE_HEIGHT,
        )


@dataclass(frozen=True, slots=True)
class _Rail:
    source: int
    targets: tuple[int, ...]
    low: int
    high: int
    column: int


def place(nodes: Nodes, grid: Grid, should_stop: ShouldStop) -> Placed:
    """Boxes and edges of a grid."""
    return _Placer(nodes, grid, should_stop).placed()


class _Placer:
    def __init__(self, nodes: Nodes, grid: Grid, should_stop: ShouldStop) -> None:
        self._nodes, self._grid, self._should_stop = nodes, grid, should_stop
        self._sides = [n.side for n in nodes.nodes]
        self._taken: defaultdict[tuple[Side, int], list[int]] = defaultdict(list)
        height = max(grid.rows, default=0) + 1
        self._widest = {side: np.zeros(height, np.int64) for side in Side}
        for n, side in enumerate(self._sides):
            self._taken[side, grid.columns[n]].append(grid.rows[n])
            self._widest[side][grid.rows[n]] = max(self._widest[side][grid.rows[n]], grid.columns[n])
        for rows in self._taken.values():
            rows.sort()

    def placed(self) -> Placed:
        rails, straight = self._sorted_edges()
        lanes = _lanes(rails)
        inner = self._columns(lanes)
        left, width = self._boxes(inner)
        self._left, self._width = left, width
        self._top = np.array(self._grid.rows, np.float64) * PITCH
        lines: dict[tuple[int, int], Points] = {}
        for pair in straight:
            lines[pair] = self._direct(*pair)
        for rail, lane in zip(rails, lanes, strict=True):
            side = self._sides[rail.source]
            out = inner[side][rail.column] + NODE_WIDTH + _COLUMN_GAP / 2 + _RAIL * lane
            for target in rail.targets:
                lines[rail.source, target] = self._by_rail(rail.source, target, -out if side is Side.FORWARD else out)
        pairs = tuple(p for p in self._nodes.edges if p in lines)
        points = [p for pair in pairs for p in lines[pair]]
        first = np.cumsum([0, *(len(lines[p]) for p in pairs)])
        kinds = tuple(self._kind(*p) for p in pairs)
        shape = np.array(points, np.float64).reshape(-1, 2)
        return Placed(left, self._top, width, pairs, kinds, shape, first.astype(np.int64))

    def _kind(self, a: int, b: int) -> EdgeKind:
        return EdgeKind.FLOW if self._sides[a] is self._sides[b] else EdgeKind.SAVED

    # ---- which way

    def _sorted_edges(self) -> tuple[list[_Rail], list[tuple[int, int]]]:
        rows, columns = self._grid.rows, self._grid.columns
        straight: list[tuple[int, int]] = []
        railed: defaultdict[int, list[int]] = defaultdict(list)
        for a, b in self._nodes.edges:
            if self._should_stop():
                raise LayoutStoppedError
            within = self._sides[a] is self._sides[b]
            if not within or self._free(a, b, columns[b]) or self._free(a, b, columns[a]):
                straight.append((a, b))
            else:
                railed[a].append(b)
        rails = []
        for a, targets in railed.items():
            reach = [rows[a], *(rows[b] for b in targets)]
            low, high = min(reach), max(reach)
            column = int(self._widest[self._sides[a]][low : high + 1].max())
            rails.append(_Rail(a, tuple(targets), low, high, column))
        rails.sort(key=lambda r: (r.column, r.high - r.low))
        return rails, straight

    def _free(self, a: int, b: int, column: int) -> bool:
        """Whether nothing lies in a column between two nodes."""
        low, high = sorted((self._grid.rows[a], self._grid.rows[b]))
        taken = self._taken[self._sides[a], column]
        return low != high and bisect_right(taken, low) >= bisect_left(taken, high)

    # ---- where

    def _columns(self, lanes: list[int]) -> dict[Side, list[float]]:
        """Per side how far from the middle the inner edge of each column is."""
        rails, _ = self._sorted_edges()
        most: dict[tuple[Side, int], int] = {}
        for rail, lane in zip(rails, lanes, strict=True):
            key = self._sides[rail.source], rail.column
            most[key] = max(most.get(key, 0), lane + 1)
        inner = {}
        for side in (Side.FORWARD, Side.BACKWARD):
            at, found = GUTTER / 2, []
            for column in range(int(self._widest[side].max()) + 2):
                found.append(at)
                at += NODE_WIDTH + _COLUMN_GAP + _RAIL * most.get((side, column), 0)
            inner[side] = found
        width = inner[Side.BACKWARD][-1] if Side.BACKWARD in self._sides else GUTTER / 2
        columns = int(self._widest[Side.UPDATE].max()) + 2
        inner[Side.UPDATE] = [width + _UPDATE_GAP + c * (_UPDATE_WIDTH + _COLUMN_GAP) for c in range(columns)]
        return inner

    def _boxes(self, inner: dict[Side, list[float]]) -> tuple[FloatArray, FloatArray]:
        width = np.array([_UPDATE_WIDTH if s is Side.UPDATE else NODE_WIDTH for s in self._sides], np.float64)
        left = np.array([inner[s][c] for s, c in zip(self._sides, self._grid.columns, strict=True)], np.float64)
        is_left = np.array([s is Side.FORWARD for s in self._sides], bool)
        return np.where(is_left, -left - width, left), width

    # ---- lines

    def _middle(self, n: int) -> tuple[float, float]:
        return float(self._left[n] + self._width[n] / 2), float(self._top[n] + NODE_HEIGHT / 2)

    def _direct(self, a: int, b: int) -> Points:
        if self._sides[a] is not self._sides[b]:
            return self._across(a, b)
        down = 1 if self._grid.rows[b] > self._grid.rows[a] else -1
        (xa, ya), (xb, yb) = self._middle(a), self._middle(b)
        start, end = ya + down * NODE_HEIGHT / 2, yb - down * NODE_HEIGHT / 2
        if xa == xb:
            return [(xa, start), (xb, end)]
        bend = (PITCH - NODE_HEIGHT) / 2
        turn = start + down * bend if self._free(a, b, self._grid.columns[b]) else end - down * bend
        return [(xa, start), (xa, turn), (xb, turn), (xb, end)]

    def _across(self, a: int, b: int) -> Points:
        """From a forward node over the middle to a gradient: level, or in a bow where their rows differ."""
        (xa, ya), (xb, yb) = self._middle(a), self._middle(b)
        to_right = xb > xa
        xa += (self._width[a] if to_right else -self._width[a]) / 2
        xb -= (self._width[b] if to_right else -self._width[b]) / 2
        if ya == yb:
            return [(float(xa), ya), (float(xb), yb)]
        from_x, to_x = max(float(xa), -GUTTER / 2), min(float(xb), GUTTER / 2)
        if from_x >= to_x:
            from_x, to_x = float(xa), float(xb)
        t = np.linspace(0, 1, _CURVE_POINTS)
        x, y = from_x + (to_x - from_x) * t, ya + (yb - ya) * (3 * t**2 - 2 * t**3)
        bow = list(zip(x.tolist(), y.tolist(), strict=True))
        return [(float(xa), ya), *bow, (float(xb), yb)]

    def _by_rail(self, a: int, b: int, x: float) -> Points:
        down = 1 if self._grid.rows[b] > self._grid.rows[a] else -1
        return [*self._to_rail(a, x, down), *reversed(self._to_rail(b, x, -down))]

    def _to_rail(self, n: int, x: float, way: int) -> Points:
        """From a node to a rail: out of its side, or through the gap of the rows where other nodes are in between."""
        middle, y = self._middle(n)
        side = self._sides[n]
        if self._grid.columns[n] == self._widest[side][self._grid.rows[n]]:
            edge = float(self._left[n]) if x < middle else float(self._left[n] + self._width[n])
            level = y + way * NODE_HEIGHT / 6
            return [(edge, level), (x, level)]
        out = y + way * NODE_HEIGHT / 2
        level = out + way * (PITCH - NODE_HEIGHT) / 2
        return [(middle, out), (middle, level), (x, level)]


def _lanes(rails: Iterable[_Rail]) -> list[int]:
    """A lane for each rail, so that those beside the same column do not lie on one another; short ones further in."""
    taken: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    found = []
    for rail in rails:
        lane = 0
        while lane < _MOST_LANES - 1 and any(
            low <= rail.high and rail.low <= high for low, high in taken[rail.column, lane]
        ):
            lane += 1
        taken[rail.column, lane].append((rail.low, rail.high))
        found.append(lane)
    return found
