"""From simulations to a plan: each device that can run everything, each variant, and the best of what comes out."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from xengine_gui.model.plan import Plan, Status, Step
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.formulations.one_device import OneDevice, single_devices
from xengine_gui.solve.online.simulator import GivenUpError, Limits, Simulated, Why
from xengine_gui.solve.working_set import single_operator_proof
from xengine_gui.units import format_duration

_FAR_BEHIND = 2
"""A simulation is broken off once its time is that many times the best so far."""


_SMALL_OPERATORS = 500
"""Up to so many operators everything is tried: a second or two at most."""


@dataclass(frozen=True)
class Variant:
    """A way to simulate, with the words that tell it from the others.

    One that comes `after` a reason is tried where the others found nothing, one of them for that reason; and on small
    graphs.
    """

    words: str
    simulate: Callable[[OneDevice, Limits], Simulated]
    after: Why | None = None


def without_single_device(problem: Problem) -> str:
    """Why an online method cannot plan a problem, empty where it can."""
    able = (all(ways[d] for ways in problem.indexed.implementations) for d in range(len(problem.devices)))
    return "" if any(able) else "no device alone can run every operator"


def frugal(side: OneDevice) -> OneDevice:
    """The same device with each operator by the implementation of least workspace."""
    rows = [ways[side.device] for ways in side.indexed.implementations]
    chosen = [min(range(len(row)), key=[(way.workspace_bytes, way.time_ns) for way in row].__getitem__) for row in rows]
    return replace(
        side,
        implementation=tuple(chosen),
        time_ns=tuple(row[j].time_ns for row, j in zip(rows, chosen, strict=True)),
        workspace_bytes=tuple(row[j].workspace_bytes for row, j in zip(rows, chosen, strict=True)),
    )


class OnlineSearch:
    """The best plan so far, and why other tries came to nothing."""

    def __init__(self, problem: Problem, context: SolveContext, key: str, method: str) -> None:
        self.problem, self.context, self.key, self.method = problem, context, key, method
        self.plan: Plan | None = None
        self.failures: list[tuple[int, GivenUpError]] = []

    def run(self, variants: Callable[[OneDevice], Iterable[Variant]]) -> Plan:
        """Try every variant on every device, the fastest device first; implementations of least workspace come last."""
        proof = single_operator_proof(self.problem.indexed)
        if proof is not None:
            return self._without(Status.INFEASIBLE, proof.sentence(self.problem))
        for side in single_devices(self.problem):
            if not self._try(side, variants) and frugal(side) != side:
                self._try(frugal(side), variants)
        return self.plan or self._without(Status.UNKNOWN, self._reason())

    def _try(self, side: OneDevice, variants: Callable[[OneDevice], Iterable[Variant]]) -> bool:
        """Try the variants on a device; whether one of them found a plan."""
        found = False
        before = len(self.failures)
        for variant in variants(side):
            reasons = {error.why for _, error in self.failures[before:]}
            if variant.after and len(side.time_ns) > _SMALL_OPERATORS and (found or variant.after not in reasons):
                continue
            if self.context.should_stop() or sum(side.time_ns) >= self._best_ns():
                break
            try:
                simulated = variant.simulate(side, Limits(self.context.should_stop, _FAR_BEHIND * self._best_ns()))
            except GivenUpError as error:
                self.failures.append((side.device, error))
                self.context.log(f"{self._place(side)}, {variant.words}: {self._words(error)}")
                continue
            found = self._take(side, variant, simulated.steps) or found
            if not simulated.eviction_count:  # memory was never short, so the others would do the same
                break
        return found

    def _best_ns(self) -> float:
        return float("inf") if self.plan is None or self.plan.total_ns is None else self.plan.total_ns

    def _take(self, side: OneDevice, variant: Variant, steps: list[Step]) -> bool:
        replay = replay_steps(self.problem.indexed, steps)
        if not replay.valid:
            self.context.log(f"{self._place(side)}, {variant.words}: the plan was left out, since it breaks a rule")
            return False
        words = f"{self._place(side)}, {variant.words}: {format_duration(replay.total_ns)}"
        self.context.log(words)
        if replay.total_ns < self._best_ns():
            self.plan = finished_plan(
                self.problem,
                self.key,
                steps,
                runtime_s=self.context.elapsed_s,
                explanation=f"{self.method} {self._place(side)}, {variant.words}.",
            )
            self.context.incumbent(self.plan)
        return True

    def _place(self, side: OneDevice) -> str:
        return f"on {self.problem.devices[side.device].name!r}"

    def _words(self, error: GivenUpError) -> str:
        operator = self.problem.operators[error.operator].name
        return {
            Why.NO_ROOM: f"no room for {operator!r} beside what is locked",
            Why.THRASHING: f"it computes the same again and again, at last {operator!r}",
            Why.COSTLY: "too many evicted tensors to look at",
            Why.SLOWER: f"more than {_FAR_BEHIND} times as long as the best so far",
            Why.STOPPED: "stopped",
        }[error.why]

    def _reason(self) -> str:
        if self.context.should_stop():
            return f"{self.method} was stopped before it had found a plan."
        if not self.failures:
            return f"{self.method} found no plan; that none exists is not proved."
        device, error = self.failures[0]
        return (
            f"{self.method} found no plan on {self.problem.devices[device].name!r}: {self._words(error)}; "
            "that none exists is not proved."
        )

    def _without(self, status: Status, explanation: str) -> Plan:
        return Plan(self.problem, self.key, status, runtime_s=self.context.elapsed_s, explanation=explanation)
