"""The curves of the progress panel: the one module of the panels that loads pyqtgraph, when there is a first point."""

import math
from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont

from xengine_gui.language import tr
from xengine_gui.ui.theme import current_theme
from xengine_gui.units import format_duration

_UNITS = (("s", 1.0), ("ms", 1e3), ("µs", 1e6), ("ns", 1e9))


class ProgressPlot(pg.PlotWidget):  # type: ignore[misc]
    """The best total and the lower bound over time, as steps, with a dot for each better plan."""

    plan_clicked = Signal(int)
    """The position of a plan among those shown."""

    def __init__(self) -> None:
        super().__init__(axisItems={"left": _TimeAxis("left"), "bottom": _TimeAxis("bottom")})
        # The bound is broader and below, so that both are seen where they meet.
        self._bound = self.plot()
        self._best = self.plot()
        self._plans = pg.ScatterPlotItem(size=9, pxMode=True, hoverable=True, hoverSize=13, tip=_plan_tip)
        self._plans.sigClicked.connect(self._clicked)
        self.addItem(self._plans)
        item = self.getPlotItem()
        item.hideButtons()
        item.setMenuEnabled(enableMenu=False)
        item.setMouseEnabled(x=False, y=False)
        item.getAxis("left").setWidth(58)
        item.getAxis("left").enableAutoSIPrefix(enable=False)
        item.getAxis("bottom").enableAutoSIPrefix(enable=False)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMinimumHeight(60)
        self.setAccessibleName(tr("Best total and lower bound over time"))
        self.dress()

    def dress(self) -> None:
        """Take the colours of the theme."""
        theme = current_theme()
        self.setBackground(theme.surface)
        item = self.getPlotItem()
        font = self._small_font()
        for name in ("left", "bottom"):
            axis = item.getAxis(name)
            axis.setPen(pg.mkPen(theme.border_strong))
            axis.setTextPen(pg.mkPen(theme.text_muted))
            axis.setStyle(tickLength=4, tickFont=font, hideOverlappingLabels=True)
        self._best.setPen(pg.mkPen(theme.plot_incumbent, width=2))
        self._bound.setPen(pg.mkPen(theme.plot_bound, width=4))

    def show_curves(
        self, times_s: Sequence[float], totals: Sequence[int | None], bounds: Sequence[int | None], now_s: float
    ) -> None:
        """Draw totals and bounds (in ns) known since `times_s`, up to now."""
        for curve, values in ((self._best, totals), (self._bound, bounds)):
            curve.setData(*_steps(times_s, values, now_s))
        seen = [v * 1e-9 for v in (*totals, *bounds) if v is not None] or [0.0]
        low, high = min(seen), max(seen)
        room = 0.1 * (high - low) or 0.02 * high or 1.0
        self.setYRange(low - room, high + room, padding=0)
        self.setXRange(0, now_s or 1.0, padding=0.02)

    def show_plans(self, plans: Sequence[tuple[float, int]], looked_at: int | None) -> None:
        """Dots at the seconds and totals (in ns) of plans that can be looked at; one may be the one that is."""
        theme = current_theme()
        self._plans.setData(
            [
                {
                    "pos": (time_s, total_ns * 1e-9),
                    "data": i,
                    "pen": pg.mkPen(theme.text if i == looked_at else theme.surface, width=2 if i == looked_at else 1),
                    "brush": pg.mkBrush(theme.plot_incumbent),
                    "size": 13 if i == looked_at else 9,
                }
                for i, (time_s, total_ns) in enumerate(plans)
            ]
        )

    def _clicked(self, _item: object, points: Sequence[pg.SpotItem], *_event: object) -> None:
        if len(points):
            self.plan_clicked.emit(int(points[-1].data()))

    def _small_font(self) -> QFont:
        font = QFont(self.font())
        font.setPointSizeF(font.pointSizeF() * 0.9)
        return font


def _plan_tip(x: float, y: float, data: object) -> str:  # noqa: ARG001 - pyqtgraph's signature
    return tr(
        "{value} at {place:.2f} s\nClick to look at this plan",
        value=format_duration(round(y * 1e9), fine=True),
        place=x,
    )


class _TimeAxis(pg.AxisItem):  # type: ignore[misc]
    """An axis of seconds whose ticks are written as times are everywhere else."""

    def tickStrings(self, values: list[float], _scale: float, spacing: float) -> list[str]:
        """The words at the ticks, all in one unit and with as many digits as tell them apart."""
        largest = max((abs(v) for v in values), default=0.0)
        unit, factor = next((u, f) for u, f in _UNITS if largest * f >= 1 or u == "ns")
        digits = max(0, min(9, -math.floor(math.log10(spacing * factor) + 1e-9))) if spacing > 0 else 0
        return [f"{v * factor:.{digits}f} {unit}" for v in values]


def _steps(times: Sequence[float], values: Sequence[int | None], now_s: float) -> tuple[np.ndarray, np.ndarray]:
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
