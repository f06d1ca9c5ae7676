"""What is known while a strategy solves models: the best plan, the highest bound, whether anything was left open."""

import gc
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from xengine_gui.model.plan import Plan, Status, Step
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.formulations.one_device import OneDevice
from xengine_gui.solve.retain_all import what_is_missing
from xengine_gui.solve.working_set import single_operator_proof

if TYPE_CHECKING:
    from xengine_gui.solve.formulations.building import Heed, Matrix
    from xengine_gui.solve.highs import Outcome

_Side = TypeVar("_Side", bound=OneDevice)
_ROUNDING = 1e-6
"""How far a solver's bound may be off, as a share."""


def safe_bound_ns(bound: float, unit_ns: int, *, whole: bool = True) -> int:
    """What a solver's finite bound, in units of time, is worth; where totals are `whole` units it is rounded up."""
    safe = bound - _ROUNDING * max(1.0, abs(bound))
    return unit_ns * math.ceil(safe) if whole else math.ceil(unit_ns * safe)


class Search:
    """The state of one run of a strategy.

    `is_undecided`: a model was left before its end; `is_last_left_out`: the last solution was no plan.
    """

    def __init__(self, problem: Problem, context: SolveContext, key: str) -> None:
        self.problem, self.context, self.key = problem, context, key
        self.steps: list[Step] | None = None
        self.total_ns = math.inf
        self.lower_bound_ns: int | None = None
        self.is_undecided = self.is_last_left_out = False

    def offer(self, steps: Sequence[Step]) -> bool:
        """Take steps where they are better than any before; false where they are no plan."""
        replay = replay_steps(self.problem.indexed, steps)
        if replay.valid and replay.total_ns < self.total_ns:
            self.steps, self.total_ns = list(steps), replay.total_ns
            self.context.incumbent(self.plan())
        return replay.valid

    def too_large(self) -> Plan | None:
        """The answer where an operator fits nowhere, even alone."""
        proof = single_operator_proof(self.problem.indexed)
        return None if proof is None else self.without(Status.INFEASIBLE, proof.sentence(self.problem))

    def on_each(self, sides: Iterable[_Side], solve: Callable[[_Side], object]) -> None:
        """Look for plans on one device after the other, where they may be better than what there is."""
        for side in sides:
            if not self.context.should_stop() and self.total_ns > side.least_ns:
                solve(side)

    def raise_bound(self, bound: float, unit_ns: int, *, whole: bool = True) -> None:
        """Hear of a proved bound in units of time; where totals are `whole` units it is rounded up."""
        if math.isfinite(bound):
            self.raise_bound_ns(safe_bound_ns(bound, unit_ns, whole=whole))

    def raise_bound_ns(self, bound_ns: int) -> None:
        """Hear of a proved bound."""
        if self.lower_bound_ns is None or bound_ns > self.lower_bound_ns:
            self.lower_bound_ns = bound_ns
            self.context.bound(bound_ns)

    def solve(
        self,
        build: Callable[["Heed"], Any],
        steps_of: Callable[[Any], Sequence[Step] | None],
        on_bound: Callable[[float], None] = lambda _bound: None,
    ) -> "Outcome":
        """Solve a model, taking the plans of its solutions; without presolve once more where it seems to have none.

        HiGHS is given no starting point: with one it can tell a wrong objective, and so a wrong bound. A plan that is
        known before is offered instead.
        """
        from xengine_gui.solve.highs import Outcome  # noqa: PLC0415

        built = self.built(build)
        if built is None:
            return Outcome.STOPPED
        try:
            return self._solved(*built, steps_of, on_bound)
        finally:
            self.release(built[0])

    def _solved(
        self,
        model: Any,
        matrix: "Matrix",
        steps_of: Callable[[Any], Sequence[Step] | None],
        on_bound: Callable[[float], None],
    ) -> "Outcome":
        # Loaded on first use: Pyomo takes a second to import.
        from xengine_gui.solve.formulations.highs import Orders, solve_matrix  # noqa: PLC0415
        from xengine_gui.solve.highs import Outcome  # noqa: PLC0415

        def take() -> None:
            steps = steps_of(model)
            self.is_last_left_out = steps is not None and not self.offer(steps)
            if self.is_last_left_out:
                self.context.log("a solution was left out: as whole steps it passes a limit")

        orders = Orders(
            remaining_s=lambda: self.context.remaining_s,
            gap_ratio=self.context.options.gap_ratio,
            should_stop=self.context.should_stop,
            on_bound=on_bound,
            on_solution=take,
        )
        outcome = solve_matrix(matrix, orders)
        if outcome is Outcome.INFEASIBLE:
            outcome = solve_matrix(matrix, orders, presolve=False)
        self.is_undecided |= outcome not in (Outcome.SOLVED, Outcome.INFEASIBLE)
        return outcome

    def release(self, model: Any) -> None:
        """Be done with a model. After a stop there is no time for it: it stays until garbage is looked for."""
        from xengine_gui.solve.formulations.building import dismantle  # noqa: PLC0415

        if not self.context.stop.is_set():
            dismantle(model)
            gc.unfreeze()

    def built(self, build: Callable[["Heed"], Any]) -> "tuple[Any, Matrix] | None":
        """A model and its matrix, to be released in the end; `None` after a stop.

        To look through a model of millions of objects for garbage takes seconds in which nobody hears a stop. So this
        is put off until the model is done with, after a stop until the solver process is idle or the next one is built.
        """
        from xengine_gui.solve.formulations.building import Heed, StoppedError, matrix_of, without_gc  # noqa: PLC0415

        gc.unfreeze()
        try:
            with without_gc():
                model = build(Heed(self.context.should_stop))
                matrix = matrix_of(model, self.context.should_stop)
        except StoppedError:
            self.is_undecided = True
            return None
        self.context.log(f"the model has {len(matrix.columns):,} columns and {len(matrix.row_lower):,} rows")
        return model, matrix

    @property
    def is_closed(self) -> bool:
        """Whether the best plan is proved as close as was asked for."""
        bound, total = self.lower_bound_ns, self.total_ns
        return bound is not None and total - bound <= self.context.options.gap_ratio * total

    def plan(self, why: str = "", explanation: str = "") -> Plan:
        """The best plan so far with an explanation, or that there is none and why."""
        if self.steps is None:
            if self.is_undecided or self.context.should_stop():
                why = "No plan was found within the time; that none exists is not proved."
            # Who asked for a stop does not wait for words; a time limit leaves the moment that they take.
            missing = "" if self.context.stop.is_set() else what_is_missing(self.problem)
            return self.without(Status.UNKNOWN, f"{why} {missing}".strip())
        plan = finished_plan(
            self.problem,
            self.key,
            self.steps,
            lower_bound_ns=self.lower_bound_ns,
            runtime_s=self.context.elapsed_s,
            explanation=explanation,
        )
        return replace(plan, status=Status.OPTIMAL) if self.is_closed else plan

    def without(self, status: Status, explanation: str) -> Plan:
        """The answer where there is no plan."""
        return Plan(
            self.problem,
            self.key,
            status,
            lower_bound_ns=self.lower_bound_ns,
            runtime_s=self.context.elapsed_s,
            explanation=explanation,
        )
