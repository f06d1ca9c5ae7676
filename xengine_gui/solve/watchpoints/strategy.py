"""The strategy `optimal`: the watch-point method with the greedy plan to fall back on."""

from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.clock import steps_of
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.retain_all import what_is_missing
from xengine_gui.solve.working_set import single_operator_proof


class Optimal:
    """Plans with a proof of quality."""

    key = "optimal"
    title = "Optimal (watch points)"
    summary = (
        "Proves how good its plan is: memory rows only at the moments that matter, after Checkmate (Jain et al. 2020) "
        "and XEngine (Schuler et al. 2022)."
    )
    proves = True

    def supports(self, problem: Problem) -> str:  # noqa: ARG002
        """It plans every problem."""
        return ""

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        """Plan until the gap is closed, time is up or stop is asked for; the best plan so far is handed back."""
        # Loaded on first use: numpy, scipy and HiGHS take longer to import than most lists of strategies to show.
        from xengine_gui.solve.watchpoints.search import Search  # noqa: PLC0415

        search = Search(problem, context, self.key)
        earlier = context.options.incumbent
        if earlier is not None and earlier.has_events and earlier.problem.operators == problem.operators:
            search.offer(steps_of(problem, earlier.events))
        search.run()
        plan = search.plan()
        return plan if plan.has_events else search.plan(_without_plan(problem, plan.status))


def _without_plan(problem: Problem, status: Status) -> str:
    """Why there is no plan, in words."""
    missing = what_is_missing(problem)
    if status is Status.UNKNOWN:
        return f"No plan was found within the time; that none exists is not proved. {missing}".strip()
    proof = single_operator_proof(problem.indexed)
    if proof is not None:
        return proof.sentence(problem)
    return f"No plan keeps the memory limits; this is proved. {missing}".strip()
