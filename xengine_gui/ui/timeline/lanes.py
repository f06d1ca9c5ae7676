"""The bars of one lane, prepared once so that every look at them takes little time. No Qt in it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from xengine_gui.schedule.timeline import Bars, Category, Int64Array
from xengine_gui.ui.timeline.geometry import Columns, Coverage, Longest, Runs


@dataclass(frozen=True)
class Look:
    """What of a lane is in view: per category that is seen the columns it fills, and the positions of wide bars."""

    runs: Mapping[Category, Runs]
    wide: Int64Array


_NOTHING = Look({}, np.zeros(0, np.int64))


def categories_among(numbers: Int64Array) -> list[int]:
    """The categories that occur; counted, since `np.unique` loads masked arrays, which holds up the first picture."""
    found: list[int] = np.flatnonzero(np.bincount(numbers)).tolist()
    return found


class LaneIndex:
    """Finds the columns that each category fills, the bars that are wide, and what is under the mouse."""

    def __init__(self, bars: Bars) -> None:
        self.bars = bars
        # An event that takes no time is shown as if it took the shortest one.
        self._end = np.maximum(bars.end_ns, bars.start_ns + 1)
        self._latest_end = np.maximum.accumulate(self._end) if len(self._end) else self._end
        self._longest = Longest(bars.start_ns, self._end)
        self._by_category = {}
        for number in categories_among(bars.category):
            is_it = bars.category == number
            self._by_category[Category(number)] = Coverage(bars.start_ns[is_it], self._end[is_it])

    def __len__(self) -> int:
        return len(self.bars.start_ns)

    @property
    def categories(self) -> tuple[Category, ...]:
        """The categories there are, in the order of painting."""
        return tuple(sorted(self._by_category))

    def runs(self, category: Category, columns: Columns) -> Runs:
        """The stretches of columns that a category fills."""
        return self._by_category[category].runs(columns)

    def wide(self, columns: Columns, least_columns: float) -> Int64Array:
        """Positions in the lane of the bars in view that are at least so many columns wide, for borders and names."""
        return self._longest.in_view(columns.view, least_columns * columns.view.span_ns / columns.count)

    def look(self, columns: Columns, least_columns: float) -> Look:
        """The columns of all categories, and the bars that are at least so many columns wide in view."""
        low = int(self._latest_end.searchsorted(columns.first_ns[0], "right"))
        high = int(self.bars.start_ns.searchsorted(columns.stop_ns[-1]))
        if high <= low:
            return _NOTHING
        if high - low < columns.count // 2:
            return self._few(columns, least_columns, low, high)
        every = {category: cover.runs(columns) for category, cover in self._by_category.items()}
        return Look({c: runs for c, runs in every.items() if len(runs)}, self.wide(columns, least_columns))

    def _few(self, columns: Columns, least_columns: float, low: int, high: int) -> Look:
        """The same for few bars: quicker to ask for each of them which columns it touches."""
        start, end, category = self.bars.start_ns[low:high], self._end[low:high], self.bars.category[low:high]
        view = columns.view
        seen = np.minimum(end, view.end_ns) - np.maximum(start, view.start_ns)
        wide = low + (seen >= least_columns * view.span_ns / columns.count).nonzero()[0]
        is_seen = end > columns.first_ns[0]
        if not is_seen.all():
            start, end, category = start[is_seen], end[is_seen], category[is_seen]
            if not len(start):
                return _NOTHING
        first, stop = columns.touched(start, end)
        if int(category.min()) == int(category.max()):
            return Look({Category(int(category[0])): _joined(first, stop)}, wide)
        runs = {}
        for number in self._by_category:
            of_it = (category == number).nonzero()[0]
            if len(of_it):
                runs[number] = _joined(first[of_it], stop[of_it])
        return Look(runs, wide)

    def at(self, first_ns: int, stop_ns: int) -> Int64Array:
        """Positions of the bars that touch the time from `first_ns` up to before `stop_ns`."""
        low = int(self._latest_end.searchsorted(first_ns, "right"))
        high = int(self.bars.start_ns.searchsorted(stop_ns))
        found = np.arange(low, max(low, high), dtype=np.int64)
        return found[self._end[found] > first_ns]

    def longest(self, positions: Int64Array) -> int:
        """Of some bars the one that takes longest, the first of equals."""
        return int(positions[np.argmax(self.bars.end_ns[positions] - self.bars.start_ns[positions])])


def _joined(first: Int64Array, stop: Int64Array) -> Runs:
    """Runs of bars whose ends need not be in order."""
    return Runs.joined(first, np.maximum.accumulate(stop))
