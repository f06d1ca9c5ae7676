"""Paints a whole timeline: background, time axis, one card per device, arrows between them."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

from xengine_gui.language import tr
from xengine_gui.schedule.timeline import Int64Array
from xengine_gui.ui.timeline.bars import paint_frees, paint_lane
from xengine_gui.ui.timeline.details import printable
from xengine_gui.ui.timeline.frame import Fonts, Frame
from xengine_gui.ui.timeline.geometry import FloatArray
from xengine_gui.ui.timeline.ground import cards_in_view, paint_ground
from xengine_gui.ui.timeline.index import Arrows
from xengine_gui.ui.timeline.labels import Align, write_in
from xengine_gui.ui.timeline.layout import Band, Card
from xengine_gui.ui.timeline.memory import paint_memory
from xengine_gui.ui.timeline.primitives import (
    NO_PEN,
    brush_of,
    draw_lines,
    draw_rects,
    draw_stamps,
    float_array,
    ink_of,
)
from xengine_gui.ui.timeline.ticks import TimeTicks
from xengine_gui.ui.timeline.triangles import draw_triangles
from xengine_gui.units import format_count, format_percent

_MOST_CURVES = 24
_ARROW_ALPHA = 235
_MOST_LINES = 110
_NAME_SHARE, _NAME_GAP = 0.3, 16
"""What a long name has of the line of a card at least; between it and the figures."""


def paint_timeline(painter: QPainter, frame: Frame) -> None:
    """Paint everything that does not follow the mouse."""
    paint_ground(painter, frame)
    paint_plan(painter, frame)


def paint_plan(painter: QPainter, frame: Frame) -> None:
    """Paint on the ground what changes with the time that is in view."""
    ticks = frame.ticks
    shown = cards_in_view(frame)
    for position in shown:
        _lanes(painter, frame, position, ticks)
        paint_memory(painter, frame, position)
    _arrows(painter, frame)
    for i in shown:
        _title(painter, frame, i)


def paint_axis(painter: QPainter, frame: Frame, background: str, avoid: QRectF | None = None) -> None:
    """Paint the time axis; it stays at the top when the cards are scrolled."""
    layout, theme = frame.layout, frame.theme
    painter.fillRect(QRectF(0, layout.axis.top, layout.width, layout.axis.height), brush_of(background))
    painter.setPen(ink_of(theme.text_muted))
    for box, text in _axis_texts(frame, frame.ticks):
        # The cursor's own time stands over the texts; those that it would cut are left out.
        if avoid is None or not avoid.intersects(box):
            write_in(painter, frame, frame.fonts.small_face, box, text, Align.CENTRE)


def _axis_texts(frame: Frame, ticks: TimeTicks) -> list[tuple[QRectF, str]]:
    layout, metrics = frame.layout, frame.fonts.small_metrics
    top, height = layout.axis.bottom - metrics.height() - 4, metrics.height()
    texts = []
    taken = layout.card_left
    if ticks.base:
        width = frame.fonts.small_width(ticks.base)
        left = max(layout.card_left, layout.left - 10 - width)
        texts.append((QRectF(left, top, width, height), ticks.base))
        taken = left + width + 10
    for time_ns, text in zip(ticks.times_ns, ticks.texts, strict=True):
        width = frame.fonts.small_width(text)
        left = min(frame.x(time_ns) - width / 2, layout.card_right - width)
        if left >= taken:
            texts.append((QRectF(left, top, width, height), text))
    return texts


def _lanes(painter: QPainter, frame: Frame, position: int, ticks: TimeTicks) -> None:
    layout, card, device = frame.layout, frame.layout.cards[position], frame.index.devices[position]
    _grid(painter, frame, card, ticks)
    for lane, band in (
        (device.compute, card.compute),
        (device.incoming, card.incoming),
        (device.outgoing, card.outgoing),
    ):
        if band is None:
            continue
        if lane is not device.compute:
            box = QRectF(layout.left, band.top, layout.plot_width, band.height)
            painter.fillRect(box, brush_of(frame.theme.lane))
        paint_lane(painter, frame, lane, band, names=lane is device.compute)
    paint_frees(painter, frame, position)


def _grid(painter: QPainter, frame: Frame, card: Card, ticks: TimeTicks) -> None:
    pixel = frame.layout.column_width
    top = (card.compute or card.incoming or card.memory).top - 2
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    painter.setPen(NO_PEN)
    painter.setBrush(brush_of(frame.theme.grid))
    x = float_array([round(frame.x(time_ns) / pixel) * pixel for time_ns in ticks.times_ns])
    draw_rects(painter, x, top, max(1.0, pixel), card.memory.bottom - top)


def _title(painter: QPainter, frame: Frame, position: int) -> None:
    """The device's name, and figures; arrows that pass end before them and go on behind."""
    fonts, theme, band = frame.fonts, frame.theme, frame.layout.cards[position].title
    left, right = frame.layout.card_left + 12, frame.layout.right
    device = frame.index.devices[position]
    limit = frame.limit_bytes(device.device) if len(device.device.memory_ns) else None
    peak, busy = device.device.peak_bytes, device.busy_ratio if len(device.compute) else None
    title = title_of(device.name, busy, device.recompute_count, peak, limit, fonts, right - left)
    is_over = limit is not None and peak > limit
    _clear_behind(painter, frame, right - title.facts_width, right, band)
    painter.setPen(ink_of(theme.error if is_over else theme.text_muted))
    write_in(painter, frame, fonts.small_face, _box(left, right, band), title.facts, Align.RIGHT)
    _clear_behind(painter, frame, left, left + title.name_width, band)
    painter.setPen(ink_of(theme.text))
    write_in(painter, frame, fonts.bold_face, _box(left, right, band), title.name, Align.LEFT)


@dataclass(frozen=True, slots=True)
class _Title:
    name: str
    name_width: float
    facts: str
    facts_width: float


@lru_cache(maxsize=64)
def title_of(
    device: str,
    busy: float | None,
    recomputes: int,
    peak_bytes: int,
    limit_bytes: int | None,
    fonts: Fonts,
    room: float,
) -> _Title:
    """The name of a card and as many of its figures as have room beside it."""
    facts = [] if busy is None else [tr("busy {busy}", busy=format_percent(busy))]
    if recomputes:
        facts.append(format_count(recomputes, "recompute"))
    if limit_bytes:
        facts.append(tr("peak {peak_bytes} of its limit", peak_bytes=format_percent(peak_bytes / limit_bytes)))
    least = min(fonts.bold_metrics.horizontalAdvance(printable(device)), room * _NAME_SHARE)
    text = "  ·  ".join(facts)
    while len(facts) > 1 and fonts.small_metrics.horizontalAdvance(text) + _NAME_GAP + least > room:
        facts.pop(0)  # the name goes before what the summary tells too
        text = "  ·  ".join(facts)
    width = fonts.small_metrics.horizontalAdvance(text)
    name = fonts.bold_metrics.elidedText(printable(device), Qt.TextElideMode.ElideRight, room - width - _NAME_GAP)
    return _Title(name, fonts.bold_metrics.horizontalAdvance(name), text, width)


def _clear_behind(painter: QPainter, frame: Frame, left: float, right: float, band: Band) -> None:
    if right > left:
        height = frame.fonts.small_metrics.height()
        box = QRectF(left - 4, band.middle - height / 2, right - left + 8, height)
        painter.fillRect(box, brush_of(frame.theme.card))


def _box(left: float, right: float, band: Band) -> QRectF:
    return QRectF(left, band.top, right - left, band.height)


def _arrows(painter: QPainter, frame: Frame) -> None:
    """A curve for each transfer in view; where they crowd, thin straight lines for the first of each few columns."""
    groups = frame.index.arrows
    few = round(2 / frame.layout.column_width)
    chosen = [(arrows, arrows.in_view(frame.columns, few)) for arrows in groups]
    colour = QColor(frame.theme.transfer)
    if sum(len(positions) for _, positions in chosen) > _MOST_CURVES:
        colour.setAlpha(30 if frame.is_veiled else 110)
        step = math.ceil(frame.columns.count * len(groups) / _MOST_LINES)
        for arrows in groups:
            _crowd(painter, frame, arrows, arrows.in_view(frame.columns, step), colour)
        return
    if frame.is_veiled:
        colour.setAlpha(50)
    elif frame.is_vector:
        colour.setAlpha(_ARROW_ALPHA)
    else:
        colour = ink_of(_mixed(frame.theme.transfer, frame.theme.card, _ARROW_ALPHA))
    # Qt smooths a line of width 1 fifteen times as fast as a thicker one, and one that covers ten times as fast.
    pen = QPen(colour, 1.0 if not frame.is_vector else 1.3)
    for arrows, positions in chosen:
        for i in positions.tolist():
            times = int(arrows.start_ns[i]), int(arrows.end_ns[i])
            paint_arrow(painter, frame, (arrows.source, arrows.destination), times, pen)


@lru_cache(maxsize=8)
def _mixed(colour: str, ground: str, alpha: int) -> str:
    """The colour that another one gives where it is laid over a ground."""
    top, under = QColor(colour), QColor(ground)
    parts = ((top.red(), under.red()), (top.green(), under.green()), (top.blue(), under.blue()))
    return QColor(*(round(below + (above - below) * alpha / 255) for above, below in parts)).name()


def _crowd(painter: QPainter, frame: Frame, arrows: Arrows, chosen: Int64Array, colour: QColor) -> None:
    ends = _arrow_ends(frame, (arrows.source, arrows.destination))
    if ends is None:
        return
    left, width = frame.layout.left, frame.layout.column_width
    first = left + frame.columns.position(arrows.start_ns[chosen]) * width
    last = left + frame.columns.position(arrows.end_ns[chosen]) * width
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    # Most are upright, and upright ones are quicker to draw.
    upright = np.abs(last - first) < 1.5
    _upright_lines(painter, frame, np.floor(first[upright]), Band(min(ends), abs(ends[1] - ends[0])), colour)
    _slanted_lines(painter, frame, (first[~upright], last[~upright]), ends, colour)
    is_down = ends[1] > ends[0]
    head = Band(ends[1] - 5 if is_down else ends[1], 5.0)
    if not frame.is_veiled:
        draw_triangles(painter, frame, np.floor(last) + 0.5, head, 5.0, colour.name(), up=not is_down)


def _upright_lines(painter: QPainter, frame: Frame, left: FloatArray, band: Band, colour: QColor) -> None:
    if frame.is_vector:
        painter.setPen(NO_PEN)
        painter.setBrush(colour)
        draw_rects(painter, left, band.top, 1.0, band.height)
        return
    # Copies of an image: rectangles that are seen through take ten times as long.
    pixel = frame.layout.column_width
    line = _upright_line(colour.name(QColor.NameFormat.HexArgb), round(band.height / pixel), pixel)
    draw_stamps(painter, line, left + line.width() * pixel / 2, band.top + line.height() * pixel / 2, pixel)


@lru_cache(maxsize=16)
def _upright_line(colour: str, rows: int, pixel: float) -> QPixmap:
    line = QPixmap(max(1, round(1 / pixel)), max(1, rows))
    line.fill(QColor(colour))
    return line


def _slanted_lines(
    painter: QPainter, frame: Frame, across: tuple[FloatArray, FloatArray], ends: tuple[float, float], colour: QColor
) -> None:
    first, last = across
    if frame.is_vector or not len(first):
        painter.setPen(QPen(colour, 1))
        draw_lines(painter, first, ends[0], last, ends[1])
        return
    # Upright pieces, side by side: Qt blends a line that is seen through pixel by pixel, ten times as slowly.
    pixel = frame.layout.column_width
    height = abs(ends[1] - ends[0])
    pieces = np.clip(np.ceil(np.abs(last - first) / pixel), 1, max(1, int(height / pixel))).astype(np.int64)
    before = np.repeat(np.cumsum(pieces) - pieces, pieces)
    part = (np.arange(len(before)) - before + 0.5) / np.repeat(pieces, pieces)
    x = np.floor((np.repeat(first, pieces) + part * np.repeat(last - first, pieces)) / pixel) * pixel
    line = _upright_line(colour.name(QColor.NameFormat.HexArgb), round(height / pixel), pixel)
    # From whole device pixel to whole device pixel, so that no piece is missing from a line nor laid over another.
    step = (ends[1] - ends[0]) / np.repeat(pieces, pieces)
    nth = np.arange(len(before)) - before
    above, below = (np.rint((ends[0] + (nth + k) * step) / pixel) for k in ((0, 1) if ends[1] > ends[0] else (1, 0)))
    rows = np.maximum(below - above, 1)
    draw_stamps(painter, line, x + line.width() * pixel / 2, (above + rows / 2) * pixel, pixel, rows)


def _arrow_ends(frame: Frame, devices: tuple[int, int]) -> tuple[float, float] | None:
    source, destination = frame.layout.cards[devices[0]].outgoing, frame.layout.cards[devices[1]].incoming
    if source is None or destination is None:
        return None
    is_down = destination.top > source.top
    return (source.bottom, destination.top) if is_down else (source.top, destination.bottom)


def paint_arrow(painter: QPainter, frame: Frame, devices: tuple[int, int], times: tuple[int, int], pen: QPen) -> None:
    """The curve of one transfer, from its start in the source's lane to its end in the destination's."""
    ends = _arrow_ends(frame, devices)
    if ends is None:
        return
    is_down = ends[1] > ends[0]
    first, last = QPointF(frame.x(times[0]), ends[0]), QPointF(frame.x(times[1]), ends[1])
    # Curves down swing to the right, curves up to the left, so that there and back stay apart.
    swing = min(12.0, abs(last.y() - first.y()) * 0.12) * (1 if is_down else -1)
    third = (last.y() - first.y()) / 3
    control = QPointF(last.x() + swing, last.y() - third)
    path = QPainterPath(first)
    path.cubicTo(QPointF(first.x() + swing, first.y() + third), control, last)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(pen)
    painter.drawPath(path)
    angle = math.atan2(last.y() - control.y(), last.x() - control.x())
    wings = (angle + 2.65, angle - 2.65)
    head = [last, *(QPointF(last.x() + 6.5 * math.cos(wing), last.y() + 6.5 * math.sin(wing)) for wing in wings)]
    painter.setPen(NO_PEN)
    painter.setBrush(pen.color())
    painter.drawPolygon(QPolygonF(head))
