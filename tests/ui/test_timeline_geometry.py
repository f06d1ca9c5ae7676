"""Culling, merging and envelopes: checked against plain loops over exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xengine_gui.schedule.timeline import Bars, Category
from xengine_gui.ui.timeline.curves import StepCurve
from xengine_gui.ui.timeline.geometry import Columns, Coverage, Runs, TimeRange
from xengine_gui.ui.timeline.lanes import LaneIndex

CATEGORIES = (Category.FORWARD, Category.BACKWARD, Category.RECOMPUTE)


def bars_of(rows: list[tuple[int, int, Category]]) -> Bars:
    columns = np.array([(start, end, int(category)) for start, end, category in rows], np.int64).reshape(-1, 3).T
    return Bars(columns[0], columns[1], columns[2], np.arange(len(rows), dtype=np.int64))


@st.composite
def serial_bars(draw: st.DrawFn) -> list[tuple[int, int, Category]]:
    rows = []
    now = draw(st.integers(0, 5))
    for _ in range(draw(st.integers(0, 12))):
        end = now + draw(st.sampled_from([0, 1, 1, 2, 7, 100]))
        rows.append((now, end, draw(st.sampled_from(CATEGORIES))))
        now = end + draw(st.sampled_from([0, 0, 1, 30]))
    return rows


@st.composite
def overlapping_bars(draw: st.DrawFn) -> list[tuple[int, int, Category]]:
    spans = draw(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 60)), max_size=12))
    return [(start, start + length, draw(st.sampled_from(CATEGORIES))) for start, length in sorted(spans)]


views = st.builds(
    lambda start, span, count: Columns(TimeRange(start, start + span), count),
    st.integers(0, 150),
    st.integers(1, 400),
    st.integers(1, 50),
)


def column_edges(columns: Columns) -> list[Fraction]:
    span = columns.view.span_ns
    return [columns.view.start_ns + Fraction(i * span, columns.count) for i in range(columns.count + 1)]


def touches(start: int, end: int, first: Fraction, stop: Fraction, *, last: bool) -> bool:
    """Whether an event that is shown at least a nanosecond long touches a column."""
    return (start < stop or (last and start == stop)) and max(end, start + 1) > first


def filled(runs: Runs, count: int) -> list[bool]:
    columns = [False] * count
    for first, stop in zip(runs.first.tolist(), runs.stop.tolist(), strict=True):
        assert not any(columns[first:stop])
        columns[first:stop] = [True] * (stop - first)
    return columns


@settings(max_examples=150, deadline=None)
@given(serial_bars() | overlapping_bars(), views)
def test_the_columns_that_are_filled_are_those_that_events_touch(
    rows: list[tuple[int, int, Category]], columns: Columns
) -> None:
    lane, edges = LaneIndex(bars_of(rows)), column_edges(columns)
    for category in lane.categories:
        expected = [
            any(
                kind is category and touches(start, end, edges[i], edges[i + 1], last=i == columns.count - 1)
                for start, end, kind in rows
            )
            for i in range(columns.count)
        ]
        assert filled(lane.runs(category, columns), columns.count) == expected


@settings(max_examples=80, deadline=None)
@given(serial_bars() | overlapping_bars(), st.integers(0, 200), st.integers(1, 400))
def test_few_events_in_many_columns_fill_those_that_they_touch(
    rows: list[tuple[int, int, Category]], first: int, span: int
) -> None:
    columns = Columns(TimeRange(first, first + span), 301)
    lane, edges = LaneIndex(bars_of(rows)), column_edges(columns)
    for category in lane.categories:
        expected = [False] * columns.count
        for start, end, kind in rows:
            for i in range(columns.count) if kind is category else ():
                expected[i] |= touches(start, end, edges[i], edges[i + 1], last=i == columns.count - 1)
        assert filled(lane.runs(category, columns), columns.count) == expected


@settings(max_examples=120, deadline=None)
@given(serial_bars() | overlapping_bars(), views)
def test_merged_runs_cover_every_event_in_view(rows: list[tuple[int, int, Category]], columns: Columns) -> None:
    lane = LaneIndex(bars_of(rows))
    covered = {c: np.array(filled(lane.runs(c, columns), columns.count)) for c in lane.categories}
    edges = column_edges(columns)
    for start, end, category in rows:
        touched = [
            i for i in range(columns.count) if touches(start, end, edges[i], edges[i + 1], last=i == columns.count - 1)
        ]
        assert covered[category][touched].all()
        if columns.view.start_ns <= start <= columns.view.end_ns:
            assert touched


@pytest.mark.parametrize("long_ns", [10**9, 3_600 * 10**9])
def test_one_rare_nanosecond_among_long_events_fills_a_column(long_ns: int) -> None:
    rows = [(0, long_ns, Category.FORWARD), (long_ns, long_ns + 1, Category.RECOMPUTE)]
    rows.append((long_ns + 1, 2 * long_ns, Category.BACKWARD))
    lane, columns = LaneIndex(bars_of(rows)), Columns(TimeRange(0, 2 * long_ns), 1000)
    runs = lane.runs(Category.RECOMPUTE, columns)
    assert len(runs) == 1
    assert runs.first[0] == 500
    assert runs.stop[0] == 501


def test_a_long_event_fills_the_view_however_deep_it_is() -> None:
    hour = 3_600 * 10**9
    lane = LaneIndex(bars_of([(0, hour, Category.FORWARD)]))
    for span in (10, 10_000, 10**9):
        runs = lane.runs(Category.FORWARD, Columns(TimeRange(hour // 2, hour // 2 + span), 3200))
        assert (runs.first.tolist(), runs.stop.tolist()) == ([0], [3200])


def test_very_late_times_keep_their_nanoseconds() -> None:
    late = 1_700_000_000 * 10**9
    lane = LaneIndex(bars_of([(late, late + 3, Category.FORWARD), (late + 5, late + 7, Category.FORWARD)]))
    runs = lane.runs(Category.FORWARD, Columns(TimeRange(late, late + 10), 10))
    assert list(zip(runs.first.tolist(), runs.stop.tolist(), strict=True)) == [(0, 3), (5, 7)]


@settings(max_examples=120, deadline=None)
@given(serial_bars() | overlapping_bars(), views, st.sampled_from([1.5, 2.0, 3.0]))
def test_wide_bars_are_those_that_are_wide_in_view(
    rows: list[tuple[int, int, Category]], columns: Columns, least: float
) -> None:
    lane = LaneIndex(bars_of(rows))
    found = set(lane.wide(columns, least).tolist())
    view = columns.view
    for i, (start, end, _) in enumerate(rows):
        seen = min(max(end, start + 1), view.end_ns) - max(start, view.start_ns)
        width = Fraction(seen * columns.count, view.span_ns)
        if width >= Fraction(least) + 1:
            assert i in found
        if width < Fraction(least) - Fraction(1, 1000):
            assert i not in found


@settings(max_examples=120, deadline=None)
@given(serial_bars() | overlapping_bars(), st.integers(0, 260), st.integers(1, 40))
def test_the_event_under_a_time_is_found(rows: list[tuple[int, int, Category]], first: int, span: int) -> None:
    lane = LaneIndex(bars_of(rows))
    expected = [i for i, (start, end, _) in enumerate(rows) if start < first + span and max(end, start + 1) > first]
    found = lane.at(first, first + span)
    assert found.tolist() == expected
    if expected:
        assert lane.longest(found) in max(
            (
                [i for i in expected if rows[i][1] - rows[i][0] == length]
                for length in {rows[i][1] - rows[i][0] for i in expected}
            ),
            key=lambda group: rows[group[0]][1] - rows[group[0]][0],
        )


@settings(max_examples=120, deadline=None)
@given(st.lists(st.integers(0, 300), max_size=20), views)
def test_every_instant_in_view_fills_a_column(moments: list[int], columns: Columns) -> None:
    moments.sort()
    times = np.array(moments, np.int64)
    found = filled(Coverage(times, times).runs(columns), columns.count)
    for moment in moments:
        if columns.view.start_ns <= moment <= columns.view.end_ns:
            position = Fraction((moment - columns.view.start_ns) * columns.count, columns.view.span_ns)
            assert found[min(int(position), columns.count - 1)]


def test_a_million_events_and_few_columns_give_what_each_look_alone_gives() -> None:
    """Gaps that are closed beforehand must make no difference, at any zoom and in any order of zooms."""
    random = np.random.default_rng(3)
    end = np.cumsum(random.integers(1, 4000, 20_000))
    start = end - np.minimum(random.integers(0, 900, 20_000), np.diff(end, prepend=0))
    kept = Coverage(start, end)
    for span in (end[-1], 10**6, 10**4, 300, 10**5, end[-1] // 3):
        columns = Columns(TimeRange(int(end[-1]) // 3, int(end[-1]) // 3 + int(span)), 777)
        touched = np.searchsorted(start, columns.stop_ns) > np.searchsorted(
            np.maximum(end, start + 1), columns.first_ns, "right"
        )
        assert filled(kept.runs(columns), 777) == touched.tolist()


@st.composite
def steps(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    gaps = draw(st.lists(st.sampled_from([0, 1, 2, 40]), min_size=1, max_size=15))
    times = np.cumsum([0, *gaps[1:]]).tolist()
    return times, draw(st.lists(st.integers(0, 2**40), min_size=len(times), max_size=len(times)))


@settings(max_examples=120, deadline=None)
@given(steps(), views)
def test_the_envelope_has_the_exact_extremes_of_each_column(
    curve: tuple[list[int], list[int]], columns: Columns
) -> None:
    times, levels = curve
    found = StepCurve(np.array(times, np.int64), np.array(levels, np.int64)).envelope(columns)
    edges = column_edges(columns)
    for i in range(columns.count):
        first, stop, is_last = edges[i], edges[i + 1], i == columns.count - 1
        at_start = max((k for k, t in enumerate(times) if t <= first), default=0)
        within = [k for k, t in enumerate(times) if first <= t < stop or (is_last and t == stop)]
        there = [levels[k] for k in {at_start, *within}]
        assert found.high[i] == max(there)
        assert found.low[i] == min(there)
        assert found.joined_high[i] >= found.high[i]
        assert found.joined_low[i] <= found.low[i]
    in_view = [
        level
        for k, level in enumerate(levels)
        if times[k] <= columns.view.end_ns and (k + 1 == len(times) or times[k + 1] > columns.view.start_ns)
    ]
    assert found.high.max() >= max(in_view, default=0)


@settings(max_examples=150, deadline=None)
@given(steps(), views)
def test_the_pieces_of_an_envelope_are_the_envelope(curve: tuple[list[int], list[int]], columns: Columns) -> None:
    found = StepCurve(np.array(curve[0], np.int64), np.array(curve[1], np.int64))
    whole, pieces = found.envelope(columns), found.pieces(columns)
    assert pieces.first[0] == 0
    repeats = np.diff(np.append(pieces.first, columns.count))
    for name in ("low", "high", "joined_low", "joined_high"):
        assert np.repeat(getattr(pieces.envelope, name), repeats).tolist() == getattr(whole, name).tolist()


@settings(max_examples=150, deadline=None)
@given(st.one_of(serial_bars(), overlapping_bars()), views)
def test_a_look_at_a_lane_is_what_its_parts_tell(rows: list[tuple[int, int, Category]], columns: Columns) -> None:
    lane = LaneIndex(bars_of(rows))
    look = lane.look(columns, 2.0)
    for category in lane.categories:
        seen = look.runs.get(category, Runs.of(np.zeros(0, bool)))
        assert filled(seen, columns.count) == filled(lane.runs(category, columns), columns.count)
    assert look.wide.tolist() == lane.wide(columns, 2.0).tolist()


def test_neighbouring_spans_of_an_envelope_meet() -> None:
    random = np.random.default_rng(5)
    times = np.cumsum(random.integers(0, 50, 4000))
    levels = random.integers(0, 10**9, 4000)
    found = StepCurve(times, levels).envelope(Columns(TimeRange(1000, 60_000), 333))
    assert (found.joined_low[1:] <= found.joined_high[:-1]).all()
    assert (found.joined_high[1:] >= found.joined_low[:-1]).all()


def test_a_spike_of_no_length_is_seen() -> None:
    times, levels = np.array([0, 500, 500, 1000]), np.array([1, 99, 2, 2])
    curve = StepCurve(times, levels)
    found = curve.envelope(Columns(TimeRange(0, 1000), 10))
    assert found.high.tolist() == [1, 1, 1, 1, 1, 99, 2, 2, 2, 2]
    assert curve.at(499) == 1
    assert curve.at(500) == 2
    assert curve.at(10**6) == 2


def test_runs_of_nothing_and_of_everything() -> None:
    assert len(Runs.of(np.zeros(5, bool))) == 0
    whole = Runs.of(np.ones(5, bool))
    assert (whole.first.tolist(), whole.stop.tolist()) == ([0], [5])


def test_a_range_must_have_a_length() -> None:
    with pytest.raises(ValueError, match="longer than nothing"):
        TimeRange(5, 5)
