"""Painting of memory curves: the level, what is over the limit, the limit's line and label, and the peak."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap

from xengine_gui.language import tr
from xengine_gui.schedule.timeline import Category, Int64Array
from xengine_gui.ui.theme import Theme
from xengine_gui.ui.timeline.curves import Pieces
from xengine_gui.ui.timeline.details import printable
from xengine_gui.ui.timeline.frame import Frame, MemoryScale
from xengine_gui.ui.timeline.geometry import FloatArray
from xengine_gui.ui.timeline.labels import Align, write_in
from xengine_gui.ui.timeline.primitives import (
    NO_PEN,
    TEXT_LEFT,
    TEXT_RIGHT,
    brush_of,
    float_array,
    ink_of,
)
from xengine_gui.ui.timeline.stack import Layers, StackIndex
from xengine_gui.ui.timeline.steps import Steps, changes, fill_steps, fill_under
from xengine_gui.ui.timeline.ticks import size_ticks
from xengine_gui.units import format_size

_LINE = 1.5
_PEAK_RADIUS = 3.5
_PLATE_ALPHA = 225
_PEAK_REACH = 9.0
_LEAST_NAMED = 54.0
_DASHES_ABOVE = 3
"""Rows of device pixels on each side of the middle of a limit's line."""


def paint_memory(painter: QPainter, frame: Frame, device_position: int) -> None:
    """Paint one device's memory over time under its limit."""
    device = frame.index.devices[device_position].device
    scale = frame.memory_scale(device_position)
    limit = frame.limit_bytes(device)
    if not len(device.memory_ns):
        if limit is not None:
            _limit(painter, frame, scale, limit, over=False)
        return
    levels = frame.index.devices[device_position].memory.pieces(frame.columns)
    line = _outline(frame, levels, scale)
    _area(painter, frame, levels, scale, limit if limit is not None and limit < device.peak_bytes else None)
    stack = frame.stacks.get(device.device)
    if stack is not None:
        _layers(painter, frame, device_position, stack)
    painter.setBrush(brush_of(frame.theme.memory_line))
    fill_steps(painter, frame, line, least_width=1.0)
    if limit is not None:
        _limit(painter, frame, scale, limit, over=limit < device.peak_bytes)
    if device.peak_bytes:
        _peak(painter, frame, device_position, line)


def layers_of(frame: Frame, device_position: int, stack: StackIndex) -> Layers | None:
    """The tensors under a curve as they are drawn now; `None` where they are too many to be told apart."""
    curve = frame.index.devices[device_position].memory
    return stack.layers(frame.columns, curve)


@lru_cache(maxsize=64)
def layer_colour(theme: Theme, category: Category | None, *, odd: bool) -> str:
    """The fill of a tensor in the stack: that of the curve, tinted by what makes the tensor; parameters are grey."""
    tint = QColor(theme.border_strong if category is None else theme.category(category))
    fill = QColor(theme.memory_fill)
    part = 0.62 if category is None else 0.38 if odd else 0.2
    mixed = [round(a + (b - a) * part) for a, b in zip(fill.getRgb()[:3], tint.getRgb()[:3], strict=True)]  # type: ignore[index]
    return QColor(*mixed).name()


def _layers(painter: QPainter, frame: Frame, device_position: int, stack: StackIndex) -> None:
    """The largest tensors in view, each in its place in the stack; what is left of the area are the small ones."""
    layers = layers_of(frame, device_position, stack)
    if layers is None:
        return
    scale, pixel = frame.memory_scale(device_position), frame.layout.column_width
    painter.setPen(NO_PEN)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    gap = max(pixel, round(0.75 / pixel) * pixel)
    texts: list[tuple[QRectF, str, str]] = []
    for k, name in enumerate(layers.names):
        top, foot = _heights(layers.top[k], scale, pixel), _heights(layers.foot[k], scale, pixel)
        if float(np.max(foot - top, initial=0.0)) < 2 * gap:
            continue
        colour = layer_colour(frame.theme, layers.categories[k], odd=bool(layers.numbers[k] % 2))
        painter.setBrush(QColor(colour))
        fill_steps(painter, frame, Steps.of_columns(np.where(foot > top, top + gap, foot), foot))
        room = _widest(frame, top, foot)
        if room is not None:
            texts.append((room, name, colour))
    painter.setFont(frame.fonts.small)
    for room, name, colour in texts:
        painter.setPen(QColor(frame.theme.text_on(colour)))
        text = frame.fonts.small_metrics.elidedText(printable(name), Qt.TextElideMode.ElideMiddle, room.width())
        painter.drawText(room, TEXT_LEFT, text)
    painter.setPen(NO_PEN)


def _widest(frame: Frame, top: FloatArray, foot: FloatArray) -> QRectF | None:
    """The widest place in a layer that has room for a name."""
    first = changes(top, foot)
    stop = np.append(first[1:], len(top))
    tall = foot[first] - top[first] >= frame.fonts.small_metrics.height()
    width = np.where(tall, stop - first, 0) * frame.layout.column_width
    best = int(np.argmax(width))
    if width[best] < _LEAST_NAMED:
        return None
    left = frame.layout.left + float(first[best]) * frame.layout.column_width
    at = int(first[best])
    return QRectF(left + 4, float(top[at]) + 1, float(width[best]) - 8, float(foot[at] - top[at]) - 1)


def paint_size_axis(painter: QPainter, frame: Frame, device_position: int) -> None:
    """The sizes beside a memory curve, with a line for each."""
    scale = frame.memory_scale(device_position)
    band, left = scale.band, frame.layout.left
    line_height = frame.fonts.small_metrics.height()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    painter.setFont(frame.fonts.small)
    most = min(4, int(band.height / (2.2 * line_height)))
    for size_bytes, text in ((0, "0"), *size_ticks(scale.top_bytes, most)):
        y = scale.y(size_bytes)
        if size_bytes:
            painter.fillRect(QRectF(left, round(y), frame.layout.plot_width, 1), brush_of(frame.theme.grid))
        # The name of the lane stands at the top of the gutter.
        if size_bytes and y < band.top + 1.4 * line_height:
            continue
        painter.setPen(QColor(frame.theme.text_muted))
        box = QRectF(frame.layout.card_left, y - line_height / 2, left - 8 - frame.layout.card_left, line_height)
        painter.drawText(box, TEXT_RIGHT, text)


def _area(painter: QPainter, frame: Frame, levels: Pieces, scale: MemoryScale, limit_bytes: int | None) -> None:
    """Fill what is held, and in another colour what of it is over a limit."""
    pixel = frame.layout.column_width
    top = _heights(levels.envelope.high, scale, pixel)
    painter.setPen(NO_PEN)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    painter.setBrush(brush_of(frame.theme.memory_fill))
    foot = round(scale.band.bottom / pixel) * pixel
    fill_under(painter, frame, Steps.of_pieces(levels.first, top, np.full_like(top, foot), frame.layout.columns))
    if limit_bytes is not None:
        foot = round(scale.y(limit_bytes) / pixel) * pixel
        painter.setBrush(brush_of(frame.theme.over_limit))
        top = np.minimum(top, foot)
        fill_under(painter, frame, Steps.of_pieces(levels.first, top, np.full_like(top, foot), frame.layout.columns))


def _outline(frame: Frame, levels: Pieces, scale: MemoryScale) -> Steps:
    """Upper and lower edge of the curve's line."""
    pixel = frame.layout.column_width
    thick = max(pixel, round(_LINE / pixel) * pixel)
    top = _heights(levels.envelope.joined_high, scale, pixel)
    foot = np.maximum(_heights(levels.envelope.joined_low, scale, pixel), top + thick)
    return Steps.of_pieces(levels.first, top, foot, frame.layout.columns)


def _heights(level: Int64Array, scale: MemoryScale, pixel: float) -> FloatArray:
    ratio = np.minimum(np.maximum(level / scale.top_bytes, 0.0), 1.0)
    return float_array(np.rint((scale.band.bottom - ratio * scale.band.height) / pixel) * pixel)


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
    text = tr(
        "{handle}limit {limit_bytes}{is_above}",
        handle=handle,
        limit_bytes=format_size(limit_bytes),
        is_above=" ↑" if is_above else "",
    )
    width, height = frame.fonts.pill_face.width(text) + 18, metrics.height() + 4
    # On the middle of a device pixel, so that all limits are equally thick.
    y = (round(scale.y(limit_bytes) / frame.layout.column_width) + 0.5) * frame.layout.column_width
    return LimitLabel(text, QRectF(frame.layout.right - width, y - height / 2, width, height), y)


def _limit(painter: QPainter, frame: Frame, scale: MemoryScale, limit_bytes: int, *, over: bool) -> None:
    label = _label(frame, scale, limit_bytes)
    colour = frame.theme.error if over else frame.theme.limit
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    length = label.box.left() - frame.layout.left
    if frame.is_vector:
        painter.setPen(_limit_pen(colour))
        painter.drawLine(QPointF(frame.layout.left, label.line_y), QPointF(label.box.left(), label.line_y))
    elif length > 0:
        # A copy of an image: working out dashes takes ten times as long.
        pixel = frame.layout.column_width
        dashes = _dashes(colour, round(length / pixel), pixel)
        left = round(frame.layout.left / pixel) * pixel
        top = (round(label.line_y / pixel - 0.5) - _DASHES_ABOVE) * pixel
        painter.drawPixmap(QPointF(left, top), dashes)
    paint_pill(painter, frame, label.box, label.text, colour)


def _limit_pen(colour: str) -> QPen:
    pen = QPen(QColor(colour), 1.5)
    pen.setDashPattern([5.0, 3.0])
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    return pen


@lru_cache(maxsize=32)
def _dashes(colour: str, columns: int, pixel: float) -> QPixmap:
    """The line of a limit, in the middle of some rows of device pixels."""
    image = QPixmap(columns, 2 * _DASHES_ABOVE + 1)
    image.setDevicePixelRatio(1 / pixel)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setPen(_limit_pen(colour))
    y = (_DASHES_ABOVE + 0.5) * pixel
    painter.drawLine(QPointF(0, y), QPointF(columns * pixel, y))
    painter.end()
    return image


def paint_pill(painter: QPainter, frame: Frame, box: QRectF, text: str, colour: str) -> None:
    """A label with round ends."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    painter.setPen(NO_PEN)
    painter.setBrush(brush_of(colour))
    painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
    painter.setPen(ink_of(frame.theme.text_on(colour)))
    write_in(painter, frame, frame.fonts.pill_face, box, text, Align.CENTRE)


def is_at_peak(frame: Frame, device_position: int, point: QPointF) -> bool:
    """Whether a point is on the mark of a device's highest moment."""
    device = frame.index.devices[device_position].device
    if not device.peak_bytes or not frame.view.start_ns <= device.peak_ns <= frame.view.end_ns:
        return False
    at = QPointF(frame.x(device.peak_ns), frame.memory_scale(device_position).y(device.peak_bytes))
    return (point - at).manhattanLength() <= _PEAK_REACH


def _peak(painter: QPainter, frame: Frame, device_position: int, line: Steps) -> None:
    """The highest moment with its level; where it is out of view, an arrow at the edge tells the way."""
    device = frame.index.devices[device_position].device
    scale = frame.memory_scale(device_position)
    is_before, is_after = device.peak_ns < frame.view.start_ns, device.peak_ns > frame.view.end_ns
    text = tr(
        "{is_before}peak {peak_bytes}{is_after}",
        is_before="◂ " if is_before else "",
        peak_bytes=format_size(device.peak_bytes),
        is_after=" ▸" if is_after else "",
    )
    at = QPointF(frame.x(device.peak_ns), scale.y(device.peak_bytes))
    box, is_clear = _peak_box(frame, device_position, line, at, text)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    painter.setPen(NO_PEN)
    if not is_clear:
        painter.setBrush(brush_of(frame.theme.card, _PLATE_ALPHA))
        painter.drawRoundedRect(box, 4, 4)
    painter.setPen(ink_of(frame.theme.text))
    write_in(painter, frame, frame.fonts.small_face, box, text, Align.CENTRE)
    if not is_before and not is_after:
        painter.setPen(QPen(QColor(frame.theme.text), 1.6))
        painter.setBrush(QColor(frame.theme.card))
        painter.drawEllipse(at, _PEAK_RADIUS, _PEAK_RADIUS)


def _peak_box(frame: Frame, device_position: int, line: Steps, at: QPointF, text: str) -> tuple[QRectF, bool]:
    """Where the peak's label stands, and whether it is clear of the curve and the limit there."""
    layout, band = frame.layout, frame.layout.cards[device_position].memory
    width, height = frame.fonts.small_width(text) + 6, frame.fonts.small_metrics.height()
    label = limit_label(frame, device_position)

    def beside(wanted: float) -> tuple[float, float, float]:
        """The left edge of the label there, and what of the curve is above and under it."""
        left = min(max(wanted, layout.left + 2), layout.right - width - 2)
        columns = line.between(
            max(0, int((left - layout.left) / layout.column_width)),
            max(1, int((left + width - layout.left) / layout.column_width) + 1),
        )
        return left, float(line.top[columns].min()), float(line.foot[columns].max())

    places = [beside(at.x() + 7)]
    for is_above, side in ((True, 0), (True, 1), (False, 0), (False, 1)):
        if side == len(places):
            places.append(beside(at.x() - 7 - width))
        left, above, under = places[side]
        box = QRectF(left, min(at.y() - height - 3, above - height - 2) if is_above else under + 3, width, height)
        is_off_curve = box.bottom() <= above or box.top() >= under
        is_off_limit = label is None or not (
            box.intersects(label.box) or box.top() - 1 <= label.line_y <= box.bottom() + 1
        )
        if is_off_curve and is_off_limit and box.bottom() <= band.bottom and box.top() >= band.top - height:
            return box, True
    box = QRectF(places[0][0], min(at.y() + 5, band.bottom - height), width, height)
    if label is not None and box.intersects(label.box):
        box.moveRight(label.box.left() - 6)
    return box, False
