"""The rounds of the watch-point method: bound from below, decode, repair from above, watch more (ALGORITHM.md)."""

import time
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from xengine_gui.solve.greedy import greedy_steps
from xengine_gui.solve.highs import Outcome
from xengine_gui.solve.watchpoints import settings
from xengine_gui.solve.watchpoints.box import Box
from xengine_gui.solve.watchpoints.columns import estimated_bytes
from xengine_gui.solve.watchpoints.dive import dive
from xengine_gui.solve.watchpoints.encode import encode
from xengine_gui.solve.watchpoints.highs import Limits, MilpResult, solve_milp
from xengine_gui.solve.watchpoints.knowledge import Knowledge
from xengine_gui.solve.watchpoints.neighbourhood import Neighbourhoods, around
from xengine_gui.solve.watchpoints.plans import offer_point, take_point
from xengine_gui.solve.watchpoints.points import Segmentation, WatchPoint, in_order
from xengine_gui.solve.watchpoints.race import solve_by_both
from xengine_gui.solve.watchpoints.relaxation import Relaxation
from xengine_gui.solve.watchpoints.tighten import Tightened, tighten
from xengine_gui.solve.watchpoints.tree import TreeOrders
from xengine_gui.units import format_duration, format_size


@dataclass
class Search(Knowledge):
    """One search: what is known, the moments watched, and how the rounds have gone."""

    points: tuple[WatchPoint, ...] = ()
    too_large: bool = False
    loose: float = settings.LOOSEST_GAP
    idle: int = 0
    neighbourhoods: Neighbourhoods = field(default_factory=Neighbourhoods)
    slack: frozenset[WatchPoint] = frozenset()
    dropped: set[WatchPoint] = field(default_factory=set)

    def run(self) -> None:
        """Add watch points round by round until the gap is closed, time is up, or no moment is left to watch."""
        if not self.problem.operators:
            self.offer([])
        # An operator that fits on no device even alone needs no solver to be refused.
        self.infeasible = len(np.unique(self.tables.way_operator)) < len(self.problem.operators)
        self.raise_bound(self._cheapest_runs())
        self._greedy(effort=0)
        while not self.closed and not self.context.should_stop():
            open_ratio = self.gap_ratio
            fresh = self._round()
            self.idle = 0 if self.gap_ratio < settings.LEAST_PROGRESS * open_ratio else self.idle + 1
            if self.closed or self.context.should_stop():
                return
            if not self.points:
                self._greedy(effort=1)
            if self.too_large:
                return
            if not fresh and self.loose == 0.0:
                self.context.log("No further moment to watch would raise the bound.")
                return
            self.loose = self.loose / 4 if fresh and self.loose > 1e-4 else 0.0
            self.points = in_order([*self._worth_watching(), *fresh])

    def _worth_watching(self) -> list[WatchPoint]:
        """The watch points without those whose memory rows cost nothing in the LP, once many leave a wide gap.

        Each is dropped only once: one that comes back has shown that it matters.
        """
        if len(self.points) < settings.MANY_POINTS or self.gap_ratio < settings.STUCK_GAP:
            return list(self.points)
        slack = self.slack - self.dropped
        self.dropped |= slack
        return [point for point in self.points if point not in slack]

    def _greedy(self, effort: int) -> None:
        """A plan at once, without a proof."""
        if self.closed:
            return
        steps = greedy_steps(self.problem.indexed, self.context.should_stop, effort=effort)
        if steps is not None:
            self.offer(steps)

    def _is_too_large(self, segmentation: Segmentation) -> bool:
        """Whether a model would take more memory than is allowed; said in the log."""
        model_bytes = estimated_bytes(self.tables, segmentation)
        self.too_large = model_bytes > settings.MOST_MODEL_BYTES
        if self.too_large:
            self.context.log(
                f"A model with {len(segmentation.points)} watch points would take some {format_size(model_bytes)}, "
                f"more than the {format_size(settings.MOST_MODEL_BYTES)} allowed; plan and bound stay as they are."
            )
        return self.too_large

    def _round(self) -> list[WatchPoint]:
        """One set of watch points: LP bound, plans, MILP bound where they show nothing new, and what to watch next."""
        segmentation = Segmentation(self.problem.indexed.operator_count, self.points)
        if self._is_too_large(segmentation):
            return []
        relaxation = Relaxation.of(self.tables, segmentation)
        rows, columns = relaxation.matrix.shape
        self.context.log(f"{len(self.points)} watch points: {columns:,} columns, {rows:,} rows")
        tightened = tighten(self, relaxation)
        if tightened is None or self.closed:
            return []
        self.slack = tightened.slack
        fresh = self._dive(tightened)
        if not fresh or self.gap_ratio > settings.LOOSEST_GAP:
            fresh += self._improve(tightened, settings.AROUND_S + settings.AROUND_SHARE * self.context.elapsed_s)
        stuck = self.idle >= settings.IDLE_ROUNDS and self.gap_ratio > settings.STUCK_GAP
        if not fresh and not self.closed:
            fresh += self._prove(tightened)
        elif stuck and not self.closed:
            fresh += self._solve_milp(tightened, settings.MILP_S + settings.MILP_SHARE * self.context.elapsed_s)[1]
        return list(dict.fromkeys(fresh))

    def _prove(self, tightened: Tightened) -> list[WatchPoint]:
        """The MILP, at first for a while only: where that does not end it, a better plan lets it end sooner."""
        ended, fresh = self._solve_milp(tightened, settings.MILP_SHARE * self.context.elapsed_s)
        if ended or self.closed:
            return fresh
        fresh = self._improve(tightened, settings.LONG_AROUND_SHARE * self.context.elapsed_s)
        return fresh or self._solve_milp(tightened, float("inf"))[1]

    def _dive(self, tightened: Tightened) -> list[WatchPoint]:
        """A good point of the relaxation at once. It proves nothing, but its plan shows where to watch."""
        open_ratio = min(settings.LOOSEST_GAP, max(self.context.options.gap_ratio, self.gap_ratio))
        time_s = min(settings.DIVE_S, self.context.remaining_s)
        limits = Limits(time_s, settings.DIVE_GAP * open_ratio, self.context.should_stop)
        whole = Box.whole(len(tightened.relaxation.cost))
        return self._taken(tightened, dive(tightened.relaxation, tightened.lp, whole, limits))

    def _pause(self, tightened: Tightened, spent_s: float) -> None:
        """Look for better plans for a share of the time that the MILP has taken, less where that gave nothing."""
        self._improve(tightened, settings.AROUND_SHARE * self.neighbourhoods.hope * spent_s)

    def _improve(self, tightened: Tightened, seconds: float) -> list[WatchPoint]:
        """Look for better plans beside the best one.

        It ends at the first point of interest that is no plan, for it to be watched, and after some neighbourhoods in a
        row that give nothing.
        """
        over, idle = self.within(seconds), 0
        while self.best_steps is not None and self.points and not self.closed and not over():
            known, best_ns = encode(tightened.relaxation, self.best_steps), self.best_ns
            free = self.neighbourhoods.free_columns(tightened.relaxation, tightened.lp.point, known)
            cutoff = float(tightened.relaxation.cost @ known) * (1 - settings.ROUNDING)
            time_s = min(settings.DIVE_S, self.context.remaining_s, max(settings.AROUND_S, seconds))
            began = time.monotonic()
            limits = Limits(time_s, settings.AROUND_GAP, self.context.should_stop, cutoff)
            milp = around(tightened.relaxation, known, free, limits)
            better = milp.point is not None and milp.value < cutoff
            idle = 0 if better else idle + 1
            self.neighbourhoods.learn(time.monotonic() - began, better=better)
            if better:
                fresh = self._taken(tightened, milp)
                if self.best_ns == best_ns and milp.value < self.cutoff():
                    return fresh
            if idle >= settings.IDLE_NEIGHBOURHOODS:
                break
        return []

    def _taken(self, tightened: Tightened, milp: MilpResult | None) -> list[WatchPoint]:
        if milp is None or milp.point is None:
            return []
        return take_point(self, tightened.relaxation, milp.point)

    def _solve_milp(self, tightened: Tightened, seconds: float) -> tuple[bool, list[WatchPoint]]:
        """Whether the MILP came to its end in the time; what its best point shows is to be watched next.

        Only points are looked for that a better plan could come of.
        """
        gap = max(
            settings.FINAL_SHARE * self.context.options.gap_ratio,
            min(self.loose, settings.SHARE_OF_GAP * self.gap_ratio),
        )
        orders = TreeOrders(
            cutoff=self.cutoff,
            gap_ratio=gap,
            should_stop=self.within(seconds),
            time_s=min(seconds, self.context.remaining_s),
            on_bound=self.raise_bound,
            on_point=partial(offer_point, self, tightened.relaxation),
            on_pause=partial(self._pause, tightened),
        )
        milp = solve_by_both(tightened, orders)
        self.context.log(f"MILP below {self._in_ns(self.cutoff())}: {milp.outcome.value}")
        if milp.outcome is Outcome.INFEASIBLE and self.best_ns is None:
            self._confirm_infeasible(tightened.relaxation)
        return milp.outcome in {Outcome.SOLVED, Outcome.INFEASIBLE}, self._taken(tightened, milp)

    def _confirm_infeasible(self, relaxation: Relaxation) -> None:
        """Believe that the MILP has no point only when HiGHS without presolve says the same."""
        limits = Limits(self.context.remaining_s, should_stop=self.context.should_stop)
        outcome = solve_milp(relaxation, Box.whole(relaxation.columns.count), limits, presolve=False).outcome
        self.infeasible = outcome is Outcome.INFEASIBLE and self.best_steps is None

    def _in_ns(self, value: float) -> str:
        return format_duration(int(value * self.tables.time_unit_ns)) if np.isfinite(value) else "any cost"

    def _cheapest_runs(self) -> float:
        """What every plan costs at least, in time units: each operator once, as fast as anywhere."""
        fastest = np.full(len(self.problem.operators), np.inf)
        np.minimum.at(fastest, self.tables.way_operator, self.tables.way_time_ns)
        return float(fastest.sum()) / self.tables.time_unit_ns
