"""HiGHS's branch and bound and ours side by side on one MILP: the first to end wins (ALGORITHM.md, section 3).

HiGHS presolves and cuts, which closes small models with many watch points at once; ours chooses where to branch with
more care, which closes models with two devices. Neither is good at what the other is good at, and there are two cores.
"""

import concurrent.futures
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from xengine_gui.solve.highs import Outcome
from xengine_gui.solve.watchpoints import settings
from xengine_gui.solve.watchpoints.box import Box
from xengine_gui.solve.watchpoints.highs import BELIEVED, Limits, MilpResult, solve_milp
from xengine_gui.solve.watchpoints.tighten import Tightened
from xengine_gui.solve.watchpoints.tree import Tree, TreeOrders


def solve_by_both(tightened: Tightened, orders: TreeOrders) -> MilpResult:
    """The best point below the cutoff and a bound, whoever finds them; `INFEASIBLE` where there is no such point.

    `orders` listen in this thread alone; the cutoff and whether to stop are asked for in another one too.
    """
    race = _Race(tightened, orders)
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(race.by_highs)
        try:
            return race.ours(other)
        finally:
            race.over.set()


@dataclass
class _Race:
    """What both sides know: the bound that HiGHS has proved, and whether the race is over."""

    tightened: Tightened
    orders: TreeOrders
    over: threading.Event = field(default_factory=threading.Event)
    other_bound: float = -np.inf

    def ours(self, other: "Future[MilpResult]") -> MilpResult:
        """Wait a moment for HiGHS, then search beside it."""
        concurrent.futures.wait([other], settings.HEAD_START_S)
        if _has_ended(other):
            return self._told(other.result())
        tree = Tree(
            self.tightened.relaxation,
            replace(self.orders, should_stop=lambda: self._should_stop() or _has_ended(other)),
        )
        found = tree.run()
        if found.outcome is not Outcome.STOPPED:
            self.over.set()
        last = other.result()
        return self._told(last) if found.outcome is Outcome.STOPPED and _has_ended(other) else _better(found, last)

    def by_highs(self) -> MilpResult:
        """HiGHS, on the columns that a solution below the present cutoff can use."""
        cutoff, relaxation = self.orders.cutoff(), self.tightened.relaxation
        box = Box.whole(len(relaxation.cost)).below(cutoff, self.tightened.lp.bound, self.tightened.lp.reduced)
        limits = Limits(self.orders.time_s, self.orders.gap_ratio, self._is_over, cutoff)
        # So far above the cutoff that a bound reaches the cutoff with the share of it that is believed.
        above = cutoff / BELIEVED**2
        milp = solve_milp(relaxation, box, limits, objective_bound=above, on_bound=self._hear)
        if milp.outcome is Outcome.FAILED:
            return milp
        # The cutoff may have fallen meanwhile; what HiGHS says beyond its own cutoff only tells that nothing is below.
        cutoff = min(cutoff, self.orders.cutoff())
        if milp.outcome is Outcome.INFEASIBLE or milp.bound >= cutoff:
            return MilpResult(Outcome.INFEASIBLE, cutoff, None, np.inf)
        return milp

    def _is_over(self) -> bool:
        return self.over.is_set() or self.orders.should_stop() or self.other_bound >= self.orders.cutoff()

    def _hear(self, bound: float) -> None:
        self.other_bound = max(self.other_bound, bound)

    def _should_stop(self) -> bool:
        """Asked often in the caller's thread; also tells what HiGHS has proved."""
        if np.isfinite(self.other_bound):
            self.orders.on_bound(min(self.other_bound, self.orders.cutoff()))
        return self.orders.should_stop()

    def _told(self, milp: MilpResult) -> MilpResult:
        self.orders.on_bound(min(milp.bound, self.orders.cutoff()))
        return milp


def _has_ended(other: "Future[MilpResult]") -> bool:
    """Whether HiGHS has an answer that needs no other."""
    return other.done() and other.result().outcome in {Outcome.SOLVED, Outcome.INFEASIBLE}


def _better(ours: MilpResult, other: MilpResult) -> MilpResult:
    """Ours with the other's point where that is the better one and both were ended early."""
    if ours.outcome is not Outcome.STOPPED or other.point is None or other.value >= ours.value:
        return ours
    return replace(other, outcome=Outcome.STOPPED, bound=max(ours.bound, other.bound))
