"""How a plan came about: the best total falls, the proved bound rises, and where they meet nothing is left to gain."""

import math
from typing import Literal

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QStackedLayout, QWidget

from xengine_gui.ui.panels.parts import Panel, column, row, section_label, text_label
from xengine_gui.ui.plan_runner import Progress
from xengine_gui.ui.theme import current_theme
from xengine_gui.units import format_duration, format_percent

_UNITS = (("s", 1.0), ("ms", 1e3), ("µs", 1e6), ("ns", 1e9))


class ProgressPanel(Panel):
    """The curves of the run in progress or of the last one."""

    def __init__(self) -> None:
        super().__init__("progress-panel")
        self._points: list[Progress] = []
        self._now_s = 0.0
        self.gap = text_label("", "heading")
        axes = {"left": _TimeAxis("left"), "bottom": _TimeAxis("bottom")}
        self.plot = pg.PlotWidget(axisItems=axes)
        # The bound is broader and below, so that both are seen where they meet.
        self._bound = self.plot.plot()
        self._best = self.plot.plot()
        self.best_label = text_label("", "small")
        self.bound_label = text_label("", "small")
        self._set_up()
        self._empty = text_label(
            "While a plan is being looked for, its best total and the proved lower bound close in here.",
            "muted",
            wrap=True,
        )
        self._empty.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._empty)
        keys = row(_Key("plot_incumbent"), self.best_label, _Key("plot_bound"), self.bound_label, 1, spacing=6)
        keys.insertSpacing(2, 12)
        curves = QWidget()
        curves.setLayout(column(keys, self.plot, spacing=4))
        self._stack.addWidget(curves)
        self.setLayout(column(row(section_label("Progress"), 1, self.gap), self._stack, margins=(14, 12, 14, 10)))
        self._dress()

    @property
    def points(self) -> tuple[Progress, ...]:
        """What the curves show."""
        return tuple(self._points)

    def begin(self) -> None:
        """A run begins: the curves of the last one go."""
        self._points = []
        self._now_s = 0.0
        self.gap.setText("")
        self._stack.setCurrentIndex(0)
        self._draw()

    def add(self, point: Progress) -> None:
        """The best total or the bound has changed."""
        self._points.append(point)
        self._now_s = max(self._now_s, point.elapsed_s)
        self._draw()

    def tick(self, elapsed_s: float) -> None:
        """Time goes on and nothing has changed."""
        self._now_s = max(self._now_s, elapsed_s)
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_stack"):
            self._dress()

    def _set_up(self) -> None:
        item = self.plot.getPlotItem()
        item.hideButtons()
        item.setMenuEnabled(enableMenu=False)
        item.setMouseEnabled(x=False, y=False)
        item.getAxis("left").setWidth(58)
        item.getAxis("left").enableAutoSIPrefix(enable=False)
        item.getAxis("bottom").enableAutoSIPrefix(enable=False)
        self.plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.plot.setMinimumHeight(60)
        self.plot.setAccessibleName("Best total and lower bound over time")

    def _dress(self) -> None:
        theme = current_theme()
        self.plot.setBackground(theme.surface)
        item = self.plot.getPlotItem()
        for name in ("left", "bottom"):
            axis = item.getAxis(name)
            axis.setPen(pg.mkPen(theme.border_strong))
            axis.setTextPen(pg.mkPen(theme.text_muted))
            axis.setStyle(tickLength=4, tickFont=self._small_font(), hideOverlappingLabels=True)
        self._best.setPen(pg.mkPen(theme.plot_incumbent, width=2))
        self._bound.setPen(pg.mkPen(theme.plot_bound, width=4))
        self._draw()

    def _small_font(self) -> QFont:
        font = self.font()
        font.setPointSizeF(font.pointSizeF() * 0.9)
        return font

    def _draw(self) -> None:
        last = self._points[-1] if self._points else None
        if last is None or (last.total_ns is None and last.lower_bound_ns is None):
            return
        self._stack.setCurrentIndex(1)
        times = [p.elapsed_s for p in self._points]
        for curve, values in (
            (self._best, [p.total_ns for p in self._points]),
            (self._bound, [p.lower_bound_ns for p in self._points]),
        ):
            curve.setData(*_steps(times, values, self._now_s))
        end = max(self._now_s, times[-1])
        seen = [v * 1e-9 for p in self._points for v in (p.total_ns, p.lower_bound_ns) if v is not None]
        low, high = min(seen), max(seen)
        room = 0.1 * (high - low) or 0.02 * high or 1.0
        self.plot.setYRange(low - room, high + room, padding=0)
        self.plot.setXRange(0, end or 1.0, padding=0.02)
        self.best_label.setText("" if last.total_ns is None else f"best plan {_fine(last.total_ns)}")
        self.bound_label.setText("" if last.lower_bound_ns is None else f"proved ≥ {_fine(last.lower_bound_ns)}")
        if last.total_ns and last.lower_bound_ns is not None:
            gap = max(0.0, (last.total_ns - last.lower_bound_ns) / last.total_ns)
            self.gap.setText(f"gap {format_percent(gap, 2)}")


class _TimeAxis(pg.AxisItem):  # type: ignore[misc]
    """An axis of seconds whose ticks are written as times are everywhere else."""

    def tickStrings(self, values: list[float], _scale: float, spacing: float) -> list[str]:
        """The words at the ticks, all in one unit and with as many digits as tell them apart."""
        largest = max((abs(v) for v in values), default=0.0)
        unit, factor = next((u, f) for u, f in _UNITS if largest * f >= 1 or u == "ns")
        digits = max(0, min(9, -math.floor(math.log10(spacing * factor) + 1e-9))) if spacing > 0 else 0
        return [f"{v * factor:.{digits}f} {unit}" for v in values]


class _Key(QWidget):
    """A short piece of a curve, before its name."""

    def __init__(self, colour: Literal["plot_incumbent", "plot_bound"]) -> None:
        super().__init__()
        self._colour = colour
        self.setFixedSize(14, 12)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(0, 5, 14, 3, QColor(getattr(current_theme(), self._colour)))


def _steps(times: list[float], values: list[int | None], now_s: float) -> tuple[np.ndarray, np.ndarray]:
    """The corners of a step curve in seconds; it begins where there is a first value."""
    known = [(t, v * 1e-9) for t, v in zip(times, values, strict=True) if v is not None]
    if not known:
        return np.empty(0), np.empty(0)
    x = [known[0][0]]
    y = [known[0][1]]
    for time_s, value in known[1:]:
        x += [time_s, time_s]
        y += [y[-1], value]
    return np.array([*x, max(now_s, x[-1])]), np.array([*y, y[-1]])


def _fine(time_ns: int) -> str:
    return format_duration(time_ns, fine=True)
