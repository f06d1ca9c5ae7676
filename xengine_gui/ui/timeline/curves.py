"""A level over time, and its exact lowest and highest value in every pixel column. No Qt in it."""

from dataclasses import dataclass

import numpy as np

from xengine_gui.schedule.timeline import Int64Array
from xengine_gui.ui.timeline.geometry import BoolArray, Columns


@dataclass(frozen=True)
class Envelope:
    """Per column the lowest and highest level in it; no peak is averaged away.

    `joined_low` and `joined_high` also take in the level just before the column, so that spans of neighbours meet.
    """

    low: Int64Array
    high: Int64Array
    joined_low: Int64Array
    joined_high: Int64Array


@dataclass(frozen=True)
class Pieces:
    """An envelope in which columns that are like the one before are left out: `first` are those that are told of."""

    first: Int64Array
    envelope: Envelope


class StepCurve:
    """A step function: `level[i]` holds from `time_ns[i]` to `time_ns[i + 1]`, the last one to the end.

    Before its first time it is at its first level. Where several levels stand at one instant, the instant has them all.
    """

    def __init__(self, time_ns: Int64Array, level: Int64Array) -> None:
        self._time, self._level = time_ns, level
        # One value more, because `reduceat` takes as edges only what is an index.
        self._padded = np.append(level, level[-1:])

    def __len__(self) -> int:
        return len(self._time)

    def at(self, moment_ns: int) -> int:
        """The level at a moment."""
        if not len(self):
            return 0
        return int(self._level[max(0, int(self._time.searchsorted(moment_ns, "right")) - 1)])

    def highest(self, start_ns: int, end_ns: int) -> int:
        """The highest level between two moments, both included."""
        if not len(self):
            return 0
        first = int(self._time.searchsorted(start_ns))
        if first == len(self) or self._time[first] != start_ns:
            first = max(0, first - 1)
        return int(self._level[first : max(first + 1, int(self._time.searchsorted(end_ns, "right")))].max())

    def highest_moments(self, columns: Columns, most: int) -> Int64Array | None:
        """Per column the moment of its highest level; `None` where more than `most` levels are in view."""
        low = max(0, int(self._time.searchsorted(columns.view.start_ns, "right")) - 1)
        stop = int(self._time.searchsorted(columns.view.end_ns, "right"))
        if not len(self) or stop - low > most:
            return None
        moments = columns.begin_ns.copy()
        column = columns.begin_ns.searchsorted(self._time[low:stop], "right") - 1
        # Sorted by level, so that the highest one of a column is the last that is put into its place.
        inside = np.flatnonzero(column >= 0)
        order = inside[np.argsort(self._level[low:stop][inside], kind="stable")]
        best = np.full(columns.count, -1, np.int64)
        best[column[order]] = order
        carried = self._level[np.maximum(self._time.searchsorted(columns.begin_ns, "right") - 1, 0)]
        is_higher = (best >= 0) & (self._level[low:stop][best] > carried)
        moments[is_higher] = self._time[low:stop][best[is_higher]]
        return moments

    def envelope(self, columns: Columns) -> Envelope:
        """The lowest and highest level of every column; the curve must not be empty."""
        return self._of_columns(columns, np.arange(columns.count, dtype=np.int64))

    def pieces(self, columns: Columns) -> Pieces:
        """The same, but with few levels in view only of the columns in which one begins and of those after them."""
        low = int(self._time.searchsorted(columns.view.start_ns))
        stop = int(self._time.searchsorted(columns.view.end_ns, "right"))
        if stop - low > columns.count // 4 or columns.view.span_ns < 2 * columns.count:
            # Where several columns have one nanosecond, they are unlike one another in their joints.
            some = np.arange(columns.count, dtype=np.int64)
        else:
            change = columns.begin_ns.searchsorted(self._time[low:stop], "right") - 1
            is_told = np.zeros(columns.count + 3, np.bool_)
            is_told[0] = True
            for after in range(3):
                is_told[change + after] = True
            some = np.flatnonzero(is_told[: columns.count])
        return Pieces(some, self._of_columns(columns, some))

    def _of_columns(self, columns: Columns, some: Int64Array) -> Envelope:
        # All questions are asked of the levels in view alone.
        low = max(0, int(self._time.searchsorted(columns.first_ns[0])) - 1)
        stop = int(self._time.searchsorted(columns.stop_ns[-1]))
        time = self._time[low : max(stop, low + 1)]
        # Per column: one past the last level that began by its start, and the first that began at its start.
        begun, fresh, is_whole = self._at_start(time, columns, some)
        first = np.maximum(np.where(is_whole, np.minimum(begun - 1, fresh), begun - 1), 0)
        # A column ends where the next begins: what begins there belongs to the next.
        if len(some) == columns.count:
            last = np.empty_like(first)
            last[:-1] = np.where(is_whole, fresh, begun)[1:]
        else:
            after = self._at_start(time, columns, np.minimum(some + 1, columns.count - 1))
            last = np.where(after[2], after[1], after[0])
        if some[-1] == columns.count - 1:
            last[-1] = stop - low
        last = np.maximum(last - 1, first)
        before = self._level[low + np.maximum(fresh - 1, 0)]
        # Pairs of edges [first, last + 1); every second answer is what lies between two pairs.
        pairs = np.empty(2 * len(first), np.int64)
        pairs[0::2], pairs[1::2] = first + low, last + (low + 1)
        # Of the levels in view alone: what is after the last pair would be gone through to the end.
        padded = self._padded[: pairs[-1] + 1]
        lowest, highest = (np.asarray(f.reduceat(padded, pairs)[0::2]) for f in (np.minimum, np.maximum))
        return Envelope(lowest, highest, np.minimum(lowest, before), np.maximum(highest, before))

    @staticmethod
    def _at_start(time: Int64Array, columns: Columns, some: Int64Array) -> tuple[Int64Array, Int64Array, BoolArray]:
        """How many of some levels have begun by the start of columns, or before it, and whether that is a whole ns."""
        first_ns = columns.first_ns[some]
        begun = time.searchsorted(first_ns, "right")
        is_equal = time[np.maximum(begun - 1, 0)] == first_ns
        fresh = begun
        if is_equal.any():
            fresh = begun.copy()
            fresh[is_equal] = time.searchsorted(first_ns[is_equal])
        return begun, fresh, columns.begin_ns[some] == first_ns
