"""From a strategy's steps to its plan."""

from collections.abc import Sequence
from dataclasses import replace

from xengine_gui.model.plan import Clock, Plan, Status, Step
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.clock import overlapped_events, serial_events, steps_of
from xengine_gui.schedule.replay import replay, replay_steps


def finished_plan(
    problem: Problem,
    strategy_key: str,
    steps: Sequence[Step],
    *,
    status: Status = Status.FEASIBLE,
    lower_bound_ns: int | None = None,
    runtime_s: float = 0.0,
    explanation: str = "",
) -> Plan:
    """The plan of `steps` on the serial clock, with the total and the peaks that they replay to."""
    replay = replay_steps(problem.indexed, steps)
    return Plan(
        problem=problem,
        strategy=strategy_key,
        status=status,
        events=serial_events(problem, steps),
        total_ns=replay.total_ns,
        lower_bound_ns=lower_bound_ns,
        peak_bytes={d.name: peak for d, peak in zip(problem.devices, replay.peak_bytes, strict=True)},
        runtime_s=runtime_s,
        explanation=explanation,
    )


def on_clock(plan: Plan, clock: Clock) -> Plan:
    """The same steps on another clock, with the total and the peaks that they have there."""
    if plan.clock is clock or not plan.has_events:
        return plan
    steps = steps_of(plan.problem, plan.events)
    events = (serial_events if clock is Clock.SERIAL else overlapped_events)(plan.problem, steps)
    moved = replace(plan, clock=clock, events=events)
    replayed = replay(moved)
    peaks = {name: curve.peak_bytes for name, curve in replayed.memory.items()}
    return replace(moved, total_ns=replayed.total_ns, peak_bytes=peaks)
