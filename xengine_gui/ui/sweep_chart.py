"""A sweep over one device's limits, drawn: a step curve for each strategy, the bound, and what is remarkable.

The same drawing is in the window and in picture files.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from xengine_gui.language import tr
from xengine_gui.solve.sweep_points import SweepCurve, SweepPoint, knee, smallest_feasible
from xengine_gui.ui.series import SeriesStyle, series_style
from xengine_gui.ui.sweep_drawing import SweepDrawing, SweepHit
from xengine_gui.ui.timeline.details import shortened
from xengine_gui.ui.timeline.geometry import TimeRange
from xengine_gui.ui.timeline.ticks import time_ticks
from xengine_gui.units import format_size

_PIXELS_PER_TIME, _PIXELS_PER_SIZE = 40, 92
_HEADROOM = 0.12
_MOST_STRETCH = 1.6
_NEAR_PIXELS = 12.0
_AXIS, _RIGHT, _TOP = 66.0, 14.0, 8.0
_LONGEST_TITLE = 26


class CurveChart(SweepDrawing):
    """Limits to the right, totals upwards, names at the right where there are several strategies.

    The limits that hold now are marked on the axis.
    """

    def _lay_out(self, area: QRectF) -> None:
        self._best = self._sweep.best()
        self._limits = self._sweep.axes[0].limits_bytes
        self._curves = [(c, series_style(self._theme, i)) for i, c in enumerate(self._sweep.curves) if not c.declined]
        foot = self._fonts.line_height * 1.35 + 4
        legend = self._legend_width if self._has_legend else 0.0
        self._plot = area.adjusted(_AXIS, _TOP, -_RIGHT - legend, -foot)
        self._low, self._high = self._range()

    # -- places

    def place(self, hit: SweepHit) -> QPointF:
        """Where a point is."""
        return self._at(hit.point.limit_bytes, hit.point.total_ns or 0)

    def hit(self, at: QPointF) -> SweepHit | None:
        """The point nearest to a place, where one is near; of those that lie on each other the first strategy's."""
        near: tuple[float, SweepHit] | None = None
        for curve, _ in self._curves:
            for point in _planned(curve.points):
                offset = self._at(point.limit_bytes, point.total_ns or 0) - at
                away = max(abs(offset.x()), abs(offset.y()))
                if away <= _NEAR_PIXELS and (near is None or away < near[0]):
                    near = away, SweepHit(curve.strategy, curve.title, point)
        return None if near is None else near[1]

    def _at(self, limit_bytes: int, time_ns: int) -> QPointF:
        low, high = self._limits[0], self._limits[-1]
        across = (limit_bytes - low) / (high - low) if high > low else 0.5
        up = min(1.0, (time_ns - self._low) / max(1, self._high - self._low))
        return QPointF(self._plot.left() + across * self._plot.width(), self._plot.bottom() - up * self._plot.height())

    def _range(self) -> tuple[int, int]:
        totals = [p.total_ns or 0 for curve, _ in self._curves for p in _planned(curve.points)]
        bounds = [p.lower_bound_ns for p in self._best if p.lower_bound_ns]
        if not totals:
            return 0, max(bounds, default=1) * 2
        low, high = min(totals + bounds), max(totals)
        # One strategy that takes many times as long must not flatten the others: it is drawn at the top, with an arrow.
        best = [p.total_ns for p in self._best if p.total_ns is not None]
        high = min(high, max(round(_MOST_STRETCH * low), *best))
        room = max(1, round(_HEADROOM * (high - low) or 0.1 * high))
        return max(0, low - room), high + room

    @property
    def _has_legend(self) -> bool:
        return len(self._sweep.curves) > 1

    @cached_property
    def _legend_width(self) -> float:
        titles = [shortened(curve.title, _LONGEST_TITLE) for curve in self._sweep.curves] + [tr("lower bound")]
        return max(self._fonts.small_metrics.horizontalAdvance(title) for title in titles) + 34

    # -- parts

    def paint(self, painter: QPainter) -> None:
        """Paint it, without a ground."""
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        if self._plot.width() < 40 or self._plot.height() < 30:
            return
        self._paint_without(painter)
        self._paint_axes(painter)
        bounds = [(p.limit_bytes, p.lower_bound_ns) for p in self._best if p.lower_bound_ns]
        if bounds:
            self._steps(painter, bounds, QPen(QColor(self._theme.plot_bound), 2.0, Qt.PenStyle.DashLine), rises=True)
        for curve, style in reversed(self._curves):
            self._paint_curve(painter, curve, style)
        self._paint_marks(painter)
        if self._has_legend:
            self._paint_legend(painter)
        if self._pointed is not None and self._pointed.point.total_ns is not None:
            painter.setPen(QPen(QColor(self._theme.highlight), 1.5))
            painter.drawEllipse(self.place(self._pointed), 6.5, 6.5)

    def _paint_curve(self, painter: QPainter, curve: SweepCurve, style: SeriesStyle) -> None:
        totals = [(p.limit_bytes, p.total_ns or 0) for p in _planned(curve.points)]
        self._steps(painter, totals, style.pen(), rises=False)
        for limit_bytes, time_ns in totals:
            at = self._at(limit_bytes, time_ns)
            style.paint_point(painter, at)
            if time_ns > self._high:
                painter.setPen(style.pen(1.5))
                tip = at - QPointF(0, 7)
                painter.drawPolyline(QPolygonF([tip + QPointF(-3.5, 3.5), tip, tip + QPointF(3.5, 3.5)]))

    def _steps(self, painter: QPainter, values: Sequence[tuple[int, int]], pen: QPen, *, rises: bool) -> None:
        """A plan holds up to the next limit, so its line goes right first, then down; a bound holds the other way."""
        corners = QPolygonF()
        for i, (limit_bytes, time_ns) in enumerate(values):
            if i:
                before_bytes, before_ns = values[i - 1]
                corners.append(self._at(before_bytes, time_ns) if rises else self._at(limit_bytes, before_ns))
            corners.append(self._at(limit_bytes, time_ns))
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setPen(pen)
        painter.drawPolyline(corners)

    def _paint_without(self, painter: QPainter) -> None:
        """Where it is proved that no plan exists, and where none was found."""
        feasible = smallest_feasible(self._best)
        right = self._plot.right() if feasible is None else self._at(feasible.limit_bytes, 0).x()
        known = [p for p in self._best if p.total_ns is None and p.is_final]
        if not known or right <= self._plot.left():
            return
        area = QRectF(self._plot.left(), self._plot.top(), right - self._plot.left(), self._plot.height())
        painter.fillRect(area, QColor(self._theme.lane))
        painter.fillRect(area, QColor(self._theme.grid))
        self._words(painter, area, tr("no plan"), Qt.AlignmentFlag.AlignCenter)

    def _paint_axes(self, painter: QPainter) -> None:
        line, plot = self._fonts.line_height, self._plot
        ticks = time_ticks(TimeRange(self._low, self._high), max(2, int(plot.height() / _PIXELS_PER_TIME)))
        side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for time_ns, text in zip(ticks.times_ns, ticks.texts, strict=True):
            y = self._at(0, time_ns).y()
            painter.setPen(QPen(QColor(self._theme.grid), 1.0))
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
            self._words(painter, QRectF(plot.left() - _AXIS, y - line / 2, _AXIS - 8, line), text, side)
        painter.setPen(QPen(QColor(self._theme.border_strong), 1.0))
        painter.drawLine(plot.bottomLeft(), plot.bottomRight())
        for limit_bytes, text in self._size_ticks():
            x = self._at(limit_bytes, 0).x()
            painter.setPen(QPen(QColor(self._theme.border_strong), 1.0))
            painter.drawLine(QPointF(x, plot.bottom()), QPointF(x, plot.bottom() + 4))
            box = QRectF(x - 60, plot.bottom() + 5, 120, line)
            self._words(painter, box, text, Qt.AlignmentFlag.AlignCenter)
        if self._current is not None and self._limits[0] <= self._current[0] <= self._limits[-1]:
            self._paint_current(painter, self._at(self._current[0], 0).x())

    def _paint_current(self, painter: QPainter, x: float) -> None:
        y = self._plot.bottom()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._theme.limit))
        painter.drawPolygon(QPolygonF([QPointF(x, y - 7), QPointF(x + 5, y), QPointF(x - 5, y)]))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _size_ticks(self) -> Iterator[tuple[int, str]]:
        """Round sizes, powers of two apart."""
        low, high = self._limits[0], self._limits[-1]
        most = max(2, int(self._plot.width() / _PIXELS_PER_SIZE))
        step = 1 << max(0, ((high - low) // most).bit_length())
        for size in range(-(-low // step) * step, high + 1, step):
            number, _, unit = format_size(size).partition(" ")
            yield size, f"{number.rstrip('0').rstrip('.') if '.' in number else number} {unit}"

    def _paint_marks(self, painter: QPainter) -> None:
        smallest, bend = smallest_feasible(self._best), knee(self._best)
        if smallest is not None:
            x = self._at(smallest.limit_bytes, 0).x()
            painter.setPen(QPen(QColor(self._theme.limit), 1.4, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x, self._plot.top()), QPointF(x, self._plot.bottom()))
            words = tr("smallest feasible {limit_bytes}", limit_bytes=format_size(smallest.limit_bytes))
            at = QPointF(x + 6, self._plot.top() + self._fonts.line_height * 0.8)
            self._label(painter, at, words)
        if bend is not None:
            at = self._at(bend.limit_bytes, bend.total_ns or 0)
            painter.setPen(QPen(QColor(self._theme.text), 1.6))
            painter.drawEllipse(at, 5.5, 5.5)
            self._label(
                painter,
                QPointF(at.x() + 9, at.y() - 7),
                tr("knee {limit_bytes}", limit_bytes=format_size(bend.limit_bytes)),
            )

    def _label(self, painter: QPainter, at: QPointF, words: str) -> None:
        """Words on a ground of their own, so that a line behind them does not cross them; within the plot."""
        metrics, line = self._fonts.small_metrics, self._fonts.line_height
        width = metrics.horizontalAdvance(words)
        left = min(at.x(), self._plot.right() - width)
        top = min(max(at.y() - line * 0.75, self._plot.top()), self._plot.bottom() - line)
        box = QRectF(left - 2, top, width + 4, line)
        ground = QColor(self._theme.surface)
        ground.setAlpha(215)
        painter.fillRect(box, ground)
        painter.setFont(self._fonts.small)
        painter.setPen(QColor(self._theme.text))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)

    def _paint_legend(self, painter: QPainter) -> None:
        left, line = self._plot.right() + 16, self._fonts.line_height
        entries: list[tuple[str, SeriesStyle | None, bool]] = [(tr("lower bound"), None, False)]
        entries += [
            (shortened(curve.title, _LONGEST_TITLE), series_style(self._theme, i), bool(curve.declined))
            for i, curve in enumerate(self._sweep.curves)
        ]
        step = min(line * 1.15, (self._plot.height() + line) / len(entries))
        for i, (title, style, declined) in enumerate(entries):
            middle = QPointF(left + 7, self._plot.top() + step * (i + 0.5))
            if style is None:
                painter.setPen(QPen(QColor(self._theme.plot_bound), 2.0, Qt.PenStyle.DashLine))
            else:
                painter.setPen(style.pen())
            if not declined:
                painter.drawLine(middle - QPointF(7, 0), middle + QPointF(7, 0))
                if style is not None:
                    style.paint_point(painter, middle)
            box = QRectF(left + 20, middle.y() - line / 2, self._legend_width, line)
            side = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
            self._words(painter, box, title, side, faint=declined)


def _planned(points: Sequence[SweepPoint]) -> list[SweepPoint]:
    return [point for point in points if point.total_ns is not None]
