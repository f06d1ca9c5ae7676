"""The rounds of the watch-point method: bound from below, decode, repair from above, watch more (ALGORITHM.md)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from xengine_gui.model.plan import Plan, Status, Step
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.schedule.replay import StepReplay, replay_steps
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.greedy import greedy_steps, improve_steps, repair_steps
from xengine_gui.solve.watchpoints.decode import Decoded, UndecodableError, decode
from xengine_gui.solve.watchpoints.encode import encode
from xengine_gui.solve.watchpoints.highs import Limits, LpResult, MilpResult, Outcome, solve_lp, solve_milp
from xengine_gui.solve.watchpoints.points import Segmentation, WatchPoint, in_order
from xengine_gui.solve.watchpoints.refine import Excess, new_points
from xengine_gui.solve.watchpoints.relaxation import Relaxation
from xengine_gui.solve.watchpoints.tables import Floats, Tables

LOOSEST_GAP = 0.01
INTERIOR_POINT_COLUMNS = 150_000


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
    tables: Tables = field(init=False)
    loose: float = LOOSEST_GAP

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
        while not self.closed and not self.context.should_stop():
            fresh = self._round()
            if self.closed or self.context.should_stop():
                return
            if self.best_steps is None or not self.points:
                self._first_plan()
            if not fresh and self.loose == 0.0:
                self.context.log("No further moment to watch would raise the bound.")
                return
            self.loose = self.loose / 4 if fresh and self.loose > 1e-4 else 0.0
            self.points = in_order([*self.points, *fresh])

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
            status=Status.OPTIMAL if self.gap_ratio <= self.context.options.gap_ratio else Status.FEASIBLE,
            lower_bound_ns=self.bound_ns,
            runtime_s=self.context.elapsed_s,
            explanation=explanation,
        )

    def _first_plan(self) -> None:
        steps = greedy_steps(self.problem.indexed, self.context.should_stop)
        if steps is not None:
            self.offer(steps)

    def _round(self) -> list[WatchPoint]:
        """One set of watch points: LP bound, MILP bound, plan, and the moments to watch next."""
        relaxation = Relaxation.of(self.tables, Segmentation(self.problem.indexed.operator_count, self.points))
        self.context.log(
            f"{len(self.points)} watch points: {relaxation.matrix.shape[1]:,} columns, "
            f"{relaxation.matrix.shape[0]:,} rows"
        )
        lp = self._solve_lp(relaxation)
        if lp is None or self.closed:
            return []
        bound, reduced = relaxation.dual_bound(lp.row_dual)
        milp = self._solve_milp(relaxation, bound, reduced)
        if milp is None or milp.point is None:
            return []
        try:
            decoded = decode(relaxation, milp.point)
        except UndecodableError as error:
            self.context.log(f"The relaxation's point makes no plan: {error}.")
            return []
        return self._take(decoded)

    def _take(self, decoded: Decoded) -> list[WatchPoint]:
        """Offer a decoded plan, repaired where it breaks a limit; the worst of its moments are watched next."""
        indexed = self.problem.indexed
        replay = replay_steps(indexed, decoded.steps)
        if replay.valid:
            self.offer(decoded.steps)
            return []
        repaired = repair_steps(indexed, decoded.steps, self.context.should_stop)
        if repaired is not None:
            self.offer(improve_steps(indexed, repaired, self.context.should_stop))
        return new_points(decoded, self._excesses(replay), self.points)

    def _excesses(self, replay: StepReplay) -> list[Excess]:
        limits = self.problem.indexed.limit_bytes
        return [Excess(v.step, v.device, v.over_bytes / max(1, limits[v.device] or 1)) for v in replay.violations]

    def _solve_lp(self, relaxation: Relaxation) -> LpResult | None:
        limits = Limits(self.context.remaining_s, should_stop=self.context.should_stop)
        lp = solve_lp(relaxation, limits, interior=relaxation.columns.count > INTERIOR_POINT_COLUMNS)
        if lp.outcome is Outcome.INFEASIBLE:
            self._confirm_infeasible(relaxation)
            return None
        if len(lp.row_dual) == relaxation.matrix.shape[0]:
            self._raise_bound(relaxation, relaxation.dual_bound(lp.row_dual)[0])
        return lp if lp.outcome is Outcome.SOLVED else None

    def _solve_milp(self, relaxation: Relaxation, bound: float, reduced: Floats) -> MilpResult | None:
        lower, upper, cutoff = self._fixed(relaxation, bound, reduced)
        gap = max(0.9 * self.context.options.gap_ratio, self.loose)
        milp = solve_milp(
            relaxation,
            Limits(self.context.remaining_s, gap, self.context.should_stop),
            lower=lower,
            upper=upper,
            start=self._start(relaxation, lower, upper),
            on_bound=lambda value: self._raise_bound(relaxation, min(value, cutoff)),
        )
        if milp.outcome is Outcome.INFEASIBLE and self.best_ns is None:
            self._confirm_infeasible(relaxation, integral=True)
            return None
        if milp.outcome is Outcome.INFEASIBLE:
            self._raise_bound(relaxation, cutoff)
        elif milp.outcome is not Outcome.FAILED:
            self._raise_bound(relaxation, min(milp.bound, cutoff))
        return milp

    def _fixed(self, relaxation: Relaxation, bound: float, reduced: Floats) -> tuple[Floats, Floats, float]:
        """Column bounds that keep every solution below the cutoff: the best plan's total less the gap that is allowed.

        By the LP's duals a solution that uses a column costs at least the bound plus its reduced cost.
        """
        lower, upper = np.zeros(relaxation.columns.count), np.ones(relaxation.columns.count)
        if self.best_ns is None:
            return lower, upper, float("inf")
        cutoff = self.best_ns * (1 - self.context.options.gap_ratio) / self.tables.time_unit_ns
        margin = 1e-9 * abs(cutoff) + 1e-7
        upper[bound + reduced > cutoff + margin] = 0.0
        lower[bound - reduced > cutoff + margin] = 1.0
        return lower, upper, cutoff

    def _start(self, relaxation: Relaxation, lower: Floats, upper: Floats) -> Floats | None:
        if self.best_steps is None:
            return None
        point = encode(relaxation, self.best_steps)
        return point if bool(np.all((point >= lower) & (point <= upper))) else None

    def _confirm_infeasible(self, relaxation: Relaxation, *, integral: bool = False) -> None:
        """Believe in infeasibility only when a second solve without presolve says the same."""
        limits = Limits(self.context.remaining_s, should_stop=self.context.should_stop)
        if integral:
            free = np.zeros(relaxation.columns.count), np.ones(relaxation.columns.count)
            outcome = solve_milp(relaxation, limits, lower=free[0], upper=free[1], presolve=False).outcome
        else:
            outcome = solve_lp(relaxation, limits, presolve=False).outcome
        self.infeasible = outcome is Outcome.INFEASIBLE and self.best_steps is None

    def _raise_bound(self, relaxation: Relaxation, value: float) -> None:
        if not np.isfinite(value):
            return
        bound_ns = relaxation.bound_ns(value)
        if bound_ns > self.bound_ns:
            self.bound_ns = bound_ns if self.best_ns is None else min(bound_ns, self.best_ns)
            self.context.bound(self.bound_ns)
