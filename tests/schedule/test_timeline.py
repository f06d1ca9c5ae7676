"""The arrays that are painted hold every event, and the highest level of each device."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from problems import problems_with_steps

from xengine_gui.model.device import Device
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.plan import Clock, Drop, Plan, Run, Status, Step
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Tensor
from xengine_gui.schedule.finish import finished_plan, on_clock
from xengine_gui.schedule.timeline import Category, timeline


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(problems_with_steps(), st.sampled_from(Clock))
def test_every_event_is_painted_where_it_happens(made: tuple[Problem, list[Step]], clock: Clock) -> None:
    problem, steps = made
    plan = on_clock(finished_plan(problem, "test", steps), clock)
    painted = timeline(plan)
    seen: list[int] = []
    for device in painted.devices:
        for bars in (device.compute, device.incoming, device.outgoing):
            assert list(bars.start_ns) == sorted(bars.start_ns)
            for start, end, event in zip(bars.start_ns, bars.end_ns, bars.event, strict=True):
                assert (start, end) == (plan.events[event].start_ns, plan.events[event].end_ns)
        seen += [*device.compute.event, *device.incoming.event, *device.free_event]
        assert device.peak_bytes == plan.peak_bytes[device.device] == device.memory_bytes.max()
        assert device.memory_ns[-1] == painted.end_ns == plan.total_ns
        assert (np.diff(device.memory_ns) >= 0).all()
    assert sorted(seen) == list(range(len(plan.events)))


def toy(time_ns: int, size_bytes: int) -> Problem:
    phases = (Phase.FORWARD, Phase.LOSS, Phase.BACKWARD, Phase.UPDATE)
    operators = tuple(Operator(p, "x", p, (), (f"{p} out",), costs={"gpu": (Implementation(time_ns),)}) for p in phases)
    return Problem("toy", (Device("gpu"),), operators, tuple(Tensor(f"{p} out", size_bytes) for p in phases))


def test_categories_follow_the_phases_and_recomputes_stand_out() -> None:
    painted = timeline(finished_plan(toy(2, 1), "test", [Run(0, o) for o in (0, 1, 2, 3, 0)]))
    categories = [Category.FORWARD, Category.LOSS, Category.BACKWARD, Category.UPDATE, Category.RECOMPUTE]
    assert painted.devices[0].compute.category.tolist() == categories


def test_a_peak_that_lasts_no_time_is_kept() -> None:
    steps: list[Step] = [Run(0, 0), Drop(0, 0), Run(0, 1), Drop(0, 1), Run(0, 2), Run(0, 3), Drop(0, 2), Drop(0, 3)]
    device = timeline(finished_plan(toy(0, 5), "test", steps)).devices[0]
    assert device.memory_bytes.tolist() == [10, 0]
    assert device.memory_ns.tolist() == [0, 0]


def test_sizes_beyond_64_bits_are_drawn_at_the_edge() -> None:
    device = timeline(finished_plan(toy(1, 2**70), "test", [Run(0, 0)])).devices[0]
    assert device.memory_bytes.max() == 2**62
    assert device.peak_bytes == 2**70


def test_times_beyond_64_bits_are_drawn_at_the_edge() -> None:
    painted = timeline(finished_plan(toy(2**100, 1), "test", [Run(0, 0), Run(0, 1)]))
    assert painted.end_ns == 2**62
    assert painted.devices[0].compute.end_ns.max() == 2**62


def test_no_plan_is_an_empty_timeline() -> None:
    painted = timeline(Plan(toy(1, 1), "test", Status.UNKNOWN))
    assert painted.end_ns == 0
    assert painted.devices[0].compute.start_ns.size == 0
