"""The strategy `optimal`: the watch-point method with the greedy plan to fall back on."""

from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.clock import steps_of
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.watchpoints.search import Search


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
        search = Search(problem, context, self.key)
        earlier = context.options.incumbent
        if earlier is not None and earlier.problem.operators == problem.operators:
            search.offer(steps_of(problem, earlier.events))
        search.run()
        plan = search.plan()
        if plan.status is Status.INFEASIBLE:
            return search.plan("No plan keeps the memory limits: proved by the relaxation at "
                               f"{max(1, len(search.points))} moments.")  # fmt: skip
        if plan.status is Status.UNKNOWN:
            return search.plan("No plan was found within the time; that none exists is not proved.")
        return plan
