"""Tensors stacked under a memory curve: the largest of them, each with its level in every pixel column. No Qt in it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xengine_gui.schedule.timeline import Category, Int64Array
from xengine_gui.ui.timeline.curves import StepCurve
from xengine_gui.ui.timeline.geometry import Columns

PARAMETERS = "parameters"
MOST_LAYERS = 40
_MOST_LEVELS = 100_000
_ENDLESS = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Layers:
    """One row per tensor and one column per pixel: from `foot` to `top` bytes, equal where it is not there.

    A column shows the moment of its highest level, so that all together never are above the curve. `numbers` tell
    neighbours apart and stay with the tensor while the view moves.
    """

    names: tuple[str, ...]
    categories: tuple[Category | None, ...]
    numbers: tuple[int, ...]
    foot: Int64Array
    top: Int64Array

    def name_at(self, column: int, level_bytes: int) -> str | None:
        """The tensor that is drawn at a level of a column."""
        found = np.flatnonzero((self.foot[:, column] <= level_bytes) & (level_bytes < self.top[:, column]))
        return self.names[int(found[0])] if len(found) else None


class StackIndex:
    """The stays of one device's tensors, ready to be stacked for any view."""

    def __init__(
        self,
        names: Sequence[str],
        categories: Sequence[Category | None],
        start_ns: Int64Array,
        end_ns: Int64Array,
        size_bytes: Int64Array,
        parameter_bytes: int,
    ) -> None:
        self._names, self._categories = names, categories
        self._start, self._end, self._size = start_ns, end_ns, size_bytes
        self._parameter_bytes = parameter_bytes
        self._last: tuple[Columns, Layers | None] | None = None

    def layers(self, columns: Columns, curve: StepCurve) -> Layers | None:
        """The largest tensors in view, those that stay longest at the bottom, right above the parameters."""
        if self._last is None or self._last[0] != columns:
            self._last = columns, self._stacked(columns, curve)
        return self._last[1]

    def _stacked(self, columns: Columns, curve: StepCurve) -> Layers | None:
        moments = curve.highest_moments(columns, _MOST_LEVELS)
        if moments is None:
            return None
        chosen = self._largest(columns)
        there = (self._start[chosen, None] <= moments) & (moments < self._end[chosen, None])
        part = np.where(there, self._size[chosen, None], 0)
        names = [self._names[i] for i in chosen.tolist()]
        categories = [self._categories[i] for i in chosen.tolist()]
        numbers = chosen.tolist()
        if self._parameter_bytes:
            part = np.vstack([np.full((1, columns.count), self._parameter_bytes, np.int64), part])
            names, categories, numbers = [PARAMETERS, *names], [None, *categories], [0, *numbers]
        top = np.cumsum(part, axis=0, dtype=np.int64)
        return Layers(tuple(names), tuple(categories), tuple(numbers), top - part, top)

    def _largest(self, columns: Columns) -> Int64Array:
        start = np.maximum(self._start, columns.view.start_ns)
        area = np.maximum(np.minimum(self._end, columns.view.end_ns) - start, 0).astype(np.float64) * self._size
        in_view = np.flatnonzero(area > 0)
        if len(in_view) > MOST_LAYERS:
            in_view = in_view[np.argpartition(area[in_view], -MOST_LAYERS)[-MOST_LAYERS:]]
        length = self._end[in_view] - self._start[in_view]
        return np.asarray(in_view[np.lexsort((in_view, -length))], np.int64)


def clipped_end(end_ns: int | None, plan_end_ns: int) -> int:
    """The end of a stay as a number; one that lasts to the end of the plan goes beyond it."""
    return plan_end_ns + 1 if end_ns is None else min(end_ns, _ENDLESS)
