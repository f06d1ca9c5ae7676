"""Numpy arrays straight into a painter: no Python object per rectangle."""

import threading
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPixmap
from shiboken6 import Shiboken

from xengine_gui.ui.timeline.geometry import FloatArray

# Joined once, and numbers: joining flags takes as long as drawing a short text, and so does handing over an enum.
TEXT_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)
TEXT_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)
TEXT_CENTRE = int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextSingleLine)
NO_PEN = QPen(Qt.PenStyle.NoPen)


@lru_cache(maxsize=256)
def brush_of(colour: str, alpha: int = 255) -> QBrush:
    """A brush of one colour; made once, since reading a colour's name takes longer than filling a small bar."""
    made = QColor(colour)
    made.setAlpha(alpha)
    return QBrush(made)


@lru_cache(maxsize=64)
def ink_of(colour: str) -> QColor:
    """A colour to write with; made once."""
    return QColor(colour)


def draw_rects(painter: QPainter, left: npt.NDArray[np.floating[Any]], top: Any, width: Any, height: Any) -> None:
    """Draw rectangles with the painter's brush and pen; all but `left` may be one number for all."""
    if not len(left):
        return
    pointer, memory = _primitives(QRectF, 4, len(left))
    memory[:, 0], memory[:, 1], memory[:, 2], memory[:, 3] = left, top, width, height
    painter.drawRects(pointer, len(left))


def draw_lines(painter: QPainter, x1: FloatArray, y1: Any, x2: FloatArray, y2: Any) -> None:
    """Draw lines with the painter's pen; the heights may be one number for all."""
    if not len(x1):
        return
    pointer, memory = _primitives(QLineF, 4, len(x1))
    memory[:, 0], memory[:, 1], memory[:, 2], memory[:, 3] = x1, y1, x2, y2
    painter.drawLines(pointer, len(x1))


def draw_stamps(painter: QPainter, stamp: QPixmap, x: FloatArray, y: Any, scale: float, height: Any = None) -> None:
    """Draw copies of a small image with their middles at the given places, or of each its upper `height` rows alone."""
    if not len(x):
        return
    pointer, memory = _primitives(QPainter.PixmapFragment, 10, len(x))
    memory[:, 0], memory[:, 1] = x, y
    memory[:, 2:10] = 0, 0, stamp.width(), stamp.height(), scale, scale, 0, 1
    if height is not None:
        memory[:, 5] = height
    painter.drawPixmapFragments(pointer, len(x), stamp)


def float_array(values: Any) -> FloatArray:
    """Values as float64."""
    return np.asarray(values, dtype=np.float64)


class _Arrays(threading.local):
    """One array of each kind per thread: pictures are painted beside the window, and making an array takes long."""

    def __init__(self) -> None:
        self.of: dict[type, tuple[Any, FloatArray]] = {}


_arrays = _Arrays()
_LEAST_ROOM = 2048


def _primitives(kind: type, fields: int, count: int) -> tuple[Any, FloatArray]:
    """What Qt takes as a pointer to the first of `count` objects, and the numbers that they are made of."""
    pointer, memory = _arrays.of.get(kind, (None, None))
    if memory is None or len(memory) < count:
        memory = np.zeros((max(_LEAST_ROOM, 1 << (count - 1).bit_length()), fields))
        pointer = Shiboken.wrapInstance(memory.ctypes.data, kind)
        _arrays.of[kind] = pointer, memory
    return pointer, memory[:count]
