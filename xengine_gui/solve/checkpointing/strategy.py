"""What the checkpointing strategies share: they try what their rule gives, and hand back the fastest that fits."""

import math
from abc import ABC, abstractmethod

from xengine_gui.model.plan import Plan, Status, Step
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.checkpointing.forward_part import ForwardPart, forward_part
from xengine_gui.solve.checkpointing.layout import layout
from xengine_gui.solve.checkpointing.sweeps import Retention, run_order
from xengine_gui.solve.formulations.one_device import OneDevice, single_devices
from xengine_gui.solve.working_set import single_operator_proof
from xengine_gui.units import format_count, format_size


class Search:
    """The best plan so far, and what kept the others from being one."""

    def __init__(self, problem: Problem, context: SolveContext, key: str) -> None:
        self.problem, self.context, self.key = problem, context, key
        self.steps: list[Step] | None = None
        self.total_ns = math.inf
        self.tried = 0
        self.closest: tuple[int, int, int] | None = None  # bytes over the limit, device, operator
        self.too_long = False
        self.obstacle = "Every plan of this method computes so much again that it was given up; others may exist."

    def should_stop(self) -> bool:
        """Whether to hand back what there is."""
        return self.context.should_stop()

    def attempt(self, part: ForwardPart, retention: Retention, words: str) -> bool:
        """Plan by what a method retains; whether it fits. `words` name the method's parameter.

        A plan that would not be faster than the best is not made, and counts as one that fits.
        """
        order = run_order(part, retention, ceiling_ns=self.total_ns, should_stop=self.should_stop)
        if order is None:
            self.too_long |= self.steps is None
            return self.steps is not None
        return self.attempt_order(part.one, order, words)

    def attempt_order(self, one: OneDevice, order: list[int], words: str) -> bool:
        """Lay out an order of operators; whether it fits."""
        self.tried += 1
        laid = layout(one, order)
        if laid.over_bytes:
            if self.closest is None or laid.over_bytes < self.closest[0]:
                self.closest = laid.over_bytes, one.device, laid.operator
            return False
        replay = replay_steps(self.problem.indexed, laid.steps)
        if replay.valid and replay.total_ns < self.total_ns:
            self.steps, self.total_ns = laid.steps, replay.total_ns
            self.context.log(f"{words} on {self.problem.devices[one.device].name!r} fit")
            self.context.incumbent(self.plan())
        return replay.valid

    def plan(self) -> Plan:
        """The best plan so far, or why there is none."""
        if self.steps is not None:
            return finished_plan(self.problem, self.key, self.steps, runtime_s=self.context.elapsed_s)
        return self.without(Status.UNKNOWN, self._why())

    def without(self, status: Status, explanation: str) -> Plan:
        """The answer where there is no plan."""
        return Plan(self.problem, self.key, status, runtime_s=self.context.elapsed_s, explanation=explanation)

    def _why(self) -> str:
        if self.should_stop():
            return "It was stopped before a plan was found; that none exists is not proved."
        if self.closest is None:
            return self.obstacle
        over_bytes, device, operator = self.closest
        others = " (longer ones were given up)" if self.too_long else ""
        return (
            f"Of the {format_count(self.tried, 'plan')} tried{others} none fits: the closest misses "
            f"{format_size(over_bytes)} on {self.problem.devices[device].name!r} while "
            f"{self.problem.operators[operator].name!r} runs; a plan of another kind may exist."
        )


class CheckpointingStrategy(ABC):
    """Plans on the best single device by retaining some forward tensors and computing the others again."""

    key: str
    title: str
    summary: str
    proves = False

    def supports(self, problem: Problem) -> str:
        """Why it cannot: no device runs everything."""
        return "" if single_devices(problem) else "no device alone can run every operator"

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        """The fastest plan of this method that fits on a single device, or why there is none."""
        search = Search(problem, context, self.key)
        proof = single_operator_proof(problem.indexed)
        if proof is not None:
            return search.without(Status.INFEASIBLE, proof.sentence(problem))
        for one in single_devices(problem):
            if not context.should_stop() and search.total_ns > sum(one.time_ns):
                self.search(search, forward_part(problem, one))
        return search.plan()

    @abstractmethod
    def search(self, search: Search, part: ForwardPart) -> None:
        """Attempt what the method's rule gives on one device."""
