"""Stretches of columns that are filled from one height to another: what memory curves are painted of."""

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter, QPolygonF

from xengine_gui.schedule.timeline import Int64Array
from xengine_gui.ui.timeline.frame import Frame
from xengine_gui.ui.timeline.geometry import FloatArray
from xengine_gui.ui.timeline.primitives import draw_rects


@dataclass(frozen=True)
class Steps:
    """Stretches of columns, each from `first` to the next one's, filled from `top` to `foot`."""

    first: Int64Array
    top: FloatArray
    foot: FloatArray
    count: int

    @classmethod
    def of_columns(cls, top: FloatArray, foot: FloatArray) -> "Steps":
        """One height per column."""
        return cls.of_pieces(np.arange(len(top), dtype=np.int64), top, foot, len(top))

    @classmethod
    def of_pieces(cls, first: Int64Array, top: FloatArray, foot: FloatArray, count: int) -> "Steps":
        """Neighbours of equal height made into one."""
        chosen = changes(top, foot)
        return cls(first[chosen], top[chosen], foot[chosen], count)

    @property
    def stop(self) -> Int64Array:
        """One past the last column of each."""
        return np.append(self.first[1:], self.count)

    def between(self, start: int, stop: int) -> slice:
        """Those that any of some columns is in."""
        low = int(self.first.searchsorted(start, "right")) - 1
        return slice(max(low, 0), max(int(self.first.searchsorted(stop)), low + 1, 1))


def changes(*rows: FloatArray) -> Int64Array:
    """The columns in which any of some rows has another value than in the column before; the first always."""
    change = np.zeros(len(rows[0]), np.bool_)
    change[:1] = True
    for row in rows:
        change[1:] |= row[1:] != row[:-1]
    return np.flatnonzero(change)


def fill_steps(painter: QPainter, frame: Frame, steps: Steps, *, least_width: float = 0.0) -> None:
    """Fill stretches of columns from top to foot."""
    first, stop, top, foot = steps.first, steps.stop, steps.top, steps.foot
    is_filled = foot > top
    if not is_filled.all():
        first, stop, top, foot = first[is_filled], stop[is_filled], top[is_filled], foot[is_filled]
    pixel = frame.layout.column_width
    width = np.maximum((stop - first) * pixel, least_width)
    left = np.minimum(frame.layout.left + first * pixel, frame.layout.right - width)
    draw_rects(painter, left, top, width, foot - top)


def fill_under(painter: QPainter, frame: Frame, steps: Steps) -> None:
    """Fill what is under a curve down to one foot."""
    if not frame.is_vector:
        fill_steps(painter, frame, steps)
        return
    # As one shape: between rectangles that are smoothed each on its own, the background would shine through.
    left = frame.layout.left + steps.first * frame.layout.column_width
    right = np.append(left[1:], frame.layout.right)
    foot = float(steps.foot[0])
    points = [QPointF(frame.layout.left, foot)]
    for x1, x2, y in zip(left.tolist(), right.tolist(), steps.top.tolist(), strict=True):
        points += [QPointF(x1, y), QPointF(x2, y)]
    painter.drawPolygon(QPolygonF([*points, QPointF(frame.layout.right, foot)]))
