"""Painting of memory curves: the level, what is over the limit, the limit's line and label, and the peak."""

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from xengine_gui.schedule.timeline import Int64Array
from xengine_gui.ui.timeline.frame import Frame, MemoryScale
from xengine_gui.ui.timeline.geometry import FloatArray, envelope
from xengine_gui.ui.timeline.primitives import draw_rects, float_array
from xengine_gui.ui.timeline.ticks import size_ticks
from xengine_gui.units import format_size

_LINE = 1.5
_PEAK_RADIUS = 3.5


def paint_memory(painter: QPainter, frame: Frame, device_position: int) -> None:
    """Paint one device's memory over time under its limit."""
    device = frame.index.devices[device_position].device
    scale = frame.memory_scale(device_position)
    _size_axis(painter, frame, scale)
    if len(device.memory_ns):
        _curve(painter, frame, device_position, scale)
    limit = frame.limit_bytes(device)
    if limit is not None:
        _limit(painter, frame, scale, limit, over=limit < device.peak_bytes)
    if device.peak_bytes and len(device.memory_ns):
        _peak(painter, frame, device_position, scale)


def _size_axis(painter: QPainter, frame: Frame, scale: MemoryScale) -> None:
    band, left = scale.band, frame.layout.left
    line_height = frame.fonts.small_metrics.height()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    painter.setFont(frame.fonts.small)
    most = min(4, int(band.height / (2.2 * line_height)))
    for size_bytes, text in ((0, "0"), *size_ticks(scale.top_bytes, most)):
        y = scale.y(size_bytes)
        if size_bytes:
            painter.fillRect(QRectF(left, round(y), frame.layout.plot_width, 1), QColor(frame.theme.grid))
        # The name of the lane stands at the top of the gutter.
        if size_bytes and y < band.top + 1.1 * line_height:
            continue
        painter.setPen(QColor(frame.theme.text_muted))
        box = QRectF(frame.layout.card_left, y - line_height / 2, left - 8 - frame.layout.card_left, line_height)
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)


def _curve(painter: QPainter, frame: Frame, device_position: int, scale: MemoryScale) -> None:
    device = frame.index.devices[device_position].device
    levels = envelope(device.memory_ns, device.memory_bytes, frame.columns)
    pixel = frame.layout.column_width
    top = _heights(levels.high, scale, pixel)
    foot = np.full_like(top, round(scale.band.bottom / pixel) * pixel)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    _steps(painter, frame, top, foot, frame.theme.memory_fill)
    limit = frame.limit_bytes(device)
    if limit is not None and limit < device.peak_bytes:
        floor = np.full_like(top, float(_heights(np.array([limit]), scale, pixel)[0]))
        _steps(painter, frame, np.minimum(top, floor), floor, frame.theme.over_limit)
    thick = max(pixel, round(_LINE / pixel) * pixel)
    joined_top = _heights(levels.joined_high, scale, pixel)
    joined_foot = _heights(levels.joined_low, scale, pixel)
    # A riser is thinner than the line along a level, so that dips and spikes of a pixel stay apart.
    _steps(painter, frame, joined_top, np.maximum(joined_foot, joined_top + thick), frame.theme.memory_line)


def _heights(level: Int64Array, scale: MemoryScale, pixel: float) -> FloatArray:
    ratio = np.clip(level.astype(np.float64) / scale.top_bytes, 0.0, 1.0)
    return float_array(np.round((scale.band.bottom - ratio * scale.band.height) / pixel) * pixel)


def _steps(painter: QPainter, frame: Frame, top: FloatArray, foot: FloatArray, colour: str) -> None:
    """Fill each column from `top` to `foot`, neighbours of equal height at once."""
    first = np.flatnonzero((np.diff(top, prepend=np.nan) != 0) | (np.diff(foot, prepend=np.nan) != 0))
    stop = np.append(first[1:], len(top))
    is_filled = foot[first] > top[first]
    first, stop = first[is_filled], stop[is_filled]
    width = frame.layout.column_width
    painter.setBrush(QColor(colour))
    draw_rects(painter, frame.layout.left + first * width, top[first], (stop - first) * width, foot[first] - top[first])


@dataclass(frozen=True, slots=True)
class LimitLabel:
    """The label of a limit's line."""

    text: str
    box: QRectF
    line_y: float


def limit_label(frame: Frame, device_position: int) -> LimitLabel | None:
    """Where a device's limit is drawn, and what its label says; `None` where it has no limit."""
    device = frame.index.devices[device_position].device
    limit = frame.limit_bytes(device)
    if limit is None:
        return None
    return _label(frame, frame.memory_scale(device_position), limit)


def _label(frame: Frame, scale: MemoryScale, limit_bytes: int) -> LimitLabel:
    metrics = frame.fonts.pill_metrics
    is_above = limit_bytes > scale.top_bytes
    handle = "↕ " if frame.is_live else ""
    text = f"{handle}limit {format_size(limit_bytes)}{' ↑' if is_above else ''}"
    width, height = metrics.horizontalAdvance(text) + 18, metrics.height() + 4
    # On the middle of a device pixel, so that all limits are equally thick.
    y = (round(scale.y(limit_bytes) / frame.layout.column_width) + 0.5) * frame.layout.column_width
    return LimitLabel(text, QRectF(frame.layout.right - width, y - height / 2, width, height), y)


def _limit(painter: QPainter, frame: Frame, scale: MemoryScale, limit_bytes: int, *, over: bool) -> None:
    label = _label(frame, scale, limit_bytes)
    colour = QColor(frame.theme.error if over else frame.theme.limit)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    pen = QPen(colour, 1.5)
    pen.setDashPattern([5.0, 3.0])
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    painter.setPen(pen)
    painter.drawLine(QPointF(frame.layout.left, label.line_y), QPointF(label.box.left(), label.line_y))
    paint_pill(painter, frame, label.box, label.text, colour.name())


def paint_pill(painter: QPainter, frame: Frame, box: QRectF, text: str, colour: str) -> None:
    """A label with round ends."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
    painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
    painter.setFont(frame.fonts.pill)
    painter.setPen(QColor(frame.theme.text_on(colour)))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine, text)


def _peak(painter: QPainter, frame: Frame, device_position: int, scale: MemoryScale) -> None:
    """The highest moment with its level; where it is out of view, an arrow at the edge tells the way."""
    device = frame.index.devices[device_position].device
    metrics = frame.fonts.small_metrics
    x, y = frame.x(device.peak_ns), scale.y(device.peak_bytes)
    text = f"peak {format_size(device.peak_bytes)}"
    is_before, is_after = device.peak_ns < frame.view.start_ns, device.peak_ns > frame.view.end_ns
    if is_before or is_after:
        text = f"◂ {text}" if is_before else f"{text} ▸"
    width, height = metrics.horizontalAdvance(text) + 8, metrics.height() + 2
    left = min(max(x + (8 if not is_after else -width), frame.layout.left + 2), frame.layout.right - width - 2)
    if not is_before and not is_after and left < x + 8 - 0.5:
        left = max(frame.layout.left + 2, x - 8 - width)
    # Nothing of the curve is above its peak: the label goes there unless the limit's line is in the way.
    limit = frame.limit_bytes(device)
    ceiling = scale.band.top - height if limit is None or limit < device.peak_bytes else scale.y(limit)
    top = y - height - 3 if y - height - 4 > ceiling else min(y + 5, scale.band.bottom - height)
    box = QRectF(left, top, width, height)
    if limit is not None:
        pill = _label(frame, scale, limit).box
        if pill.intersects(box):
            box.moveRight(min(box.right(), pill.left() - 6))
    plate = QColor(frame.theme.card)
    plate.setAlpha(215)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(plate)
    painter.drawRoundedRect(box, 4, 4)
    painter.setFont(frame.fonts.small)
    painter.setPen(QColor(frame.theme.text))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine, text)
    if not is_before and not is_after:
        painter.setPen(QPen(QColor(frame.theme.text), 1.6))
        painter.setBrush(QColor(frame.theme.card))
        painter.drawEllipse(QPointF(x, y), _PEAK_RADIUS, _PEAK_RADIUS)
