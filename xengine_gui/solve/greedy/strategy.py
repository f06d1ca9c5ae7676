"""The strategy `greedy`."""

from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.greedy.portfolio import greedy_steps
from xengine_gui.solve.retain_all import what_is_missing
from xengine_gui.solve.working_set import single_operator_proof

_THOROUGH_OPERATORS = 500
"""Up to so many operators everything is tried: a few seconds at most."""


class Greedy:
    """Plans at once, without a proof."""

    key = "greedy"
    title = "Greedy"
    summary = (
        "Finds a valid plan at once: at the moment of the worst excess it drops, moves or runs elsewhere what costs "
        "least per byte freed, then retains more where that pays; in the spirit of DTR (Kirisame et al. 2021)."
    )
    proves = False

    def supports(self, problem: Problem) -> str:  # noqa: ARG002
        """It plans every problem."""
        return ""

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        """The first plan at once, then a better one; unknown with the reason where none is found."""
        proof = single_operator_proof(problem.indexed)
        if proof is not None:
            return self._without(problem, context, Status.INFEASIBLE, proof.sentence(problem))
        best: Plan | None = None
        small = len(problem.operators) <= _THOROUGH_OPERATORS
        for effort in (0, 1, 2) if small else (0, 1):
            steps = (
                None
                if context.should_stop() and effort
                else greedy_steps(problem.indexed, context.should_stop, effort=effort)
            )
            if steps is None or not replay_steps(problem.indexed, steps).valid:
                continue
            plan = finished_plan(problem, self.key, steps, runtime_s=context.elapsed_s)
            if best is None or (plan.total_ns or 0) < (best.total_ns or 0):
                best = plan
                context.incumbent(plan)
        if best is not None:
            return best
        words = f"No plan was found; that none exists is not proved. {what_is_missing(problem)}".strip()
        return self._without(problem, context, Status.UNKNOWN, words)

    def _without(self, problem: Problem, context: SolveContext, status: Status, explanation: str) -> Plan:
        return Plan(problem, self.key, status, runtime_s=context.elapsed_s, explanation=explanation)
