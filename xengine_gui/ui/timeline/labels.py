"""Short texts that are written again and again: their glyphs are laid out once."""

from enum import Enum

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from xengine_gui.ui.timeline.frame import Face, Frame
from xengine_gui.ui.timeline.primitives import TEXT_CENTRE, TEXT_LEFT, TEXT_RIGHT


class Align(Enum):
    """Where in its box a text stands."""

    LEFT = TEXT_LEFT
    CENTRE = TEXT_CENTRE
    RIGHT = TEXT_RIGHT


def write_in(painter: QPainter, frame: Frame, face: Face, box: QRectF, text: str, align: Align) -> None:
    """Write a line in the middle of a box's height, with the painter's pen."""
    painter.setFont(face.font)
    if frame.is_vector:
        painter.drawText(box, align.value, text)
        return
    left = box.left()
    if align is not Align.LEFT:
        left += (box.width() - face.width(text)) / (2 if align is Align.CENTRE else 1)
    painter.drawStaticText(QPointF(left, box.top() + (box.height() - face.height) / 2), face.laid_out(text))


def write_at(painter: QPainter, frame: Frame, face: Face, left: float, baseline: float, text: str) -> None:
    """Write a line on a baseline; the painter has the face's font."""
    if frame.is_vector:
        painter.drawText(QPointF(left, baseline), text)
    else:
        painter.drawStaticText(QPointF(left, baseline - face.ascent), face.laid_out(text))
