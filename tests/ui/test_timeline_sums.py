"""Sums of a stretch of time and tensors stacked under a curve, against counting by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from timelines import timeline_of

from xengine_gui import planner
from xengine_gui.model.plan import Compute, Event, Free, Transfer
from xengine_gui.model.problem import Problem
from xengine_gui.paths import sample_graphs
from xengine_gui.schedule.timeline import Category
from xengine_gui.solve.base import SolveOptions
from xengine_gui.ui.selection_traces import Traces
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.timeline.curves import StepCurve
from xengine_gui.ui.timeline.geometry import Columns, TimeRange
from xengine_gui.ui.timeline.index import TimelineIndex
from xengine_gui.ui.timeline.sums import RangeSums, sums_of

EVENTS: list[Event] = [
    Compute("conv_1", "gpu", 0, 400),
    Transfer("conv_1 out", "gpu", "host", 400, 450),
    Free("conv_1 out", "gpu", 450),
    Compute("loss_1", "host", 450, 500),
    Compute("conv_1", "gpu", 500, 600, again=True),
    Compute("grad_1", "gpu", 600, 1000),
]
BYTES = {1: 100}


@pytest.fixture
def index() -> TimelineIndex:
    return TimelineIndex(
        timeline_of(
            EVENTS,
            {"gpu": 1000, "host": None},
            sizes={"conv_1": 100, "loss_1": 4, "grad_1": 50},
            inputs={"loss_1": ("conv_1 out",), "grad_1": ("conv_1 out",)},
        )
    )


def test_all_of_a_plan_is_summed(index: TimelineIndex) -> None:
    gpu, host = (sums_of(d, 0, 1000, BYTES) for d in index.devices)
    assert gpu == RangeSums(
        "gpu", {Category.FORWARD: 400, Category.RECOMPUTE: 100, Category.BACKWARD: 400}, 3, 1, 100, 0, 100, 1, 150
    )
    assert host == RangeSums("host", {Category.LOSS: 50}, 1, 0, 950, 100, 0, 0, 104)


def test_parts_count_with_the_part_that_is_within(index: TimelineIndex) -> None:
    gpu = sums_of(index.devices[0], 390, 550, BYTES)
    assert dict(gpu.time_ns) == {Category.FORWARD: 10, Category.RECOMPUTE: 50}
    assert (gpu.idle_ns, gpu.peak_bytes, gpu.frees) == (100, 100, 1)
    # The transfer has ended before this stretch begins.
    assert sums_of(index.devices[0], 450, 460, BYTES).out_bytes == 0
    assert sums_of(index.devices[0], 460, 490, BYTES).peak_bytes == 0


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 50)), min_size=1, max_size=12),
    st.integers(0, 40),
    st.integers(0, 40),
)
@settings(deadline=None)
def test_the_highest_level_is_that_of_all_levels_that_hold(steps: list[tuple[int, int]], one: int, other: int) -> None:
    times = np.cumsum([0, *(step for step, _ in steps[1:])]).astype(np.int64)
    levels = np.array([level for _, level in steps], np.int64)
    start, end = min(one, other), max(one, other)
    ends = [*times[1:].tolist(), 10**9]
    holding = [
        level for t, stop, level in zip(times.tolist(), ends, levels.tolist(), strict=True) if t <= end and stop > start
    ]
    assert StepCurve(times, levels).highest(start, end) == max(holding)


@pytest.fixture(scope="module")
def planned() -> ShownPlan:
    problem = planner.open_file(sample_graphs() / "two_devices.json")
    assert isinstance(problem, Problem)
    return ShownPlan.of(planner.plan(problem, "greedy", SolveOptions(time_limit_s=5.0)))


@pytest.mark.parametrize("part", [1, 3, 17])
def test_stacked_tensors_are_those_in_memory_and_never_above_the_curve(planned: ShownPlan, part: int) -> None:
    stacks = Traces(planned).stacks
    index = TimelineIndex(planned.timeline)
    end_ns = planned.timeline.end_ns
    columns = Columns(TimeRange(end_ns // 5 if part > 1 else 0, end_ns // 5 + end_ns * 4 // 5 // part), 97)
    for device in index.devices:
        layers = stacks[device.name].layers(columns, device.memory)
        assert layers is not None
        moments = device.memory.highest_moments(columns, 10**6)
        assert moments is not None
        top = device.memory.envelope(columns).high
        for column in range(columns.count):
            there = {
                n for n, a, b in zip(layers.names, layers.foot[:, column], layers.top[:, column], strict=True) if b > a
            }
            held = {r.tensor for r in planned.replay.resident_at(device.name, int(moments[column]))}
            assert there - {"parameters"} == held
        assert (layers.top[-1] <= top).all()
        assert (layers.top >= layers.foot).all()


def test_a_layer_is_found_by_its_level(planned: ShownPlan) -> None:
    device = max(planned.timeline.devices, key=lambda d: d.peak_bytes)
    columns = Columns(TimeRange(0, planned.timeline.end_ns), 50)
    layers = Traces(planned).stacks[device.device].layers(columns, StepCurve(device.memory_ns, device.memory_bytes))
    assert layers is not None
    column = int(np.argmax(layers.top[-1]))
    thick = int(np.argmax(layers.top[:, column] - layers.foot[:, column]))
    assert layers.name_at(column, int(layers.foot[thick, column])) == layers.names[thick]
    assert layers.name_at(column, int(layers.top[-1, column]) + 1) is None


def test_too_many_levels_are_not_told_apart() -> None:
    curve = StepCurve(np.arange(100, dtype=np.int64), np.arange(100, dtype=np.int64))
    assert curve.highest_moments(Columns(TimeRange(0, 99), 10), 50) is None
