"""From a strategy's steps to its plan."""

from collections.abc import Sequence

from xengine_gui.model.plan import Plan, Status, Step
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.clock import serial_events
from xengine_gui.schedule.replay import replay_steps


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
