"""A sweep over two devices' limits, drawn as a heat map: the fastest plan of all strategies for each pair of limits."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QLinearGradient, QPainter, QPen

from xengine_gui.language import tr
from xengine_gui.model.plan import Status
from xengine_gui.solve.sweep_points import Limits, SweepPoint
from xengine_gui.ui.sweep_drawing import SweepDrawing, SweepHit
from xengine_gui.ui.timeline.details import shortened
from xengine_gui.units import format_duration, format_size

_LEFT, _RIGHT, _TOP, _BAR = 80.0, 14.0, 6.0, 12.0
_SHADES = (0.06, 0.94)
_LONGEST_NAME = 18


class HeatMap(SweepDrawing):
    """The first device's limits to the right, the second one's upwards; the darker, the longer it takes."""

    def _lay_out(self, area: QRectF) -> None:
        self._points = {p.limits_bytes: p for p in self._sweep.best()}
        self._across, self._up = self._sweep.axes
        line = self._fonts.line_height
        self._bar_width = self._fonts.small_metrics.horizontalAdvance("000.0 ms") + _BAR + 26
        self._grid = area.adjusted(_LEFT, _TOP + line * 1.1, -_RIGHT - self._bar_width, -(line * 1.35 + 4))
        totals = [p.total_ns for p in self._points.values() if p.total_ns is not None]
        self._low, self._high = min(totals, default=0), max(totals, default=0)

    # -- places

    def place(self, hit: SweepHit) -> QPointF:
        """The middle of a cell."""
        return self._cell(hit.point.limits_bytes).center()

    def hit(self, at: QPointF) -> SweepHit | None:
        """The cell at a place, with the strategy whose plan is the fastest there."""
        for limits, point in self._points.items():
            if self._cell(limits).contains(at):
                return self._owner(point)
        return None

    def _owner(self, point: SweepPoint) -> SweepHit:
        i = self._sweep.limits.index(point.limits_bytes)
        curve = next((c for c in self._sweep.curves if c.points[i].total_ns == point.total_ns), self._sweep.curves[0])
        return SweepHit(curve.strategy, curve.title, point)

    def _cell(self, limits: Limits) -> QRectF:
        columns, rows = len(self._across.limits_bytes), len(self._up.limits_bytes)
        width, height = self._grid.width() / columns, self._grid.height() / rows
        column, row = self._across.limits_bytes.index(limits[0]), self._up.limits_bytes.index(limits[1])
        left, top = self._grid.left() + column * width, self._grid.bottom() - (row + 1) * height
        return QRectF(left, top, width, height).adjusted(0.5, 0.5, -0.5, -0.5)

    # -- parts

    def paint(self, painter: QPainter) -> None:
        """Paint it, without a ground."""
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        if self._grid.width() < 40 or self._grid.height() < 30:
            return
        for limits, point in self._points.items():
            self._paint_cell(painter, self._cell(limits), point)
        self._paint_axes(painter)
        if self._low < self._high:
            self._paint_bar(painter)
        for limits, colour, width in self._outlined():
            painter.setPen(QPen(QColor(colour), width))
            painter.drawRect(self._cell(limits).adjusted(1, 1, -1, -1))

    def _outlined(self) -> list[tuple[Limits, str, float]]:
        found = []
        if self._current is not None and self._current in self._points:
            found.append((self._current, self._theme.limit, 2.0))
        if self._pointed is not None:
            found.append((self._pointed.point.limits_bytes, self._theme.highlight, 1.6))
        return found

    def _colour(self, total_ns: int) -> QColor:
        """From the ground to the strongest colour as totals grow."""
        share = (total_ns - self._low) / (self._high - self._low) if self._high > self._low else 0.0
        strength = _SHADES[0] + (_SHADES[1] - _SHADES[0]) * share
        ground, ink = QColor(self._theme.surface), QColor(self._theme.plot_line)
        parts = (
            round(a + (b - a) * strength)
            for a, b in ((ground.red(), ink.red()), (ground.green(), ink.green()), (ground.blue(), ink.blue()))
        )
        return QColor(*parts)

    def _paint_cell(self, painter: QPainter, cell: QRectF, point: SweepPoint) -> None:
        if point.total_ns is None:
            self._paint_without(painter, cell, point)
            return
        colour = self._colour(point.total_ns)
        painter.fillRect(cell, colour)
        words = format_duration(point.total_ns)
        if self._fonts.small_metrics.horizontalAdvance(words) + 4 <= cell.width() and cell.height() >= 12:
            painter.setFont(self._fonts.small)
            painter.setPen(QColor(self._theme.text_on(colour.name())))
            painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, words)

    def _paint_without(self, painter: QPainter, cell: QRectF, point: SweepPoint) -> None:
        """No plan: hatched where that is proved, blank with a dash where none was found, blank where none was tried."""
        painter.fillRect(cell, QColor(self._theme.lane))
        if point.status is Status.INFEASIBLE:
            painter.fillRect(cell, QBrush(QColor(self._theme.border_strong), Qt.BrushStyle.BDiagPattern))
        elif point.is_final:
            self._words(painter, cell, "–", Qt.AlignmentFlag.AlignCenter)  # noqa: RUF001

    def _paint_axes(self, painter: QPainter) -> None:
        line, grid = self._fonts.line_height, self._grid
        small = self._fonts.small_metrics
        limits = self._across.limits_bytes
        width = grid.width() / len(limits)
        every = max(1, -(-int(small.horizontalAdvance("0,000 MiB") + 10) // max(1, int(width))))
        for i in range(0, len(limits), every):
            box = QRectF(grid.left() + i * width - 40, grid.bottom() + 4, width + 80, line)
            self._words(painter, box, format_size(limits[i]), Qt.AlignmentFlag.AlignCenter)
        limits = self._up.limits_bytes
        height = grid.height() / len(limits)
        every = max(1, -(-int(line) // max(1, int(height))))
        side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for i in range(0, len(limits), every):
            box = QRectF(grid.left() - _LEFT, grid.bottom() - (i + 0.5) * height - line / 2, _LEFT - 8, line)
            self._words(painter, box, format_size(limits[i]), side)
        across, up = (shortened(axis.device, _LONGEST_NAME) for axis in self._sweep.axes)
        head = QRectF(grid.left() - _LEFT, grid.top() - line * 1.25, grid.width() + _LEFT, line)
        start = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        self._words(painter, head, tr("limit of {up} upwards, of {across} to the right", up=up, across=across), start)

    def _paint_bar(self, painter: QPainter) -> None:
        """What the colours mean."""
        left, grid, line = self._grid.right() + 14, self._grid, self._fonts.line_height
        shades = QLinearGradient(grid.bottomLeft(), grid.topLeft())
        shades.setColorAt(0.0, self._colour(self._low))
        shades.setColorAt(1.0, self._colour(self._high))
        painter.fillRect(QRectF(left, grid.top(), _BAR, grid.height()), QBrush(shades))
        start = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        for y, total in ((grid.top(), self._high), (grid.bottom() - line, self._low)):
            box = QRectF(left + _BAR + 6, y, self._bar_width, line)
            self._words(painter, box, format_duration(total), start)
