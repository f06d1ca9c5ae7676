"""The rounds of the watch-point method: bound from below, decode, repair from above, watch more (ALGORITHM.md)."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from xengine_gui.model.plan import Plan, Status, Step
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.greedy import greedy_steps, improve_steps, repair_steps
from xengine_gui.solve.highs import Outcome
from xengine_gui.solve.watchpoints import settings
from xengine_gui.solve.watchpoints.columns import estimated_bytes
from xengine_gui.solve.watchpoints.cuts import path_cuts
from xengine_gui.solve.watchpoints.decode import Decoded, UndecodableError, decode
from xengine_gui.solve.watchpoints.highs import Limits, LinearProgram, LpResult, MilpResult, solve_milp
from xengine_gui.solve.watchpoints.points import Segmentation, WatchPoint, in_order
from xengine_gui.solve.watchpoints.refine import Excess, new_points
from xengine_gui.solve.watchpoints.relaxation import Relaxation
from xengine_gui.solve.watchpoints.tables import Floats, Tables
from xengine_gui.units import format_duration, format_size


@dataclass
class Search:
    """The state of one search: the best plan, the best bound, the moments watched.

    `best_steps` always replays within all limits; `bound_ns` only rises. `infeasible` is set only after a proof.
    """

    problem: Problem
    context: SolveContext
    strategy_key: str
    best_steps: Sequence[Step] | None = None
    best_ns: int | None = None
    bound_ns: int = 0
    points: tuple[WatchPoint, ...] = ()
    infeasible: bool = False
    too_large: bool = False
    tables: Tables = field(init=False)
    loose: float = settings.LOOSEST_GAP
    idle: int = 0
    slack: set[WatchPoint] = field(default_factory=set)
    dropped: set[WatchPoint] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.tables = Tables.of(self.problem.indexed)

    @property
    def gap_ratio(self) -> float:
        """The proved distance from the best plan to the bound, infinite without a plan."""
        if self.best_ns is None:
            return float("inf")
        return (self.best_ns - self.bound_ns) / self.best_ns if self.best_ns else 0.0

    @property
    def closed(self) -> bool:
        """Whether nothing is left to find out."""
        return self.infeasible or self.gap_ratio <= self.context.options.gap_ratio

    def run(self) -> None:
        """Add watch points round by round until the gap is closed, time is up, or no moment is left to watch."""
        if not self.problem.operators:
            self.offer([])
        # An operator that fits on no device even alone needs no solver to be refused.
        self.infeasible = len(np.unique(self.tables.way_operator)) < len(self.problem.operators)
        self._raise_bound(self._cheapest_runs())
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

    def offer(self, steps: Sequence[Step]) -> bool:
        """Take steps as the best plan if they replay within all limits and cost less."""
        replay = replay_steps(self.problem.indexed, steps)
        if not replay.valid or (self.best_ns is not None and replay.total_ns >= self.best_ns):
            return False
        self.best_steps, self.best_ns = steps, replay.total_ns
        self.context.incumbent(self.plan())
        return True

    def plan(self, explanation: str = "") -> Plan:
        """The best plan with what is proved of it so far."""
        if self.best_steps is None:
            status = Status.INFEASIBLE if self.infeasible else Status.UNKNOWN
            return Plan(
                self.problem, self.strategy_key, status, explanation=explanation, runtime_s=self.context.elapsed_s,
                lower_bound_ns=None if self.infeasible else self.bound_ns,
            )  # fmt: skip
        return finished_plan(
            self.problem,
            self.strategy_key,
            self.best_steps,
            status=Status.OPTIMAL if self.closed else Status.FEASIBLE,
            lower_bound_ns=self.bound_ns,
            runtime_s=self.context.elapsed_s,
            explanation=explanation,
        )

    def _greedy(self, effort: int) -> None:
        """A plan at once, without a proof."""
        if self.closed:
            return
        steps = greedy_steps(self.problem.indexed, self.context.should_stop, effort=effort)
        if steps is not None:
            self.offer(steps)

    def _within(self, seconds: float) -> Callable[[], bool]:
        """Whether to stop, now or once so many seconds have passed."""
        end = time.monotonic() + seconds
        return lambda: self.context.should_stop() or time.monotonic() >= end

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
        """One set of watch points: LP bound, MILP bound, plan, and the moments to watch next."""
        segmentation = Segmentation(self.problem.indexed.operator_count, self.points)
        if self._is_too_large(segmentation):
            return []
        relaxation = Relaxation.of(self.tables, segmentation)
        self.context.log(
            f"{len(self.points)} watch points: {relaxation.matrix.shape[1]:,} columns, "
            f"{relaxation.matrix.shape[0]:,} rows"
        )
        tightened = self._tighten(relaxation)
        if tightened is None or self.closed:
            return []
        fresh = self._take_point(relaxation, self._dive(*tightened))
        stuck = self.idle >= settings.IDLE_ROUNDS and self.gap_ratio > settings.STUCK_GAP
        if self.closed or (fresh and not stuck):
            return fresh
        time_s = settings.MILP_S + settings.MILP_SHARE * self.context.elapsed_s if fresh else float("inf")
        more = self._take_point(relaxation, self._solve_milp(*tightened, self._within(time_s)))
        return [*fresh, *(point for point in more if point not in fresh)]

    def _take_point(self, relaxation: Relaxation, milp: MilpResult | None) -> list[WatchPoint]:
        """Make a plan of a MILP's point and offer it; what it breaks is to be watched next."""
        if milp is None or milp.point is None:
            return []
        try:
            decoded = self._best_decoded(relaxation, milp.point)
        except UndecodableError as error:
            self.context.log(f"The relaxation's point makes no plan: {error}.")
            return []
        return self._take(decoded)

    def _dive(self, relaxation: Relaxation, lp: LpResult) -> MilpResult | None:
        """A good point of the relaxation at once: the MILP with the columns fixed that the LP has at 0 or 1.

        Where that leaves no solution, only those are fixed whose reduced costs speak clearly. It proves nothing, but
        its plan shows where to watch, and the LP's bound is nearly always close.
        """
        base, reduced = relaxation.dual_bound(lp.row_dual)
        open_ratio = min(settings.LOOSEST_GAP, max(self.context.options.gap_ratio, self.gap_ratio))
        for least in (0.0, settings.DIVE_COST * base):
            lower = np.where((lp.point >= 1 - settings.DIVE_TOLERANCE) & (reduced <= -least), 1.0, 0.0)
            upper = np.where((lp.point > settings.DIVE_TOLERANCE) | (reduced < least), 1.0, 0.0)
            limits = Limits(
                min(settings.DIVE_S, self.context.remaining_s), settings.DIVE_GAP * open_ratio, self.context.should_stop
            )
            milp = solve_milp(relaxation, limits, lower=lower, upper=upper)
            free = int(np.count_nonzero(upper > lower))
            self.context.log(f"{free:,} of {len(upper):,} columns left open by the LP: {milp.outcome.value}")
            if milp.point is not None:
                return milp
        return None

    def _best_decoded(self, relaxation: Relaxation, point: Floats) -> Decoded:
        """Decode with copies late, early to unlimited devices, and early to all; the one with the least excess."""
        limits = self.problem.indexed.limit_bytes
        unlimited = tuple(d for d, limit in enumerate(limits) if limit is None)
        variants = dict.fromkeys([(), unlimited, tuple(range(len(limits)))] if len(limits) > 1 else [()])
        candidates = [decode(relaxation, point, roomy) for roomy in variants]
        return min(candidates, key=lambda decoded: sum(e.ratio for e in self._excesses(decoded)))

    def _take(self, decoded: Decoded) -> list[WatchPoint]:
        """Offer a decoded plan, repaired where it breaks a limit; the worst of its moments are watched next."""
        indexed = self.problem.indexed
        replay = replay_steps(indexed, decoded.steps)
        if replay.valid:
            self.offer(decoded.steps)
            return []
        stop = self._within(settings.REPAIR_SHARE * self.context.elapsed_s + settings.REPAIR_S)
        repaired = repair_steps(indexed, decoded.steps, stop)
        if repaired is not None:
            self.offer(improve_steps(indexed, repaired, stop))
        return new_points(decoded, self._excesses(decoded), self.points)

    def _excesses(self, decoded: Decoded) -> list[Excess]:
        limits = self.problem.indexed.limit_bytes
        replay = replay_steps(self.problem.indexed, decoded.steps)
        return [Excess(v.step, v.device, v.over_bytes / max(1, limits[v.device] or 1)) for v in replay.violations]

    def _tighten(self, relaxation: Relaxation) -> tuple[Relaxation, LpResult] | None:
        """Solve the LP, adding the path cuts that it violates as long as they raise the bound."""
        program, family_rows = LinearProgram(relaxation), len(relaxation.lower)
        last, stalled = -np.inf, 0
        while True:
            lp = program.solve(Limits(self.context.remaining_s, should_stop=self.context.should_stop))
            if lp.outcome is Outcome.INFEASIBLE:
                self._confirm_infeasible(relaxation)
                return None
            if lp.outcome is not Outcome.SOLVED:
                return None
            bound, _ = relaxation.dual_bound(lp.row_dual)
            self._raise_bound(bound)
            stalled = stalled + 1 if bound < last + self._worthwhile_rise(bound) else 0
            last = bound
            cuts = path_cuts(relaxation, lp.point) if stalled < settings.STALLED_ROUNDS and not self.closed else None
            if cuts is None:
                break
            program.add(cuts)
            relaxation = relaxation.with_rows(cuts)
        self.slack = self._slack_points(lp.row_dual[:family_rows])
        useful = np.arange(len(relaxation.lower)) < family_rows
        useful |= np.abs(lp.row_dual) > 1e-9
        return relaxation.with_only(useful), replace(lp, row_dual=lp.row_dual[useful])

    def _slack_points(self, row_dual: Floats) -> set[WatchPoint]:
        """Watch points whose memory rows, the last of the families, cost nothing on any device."""
        limited = sum(limit is not None for limit in self.problem.indexed.limit_bytes)
        if not limited or not self.points:
            return set()
        duals = np.abs(row_dual[-limited * len(self.points) :]).reshape(len(self.points), limited).max(axis=1)
        return {point for point, dual in zip(self.points, duals, strict=True) if dual < 1e-9}

    def _worthwhile_rise(self, bound: float) -> float:
        """By how much the bound must rise for another round of cuts to pay: a share of what is still open."""
        last = self._last_cutoff()
        return settings.LEAST_RISE * (last - bound if np.isfinite(last) else 0.01 * abs(bound))

    def _solve_milp(self, relaxation: Relaxation, lp: LpResult, stop: Callable[[], bool]) -> MilpResult | None:
        """The best point of the relaxation, looked for below a cutoff that rises until it finds one.

        Only columns that a solution below the cutoff can use stay free, so the first cutoffs make small models; each
        that has no solution is a proved bound.
        """
        base, reduced = relaxation.dual_bound(lp.row_dual)
        last = self._last_cutoff()
        width = max(1.0, settings.FIRST_WIDTH * base, 2 * self.context.options.gap_ratio * base)
        while True:
            cutoff = min(base + width, last)
            if cutoff > relaxation.cost.sum():
                cutoff = last
            milp = self._solve_below(relaxation, base, reduced, cutoff, stop)
            if milp.outcome is Outcome.FAILED or stop():
                return milp
            if milp.outcome is not Outcome.INFEASIBLE and milp.bound < cutoff:
                return milp
            if cutoff == last:
                if self.best_ns is None:
                    self._confirm_infeasible(relaxation, integral=True)
                return None
            width *= settings.WIDER

    def _solve_below(
        self, relaxation: Relaxation, base: float, reduced: Floats, cutoff: float, stop: Callable[[], bool]
    ) -> MilpResult:
        """Solve the MILP for solutions that cost less than a cutoff, and raise the bound to what that proves."""
        # By the LP's duals a solution that uses a column costs at least the base plus its reduced cost.
        lower, upper = np.zeros(relaxation.columns.count), np.ones(relaxation.columns.count)
        margin = 1e-9 * abs(base) + 1e-7
        upper[base + reduced > cutoff + margin] = 0.0
        lower[base - reduced > cutoff + margin] = 1.0
        gap = max(
            settings.FINAL_SHARE * self.context.options.gap_ratio,
            min(self.loose, settings.SHARE_OF_GAP * self.gap_ratio),
        )
        milp = solve_milp(
            relaxation,
            Limits(self.context.remaining_s, gap, stop, cutoff),
            lower=lower,
            upper=upper,
            on_bound=lambda value: self._raise_bound(min(value, cutoff)),
        )
        if milp.outcome is not Outcome.FAILED:
            proved = cutoff if milp.outcome is Outcome.INFEASIBLE else min(milp.bound, cutoff)
            self._raise_bound(proved)
        free = int(np.count_nonzero(upper > lower))
        self.context.log(f"{free:,} of {len(upper):,} columns free below {self._in_ns(cutoff)}: {milp.outcome.value}")
        return milp

    def _last_cutoff(self) -> float:
        """What a solution must cost less than to matter: the best plan's total less the gap that is allowed."""
        if self.best_ns is None:
            return float("inf")
        wanted_ns = self.best_ns * (1 - self.context.options.gap_ratio)
        return wanted_ns * (1 + settings.ROUNDING) / self.tables.time_unit_ns

    def _in_ns(self, value: float) -> str:
        return format_duration(int(value * self.tables.time_unit_ns)) if np.isfinite(value) else "any cost"

    def _confirm_infeasible(self, relaxation: Relaxation, *, integral: bool = False) -> None:
        """Believe in infeasibility only when a second solve without presolve says the same."""
        limits = Limits(self.context.remaining_s, should_stop=self.context.should_stop)
        if integral:
            free = np.zeros(relaxation.columns.count), np.ones(relaxation.columns.count)
            outcome = solve_milp(relaxation, limits, lower=free[0], upper=free[1], presolve=False).outcome
        else:
            outcome = LinearProgram(relaxation, presolve=False).solve(limits).outcome
        self.infeasible = outcome is Outcome.INFEASIBLE and self.best_steps is None

    def _cheapest_runs(self) -> float:
        """What every plan costs at least, in time units: each operator once, as fast as anywhere."""
        fastest = np.full(len(self.problem.operators), np.inf)
        np.minimum.at(fastest, self.tables.way_operator, self.tables.way_time_ns)
        return float(fastest.sum()) / self.tables.time_unit_ns

    def _raise_bound(self, value: float) -> None:
        """Take a proved bound in time units."""
        if not np.isfinite(value):
            return
        bound_ns = self.tables.bound_ns(value)
        if bound_ns > self.bound_ns:
            self.bound_ns = bound_ns if self.best_ns is None else min(bound_ns, self.best_ns)
            self.context.bound(self.bound_ns)
