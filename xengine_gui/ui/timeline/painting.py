"""Paints a whole timeline: background, time axis, one card per device, arrows between them."""

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF

from xengine_gui.ui.timeline.bars import paint_frees, paint_lane
from xengine_gui.ui.timeline.details import printable
from xengine_gui.ui.timeline.frame import Frame
from xengine_gui.ui.timeline.layout import Band, Card
from xengine_gui.ui.timeline.memory import paint_memory
from xengine_gui.ui.timeline.ticks import TimeTicks, time_ticks
from xengine_gui.units import format_percent

CARD_RADIUS = 9.0
_TICK_TEXT_WIDTHS = 1.9
_MANY_ARROWS = 120


def paint_timeline(painter: QPainter, frame: Frame) -> None:
    """Paint everything that does not follow the mouse."""
    layout = frame.layout
    ticks = time_ticks(frame.view, most_ticks(frame))
    seen = frame.visible or Band(0.0, math.inf)
    shown = [i for i, card in enumerate(layout.cards) if card.outer.bottom > seen.top and card.outer.top < seen.bottom]
    for position in shown:
        _card(painter, frame, position, ticks)
        paint_memory(painter, frame, position)
    _arrows(painter, frame)


def paint_axis(painter: QPainter, frame: Frame, background: str) -> None:
    """Paint the time axis; it stays at the top when the cards are scrolled."""
    layout, theme = frame.layout, frame.theme
    ticks = time_ticks(frame.view, most_ticks(frame))
    painter.fillRect(QRectF(0, layout.axis.top, layout.width, layout.axis.height), QColor(background))
    painter.setFont(frame.fonts.small)
    painter.setPen(QColor(theme.text_muted))
    metrics = frame.fonts.small_metrics
    box_top = layout.axis.bottom - metrics.height() - 4
    taken = layout.card_left
    if ticks.base:
        text = f"{ticks.base}"
        taken = layout.left - 6
        box = QRectF(layout.card_left, box_top, taken - layout.card_left, metrics.height())
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.TextFlag.TextDontClip, text)
    for time_ns, text in zip(ticks.times_ns, ticks.texts, strict=True):
        width = metrics.horizontalAdvance(text)
        left = min(frame.x(time_ns) - width / 2, layout.card_right - width)
        if left > taken:
            painter.drawText(QPointF(left, box_top + metrics.ascent()), text)


def most_ticks(frame: Frame) -> int:
    """How many texts the time axis has room for."""
    width = frame.fonts.small_metrics.horizontalAdvance("+ 888.888 ms")
    return max(1, int(frame.layout.plot_width / (width * _TICK_TEXT_WIDTHS)))


def _card(painter: QPainter, frame: Frame, position: int, ticks: TimeTicks) -> None:
    layout, theme = frame.layout, frame.theme
    card, device = layout.cards[position], frame.index.devices[position]
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    painter.setPen(QPen(QColor(theme.border), 1))
    painter.setBrush(QColor(theme.card))
    outer = QRectF(
        layout.card_left + 0.5, card.outer.top + 0.5, layout.card_right - layout.card_left - 1, card.outer.height - 1
    )
    painter.drawRoundedRect(outer, CARD_RADIUS, CARD_RADIUS)
    _grid(painter, frame, card, ticks)
    _title(painter, frame, position)
    for name, lane, band in (
        ("compute", device.compute, card.compute),
        ("in", device.incoming, card.incoming),
        ("out", device.outgoing, card.outgoing),
    ):
        if band is None:
            continue
        _lane_name(painter, frame, name, band.middle)
        if name != "compute":
            painter.fillRect(QRectF(layout.left, band.top, layout.plot_width, band.height), QColor(theme.lane))
        paint_lane(painter, frame, lane, band, names=name == "compute")
    paint_frees(painter, frame, position)
    _lane_name(painter, frame, "memory", card.memory.top + 2)


def _grid(painter: QPainter, frame: Frame, card: Card, ticks: TimeTicks) -> None:
    pixel = frame.layout.column_width
    top = (card.compute or card.incoming or card.memory).top - 2
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    colour = QColor(frame.theme.grid)
    for time_ns in ticks.times_ns:
        x = round(frame.x(time_ns) / pixel) * pixel
        painter.fillRect(QRectF(x, top, max(1.0, pixel), card.memory.bottom - top), colour)


def _title(painter: QPainter, frame: Frame, position: int) -> None:
    layout, device, fonts = frame.layout, frame.index.devices[position], frame.fonts
    band = layout.cards[position].title
    left = layout.card_left + 12
    right = layout.right
    facts = [f"busy {format_percent(device.busy_ratio)}"] if len(device.compute) else []
    if device.recompute_count:
        facts.append(f"{device.recompute_count:,} recompute{'' if device.recompute_count == 1 else 's'}")
    limit = frame.limit_bytes(device.device)
    if limit:
        facts.append(f"peak {format_percent(device.device.peak_bytes / limit)} of its limit")
    text = "  ·  ".join(facts)
    painter.setFont(fonts.small)
    painter.setPen(QColor(frame.theme.text_muted))
    painter.drawText(_box(left, right, band), Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
    room = right - left - fonts.small_metrics.horizontalAdvance(text) - 16
    name = fonts.bold_metrics.elidedText(printable(device.name), Qt.TextElideMode.ElideRight, room)
    painter.setFont(fonts.bold)
    painter.setPen(QColor(frame.theme.text))
    painter.drawText(_box(left, right, band), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name)


def _box(left: float, right: float, band: Band) -> QRectF:
    return QRectF(left, band.top, right - left, band.height)


def _lane_name(painter: QPainter, frame: Frame, name: str, middle: float) -> None:
    painter.setFont(frame.fonts.small)
    painter.setPen(QColor(frame.theme.text_muted))
    height = frame.fonts.small_metrics.height()
    box = QRectF(frame.layout.card_left + 12, middle - height / 2, frame.fonts.gutter, height)
    painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name)


def _arrows(painter: QPainter, frame: Frame) -> None:
    """A curve for each transfer in view; where they crowd, the first of each few pixels."""
    pixel = frame.layout.column_width
    chosen = [(arrows, arrows.in_view(frame.columns, round(2 / pixel))) for arrows in frame.index.arrows]
    is_crowded = sum(len(positions) for _, positions in chosen) > _MANY_ARROWS
    if is_crowded:
        chosen = [(arrows, arrows.in_view(frame.columns, round(9 / pixel))) for arrows in frame.index.arrows]
    colour = QColor(frame.theme.transfer)
    colour.setAlpha(120 if is_crowded else 225)
    for arrows, positions in chosen:
        for i in positions.tolist():
            start, end = int(arrows.start_ns[i]), int(arrows.end_ns[i])
            paint_arrow(painter, frame, (arrows.source, arrows.destination), (start, end), QPen(colour, 1.3))


def paint_arrow(painter: QPainter, frame: Frame, devices: tuple[int, int], times: tuple[int, int], pen: QPen) -> None:
    """The curve of one transfer, from its start in the source's lane to its end in the destination's."""
    source, destination = frame.layout.cards[devices[0]].outgoing, frame.layout.cards[devices[1]].incoming
    if source is None or destination is None:
        return
    is_down = destination.top > source.top
    first = QPointF(frame.x(times[0]), source.bottom if is_down else source.top)
    last = QPointF(frame.x(times[1]), destination.top if is_down else destination.bottom)
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
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(pen.color())
    painter.drawPolygon(QPolygonF(head))
