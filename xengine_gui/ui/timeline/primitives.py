"""Numpy arrays straight into a painter: no Python object per rectangle."""

import threading
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QPainter, QPixmap

from xengine_gui.ui.timeline.geometry import FloatArray

# Joined once: joining flags takes as long as drawing a short text.
TEXT_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
TEXT_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
TEXT_CENTRE = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine

_FEW = 8
"""So few lines are drawn as objects: those of the legend, before pyqtgraph is loaded."""


def draw_rects(painter: QPainter, left: npt.NDArray[np.floating[Any]], top: Any, width: Any, height: Any) -> None:
    """Draw rectangles with the painter's brush and pen; all but `left` may be one number for all."""
    if not len(left):
        return
    array = _primitives(QRectF, 4, len(left))
    memory = array.ndarray()
    memory[:, 0], memory[:, 1], memory[:, 2], memory[:, 3] = left, top, width, height
    painter.drawRects(*array.drawargs())


def draw_lines(painter: QPainter, x1: FloatArray, y1: Any, x2: FloatArray, y2: Any) -> None:
    """Draw lines with the painter's pen; the heights may be one number for all."""
    if not len(x1):
        return
    if len(x1) <= _FEW:
        ends = np.broadcast_arrays(x1, y1, x2, y2)
        painter.drawLines([QLineF(*line) for line in np.stack(ends, axis=1).tolist()])
        return
    array = _primitives(QLineF, 4, len(x1))
    memory = array.ndarray()
    memory[:, 0], memory[:, 1], memory[:, 2], memory[:, 3] = x1, y1, x2, y2
    painter.drawLines(*array.drawargs())


def draw_stamps(painter: QPainter, stamp: QPixmap, x: FloatArray, y: float, scale: float) -> None:
    """Draw copies of a small image with their middles at the given places."""
    if not len(x):
        return
    array = _primitives(QPainter.PixmapFragment, 10, len(x))
    memory = array.ndarray()
    memory[:, 0], memory[:, 1] = x, y
    memory[:, 2:10] = 0, 0, stamp.width(), stamp.height(), scale, scale, 0, 1
    # The stubs know neither the pointer nor the count.
    painter.drawPixmapFragments(*array.drawargs(), stamp)  # type: ignore[call-arg]


def float_array(values: Any) -> FloatArray:
    """Values as float64."""
    return np.asarray(values, dtype=np.float64)


class _Arrays(threading.local):
    """One array of each kind per thread: pictures are painted beside the window, and making an array takes long."""

    def __init__(self) -> None:
        self.of: dict[type, Any] = {}


_arrays = _Arrays()


def _primitives(kind: type, fields: int, count: int) -> Any:
    if kind not in _arrays.of:
        from pyqtgraph.Qt.internals import PrimitiveArray  # noqa: PLC0415 - slow to load; an empty window needs none

        _arrays.of[kind] = PrimitiveArray(kind, fields)
    array = _arrays.of[kind]
    array.resize(count)
    return array
