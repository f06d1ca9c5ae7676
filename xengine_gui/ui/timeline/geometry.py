"""A view cut into pixel columns, and which of them many events fill. No Qt in it.

Times are int64 nanoseconds after the plan's start. A view is cut into columns of one device pixel. An event is in every
column that it touches, so nothing is ever narrower than a pixel, and nothing rare vanishes. However many events there
are, a repaint looks at a few per column: see `Coverage`.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from xengine_gui.schedule.timeline import Int64Array

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

    def touched(self, start_ns: Int64Array, end_ns: Int64Array) -> tuple[Int64Array, Int64Array]:
        """The first column that each of some events in view touches, and the one after the last; no event is empty."""
        return self.stop_ns.searchsorted(start_ns, "right"), self.first_ns.searchsorted(end_ns)

    def position(self, time_ns: Int64Array | int) -> FloatArray:
        """Where times are, in columns from the left edge; clipped to one column beyond the view on both sides."""
        # The ufuncs themselves: `np.clip` takes as long again to find them.
        offset = np.minimum(np.maximum(np.asarray(time_ns, np.int64), self.view.start_ns - 1), self.view.end_ns + 1)
        result = (offset - self.view.start_ns).astype(np.float64) * (self.count / self.view.span_ns)
        return np.asarray(np.minimum(np.maximum(result, -1.0), self.count + 1.0))

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
        padded = np.zeros(len(filled) + 2, np.bool_)
        padded[1:-1] = filled
        change = np.flatnonzero(padded[1:] != padded[:-1])
        return cls(change[0::2], change[1::2])

    @classmethod
    def joined(cls, first: Int64Array, stop: Int64Array) -> "Runs":
        """Stretches in order, those that overlap or touch made into one."""
        if len(first) < 2:
            return cls(first, stop)
        is_apart = first[1:] > stop[:-1]
        if is_apart.all():
            return cls(first, stop)
        begins = np.ones(len(first), np.bool_)
        begins[1:] = is_apart
        ends = np.ones(len(first), np.bool_)
        ends[:-1] = begins[1:]
        return cls(first[begins], stop[ends])

    def __len__(self) -> int:
        return len(self.first)


class Coverage:
    """The times that some events cover, prepared so that the columns they fill are found without looking at all events.

    A column stays empty only where a gap between events is at least as long as the column. So for columns of a given
    length all shorter gaps can be closed beforehand without any difference, and few intervals are left. They are kept
    for lengths a factor of four apart, each made when it is first needed.
    """

    def __init__(self, start_ns: Int64Array, end_ns: Int64Array) -> None:
        """`start_ns` is sorted, `end_ns` belongs to it; what takes no time is shown as if it took a nanosecond."""
        # With the ends sorted too, gaps are right even where events overlap: the k-th gap is between the k-th latest
        # end so far and the next start.
        latest = np.maximum.accumulate(np.maximum(end_ns, start_ns + 1)) if len(start_ns) else start_ns
        self._levels: dict[int, tuple[Int64Array, Int64Array]] = {}
        self._finest = start_ns, latest

    def runs(self, columns: Columns) -> Runs:
        """The stretches of columns that the events touch."""
        start, end = self._closed(columns.view.span_ns // columns.count)
        low = int(end.searchsorted(columns.first_ns[0], "right"))
        high = int(start.searchsorted(columns.stop_ns[-1]))
        if high - low < columns.count // 8:
            # So few that it is quicker to ask for each of them which columns it touches.
            return Runs.joined(*columns.touched(start[low:high], end[low:high]))
        start, end = start[low:high], end[low:high]
        return Runs.of(start.searchsorted(columns.stop_ns) > end.searchsorted(columns.first_ns, "right"))

    def _closed(self, least_gap_ns: int) -> tuple[Int64Array, Int64Array]:
        """The intervals that are left when gaps below a power of four at most `least_gap_ns` are closed."""
        level = max(0, (least_gap_ns.bit_length() - 1) // 2)
        if level not in self._levels:
            finer = max((k for k in self._levels if k < level), default=None)
            start, end = self._finest if finer is None else self._levels[finer]
            if len(start):
                is_open = start[1:] - end[:-1] >= 4**level
                start, end = start[np.append(True, is_open)], end[np.append(is_open, True)]
            self._levels[level] = start, end
        return self._levels[level]


class Longest:
    """Events by length, prepared so that those in view of at least some length are found without looking at all."""

    def __init__(self, start_ns: Int64Array, end_ns: Int64Array) -> None:
        self._start, self._end = start_ns, end_ns
        self._levels: dict[int, tuple[Int64Array, Int64Array, Int64Array]] = {}

    def in_view(self, view: TimeRange, least_ns: float) -> Int64Array:
        """Positions, sorted, of the events of which at least `least_ns` are in view."""
        positions, start, latest = self._of_level(max(0, (max(1, int(least_ns)).bit_length() - 1) // 2))
        low = int(latest.searchsorted(view.start_ns, "right"))
        found = positions[low : int(start.searchsorted(view.end_ns, "right"))]
        seen = np.minimum(self._end[found], view.end_ns) - np.maximum(self._start[found], view.start_ns)
        return np.asarray(found[seen >= least_ns], np.int64)

    def _of_level(self, level: int) -> tuple[Int64Array, Int64Array, Int64Array]:
        if level not in self._levels:
            positions = np.flatnonzero(self._end - self._start >= (4**level if level else 0))
            end = self._end[positions]
            latest = np.maximum.accumulate(end) if len(end) else end
            self._levels[level] = positions, self._start[positions], latest
        return self._levels[level]
