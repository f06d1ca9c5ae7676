"""A sweep as a picture: the total as a step over the limit, with the bound below it and what is remarkable marked."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen, QPolygonF

from xengine_gui.errors import InputError
from xengine_gui.solve.sweep import SweepPoint, knee, smallest_feasible
from xengine_gui.ui.picture import picture_fonts, write_drawing
from xengine_gui.ui.theme import Theme, ThemeName, load_theme
from xengine_gui.ui.timeline.details import printable
from xengine_gui.ui.timeline.geometry import TimeRange
from xengine_gui.ui.timeline.ticks import time_ticks
from xengine_gui.units import format_duration, format_size

_MARGIN = 18.0
_LEFT, _RIGHT, _BOTTOM = 92.0, 36.0, 64.0
_PIXELS_PER_TICK = 56
_HEADROOM = 0.12
_MOST_LIMIT_LABELS = 12


def render_sweep(
    name: str,
    device: str,
    points: Sequence[SweepPoint],
    path: Path,
    *,
    width: int = 960,
    height: int = 540,
    theme: ThemeName = "light",
) -> None:
    """Write the picture of a sweep to `path`, whose suffix says what it is: .svg, .png or .pdf.

    Raises `InputError` for another suffix, and where no limit has a plan.
    """
    if smallest_feasible(points) is None:
        raise InputError("", "there is nothing to draw: no limit of the sweep has a plan")
    write_drawing(path, lambda _is_vector: _SweepPicture(name, device, points, QSize(width, height), load_theme(theme)))


class _SweepPicture:
    """The picture, laid out: limits to the right, totals upwards."""

    def __init__(self, name: str, device: str, points: Sequence[SweepPoint], size: QSize, theme: Theme) -> None:
        self.title = f"{printable(name or 'problem')}: what memory on {printable(device)} buys"
        self.size = size
        self._points = [p for p in points if p.total_ns is not None]
        self._without = [p for p in points if p.total_ns is None]
        self._all, self._theme, self._fonts = list(points), theme, picture_fonts()
        top = self._fonts.line_height * 3.6
        self._plot = QRectF(_LEFT, top, size.width() - _LEFT - _RIGHT, size.height() - top - _BOTTOM)
        totals = [p.total_ns or 0 for p in self._points]
        bounds = [p.lower_bound_ns for p in self._points if p.lower_bound_ns]
        room = max(1, round(_HEADROOM * (max(totals) - min(totals)) or 0.1 * max(totals)))
        self._low, self._high = max(0, min(totals + bounds) - room), max(totals) + room
        self._from, self._to = min(p.limit_bytes for p in points), max(p.limit_bytes for p in points)

    def paint(self, painter: QPainter) -> None:
        """Paint it all, in pixels from the painter's origin."""
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        painter.fillRect(QRectF(0, 0, self.size.width(), self.size.height()), QColor(self._theme.window))
        self._text(painter, QPointF(_MARGIN, self._fonts.line_height * 1.6), self.title, self._fonts.title, muted=False)
        facts = "total on the serial clock over the memory limit; dashed: no plan has a smaller total"
        self._text(painter, QPointF(_MARGIN, self._fonts.line_height * 2.8), facts, self._fonts.regular)
        painter.fillRect(self._plot, QColor(self._theme.surface))
        self._paint_without(painter)
        self._paint_axes(painter)
        if any(p.lower_bound_ns is not None for p in self._points):
            bounds = [(p.limit_bytes, p.lower_bound_ns or 0) for p in self._points if p.lower_bound_ns is not None]
            self._steps(painter, bounds, self._theme.plot_bound, Qt.PenStyle.DashLine)
        totals = [(p.limit_bytes, p.total_ns or 0) for p in self._points]
        self._steps(painter, totals, self._theme.plot_incumbent, Qt.PenStyle.SolidLine)
        self._paint_marks(painter)

    # -- places

    def _x(self, limit_bytes: int) -> float:
        return self._plot.left() + (limit_bytes - self._from) / max(1, self._to - self._from) * self._plot.width()

    def _y(self, time_ns: int) -> float:
        return self._plot.bottom() - (time_ns - self._low) / max(1, self._high - self._low) * self._plot.height()

    # -- parts

    def _text(self, painter: QPainter, at: QPointF, text: str, font: QFont, *, muted: bool = True) -> None:
        painter.setFont(font)
        painter.setPen(QColor(self._theme.text_muted if muted else self._theme.text))
        painter.drawText(at, text)

    def _paint_without(self, painter: QPainter) -> None:
        """Where no limit has a plan."""
        if not self._without:
            return
        right = self._x(self._points[0].limit_bytes)
        if right <= self._plot.left():
            return
        area = QRectF(self._plot.left(), self._plot.top(), right - self._plot.left(), self._plot.height())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._theme.lane))
        painter.drawRect(area)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setFont(self._fonts.small)
        painter.setPen(QColor(self._theme.text_muted))
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, "no plan")

    def _paint_axes(self, painter: QPainter) -> None:
        line = self._fonts.line_height
        ticks = time_ticks(TimeRange(self._low, self._high), max(2, int(self._plot.height() / _PIXELS_PER_TICK)))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for time_ns, text in zip(ticks.times_ns, ticks.texts, strict=True):
            y = self._y(time_ns)
            painter.setPen(QPen(QColor(self._theme.grid), 1.0))
            painter.drawLine(QPointF(self._plot.left(), y), QPointF(self._plot.right(), y))
            painter.setFont(self._fonts.small)
            painter.setPen(QColor(self._theme.text_muted))
            painter.drawText(QRectF(0, y - line / 2, _LEFT - 10, line), right, text)
        every = -(-len(self._all) // _MOST_LIMIT_LABELS)
        for point in self._all[::every]:
            x = self._x(point.limit_bytes)
            painter.setPen(QPen(QColor(self._theme.border_strong), 1.0))
            painter.drawLine(QPointF(x, self._plot.bottom()), QPointF(x, self._plot.bottom() + 5))
            painter.setPen(QColor(self._theme.text_muted))
            box = QRectF(x - 50, self._plot.bottom() + 8, 100, line)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, format_size(point.limit_bytes))
        painter.setPen(QPen(QColor(self._theme.border_strong), 1.0))
        painter.drawLine(self._plot.bottomLeft(), self._plot.bottomRight())
        painter.setPen(QColor(self._theme.text_muted))
        foot = QRectF(self._plot.left(), self._plot.bottom() + 10 + line, self._plot.width(), line * 1.4)
        painter.drawText(foot, Qt.AlignmentFlag.AlignCenter, "memory limit")

    def _steps(self, painter: QPainter, values: Sequence[tuple[int, int]], colour: str, style: Qt.PenStyle) -> None:
        """A plan holds up to the next limit, so its line goes right first, then down; a bound holds the other way."""
        corners, is_bound = QPolygonF(), style is Qt.PenStyle.DashLine
        for i, (limit_bytes, time_ns) in enumerate(values):
            if i:
                before_bytes, before_ns = values[i - 1]
                corner = (before_bytes, time_ns) if is_bound else (limit_bytes, before_ns)
                corners.append(QPointF(self._x(corner[0]), self._y(corner[1])))
            corners.append(QPointF(self._x(limit_bytes), self._y(time_ns)))
        pen = QPen(QColor(colour), 2.0, style)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setPen(pen)
        painter.drawPolyline(corners)
        if not is_bound:
            painter.setBrush(QColor(colour))
            for limit_bytes, time_ns in values:
                painter.drawEllipse(QPointF(self._x(limit_bytes), self._y(time_ns)), 2.5, 2.5)
            painter.setBrush(Qt.BrushStyle.NoBrush)

    def _paint_marks(self, painter: QPainter) -> None:
        for point, text in ((smallest_feasible(self._points), "smallest feasible"), (knee(self._points), "knee")):
            if point is None:
                continue
            at = QPointF(self._x(point.limit_bytes), self._y(point.total_ns or 0))
            painter.setPen(QPen(QColor(self._theme.accent), 2.0))
            painter.drawEllipse(at, 6.0, 6.0)
            words = f"{text}: {format_size(point.limit_bytes)}, {format_duration(point.total_ns or 0)}"
            room = self._plot.right() - self._fonts.small_metrics.horizontalAdvance(words)
            self._text(painter, QPointF(min(at.x() + 10, room), at.y() - 8), words, self._fonts.small, muted=False)
