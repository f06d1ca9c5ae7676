"""Painting of a ghost over a timeline: the old memory level, outlines of what vanished, brackets at what appeared."""

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QRegion

from xengine_gui.language import tr
from xengine_gui.ui.ghost import Ghost, Marks
from xengine_gui.ui.timeline.curves import StepCurve
from xengine_gui.ui.timeline.details import printable
from xengine_gui.ui.timeline.frame import Frame
from xengine_gui.ui.timeline.geometry import FloatArray
from xengine_gui.ui.timeline.layout import Band, Card
from xengine_gui.ui.timeline.memory import limit_label
from xengine_gui.ui.timeline.primitives import TEXT_LEFT, draw_rects

_LEAST_WIDTH = 3.0
_LINE = 1.2
_DASH, _DASH_PERIOD = 5.0, 8.0
_UNDERLINE = 3.0
_DASHED_FROM = 12.0
"""The dashes of a narrower outline would look like a letter."""


def paint_ghost(painter: QPainter, frame: Frame, ghost: Ghost, strength: float = 1.0) -> None:
    """Paint the ghost; `strength` goes from 0 (nothing) to 1."""
    if strength <= 0 or frame.index.timeline is not ghost.after.timeline:
        return
    painter.save()
    painter.setOpacity(strength)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    for position, device in enumerate(frame.index.devices):
        card = frame.layout.cards[position]
        if frame.visible is not None and (
            card.outer.bottom < frame.visible.top or card.outer.top > frame.visible.bottom
        ):
            continue
        for lane in ("compute", "incoming"):
            band = _band(card, lane)
            if band is not None:
                _vanished(painter, frame, band, ghost.vanished.get((device.name, lane)))
                _appeared(painter, frame, band, ghost.appeared.get((device.name, lane)))
        level = ghost.levels.get(device.name)
        if level is not None and len(level):
            _level(painter, frame, position, level)
    _caption(painter, frame, ghost)
    painter.restore()


def _band(card: Card, lane: str) -> Band | None:
    # A device whose every transfer vanished has no lane for them any more; they stand among the frees.
    return card.compute if lane == "compute" else card.incoming or card.frees


def _spans(frame: Frame, marks: Marks | None) -> tuple[FloatArray, FloatArray]:
    """Left edges and widths of what is in view, one per column where they crowd."""
    if marks is None:
        return np.empty(0), np.empty(0)
    view, layout = frame.view, frame.layout
    inside = (marks.end_ns >= view.start_ns) & (marks.start_ns <= view.end_ns)
    scale = layout.columns / view.span_ns * layout.column_width
    left = layout.left + np.clip((marks.start_ns[inside] - view.start_ns) * scale, 0.0, layout.plot_width)
    right = layout.left + np.clip((marks.end_ns[inside] - view.start_ns) * scale, 0.0, layout.plot_width)
    width = np.maximum(right - left, _LEAST_WIDTH)
    _, first = np.unique(np.round(left), return_index=True)
    return left[first], width[first]


def _vanished(painter: QPainter, frame: Frame, band: Band, marks: Marks | None) -> None:
    left, width = _spans(frame, marks)
    if not len(left):
        return
    fill = QColor(frame.theme.text_muted)
    fill.setAlpha(36)
    painter.setBrush(fill)
    is_wide = width >= _DASHED_FROM
    for some, style in ((is_wide, Qt.PenStyle.DashLine), (~is_wide, Qt.PenStyle.SolidLine)):
        painter.setPen(QPen(QColor(frame.theme.text_muted), 1.0, style))
        draw_rects(painter, left[some] + 0.5, band.top + 0.5, np.maximum(width[some] - 1, 1.0), band.height - 1)


def _appeared(painter: QPainter, frame: Frame, band: Band, marks: Marks | None) -> None:
    """A line above and below: the bar itself keeps its colour and its hatch."""
    left, width = _spans(frame, marks)
    if not len(left):
        return
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(frame.theme.highlight))
    draw_rects(painter, left, band.top - _UNDERLINE, width, _UNDERLINE)
    draw_rects(painter, left, band.bottom, width, _UNDERLINE)


def _level(painter: QPainter, frame: Frame, position: int, level: StepCurve) -> None:
    """The old level as a dashed line; of each column its highest value."""
    layout, scale = frame.layout, frame.memory_scale(position)
    high = level.envelope(frame.columns).high
    # What is above the scale is out of sight, and not at the top, where it would look like a level.
    shown = scale.band.bottom - np.minimum(high / scale.top_bytes, 2.0) * scale.band.height
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(frame.theme.text))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    painter.save()
    plot = QRectF(layout.left, scale.band.top, layout.plot_width, scale.band.height + 1)
    label = limit_label(frame, position)
    # The limit's label stays readable.
    covered = QRegion() if label is None else QRegion(label.box.toAlignedRect())
    painter.setClipRegion(QRegion(plot.toAlignedRect()).subtracted(covered))
    _dashes(painter, shown, layout.left, layout.column_width)
    painter.restore()


def _dashes(painter: QPainter, level: FloatArray, left: float, column_width: float) -> None:
    """A dashed line along heights, one per column. A pen's dashes along thousands of corners take far longer."""
    place = np.arange(len(level)) * column_width
    is_on = place % _DASH_PERIOD < _DASH
    changes = np.diff(level, prepend=level[0]) != 0
    starts = np.flatnonzero(changes | np.diff(is_on, prepend=~is_on[0]))
    ends = np.append(starts[1:], len(level))
    seen = is_on[starts]
    starts, ends = starts[seen], ends[seen]
    draw_rects(painter, left + place[starts], level[starts] - _LINE / 2, (ends - starts) * column_width, _LINE)
    rises = np.flatnonzero(changes & is_on)
    top = np.minimum(level[rises], level[rises - 1])
    draw_rects(painter, left + place[rises], top, _LINE, np.abs(level[rises] - level[rises - 1]))


def _caption(painter: QPainter, frame: Frame, ghost: Ghost) -> None:
    """What the dashes are, once, in the title line of the first device."""
    text = tr("dashed: {before_name}", before_name=printable(ghost.before_name))
    metrics, band = frame.fonts.small_metrics, frame.layout.cards[0].title
    text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, frame.layout.plot_width / 2)
    width = metrics.horizontalAdvance(text) + 16
    box = QRectF(frame.layout.left, band.middle - metrics.height() / 2 - 2, width, metrics.height() + 4)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    painter.setPen(QPen(QColor(frame.theme.border_strong), 1.0, Qt.PenStyle.DashLine))
    painter.setBrush(QColor(frame.theme.surface))
    painter.drawRoundedRect(box, 5, 5)
    painter.setFont(frame.fonts.small)
    painter.setPen(QColor(frame.theme.text))
    painter.drawText(box.adjusted(8, 0, 0, 0), TEXT_LEFT, text)
