"""The MILP of a relaxation by branch and bound: few nodes, each chosen with care (ALGORITHM.md, section 3)."""

import heapq
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from xengine_gui.solve.highs import Outcome
from xengine_gui.solve.watchpoints import settings
from xengine_gui.solve.watchpoints.box import Box
from xengine_gui.solve.watchpoints.branching import Branching
from xengine_gui.solve.watchpoints.dive import dive
from xengine_gui.solve.watchpoints.highs import Limits, MilpResult
from xengine_gui.solve.watchpoints.node_program import NodeLp, NodeProgram
from xengine_gui.solve.watchpoints.relaxation import Relaxation
from xengine_gui.solve.watchpoints.tables import Floats


@dataclass(frozen=True)
class TreeOrders:
    """What a tree is to find out, and who listens.

    `cutoff()` is what a solution must cost less than to be of interest, in time units; it may fall on the way.
    `gap_ratio` is the distance between the best point and the bound at which the tree may end, `time_s` what is left of
    the time. `on_bound` hears of every higher bound, `on_point` of every better point; `on_pause` is called now and
    then with the seconds that the tree has taken, for the caller to look for plans.
    """

    cutoff: Callable[[], float]
    gap_ratio: float
    should_stop: Callable[[], bool]
    time_s: float = float("inf")
    on_bound: Callable[[float], None] = lambda _bound: None
    on_point: Callable[[Floats], None] = lambda _point: None
    on_pause: Callable[[float], object] = lambda _seconds: None


@dataclass(order=True)
class _Node:
    """An open part of the search, ordered by its bound."""

    bound: float
    number: int
    lp: NodeLp = field(compare=False)
    box: Box = field(compare=False)


class Tree:
    """Branch and bound on a relaxation, the lowest bound first; deeper first as long as no point is known."""

    def __init__(self, relaxation: Relaxation, orders: TreeOrders) -> None:
        self._relaxation, self._orders = relaxation, orders
        self._count = len(relaxation.cost)
        self._open: list[_Node] = []
        self._next: _Node | None = None
        self._numbers = itertools.count()
        self._best: MilpResult | None = None
        self._leaves = np.inf
        self._bound = -np.inf
        self._began = time.monotonic()
        self.node_count = 0

    def run(self) -> MilpResult:
        """The best point below the cutoff and the bound; `INFEASIBLE` where there is no point below the cutoff."""
        program = NodeProgram(self._relaxation, self._orders.should_stop)
        self._push(program.solve(Box.whole(self._count)), Box.whole(self._count))
        self._search(program, Branching.of(program, self._count))
        return self._result()

    def _search(self, program: NodeProgram, branching: Branching) -> None:
        next_dive = settings.FIRST_DIVE_NODE
        while not self._orders.should_stop():
            node = self._pop()
            if node is None:
                return
            self.node_count += 1
            if not node.lp.finished:
                solved = self._push(program.solve(node.box, node.lp.basis), node.box, least=node.bound)
                self._next = solved if self._best is None else None
                if solved is not None and not solved.lp.finished:
                    return  # stopped, or an LP that cannot be solved: it stays open
                continue
            if not len(node.lp.fractional(node.box)):
                # Rounded, the point may cost a little more than the LP has proved of this part.
                self._leaves = min(self._leaves, node.bound)
                self._take(np.round(np.asarray(node.lp.point, float)))
                continue
            if self.node_count >= next_dive:
                next_dive = int(self.node_count * settings.DIVE_EVERY) + 1
                self._dive(node)
                self._orders.on_pause(time.monotonic() - self._began)
            children = branching.best(node.lp, node.box, self._cutoff(), first=self.node_count == 1)
            pushed = [self._push(child.lp, child.box, least=node.bound) for child in children]
            kept = [child for child in pushed if child is not None]
            self._next = min(kept, default=None) if self._best is None else None

    def _cutoff(self) -> float:
        """What a point must cost less than to be of use: less than the caller wants, and than the best point's gap."""
        if self._best is None:
            return self._orders.cutoff()
        return min(self._orders.cutoff(), self._best.value - self._orders.gap_ratio * abs(self._best.value))

    def _push(self, lp: NodeLp, box: Box, least: float = -np.inf) -> _Node | None:
        """Keep a part of the search, unless nothing below the cutoff can be in it."""
        bound, cutoff = max(lp.bound, least), self._cutoff()
        if bound >= cutoff:
            return None
        node = _Node(bound, next(self._numbers), lp.slim(), box.below(cutoff, lp.bound, lp.reduced).slim())
        heapq.heappush(self._open, node)
        return node

    def _pop(self) -> _Node | None:
        """The next part to look at; `None` once none is left that matters."""
        self._tell_bound()
        if not self._open or self._open[0].bound >= self._cutoff():
            self._open.clear()
            return None
        if self._next is None or self._next.bound >= self._cutoff():
            return heapq.heappop(self._open)
        node, self._next = self._next, None
        self._open.remove(node)
        heapq.heapify(self._open)
        return node

    def _tell_bound(self) -> None:
        bound = min(self._open[0].bound if self._open else np.inf, self._leaves, self._cutoff())
        if bound > self._bound:
            self._bound = bound
            self._orders.on_bound(bound)

    def _dive(self, node: _Node) -> None:
        limits = Limits(settings.DIVE_S, self._orders.gap_ratio, self._orders.should_stop)
        found = dive(self._relaxation, node.lp, node.box, limits)
        if found is not None and found.point is not None:
            self._take(found.point)

    def _take(self, point: Floats) -> None:
        """Keep a point that is better than the best."""
        value = float(self._relaxation.cost @ point)
        if value < self._cutoff():
            self._best = MilpResult(Outcome.STOPPED, self._bound, point, value)
            self._orders.on_point(point)

    def _result(self) -> MilpResult:
        ended = not self._open
        if self._best is None:
            outcome = Outcome.INFEASIBLE if ended else Outcome.STOPPED
            return MilpResult(outcome, self._bound, None, np.inf)
        outcome = Outcome.SOLVED if ended else Outcome.STOPPED
        return MilpResult(outcome, self._bound, self._best.point, self._best.value)
