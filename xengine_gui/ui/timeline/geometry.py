"""What can be seen of many events in few pixel columns: culling, merging, envelopes, hit tests. No Qt in it.

Times are int64 nanoseconds after the plan's start. A view is cut into columns of one device pixel. An event is in every
column that it touches, so nothing is ever narrower than a pixel, and nothing rare vanishes. Cost per repaint is
columns · log(events), whatever the number of events; only the memory envelope reads all steps in view.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from xengine_gui.schedule.timeline import Bars, Category, Int64Array

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TimeRange:
    """What is in view: from `start_ns` to `end_ns`, both included, at least a nanosecond long."""

    start_ns: int
    end_ns: int

    def __post_init__(self) -> None:
        if self.end_ns <= self.start_ns:
            raise ValueError("a time range must be longer than nothing")

    @property
    def span_ns(self) -> int:
        """How long it is."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True)
class Columns:
    """A time range cut into `count` columns of equal, not always whole, length."""

    view: TimeRange
    count: int

    @cached_property
    def first_ns(self) -> Int64Array:
        """Per column the last whole nanosecond at or before its start; what touches the column ends after it."""
        return self._edges(up=False)[:-1]

    @cached_property
    def begin_ns(self) -> Int64Array:
        """Per column the first whole nanosecond at or after its start: each instant is in one column only."""
        return self._edges(up=True)[:-1]

    @cached_property
    def stop_ns(self) -> Int64Array:
        """Per column the first whole nanosecond at or after its end; what touches the column starts before it.

        The last column also holds the last instant of the view, so that a free at the very end is seen.
        """
        stops = self._edges(up=True)[1:]
        stops[-1] += 1
        return stops

    def _edges(self, *, up: bool) -> Int64Array:
        # start + i * span / count without the overflow of i * span, rounded down or up.
        whole, rest = divmod(self.view.span_ns, self.count)
        position = np.arange(self.count + 1, dtype=np.int64)
        part = position * rest
        return self.view.start_ns + position * whole + (-(-part // self.count) if up else part // self.count)

    def position(self, time_ns: Int64Array | int) -> FloatArray:
        """Where times are, in columns from the left edge; clipped to one column beyond the view on both sides."""
        offset = np.clip(np.asarray(time_ns, np.int64), self.view.start_ns - 1, self.view.end_ns + 1)
        result = (offset - self.view.start_ns).astype(np.float64) * (self.count / self.view.span_ns)
        return np.clip(result, -1.0, self.count + 1.0)

    def column_of(self, time_ns: Int64Array) -> Int64Array:
        """The column that each time is in; times must be in view."""
        return np.clip(np.floor(self.position(time_ns)).astype(np.int64), 0, self.count - 1)

    def time_at(self, position: float) -> int:
        """The time at a position in columns, rounded to the nearest nanosecond."""
        return self.view.start_ns + round(position * self.view.span_ns / self.count)


@dataclass(frozen=True)
class Runs:
    """Filled stretches of columns, each from `first` up to before `stop`, in order and apart."""

    first: Int64Array
    stop: Int64Array

    @classmethod
    def of(cls, filled: BoolArray) -> "Runs":
        """The runs of true columns."""
        change = np.flatnonzero(np.diff(filled.astype(np.int8), prepend=0, append=0))
        return cls(change[0::2], change[1::2])

    def __len__(self) -> int:
        return len(self.first)


class LaneIndex:
    """The bars of one lane, prepared once so that every look at them takes only binary searches."""

    def __init__(self, bars: Bars) -> None:
        self.bars = bars
        # An event that takes no time is shown as if it took the shortest one.
        self._end = np.maximum(bars.end_ns, bars.start_ns + 1)
        self._latest_end = np.maximum.accumulate(self._end) if len(self._end) else self._end
        self.is_serial = bool(np.all(self._end[:-1] <= bars.start_ns[1:])) if len(self._end) else True
        self._by_category = {
            Category(c): (bars.start_ns[bars.category == c], np.sort(self._end[bars.category == c]))
            for c in np.unique(bars.category)
        }

    def __len__(self) -> int:
        return len(self.bars.start_ns)

    @property
    def categories(self) -> tuple[Category, ...]:
        """The categories there are, in the order of painting."""
        return tuple(sorted(self._by_category))

    def count_per_column(self, category: Category, columns: Columns) -> Int64Array:
        """How many events of a category touch each column."""
        start, end = self._by_category[category]
        return np.asarray(np.searchsorted(start, columns.stop_ns) - np.searchsorted(end, columns.first_ns, "right"))

    def runs(self, category: Category, columns: Columns) -> Runs:
        """The stretches of columns that a category fills."""
        return Runs.of(self.count_per_column(category, columns) > 0)

    def wide(self, columns: Columns, least_columns: float) -> Int64Array:
        """Positions in the lane of the bars in view that are at least so many columns wide, for borders and names."""
        if not len(self):
            return np.zeros(0, np.int64)
        if self.is_serial:
            # A bar of two columns or more has, but for its edges, columns to itself: find it by those.
            first = np.searchsorted(self._end, columns.first_ns, "right")
            last = np.searchsorted(self.bars.start_ns, columns.stop_ns) - 1
            found = np.unique(np.concatenate((first[first == last], first[:1], last[-1:])))
            found = found[(found >= 0) & (found < len(self))]
        else:
            found = np.arange(*self.slice_in(columns.view), dtype=np.int64)
        visible_ns = np.minimum(self._end[found], columns.view.end_ns) - np.maximum(
            self.bars.start_ns[found], columns.view.start_ns
        )
        return np.asarray(found[visible_ns * (columns.count / columns.view.span_ns) >= least_columns], np.int64)

    def slice_in(self, view: TimeRange) -> tuple[int, int]:
        """The first and one past the last position that may be in view."""
        first = int(np.searchsorted(self._latest_end, view.start_ns, "right"))
        return first, int(np.searchsorted(self.bars.start_ns, view.end_ns, "right"))

    def at(self, first_ns: int, stop_ns: int) -> Int64Array:
        """Positions of the bars that touch the time from `first_ns` up to before `stop_ns`."""
        low = int(np.searchsorted(self._latest_end, first_ns, "right"))
        high = int(np.searchsorted(self.bars.start_ns, stop_ns))
        found = np.arange(low, max(low, high), dtype=np.int64)
        return found[self._end[found] > first_ns]

    def longest(self, positions: Int64Array) -> int:
        """Of some bars the one that takes longest, the first of equals."""
        return int(positions[np.argmax(self.bars.end_ns[positions] - self.bars.start_ns[positions])])


def ticks_per_column(time_ns: Int64Array, columns: Columns) -> Int64Array:
    """How many instants (frees) of a sorted list are in each column, both ends of the view included."""
    low = int(np.searchsorted(time_ns, columns.view.start_ns))
    high = int(np.searchsorted(time_ns, columns.view.end_ns, "right"))
    place = np.searchsorted(time_ns, columns.begin_ns[1:])
    return np.diff(np.clip(place, low, high), prepend=low, append=high).astype(np.int64)


@dataclass(frozen=True)
class Envelope:
    """A step function over columns: per column the lowest and highest level in it, and the highest with its edge.

    `joined_low` and `joined_high` also take in the level just before the column, so that spans of neighbours meet.
    """

    low: Int64Array
    high: Int64Array
    joined_low: Int64Array
    joined_high: Int64Array


def envelope(time_ns: Int64Array, level: Int64Array, columns: Columns) -> Envelope:
    """The exact lowest and highest level of a step function in every column; no peak is averaged away.

    `level[i]` holds from `time_ns[i]` to `time_ns[i + 1]`, the last one to the end; before the first it is the first.
    """
    first = np.searchsorted(time_ns, columns.first_ns, "right") - 1
    # Where several levels stand at the same instant, the instant has all of them.
    first = np.clip(np.minimum(first, np.searchsorted(time_ns, columns.begin_ns)), 0, None)
    last = np.maximum(np.searchsorted(time_ns, columns.stop_ns) - 1, first)
    before = np.clip(np.searchsorted(time_ns, columns.first_ns) - 1, 0, None)
    return Envelope(
        low=_extreme(np.minimum, level, first, last),
        high=_extreme(np.maximum, level, first, last),
        joined_low=_extreme(np.minimum, level, before, last),
        joined_high=_extreme(np.maximum, level, before, last),
    )


def _extreme(ufunc: np.ufunc, level: Int64Array, first: Int64Array, last: Int64Array) -> Int64Array:
    # reduceat takes pairs of edges [first, last + 1); every second answer is between pairs. One value is put at the
    # end, because an edge must be an index.
    padded = np.append(level, level[-1])
    pairs = np.stack((first, last + 1), axis=1).ravel()
    return np.asarray(ufunc.reduceat(padded, pairs)[0::2], dtype=np.int64)


def level_at(time_ns: Int64Array, level: Int64Array, moment_ns: int) -> int:
    """The level of a step function at a moment."""
    if not len(level):
        return 0
    return int(level[max(0, int(np.searchsorted(time_ns, moment_ns, "right")) - 1)])
