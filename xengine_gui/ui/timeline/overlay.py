"""Paints what follows the mouse: cursor, levels, outlines, the card of details; and the message of an empty view."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from xengine_gui.ui.theme import Theme
from xengine_gui.ui.timeline.details import Details
from xengine_gui.ui.timeline.frame import Fonts, Frame
from xengine_gui.ui.timeline.hits import memory_level
from xengine_gui.ui.timeline.index import Place
from xengine_gui.ui.timeline.layout import Band
from xengine_gui.ui.timeline.memory import paint_pill
from xengine_gui.ui.timeline.painting import paint_arrow, paint_axis
from xengine_gui.ui.timeline.ticks import format_moment
from xengine_gui.units import format_duration, format_size

_WIDEST_WHY = 260.0
_WIDEST_TITLE = 420.0
_PADDING = 10.0


@dataclass(frozen=True, slots=True)
class Overlay:
    """What lies over the painted timeline; `None` where there is none of it."""

    selected: Sequence[Place]
    hovered: Place | None
    cursor_ns: int | None
    stretch_ns: tuple[int, int] | None
    mouse: QPointF | None
    details: Details | None
    moment_ns: int | None = None
    chosen_ns: tuple[int, int] | None = None


def paint_overlay(painter: QPainter, frame: Frame, overlay: Overlay, box: QRectF) -> None:
    """Paint all that follows the mouse within the view's box."""
    axis = frame.layout.axis
    painter.setClipRect(box.adjusted(0, axis.height, 0, 0))
    paint_outline(painter, frame, overlay.selected, strong=True)
    if overlay.hovered is not None:
        paint_outline(painter, frame, (overlay.hovered,), strong=False)
    if overlay.moment_ns is not None and frame.view.start_ns <= overlay.moment_ns <= frame.view.end_ns:
        paint_moment(painter, frame, overlay.moment_ns, box.height())
    if overlay.cursor_ns is not None:
        paint_cursor(painter, frame, overlay.cursor_ns, box.height())
    for stretch in (overlay.chosen_ns, overlay.stretch_ns):
        if stretch is not None:
            paint_stretch(painter, frame, stretch, box.height())
    painter.setClipping(False)
    if overlay.chosen_ns is not None:
        paint_bracket(painter, frame, overlay.chosen_ns)
    if overlay.cursor_ns is not None:
        paint_cursor_time(painter, frame, overlay.cursor_ns)
    if overlay.details is not None and overlay.mouse is not None:
        paint_details(painter, frame, overlay.details, overlay.mouse, box)


def paint_moment(painter: QPainter, frame: Frame, moment_ns: int, bottom: float) -> None:
    """The line of the selected moment, dashed, so that it is not taken for the cursor's."""
    x = round(frame.x(moment_ns)) + 0.5
    pen = QPen(QColor(frame.theme.accent), 1.6)
    pen.setDashPattern([4.0, 2.5])
    painter.setPen(pen)
    painter.drawLine(QPointF(x, frame.layout.axis.bottom), QPointF(x, bottom))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(frame.theme.accent))
    foot = frame.layout.axis.bottom
    painter.drawConvexPolygon(QPolygonF([QPointF(x - 5, foot), QPointF(x + 5, foot), QPointF(x, foot + 7)]))


def paint_stretch(painter: QPainter, frame: Frame, stretch_ns: tuple[int, int], bottom: float) -> None:
    """A stretch of time, shaded, with its edges."""
    colour = QColor(frame.theme.accent)
    colour.setAlpha(38)
    left, right = (frame.x(moment) for moment in stretch_ns)
    top = frame.layout.axis.bottom
    painter.fillRect(QRectF(left, top, right - left, bottom), colour)
    colour.setAlpha(190)
    for edge in (left, right):
        if frame.layout.left <= edge <= frame.layout.right:
            painter.fillRect(QRectF(round(edge), top, 1, bottom), colour)


def paint_bracket(painter: QPainter, frame: Frame, stretch_ns: tuple[int, int]) -> None:
    """How long the selected stretch is, on the time axis."""
    left, right = (min(max(frame.x(t), frame.layout.left), frame.layout.right) for t in stretch_ns)
    text = format_duration(stretch_ns[1] - stretch_ns[0])
    metrics = frame.fonts.pill_metrics
    width, height = metrics.horizontalAdvance(text) + 18, metrics.height() + 4
    middle = min(max((left + right) / 2, frame.layout.left + width / 2), frame.layout.right - width / 2)
    bottom = frame.layout.axis.bottom
    painter.fillRect(QRectF(left, bottom - 2, right - left, 2), QColor(frame.theme.accent))
    box = QRectF(middle - width / 2, bottom - height - 3, width, height)
    paint_pill(painter, frame, box, text, frame.theme.accent)


def paint_cursor(painter: QPainter, frame: Frame, moment_ns: int, bottom: float) -> None:
    """The line of a moment with, on each memory curve, the level that the replay has there."""
    x = frame.x(moment_ns)
    pixel = frame.layout.column_width
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    painter.fillRect(
        QRectF(round(x / pixel) * pixel, frame.layout.axis.bottom, max(1.0, pixel), bottom), QColor(frame.theme.cursor)
    )
    metrics = frame.fonts.pill_metrics
    for position, device in enumerate(frame.index.devices):
        if not len(device.device.memory_ns):
            continue
        scale = frame.memory_scale(position)
        level = memory_level(frame, position, moment_ns)
        y = scale.y(level)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        painter.setPen(QPen(QColor(frame.theme.card), 1.5))
        painter.setBrush(QColor(frame.theme.cursor))
        painter.drawEllipse(QPointF(x, y), 4, 4)
        text = format_size(level)
        width, height = metrics.horizontalAdvance(text) + 14, metrics.height() + 2
        left = x - 9 - width if x - 9 - width > frame.layout.left else x + 9
        top = min(max(y - height / 2, scale.band.top), scale.band.bottom - height)
        paint_pill(painter, frame, QRectF(left, top, width, height), text, frame.theme.cursor)


def paint_cursor_time(painter: QPainter, frame: Frame, moment_ns: int) -> None:
    """The moment in words, on the time axis."""
    metrics = frame.fonts.pill_metrics
    resolution = max(1, frame.view.span_ns // max(1, int(frame.layout.plot_width)))
    text = format_moment(moment_ns, resolution, frame.view.end_ns)
    width, height = metrics.horizontalAdvance(text) + 18, metrics.height() + 5
    left = min(max(frame.x(moment_ns) - width / 2, 2.0), frame.layout.width - width - 2)
    box = QRectF(left, frame.layout.axis.bottom - height - 2, width, height)
    paint_axis(painter, frame, frame.theme.window, avoid=box)
    paint_pill(painter, frame, box, text, frame.theme.cursor)


def paint_outline(painter: QPainter, frame: Frame, places: Sequence[Place], *, strong: bool) -> None:
    """Outline an event wherever it is drawn; a transfer's arrow is drawn over the others."""
    colour = QColor(frame.theme.highlight)
    for place in places:
        start, end = frame.index.span(place)
        if end < frame.view.start_ns or start > frame.view.end_ns:
            continue
        band = _band(frame, place)
        if band is None:
            continue
        left, right = max(frame.x(start), frame.layout.left), min(frame.x(end), frame.layout.right)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        grow = 1.5 if strong else 0.75
        box = QRectF(left - grow, band.top - grow, max(right - left, 1.0) + 2 * grow, band.height + 2 * grow)
        if place.lane == "free":
            box = QRectF(left - band.height * 0.75, band.top - 1, band.height * 1.5, band.height + 1)
        if strong:
            painter.setPen(QPen(QColor(frame.theme.card), 4.5))
            painter.drawRoundedRect(box, 2, 2)
        painter.setPen(QPen(colour, 2.2 if strong else 1.5))
        painter.drawRoundedRect(box, 2, 2)
    ends = {place.lane: place for place in places}
    if "outgoing" in ends and "incoming" in ends:
        devices = ends["outgoing"].device, ends["incoming"].device
        paint_arrow(painter, frame, devices, frame.index.span(ends["outgoing"]), QPen(colour, 2.2 if strong else 1.6))


def _band(frame: Frame, place: Place) -> Band | None:
    card = frame.layout.cards[place.device]
    return {"compute": card.compute, "incoming": card.incoming, "outgoing": card.outgoing, "free": card.frees}[
        place.lane
    ]


def paint_details(painter: QPainter, frame: Frame, details: Details, at: QPointF, within: QRectF) -> None:
    """A card of details beside the mouse, on the side that has room."""
    fonts, theme = frame.fonts, frame.theme
    room = within.width() - 2 * _PADDING - 8
    # A name of any length is told whole, in several lines.
    anywhere = int(Qt.TextFlag.TextWrapAnywhere)
    title_width = min(fonts.bold_metrics.horizontalAdvance(details.title) + 1, room, _WIDEST_TITLE)
    name_width = max((fonts.small_metrics.horizontalAdvance(name) for name, _ in details.rows), default=0.0)
    values = [
        fonts.small_metrics.elidedText(value, Qt.TextElideMode.ElideMiddle, room - name_width - 12)
        for _, value in details.rows
    ]
    value_width = max(map(fonts.small_metrics.horizontalAdvance, values), default=0.0)
    width = max(title_width, name_width + 12 + value_width)
    wraps = int(Qt.TextFlag.TextWordWrap)
    why = QRectF()
    if details.why:
        width = max(width, min(_WIDEST_WHY, room, fonts.small_metrics.horizontalAdvance(details.why)))
        why = fonts.small_metrics.boundingRect(QRectF(0, 0, width, 1000), wraps, details.why)
    line = fonts.small_metrics.height() + 2
    title_box = fonts.bold_metrics.boundingRect(QRectF(0, 0, width, 10_000), anywhere, details.title)
    title_height = title_box.height() + 4
    why_height = why.height() + 6 if details.why else 0.0
    size = QRectF(0, 0, width + 2 * _PADDING, title_height + line * len(details.rows) + why_height + 2 * _PADDING - 4)
    box = _placed(size, at, within)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    _shadowed_card(painter, frame, box)
    left, y = box.left() + _PADDING, box.top() + _PADDING - 2
    painter.setFont(fonts.bold)
    painter.setPen(QColor(theme.tooltip_text))
    painter.drawText(QRectF(left, y, width, title_height), anywhere, details.title)
    y += title_height
    painter.setFont(fonts.small)
    for (name, _), value in zip(details.rows, values, strict=True):
        painter.setPen(QColor(theme.text_muted))
        painter.drawText(QPointF(left, y + fonts.small_metrics.ascent()), name)
        painter.setPen(QColor(theme.tooltip_text))
        painter.drawText(QPointF(left + name_width + 12, y + fonts.small_metrics.ascent()), value)
        y += line
    if details.why:
        painter.drawText(QRectF(left, y + 4, width, why.height() + 2), wraps, details.why)


def _placed(size: QRectF, at: QPointF, within: QRectF) -> QRectF:
    left = at.x() + 16
    if left + size.width() > within.right() - 4:
        left = at.x() - 16 - size.width()
    top = at.y() + 14
    if top + size.height() > within.bottom() - 4:
        top = at.y() - 14 - size.height()
    left = min(max(left, within.left() + 4), max(within.left() + 4, within.right() - size.width() - 4))
    top = min(max(top, within.top() + 4), max(within.top() + 4, within.bottom() - size.height() - 4))
    return QRectF(left, top, size.width(), size.height())


def _shadowed_card(painter: QPainter, frame: Frame, box: QRectF) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    for grow, alpha in ((5.0, 8), (3.5, 12), (2.0, 18)):
        shade = QColor(frame.theme.shadow)
        shade.setAlpha(alpha)
        painter.setBrush(shade)
        painter.drawRoundedRect(box.adjusted(-grow, -grow + 2, grow, grow + 2), 8 + grow, 8 + grow)
    painter.setPen(QPen(QColor(frame.theme.tooltip_border), 1))
    painter.setBrush(QColor(frame.theme.tooltip))
    painter.drawRoundedRect(box, 8, 8)


def paint_message(painter: QPainter, theme: Theme, fonts: Fonts, message: str, box: QRectF) -> None:
    """What is said where there is no plan: the first line large, the others below it, in the middle."""
    title, _, rest = message.strip().partition("\n")
    room = min(520.0, box.width() - 40)
    flags = int(Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextWordWrap)
    title_box = fonts.title_metrics.boundingRect(QRectF(0, 0, room, 1000), flags, title)
    rest_box = fonts.regular_metrics.boundingRect(QRectF(0, 0, room, 1000), flags, rest) if rest else QRectF()
    emblem = fonts.line_height * 3.4
    height = emblem + 18 + title_box.height() + (8 + rest_box.height() if rest else 0)
    top = box.center().y() - height / 2
    left = box.center().x() - room / 2
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    _emblem(painter, theme, QPointF(box.center().x(), top), emblem)
    top += emblem + 18
    painter.setFont(fonts.title)
    painter.setPen(QColor(theme.text))
    painter.drawText(QRectF(left, top, room, title_box.height() + 2), flags, title)
    painter.setFont(fonts.regular)
    painter.setPen(QColor(theme.text_muted))
    painter.drawText(QRectF(left, top + title_box.height() + 8, room, rest_box.height() + 2), flags, rest.strip())


def _emblem(painter: QPainter, theme: Theme, at: QPointF, height: float) -> None:
    """A small timeline without a plan: bars, and a level under a dashed limit."""
    unit = height / 10
    painter.setPen(Qt.PenStyle.NoPen)
    for row, (start, length) in enumerate(((-9, 8), (-4, 9), (1, 8))):
        painter.setBrush(QColor(theme.border_strong if row != 1 else theme.border))
        painter.drawRoundedRect(
            QRectF(at.x() + start * unit, at.y() + (4 + row * 2.2) * unit, length * unit, 1.5 * unit), 2, 2
        )
    painter.setPen(QPen(QColor(theme.border_strong), 1.5, Qt.PenStyle.DashLine))
    painter.drawLine(QPointF(at.x() - 9 * unit, at.y() + 2.2 * unit), QPointF(at.x() + 9 * unit, at.y() + 2.2 * unit))
