"""The bars of one lane, prepared once so that every look at them takes little time. No Qt in it."""

import numpy as np

from xengine_gui.schedule.timeline import Bars, Category, Int64Array
from xengine_gui.ui.timeline.geometry import Columns, Coverage, Longest, Runs


class LaneIndex:
    """Finds the columns that each category fills, the bars that are wide, and what is under the mouse."""

    def __init__(self, bars: Bars) -> None:
        self.bars = bars
        # An event that takes no time is shown as if it took the shortest one.
        self._end = np.maximum(bars.end_ns, bars.start_ns + 1)
        self._latest_end = np.maximum.accumulate(self._end) if len(self._end) else self._end
        self._longest = Longest(bars.start_ns, self._end)
        self._by_category = {}
        for number in np.unique(bars.category):
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

    def at(self, first_ns: int, stop_ns: int) -> Int64Array:
        """Positions of the bars that touch the time from `first_ns` up to before `stop_ns`."""
        low = int(self._latest_end.searchsorted(first_ns, "right"))
        high = int(self.bars.start_ns.searchsorted(stop_ns))
        found = np.arange(low, max(low, high), dtype=np.int64)
        return found[self._end[found] > first_ns]

    def longest(self, positions: Int64Array) -> int:
        """Of some bars the one that takes longest, the first of equals."""
        return int(positions[np.argmax(self.bars.end_ns[positions] - self.bars.start_ns[positions])])
