"""The strategy `checkmate`: the paper's MILP on one device; on several, the best single device."""

import math
from dataclasses import replace
from functools import partial
from typing import Any

from xengine_gui.model.plan import Plan, Status, Step
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.formulations.one_device import OneDevice, on_one_device, steps_of_stages
from xengine_gui.solve.retain_all import what_is_missing
from xengine_gui.solve.working_set import single_operator_proof
from xengine_gui.units import format_count

MOST_RUNS = 150_000
"""Larger models, in pairs of a stage and an operator, are declined: this many take a gibibyte and 15 s to build."""

_ROUNDING = 1e-6
"""How far a solver's bound may be off, as a share."""


class Checkmate:
    """Plans by Checkmate's formulation."""

    key = "checkmate"
    title = "Checkmate"
    summary = (
        "The staged MILP of Checkmate (Jain et al., MLSys 2020), in Pyomo and on HiGHS; on several devices the best "
        "single one."
    )
    proves = True

    def supports(self, problem: Problem) -> str:
        """Why it cannot: no device runs everything, or the model, quadratic in the operators, is too large."""
        sides = _single_devices(problem)
        if not sides:
            return "no device alone can run every operator"
        runs = max(side.run_count for side in sides)
        if runs > MOST_RUNS:
            operators = format_count(len(problem.operators), "operator")
            return f"for {operators} its model has {runs:,} run variables, more than {MOST_RUNS:,}"
        return ""

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        """The best plan on any single device, with a bound where these are all the plans that there are."""
        search = _Search(problem, context, self.key)
        proof = single_operator_proof(problem.indexed)
        if proof is not None:
            return search.without(Status.INFEASIBLE, proof.sentence(problem))
        for side in sorted(_single_devices(problem), key=lambda side: sum(side.time_ns)):
            if not context.should_stop() and search.total_ns > sum(side.time_ns):
                search.solve(side)
        return search.plan()


def _single_devices(problem: Problem) -> list[OneDevice]:
    sides = (on_one_device(problem.indexed, device) for device in range(len(problem.devices)))
    return [side for side in sides if side is not None]


class _Search:
    """What is known while one device after the other is solved."""

    def __init__(self, problem: Problem, context: SolveContext, key: str) -> None:
        self.problem, self.context, self.key = problem, context, key
        self.steps: list[Step] | None = None
        self.total_ns = math.inf
        self.lower_bound_ns: int | None = None
        self.undecided = False

    def solve(self, side: OneDevice) -> None:
        """Solve the model of one device; without presolve once more where it seems to have no solution."""
        # Loaded on first use: Pyomo takes a second to import.
        from xengine_gui.solve.formulations.building import Heed, StoppedError, matrix_of  # noqa: PLC0415
        from xengine_gui.solve.formulations.checkmate import checkmate_model  # noqa: PLC0415
        from xengine_gui.solve.formulations.highs import Orders, solve_matrix  # noqa: PLC0415
        from xengine_gui.solve.highs import Outcome  # noqa: PLC0415

        try:
            model = checkmate_model(side, Heed(self.context.should_stop))
            matrix = matrix_of(model, self.context.should_stop)
        except StoppedError:
            self.undecided = True
            return
        self.context.log(
            f"the model of {self.problem.devices[side.device].name!r} has {len(matrix.columns):,} columns and "
            f"{len(matrix.row_lower):,} rows"
        )
        outcome = Outcome.INFEASIBLE
        for presolve in (True, False):
            if outcome is Outcome.INFEASIBLE:
                orders = Orders(
                    remaining_s=lambda: self.context.remaining_s,
                    gap_ratio=self.context.options.gap_ratio,
                    should_stop=self.context.should_stop,
                    on_bound=partial(self._raise_bound, side),
                    on_solution=partial(self._take, side, model),
                )
                outcome = solve_matrix(matrix, orders, presolve=presolve)
        self.undecided |= outcome is not Outcome.INFEASIBLE

    def _raise_bound(self, side: OneDevice, bound: float) -> None:
        """Hear of a bound in the model's unit of time; it is worth something where the model has all plans."""
        if not side.whole or not math.isfinite(bound):
            return
        bound_ns = side.time_unit_ns * math.ceil(bound - _ROUNDING * max(1.0, abs(bound)))
        if self.lower_bound_ns is None or bound_ns > self.lower_bound_ns:
            self.lower_bound_ns = bound_ns
            self.context.bound(bound_ns)

    def _take(self, side: OneDevice, model: Any) -> None:
        """Keep the plan of the model's present solution where it is better than any before."""
        steps = steps_of_stages(
            side,
            runs=lambda stage, operator: model.run[stage, operator].value > 0.5,
            holds=lambda stage, tensor: model.held[stage, tensor].value > 0.5,
        )
        replay = replay_steps(self.problem.indexed, steps)
        if not replay.valid:
            self.context.log("a solution was left out: rounded to whole bytes it passes the limit")
        elif replay.total_ns < self.total_ns:
            self.steps, self.total_ns = steps, replay.total_ns
            self.context.incumbent(self.plan())

    def plan(self) -> Plan:
        """The best plan so far, or why there is none."""
        if self.steps is None:
            return self.without(Status.UNKNOWN, f"{self._why()} {what_is_missing(self.problem)}".strip())
        plan = finished_plan(
            self.problem, self.key, self.steps, lower_bound_ns=self.lower_bound_ns, runtime_s=self.context.elapsed_s
        )
        closed = plan.gap_ratio is not None and plan.gap_ratio <= self.context.options.gap_ratio
        return replace(plan, status=Status.OPTIMAL) if closed else plan

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

    def _why(self) -> str:
        if self.undecided or self.context.should_stop():
            return "No plan was found within the time; that none exists is not proved."
        return (
            "No device alone has a plan of this kind (each operator at most once in a stage, by its fastest "
            "implementation); others may exist."
        )
