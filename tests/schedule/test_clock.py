"""Both clocks: nothing is lost, no limit breaks, and side by side is never slower than one after the other."""

from hypothesis import HealthCheck, given, settings
from problems import problems_with_steps

from xengine_gui.model.device import Device, Link
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.plan import Clock, Compute, Drop, Move, Run, Step, Transfer
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Tensor
from xengine_gui.schedule.clock import overlapped_events, serial_events, steps_of
from xengine_gui.schedule.finish import finished_plan, on_clock
from xengine_gui.schedule.verify import verify

many = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))


@many
@given(problems_with_steps())
def test_steps_come_back_from_serial_events(made: tuple[Problem, list[Step]]) -> None:
    problem, steps = made
    assert steps_of(problem, serial_events(problem, steps)) == steps


@many
@given(problems_with_steps())
def test_the_overlapped_clock_keeps_every_rule_and_is_no_slower(made: tuple[Problem, list[Step]]) -> None:
    problem, steps = made
    serial = finished_plan(problem, "test", steps)
    overlapped = on_clock(serial, Clock.OVERLAPPED)
    assert verify(overlapped).broken == ()
    assert overlapped.total_ns is not None
    assert serial.total_ns is not None
    assert overlapped.total_ns <= serial.total_ns
    back = on_clock(overlapped, Clock.SERIAL)
    assert verify(back).broken == ()
    assert back.total_ns == serial.total_ns


def pipeline(limit_bytes: int | None) -> Problem:
    """Three operators on the gpu, 10 ns and 4 bytes each with 2 bytes of workspace; copies to the cpu take 7 ns."""
    operators = tuple(
        Operator(f"o{i}", "Conv", Phase.FORWARD, (), (f"t{i}",), costs={"gpu": (Implementation(10, 2),)})
        for i in range(3)
    )
    return Problem(
        name="pipeline",
        devices=(Device("gpu", "gpu", limit_bytes), Device("cpu", "cpu")),
        operators=operators,
        tensors=tuple(Tensor(f"t{i}", 4) for i in range(3)),
        links=(Link("gpu", "cpu", 10**9, 3),),
    )


STEPS: list[Step] = [Run(0, 0), Move(0, 1, 0), Drop(0, 0), Run(0, 1), Move(0, 1, 1), Drop(0, 1), Run(0, 2)]


def test_transfers_run_beside_operators_where_there_is_room() -> None:
    events = overlapped_events(pipeline(None), STEPS)
    assert [(e.start_ns, e.end_ns) for e in events if isinstance(e, Compute)] == [(0, 10), (10, 20), (20, 30)]
    assert [(e.start_ns, e.end_ns) for e in events if isinstance(e, Transfer)] == [(10, 17), (20, 27)]


def test_an_allocation_waits_for_the_free_that_makes_room() -> None:
    # 6 bytes are one tensor and its workspace, so each operator waits until the last tensor has been moved out.
    events = overlapped_events(pipeline(6), STEPS)
    assert [(e.start_ns, e.end_ns) for e in events if isinstance(e, Compute)] == [(0, 10), (17, 27), (34, 44)]


def test_a_link_carries_one_transfer_at_a_time() -> None:
    problem = pipeline(None)
    events = overlapped_events(problem, [Run(0, 0), Run(0, 1), Run(0, 2), Move(0, 1, 0), Move(0, 1, 2), Move(0, 1, 1)])
    assert [(e.tensor, e.start_ns) for e in events if isinstance(e, Transfer)] == [("t0", 10), ("t2", 30), ("t1", 37)]
