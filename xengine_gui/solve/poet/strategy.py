"""The strategy `poet`: recomputation and paging to a storage, for the least energy or time by a deadline."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from xengine_gui.model.plan import Plan, Status, Step
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.formulations.one_device import single_devices
from xengine_gui.solve.formulations.search import Search
from xengine_gui.solve.formulations.strategy import why_not_single
from xengine_gui.solve.objective import Objective, plan_cost
from xengine_gui.solve.poet.first import first_steps
from xengine_gui.solve.poet.paging import Choices, Paging, pagings, steps_of_paging
from xengine_gui.units import format_duration, format_percent

MOST_RUNS = 30_000
"""Larger models, in pairs of a stage and an operator, are declined: a stop is heard too late while they are made."""

_KIND = "copies between stages alone, each operator at most once in a stage and by its fastest implementation"

_NO_BETTER = "HiGHS found no better plan within the time than a heuristic had at the start."


class Poet:
    """Plans by POET's formulation."""

    key = "poet"
    title = "POET"
    summary = (
        "Recomputation and paging to a storage for the least time or energy by a deadline, the MILP of POET (Patil et "
        "al., ICML 2022) on HiGHS; of several devices one computes and another stores."
    )
    proves = False
    objectives = (Objective.TIME, Objective.ENERGY)
    keeps_deadlines = True

    def supports(self, problem: Problem) -> str:
        """Why it cannot: no device runs everything, or the model, quadratic in the operators, is too large."""
        return why_not_single(problem, MOST_RUNS)

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        """The best plan that computes on one device and stores on another; no bound, since there are other plans."""
        search = _Search(problem, context, self.key)
        too_large = search.too_large()
        if too_large is not None:
            return too_large
        too_late = _deadline_proof(problem, context.options.deadline_ns)
        if too_late:
            return search.without(Status.INFEASIBLE, too_late)
        sides = [one for one in single_devices(problem) if one.room_bytes is None or one.room_bytes >= 0]
        ways = [way for one in sides for way in pagings(problem, one, search.objective, context.options.deadline_ns)]
        for steps in (steps for paging in ways for steps in first_steps(paging, context.should_stop)):
            search.offer(steps)
        search.begin()
        for paging in ways:
            if not context.should_stop() and search.cost > sum(paging.run_cost):
                search.solve(partial(_model, paging), partial(_steps, paging))
        return search.plan(
            f"No device with another as its storage has a plan of POET's kind ({_KIND})"
            f"{' by the deadline' if context.options.deadline_ns is not None else ''}; others may exist.",
            search.what_is_known(),
        )


def _deadline_proof(problem: Problem, deadline_ns: int | None) -> str:
    """Why no plan can keep a deadline, where its operators alone take longer."""
    least_ns = sum(min(way.time_ns for ways in row for way in ways) for row in problem.indexed.implementations)
    if deadline_ns is None or least_ns <= deadline_ns:
        return ""
    return (
        f"Computing every operator once by its fastest implementation takes {format_duration(least_ns)}, "
        f"longer than the deadline of {format_duration(deadline_ns)}."
    )


class _Search(Search):
    """A search for the least of an objective, among plans that end by the deadline."""

    def __init__(self, problem: Problem, context: SolveContext, key: str) -> None:
        super().__init__(problem, context, key)
        self.objective = context.options.objective
        self.cost: float = math.inf
        self.first_cost: float = math.inf

    def begin(self) -> None:
        """What there is now comes from heuristics."""
        self.first_cost = self.cost

    def offer(self, steps: Sequence[Step]) -> bool:
        """Take steps where they cost less than any before; false where they are no plan, or a late one."""
        replay = replay_steps(self.problem.indexed, steps)
        deadline_ns = self.context.options.deadline_ns
        if not replay.valid or (deadline_ns is not None and replay.total_ns > deadline_ns):
            return False
        cost = plan_cost(finished_plan(self.problem, self.key, steps), self.objective)
        if cost < self.cost:
            self.steps, self.total_ns, self.cost = list(steps), replay.total_ns, cost
            self.context.incumbent(self.plan())
        return True

    def what_is_known(self) -> str:
        """What HiGHS has proved of plans of this kind, where every model was solved to its end."""
        if self.is_undecided or self.context.should_stop():
            return "" if self.cost < self.first_cost else _NO_BETTER
        what = "energy" if self.objective is Objective.ENERGY else "time"
        gap = self.context.options.gap_ratio
        less = f"{format_percent(gap)} less" if gap else "less"
        by = " by the deadline" if self.context.options.deadline_ns is not None else ""
        return f"No plan of POET's kind ({_KIND}){by} takes {less} {what}; others may."


def _model(paging: Paging, heed: Any) -> Any:
    # Loaded on first use: Pyomo takes a second to import.
    from xengine_gui.solve.formulations.poet import poet_model  # noqa: PLC0415

    return poet_model(paging, heed)


def _steps(paging: Paging, model: Any) -> list[Step]:
    def chosen(variables: Any) -> Any:
        return lambda stage, item: variables[stage, item].value > 0.5

    return steps_of_paging(
        paging,
        Choices(
            runs=chosen(model.run),
            holds=chosen(model.held),
            stores=chosen(model.stored),
            ins=chosen(model.page_in),
            outs=chosen(model.page_out),
        ),
    )
