"""What a search knows at any time: the best plan, the best bound, whether there is a plan at all."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from xengine_gui.model.plan import Plan, Status, Step
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.watchpoints import settings
from xengine_gui.solve.watchpoints.tables import Tables


@dataclass
class Knowledge:
    """The best plan and the best bound of a problem; the listener hears of better ones.

    `best_steps` always replays within all limits; `bound_ns` only rises, unless a plan disproves it. `infeasible` is
    set only after a proof.
    """

    problem: Problem
    context: SolveContext
    strategy_key: str
    best_steps: Sequence[Step] | None = None
    best_ns: int | None = None
    bound_ns: int = 0
    infeasible: bool = False
    tables: Tables = field(init=False)

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

    def offer(self, steps: Sequence[Step]) -> bool:
        """Take steps as the best plan if they replay within all limits and cost less."""
        replay = replay_steps(self.problem.indexed, steps)
        if not replay.valid or (self.best_ns is not None and replay.total_ns >= self.best_ns):
            return False
        if self.bound_ns > replay.total_ns:
            self.bound_ns = 0  # a bound that a plan disproves is none
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

    def within(self, seconds: float) -> Callable[[], bool]:
        """Whether to stop, now or once so many seconds have passed."""
        end = time.monotonic() + seconds
        return lambda: self.context.should_stop() or time.monotonic() >= end

    def cutoff(self) -> float:
        """What a solution must cost less than to matter: the best plan's total less the gap that is allowed."""
        if self.best_ns is None:
            return float("inf")
        wanted_ns = self.best_ns * (1 - self.context.options.gap_ratio)
        return wanted_ns * (1 + settings.ROUNDING) / self.tables.time_unit_ns

    def raise_bound(self, value: float) -> None:
        """Take a proved bound in time units."""
        if not np.isfinite(value):
            return
        bound_ns = self.tables.bound_ns(value)
        if bound_ns > self.bound_ns:
            self.bound_ns = bound_ns if self.best_ns is None else min(bound_ns, self.best_ns)
            self.context.bound(self.bound_ns)
