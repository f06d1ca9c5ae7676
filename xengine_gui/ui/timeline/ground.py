"""What a timeline is painted on: cards, the names of their lanes, sizes beside memory. It stays while time is moved."""

import math

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPen

from xengine_gui.ui.timeline.frame import Frame
from xengine_gui.ui.timeline.layout import Band
from xengine_gui.ui.timeline.memory import paint_size_axis
from xengine_gui.ui.timeline.primitives import TEXT_LEFT, brush_of, ink_of

CARD_RADIUS = 9.0


def cards_in_view(frame: Frame) -> list[int]:
    """The positions of the devices whose cards are seen."""
    seen = frame.visible or Band(0.0, math.inf)
    cards = enumerate(frame.layout.cards)
    return [i for i, card in cards if card.outer.bottom > seen.top and card.outer.top < seen.bottom]


def ground_key(frame: Frame) -> object:
    """Two frames with equal keys have the same ground."""
    tops = tuple(frame.memory_scale(i).top_bytes for i in range(len(frame.layout.cards)))
    return frame.layout, frame.theme, frame.fonts, frame.visible, tops


def paint_ground(painter: QPainter, frame: Frame) -> None:
    """Paint what is the same for every stretch of time."""
    for position in cards_in_view(frame):
        _card(painter, frame, position)
        paint_size_axis(painter, frame, position)


def _card(painter: QPainter, frame: Frame, position: int) -> None:
    layout, card = frame.layout, frame.layout.cards[position]
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    painter.setPen(QPen(QColor(frame.theme.border), 1))
    painter.setBrush(brush_of(frame.theme.card))
    outer = QRectF(
        layout.card_left + 0.5, card.outer.top + 0.5, layout.card_right - layout.card_left - 1, card.outer.height - 1
    )
    painter.drawRoundedRect(outer, CARD_RADIUS, CARD_RADIUS)
    for name, band in (("compute", card.compute), ("in", card.incoming), ("out", card.outgoing)):
        if band is not None:
            _lane_name(painter, frame, name, band.middle)
    _lane_name(painter, frame, "memory", card.memory.top + 2)


def _lane_name(painter: QPainter, frame: Frame, name: str, middle: float) -> None:
    painter.setFont(frame.fonts.small)
    painter.setPen(ink_of(frame.theme.text_muted))
    height = frame.fonts.small_metrics.height()
    box = QRectF(frame.layout.card_left + 12, middle - height / 2, frame.fonts.gutter, height)
    painter.drawText(box, TEXT_LEFT, name)
