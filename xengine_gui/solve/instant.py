"""A plan at once, for limits that are being dragged: the last plan repaired, or a greedy one, whichever is quicker.

The window's second solver process asks this module for its strategy. It is on no list: it stops at the first good
answer, and what it finds is only shown until a real strategy has planned.
"""

from collections.abc import Callable

from xengine_gui.model.plan import Plan, Status, Step
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.greedy.portfolio import greedy_steps, improve_steps
from xengine_gui.solve.watchpoints.start import kept_within, steps_from

KEY = "instant"
_FEW_OPERATORS = 1000
"""Up to so many there is time to make a plan that was kept a little better."""


class Instant:
    """Repairs the plan that is given, and makes a greedy one beside it; the cheaper one is handed back."""

    key = KEY
    title = "At once"
    summary = "Repairs the last plan where it breaks the limits of now, or makes a greedy one."
    proves = False

    def supports(self, problem: Problem) -> str:  # noqa: ARG002
        """It plans every problem."""
        return ""

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        """The better of two quick plans, each told as soon as it is there."""
        best: Plan | None = None
        kept = _kept(problem, context)
        ways: tuple[Callable[[], list[Step] | None], ...] = (
            lambda: kept,
            lambda: _improved(problem, kept, context),
            lambda: greedy_steps(problem.indexed, context.should_stop, effort=0),
        )
        for make in ways:
            steps = None if best is not None and context.should_stop() else make()
            if steps is None or not replay_steps(problem.indexed, steps).valid:
                continue
            plan = finished_plan(problem, self.key, steps, runtime_s=context.elapsed_s)
            if best is None or (plan.total_ns or 0) < (best.total_ns or 0):
                best = plan
                context.incumbent(plan)
        return best or Plan(problem, self.key, Status.UNKNOWN, explanation="No plan was found at once.")


def strategy(_key: str) -> Instant:
    """The one strategy that there is here."""
    return Instant()


def _kept(problem: Problem, context: SolveContext) -> list[Step] | None:
    """The plan that is given, repaired where it breaks limits."""
    earlier = context.options.incumbent
    steps = None if earlier is None else steps_from(problem, earlier)
    return None if steps is None else kept_within(problem.indexed, steps, context.should_stop)


def _improved(problem: Problem, kept: list[Step] | None, context: SolveContext) -> list[Step] | None:
    if kept is None or len(problem.operators) > _FEW_OPERATORS:
        return None
    return improve_steps(problem.indexed, kept, context.should_stop, effort=0)
