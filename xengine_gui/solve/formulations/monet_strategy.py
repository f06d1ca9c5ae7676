"""The strategy `monet`: checkpoints and implementations chosen together on one device; on several, the best one."""

import math
from dataclasses import replace
from functools import partial

from xengine_gui.model.plan import Plan, Status, Step
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.formulations.monet_device import MonetDevice, backward_from, monet_device
from xengine_gui.solve.formulations.monet_start import monet_start
from xengine_gui.solve.formulations.one_device import on_one_device
from xengine_gui.solve.retain_all import what_is_missing
from xengine_gui.solve.working_set import single_operator_proof
from xengine_gui.units import format_count, format_percent

MOST_CHOICES = 100_000
"""Larger models, in runs and choices of an implementation, are declined: building them alone takes minutes."""

_ROUNDING = 1e-6
"""How far a solver's bound may be off, as a share."""


class Monet:
    """Plans by MONeT's formulation."""

    key = "monet"
    title = "MONeT"
    summary = (
        "Chooses together which tensors are stored for the backward pass and which implementation each run takes "
        "(Shah et al., ICLR 2021), in Pyomo and on HiGHS; on several devices the best single one."
    )
    proves = True

    def supports(self, problem: Problem) -> str:
        """Why it cannot: no device runs everything, or the model is too large."""
        sides = _single_devices(problem)
        if not sides:
            return "no device alone can run every operator"
        choices = max(side.run_count + side.use_count for side in sides)
        if choices > MOST_CHOICES:
            operators = format_count(len(problem.operators), "operator")
            return f"for {operators} its model has {choices:,} choices, more than {MOST_CHOICES:,}"
        return ""

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        """The best plan on any single device; a bound only where the model has every staged plan."""
        search = _Search(problem, context, self.key)
        proof = single_operator_proof(problem.indexed)
        if proof is not None:
            return search.without(Status.INFEASIBLE, proof.sentence(problem))
        for side in sorted(_single_devices(problem), key=_least_ns):
            if not context.should_stop() and search.total_ns > _least_ns(side):
                search.solve(side)
        search.complete = not context.should_stop()
        return search.plan()


def _single_devices(problem: Problem) -> list[MonetDevice]:
    sides = (on_one_device(problem.indexed, device) for device in range(len(problem.devices)))
    return [monet_device(side, backward_from(problem)) for side in sides if side is not None]


def _least_ns(side: MonetDevice) -> int:
    return sum(side.choice_rows(operator)[ways[0]].time_ns for operator, ways in enumerate(side.ways))


class _Search:
    """What is known while one device after the other is solved."""

    def __init__(self, problem: Problem, context: SolveContext, key: str) -> None:
        self.problem, self.context, self.key = problem, context, key
        self.steps: list[Step] | None = None
        self.total_ns = math.inf
        self.lower_bound_ns: int | None = None
        self.undecided = self.complete = False

    def solve(self, side: MonetDevice) -> None:
        """Solve the model of one device; without presolve once more where it seems to have no solution."""
        # Loaded on first use: Pyomo takes a second to import.
        from xengine_gui.solve.formulations.highs import Orders, solve  # noqa: PLC0415
        from xengine_gui.solve.formulations.monet import monet_model, monet_steps  # noqa: PLC0415
        from xengine_gui.solve.highs import Outcome  # noqa: PLC0415

        self.context.log(
            f"the model of {self.problem.devices[side.device].name!r} has {format_count(side.run_count, 'run')} and "
            f"{format_count(side.use_count, 'choice')} of an implementation"
        )
        start = monet_start(side, self.context.should_stop)
        if start is not None:
            self._take(start.steps)
        model = monet_model(side)
        outcome = Outcome.INFEASIBLE
        for presolve in (True, False):
            if outcome is Outcome.INFEASIBLE:
                orders = Orders(
                    remaining_s=lambda: self.context.remaining_s,
                    gap_ratio=self.context.options.gap_ratio,
                    should_stop=self.context.should_stop,
                    on_bound=partial(self._raise_bound, side),
                    on_solution=lambda: self._take(monet_steps(side, model)),
                )
                outcome = solve(model, orders, presolve=presolve)
        self.undecided |= outcome not in (Outcome.SOLVED, Outcome.INFEASIBLE)

    def _raise_bound(self, side: MonetDevice, bound: float) -> None:
        """Hear of a bound in the model's unit of time; it is worth something where the model has all plans."""
        if not side.whole or not math.isfinite(bound):
            return
        bound_ns = side.time_unit_ns * math.ceil(bound - _ROUNDING * max(1.0, abs(bound)))
        if self.lower_bound_ns is None or bound_ns > self.lower_bound_ns:
            self.lower_bound_ns = bound_ns
            self.context.bound(bound_ns)

    def _take(self, steps: list[Step]) -> None:
        """Keep steps that are a plan and better than any before."""
        replay = replay_steps(self.problem.indexed, steps)
        if not replay.valid:
            self.context.log("a solution was left out: rounded to whole bytes it passes the limit")
        elif replay.total_ns < self.total_ns:
            self.steps, self.total_ns = steps, replay.total_ns
            self.context.incumbent(self.plan())

    def plan(self) -> Plan:
        """The best plan so far, or why there is none."""
        if self.steps is None:
            return self.without(Status.UNKNOWN, f"{self._why()} {self._missing()}".strip())
        plan = finished_plan(
            self.problem,
            self.key,
            self.steps,
            lower_bound_ns=self.lower_bound_ns,
            runtime_s=self.context.elapsed_s,
            explanation=self._how_good(),
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

    def _how_good(self) -> str:
        """What is proved of the plan among those of MONeT's kind."""
        if self.lower_bound_ns is not None or self.undecided or not self.complete:
            return ""
        gap = format_percent(self.context.options.gap_ratio)
        return f"Within {gap} of the best plan of MONeT's kind on a single device; of other plans nothing is proved."

    def _why(self) -> str:
        if self.undecided or not self.complete:
            return "No plan was found within the time; that none exists is not proved."
        return (
            "No device alone has a plan of MONeT's kind (only operators of the forward pass run again, each at most "
            "once between two operators of the backward pass); others may exist."
        )

    def _missing(self) -> str:
        return "" if self.context.should_stop() else what_is_missing(self.problem)
