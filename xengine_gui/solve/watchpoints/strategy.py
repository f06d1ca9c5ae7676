"""The strategy `optimal`: the watch-point method with the greedy plan to fall back on."""

from dataclasses import replace
from typing import TYPE_CHECKING

from xengine_gui.model.plan import Compute, Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.clock import steps_of
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.retain_all import what_is_missing
from xengine_gui.solve.working_set import single_operator_proof

if TYPE_CHECKING:
    from xengine_gui.solve.watchpoints.search import Search

_EXPLAINING_S = 10.0
_LEAST_EXPLAINING_S = 0.1
"""With less time left the smallest limits are not looked for."""


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
        if single_operator_proof(problem.indexed) is not None:
            from xengine_gui.solve.shortage import shortage  # noqa: PLC0415

            words = shortage(problem, stop=context.stop, time_s=context.remaining_s).words(problem)
            return Plan(problem, self.key, Status.INFEASIBLE, runtime_s=context.elapsed_s, explanation=words)
        # Loaded on first use: numpy, scipy and HiGHS take longer to import than most lists of strategies to show.
        from xengine_gui.solve.watchpoints.search import Search  # noqa: PLC0415

        search = Search(problem, context, self.key, bound_ns=context.options.known_bound_ns)
        _start(search, context)
        search.run()
        plan = search.plan()
        plan = replace(plan, explanation=_ease(plan)) if plan.has_events else search.plan(_without_plan(search))
        # Replanning starts from the points that matter: those whose memory rows cost something in the last LP.
        return replace(plan, watch_points=tuple(point for point in search.points if point not in search.slack))


def _start(search: "Search", context: SolveContext) -> None:
    """Begin with the last plan, repaired where it has to be, and the moments that mattered to it."""
    from xengine_gui.solve.watchpoints.start import kept_within, moments_from, steps_from  # noqa: PLC0415

    earlier, indexed = context.options.incumbent, search.problem.indexed
    steps = None if earlier is None else steps_from(search.problem, earlier)
    if steps is None or earlier is None:
        return
    search.points = moments_from(indexed, steps, earlier.watch_points)
    kept = kept_within(indexed, steps, context.should_stop)
    if kept is not None:
        search.offer(kept)


def _ease(plan: Plan) -> str:
    """Say so where the limits ask for no recomputation."""
    limited = any(device.memory_limit_bytes is not None for device in plan.problem.devices)
    if not limited or any(isinstance(event, Compute) and event.again for event in plan.events):
        return ""
    return "It fits without recomputation."


def _without_plan(search: "Search") -> str:
    """Why there is no plan, in words; a plan that comes up while they are looked for is offered to the search."""
    from xengine_gui.solve.shortage import shortage  # noqa: PLC0415 - it may load the solver

    problem, context = search.problem, search.context
    time_s = min(_EXPLAINING_S, context.remaining_s)
    if context.stop.is_set() or time_s < _LEAST_EXPLAINING_S:
        missing = what_is_missing(problem)
        if search.infeasible:
            return f"No plan keeps the memory limits; this is proved. {missing}".strip()
        ended = (
            "Planning was stopped before a plan was found" if context.stop.is_set() else "No plan was found in the time"
        )
        return f"{ended}; that none exists is not proved. {missing}".strip()
    context.log("There is no plan so far; looking for the smallest limits that would do.")
    short = shortage(problem, stop=context.stop, time_s=time_s, proved=search.infeasible, points=search.points)
    if short.plan is not None and search.offer(steps_of(problem, short.plan.events)):
        return ""
    search.infeasible = search.infeasible or short.proved
    return short.words(problem)
