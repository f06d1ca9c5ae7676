"""A level over time, and its exact lowest and highest value in every pixel column. No Qt in it."""

from dataclasses import dataclass

import numpy as np

from xengine_gui.schedule.timeline import Int64Array
from xengine_gui.ui.timeline.geometry import Columns


@dataclass(frozen=True)
class Envelope:
    """Per column the lowest and highest level in it; no peak is averaged away.

    `joined_low` and `joined_high` also take in the level just before the column, so that spans of neighbours meet.
    """

    low: Int64Array
    high: Int64Array
    joined_low: Int64Array
    joined_high: Int64Array


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
        return int(self._level[max(0, int(np.searchsorted(self._time, moment_ns, "right")) - 1)])

    def highest(self, start_ns: int, end_ns: int) -> int:
        """The highest level between two moments, both included."""
        if not len(self):
            return 0
        first = int(np.searchsorted(self._time, start_ns))
        if first == len(self) or self._time[first] != start_ns:
            first = max(0, first - 1)
        return int(self._level[first : max(first + 1, int(np.searchsorted(self._time, end_ns, "right")))].max())

    def highest_moments(self, columns: Columns, most: int) -> Int64Array | None:
        """Per column the moment of its highest level; `None` where more than `most` levels are in view."""
        low = max(0, int(np.searchsorted(self._time, columns.view.start_ns, "right")) - 1)
        stop = int(np.searchsorted(self._time, columns.view.end_ns, "right"))
        if not len(self) or stop - low > most:
            return None
        moments = columns.begin_ns.copy()
        column = np.searchsorted(columns.begin_ns, self._time[low:stop], "right") - 1
        # Sorted by level, so that the highest one of a column is the last that is put into its place.
        inside = np.flatnonzero(column >= 0)
        order = inside[np.argsort(self._level[low:stop][inside], kind="stable")]
        best = np.full(columns.count, -1, np.int64)
        best[column[order]] = order
        carried = self._level[np.maximum(np.searchsorted(self._time, columns.begin_ns, "right") - 1, 0)]
        is_higher = (best >= 0) & (self._level[low:stop][best] > carried)
        moments[is_higher] = self._time[low:stop][best[is_higher]]
        return moments

    def envelope(self, columns: Columns) -> Envelope:
        """The lowest and highest level of every column; the curve must not be empty."""
        # Per column: one past the last level that began by its start, and the first that began at its start.
        begun = np.searchsorted(self._time, columns.first_ns, "right")
        fresh = begun.copy()
        is_equal = self._time[np.maximum(begun - 1, 0)] == columns.first_ns
        fresh[is_equal] = np.searchsorted(self._time, columns.first_ns[is_equal])
        is_whole = columns.begin_ns == columns.first_ns
        first = np.clip(np.where(is_whole, np.minimum(begun - 1, fresh), begun - 1), 0, None)
        # A column ends where the next begins: what begins there belongs to the next.
        following = np.where(is_whole, fresh, begun)[1:]
        end = int(np.searchsorted(self._time, columns.stop_ns[-1]))
        last = np.maximum(np.append(following, end) - 1, first)
        before = np.clip(fresh - 1, 0, None)
        return Envelope(
            low=self._extreme(np.minimum, first, last),
            high=self._extreme(np.maximum, first, last),
            joined_low=self._extreme(np.minimum, before, last),
            joined_high=self._extreme(np.maximum, before, last),
        )

    def _extreme(self, ufunc: np.ufunc, first: Int64Array, last: Int64Array) -> Int64Array:
        # Pairs of edges [first, last + 1); every second answer is what lies between two pairs.
        pairs = np.stack((first, last + 1), axis=1).ravel()
        return np.asarray(ufunc.reduceat(self._padded, pairs)[0::2], dtype=np.int64)
