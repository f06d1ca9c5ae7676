"""The strategy `retain-all`: nothing is computed twice, every tensor stays until its last use."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from xengine_gui.model.plan import Plan, Run, Status, Step
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.schedule.replay import StepReplay, replay_steps
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.greedy.actions import Action, finished_steps, kept_devices
from xengine_gui.solve.greedy.scripts import placements, script_of
from xengine_gui.solve.greedy.tables import Tables
from xengine_gui.solve.working_set import single_operator_proof
from xengine_gui.units import format_size

_MISSING_S = 1.0
"""How long it may take to find words for what is missing."""


@dataclass(frozen=True)
class RetainedTry:
    """Steps of one placement with what they replay to."""

    steps: list[Step]
    replay: StepReplay


def retained_tries(problem: Problem, should_stop: Callable[[], bool] = lambda: False) -> list[RetainedTry]:
    """Every placement worth a try without any recomputation, those that fit first, then the fastest first.

    After a stop there is one at most.
    """
    indexed = problem.indexed
    tables = Tables(indexed)
    tries: list[RetainedTry] = []
    for placement in placements(tables, should_stop):
        script = script_of(tables, placement)
        if script is None or sum(isinstance(action, Run) for action in script) > indexed.operator_count:
            continue
        for actions in (script, _frugal(tables, script)):
            steps = finished_steps(indexed, actions, kept_devices(indexed, actions))
            tries.append(RetainedTry(steps, replay_steps(indexed, steps)))
            if tries[-1].replay.fits or should_stop():
                break
    tries.sort(key=lambda t: (not t.replay.fits, t.replay.total_ns))
    return tries


def _frugal(tables: Tables, script: list[Action]) -> list[Action]:
    """The same script by the implementations of least workspace."""
    frugal: list[Action] = []
    for action in script:
        if isinstance(action, Run):
            rows = tables.indexed.implementations[action.operator][action.device]
            least = min(range(len(rows)), key=[(row.workspace_bytes, row.time_ns) for row in rows].__getitem__)
            frugal.append(action._replace(implementation=least))
        else:
            frugal.append(action)
    return frugal


def what_is_missing(problem: Problem) -> str:
    """In one sentence where memory falls short most when everything is retained, empty where it does not."""
    end = time.monotonic() + _MISSING_S
    return _shortfall(problem, retained_tries(problem, lambda: time.monotonic() >= end))


def _shortfall(problem: Problem, tries: list[RetainedTry]) -> str:
    if not tries or tries[0].replay.fits:
        return ""
    closest = min(tries, key=lambda t: max(v.over_bytes for v in t.replay.violations))
    worst = max(closest.replay.violations, key=lambda v: v.over_bytes)
    device, step = problem.devices[worst.device], closest.steps[worst.step]
    moment = (
        f"while {problem.operators[step.operator].name!r} runs"
        if isinstance(step, Run)
        else f"while {problem.tensors[step.tensor].name!r} is transferred"
    )
    return (
        f"With everything retained {device.name!r} misses {format_size(worst.over_bytes)} {moment}, "
        f"its limit is {format_size(device.memory_limit_bytes or 0)}."
    )


class RetainAll:
    """Plans without recomputation."""

    key = "retain-all"
    title = "Retain all"
    summary = (
        "Computes every operator once and retains each tensor until its last use, on the best placement that fits."
    )
    proves = False

    def supports(self, problem: Problem) -> str:  # noqa: ARG002
        """It plans every problem."""
        return ""

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        """The fastest placement that fits; unknown with the reason where none does, infeasible where that is plain."""
        tries = retained_tries(problem, context.should_stop)
        if tries and tries[0].replay.fits:
            plan = finished_plan(problem, self.key, tries[0].steps, runtime_s=context.elapsed_s)
            context.incumbent(plan)
            return plan
        proof = single_operator_proof(problem.indexed)
        if proof is not None:
            status, words = Status.INFEASIBLE, proof.sentence(problem)
        elif tries:
            status, words = Status.UNKNOWN, _shortfall(problem, tries) + " A plan with recomputation may fit."
        else:
            status, words = (
                Status.UNKNOWN,
                "No placement brings every tensor to its readers without computing it twice.",
            )
        return Plan(problem, self.key, status, runtime_s=context.elapsed_s, explanation=words)
