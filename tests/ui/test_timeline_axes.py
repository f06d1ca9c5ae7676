"""Ticks, navigation and layout: closed forms."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from timelines import timeline_of

from xengine_gui.model.plan import Compute, Free, Transfer
from xengine_gui.ui.timeline.geometry import TimeRange
from xengine_gui.ui.timeline.layout import Band, arrange
from xengine_gui.ui.timeline.navigation import LEAST_SPAN_NS, around, clamped, panned, whole_range, zoomed
from xengine_gui.ui.timeline.ticks import format_moment, nice_step, size_ticks, time_ticks

S, MS, US = 10**9, 10**6, 10**3


@pytest.mark.parametrize(
    ("view", "most", "texts"),
    [
        ((0, 2 * S), 4, ["0.0 s", "0.5 s", "1.0 s", "1.5 s", "2.0 s"]),
        ((0, 950 * MS), 5, ["0 ms", "200 ms", "400 ms", "600 ms", "800 ms"]),
        ((0, 10), 5, ["0 ns", "2 ns", "4 ns", "6 ns", "8 ns", "10 ns"]),
        ((1_410 * MS, 1_450 * MS), 4, ["1.41 s", "1.42 s", "1.43 s", "1.44 s", "1.45 s"]),
        ((0, 90 * 60 * S), 3, ["0 s", "2,000 s", "4,000 s"]),
    ],
)
def test_ticks_stand_at_round_times(view: tuple[int, int], most: int, texts: list[str]) -> None:
    ticks = time_ticks(TimeRange(*view), most)
    assert list(ticks.texts) == texts
    assert ticks.base == ""


def test_deep_ticks_count_from_a_round_moment() -> None:
    ticks = time_ticks(TimeRange(1_456_000_000, 1_456_000_300), 3)
    assert ticks.base == "1.456 s"
    assert list(ticks.texts) == ["+ 0 ns", "+ 100 ns", "+ 200 ns", "+ 300 ns"]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**13), st.integers(10, 10**13), st.integers(1, 20))
def test_ticks_are_few_in_view_and_all_different(start: int, span: int, most: int) -> None:
    view = TimeRange(start, start + span)
    ticks = time_ticks(view, most)
    assert len(ticks.times_ns) <= most + 1
    assert all(view.start_ns <= t <= view.end_ns for t in (*ticks.times_ns, *ticks.minor_ns))
    assert len(set(ticks.texts)) == len(ticks.texts)


@given(st.integers(1, 10**15), st.integers(1, 30))
def test_steps_are_the_smallest_round_ones(span: int, most: int) -> None:
    step = nice_step(span, most)
    assert span <= step * most
    digit, zeros = str(step)[0], str(step)[1:]
    assert digit in "125"
    assert set(zeros) <= {"0"}
    smaller = step // 2 if digit in "12" else step * 2 // 5
    assert smaller == 0 or step == 1 or smaller * most < span


@pytest.mark.parametrize(
    ("time_ns", "resolution_ns", "text"),
    [(1_456_123_456, MS, "1.456 s"), (1_456_123_456, 1, "1.456123456 s"), (740, 1, "740 ns"), (0, 1, "0 ns"),
     (11_412_003, 10_000, "11.41 ms")],
)  # fmt: skip
def test_moments_are_as_exact_as_a_pixel(time_ns: int, resolution_ns: int, text: str) -> None:
    assert format_moment(time_ns, resolution_ns) == text


def test_moments_are_told_in_the_unit_of_their_axis() -> None:
    assert format_moment(962_900_000, 100_000, 1_100 * MS) == "0.9629 s"


def test_sizes_are_powers_of_two_apart() -> None:
    assert size_ticks(2 * 2**30, 4) == ((2**29, "512 MiB"), (2**30, "1 GiB"), (3 * 2**29, "1.5 GiB"))
    assert size_ticks(0, 4) == ()
    assert size_ticks(100, 0) == ()
    assert len(size_ticks(2**70, 3)) <= 3


WHOLE = whole_range(1_000_000)
ranges = st.builds(
    lambda start, span: clamped(start, span, WHOLE), st.integers(0, 1_000_000), st.integers(LEAST_SPAN_NS, 1_000_000)
)


@settings(deadline=None)
@given(ranges, st.floats(0.01, 100), st.integers(0, 1_000_000))
def test_zoom_stays_in_the_plan_and_keeps_the_moment(view: TimeRange, factor: float, at_ns: int) -> None:
    at_ns = min(max(at_ns, view.start_ns), view.end_ns)
    after = zoomed(view, WHOLE, factor, at_ns)
    assert WHOLE.start_ns <= after.start_ns < after.end_ns <= WHOLE.end_ns
    assert after.start_ns <= at_ns <= after.end_ns
    if factor > 1:
        before, now = (at_ns - view.start_ns) / view.span_ns, (at_ns - after.start_ns) / after.span_ns
        assert now == pytest.approx(before, abs=1.01 / after.span_ns)


def test_zoom_ends_at_a_few_nanoseconds_and_at_the_whole() -> None:
    view = WHOLE
    for _ in range(100):
        view = zoomed(view, WHOLE, 1.25, 333_333)
    assert view.span_ns == LEAST_SPAN_NS
    for _ in range(100):
        view = zoomed(view, WHOLE, 1 / 1.25, 333_333)
    assert view == WHOLE


def test_panning_stops_at_the_ends() -> None:
    view = clamped(100, 1000, WHOLE)
    assert panned(view, WHOLE, 500) == TimeRange(600, 1600)
    assert panned(view, WHOLE, -500) == TimeRange(0, 1000)
    assert panned(view, WHOLE, 10**9) == TimeRange(999_000, 1_000_000)
    assert around(5000, 6000, WHOLE) == TimeRange(4850, 6150)


def test_an_empty_plan_has_a_view() -> None:
    assert whole_range(0).span_ns == LEAST_SPAN_NS


def arranged(height: float | None, scale: float = 1.0, width: float = 1000.0):  # type: ignore[no-untyped-def]
    events = [Compute("a", "gpu", 0, 5), Transfer("a out", "gpu", "host", 5, 6), Free("a out", "gpu", 6)]
    devices = timeline_of(events, {"gpu": None, "host": None, "idle": None}).devices
    return arrange(devices, width=width, height=height, line_height=15.0, gutter=70.0, scale=scale)


def test_cards_follow_one_another_and_lanes_do_not_overlap() -> None:
    layout = arranged(800.0)
    assert layout.height == pytest.approx(800.0, abs=3)
    for above, below in pairwise(layout.cards):
        assert above.outer.bottom < below.outer.top
    gpu, host, idle = layout.cards
    assert host.compute is None
    assert idle.incoming is None
    assert gpu.memory.height == host.memory.height == idle.memory.height
    lanes = [band for band in (gpu.title, gpu.compute, gpu.frees, gpu.incoming, gpu.outgoing, gpu.memory) if band]
    assert all(above.bottom <= below.top for above, below in pairwise(lanes))
    assert lanes[-1].bottom < gpu.outer.bottom


def test_too_little_height_is_scrolled_and_too_much_is_left() -> None:
    assert arranged(100.0).height > 100
    assert arranged(5000.0).height < 5000


@pytest.mark.parametrize("scale", [1.0, 1.25, 1.5, 2.0])
def test_columns_are_whole_device_pixels(scale: float) -> None:
    layout = arranged(600.0, scale, width=1001.0)
    assert layout.left * scale == pytest.approx(round(layout.left * scale), abs=1e-9)
    assert layout.column_width * scale == pytest.approx(1.0)
    assert layout.right <= layout.card_right


def test_a_layout_moves_as_a_whole() -> None:
    layout = arranged(600.0)
    moved = layout.moved(-40.0)
    assert moved.axis == layout.axis
    assert [c.memory.top for c in moved.cards] == [c.memory.top - 40 for c in layout.cards]
    assert 5.0 in Band(5.0, 2.0)
    assert 7.0 not in Band(5.0, 2.0)
