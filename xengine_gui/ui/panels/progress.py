"""How a plan came about: the best total falls, the proved bound rises, and where they meet nothing is left to gain."""

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QStackedLayout, QToolButton, QWidget

from xengine_gui.language import tr
from xengine_gui.ui.panels.parts import Panel, column, row, section_label, text_label
from xengine_gui.ui.plan_runner import Found, Progress
from xengine_gui.ui.theme import current_theme
from xengine_gui.units import format_duration, format_gap

if TYPE_CHECKING:
    from xengine_gui.ui.panels.progress_plot import ProgressPlot


_MOST_EVENTS = 2_000_000
"""So many events of all plans of a run are kept to be looked at; above that every second plan is let go."""


class ProgressPanel(Panel):
    """The curves of the run in progress or of the last one; each better plan on the way can be looked at."""

    look_asked = Signal(object)
    """A `Found` that is to be looked at."""
    live_asked = Signal()
    """The latest plan is to be shown again."""

    def __init__(self) -> None:
        super().__init__("progress-panel")
        self._points: list[Progress] = []
        self._found: list[Found] = []
        self._looked_at: Found | None = None
        self._now_s = 0.0
        self.gap = text_label("", "heading")
        self._plot: ProgressPlot | None = None
        self.best_label = text_label("", "small")
        self.bound_label = text_label("", "small")
        self._empty = text_label(
            tr("While a plan is being looked for, its best total and the proved lower bound close in here."),
            "muted",
            wrap=True,
        )
        self._empty.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._empty)
        keys = row(_Key("plot_incumbent"), self.best_label, _Key("plot_bound"), self.bound_label, 1, spacing=6)
        keys.insertSpacing(2, 12)
        self.earlier = _step_button("◂", tr("Look at the plan before this one"))
        self.later = _step_button("▸", tr("Look at the plan after this one"))
        self.looking = text_label("", "small")
        self.live = QPushButton(tr("Back to live"))
        self.live.setToolTip(tr("Show the latest plan again"))
        self.earlier.clicked.connect(lambda: self._step(-1))
        self.later.clicked.connect(lambda: self._step(1))
        self.live.clicked.connect(self.live_asked)
        looks = row(self.earlier, self.later, self.looking, 1, self.live, spacing=4)
        self._looks = QWidget()
        self._looks.setLayout(looks)
        curves = QWidget()
        self._curves = column(keys, self._looks, spacing=4)
        curves.setLayout(self._curves)
        self._stack.addWidget(curves)
        self.setLayout(column(row(section_label(tr("Progress")), 1, self.gap), self._stack, margins=(14, 12, 14, 10)))
        self._show_looks()

    @property
    def found(self) -> tuple[Found, ...]:
        """The better plans of the run that can be looked at."""
        return tuple(self._found)

    @property
    def points(self) -> tuple[Progress, ...]:
        """What the curves show."""
        return tuple(self._points)

    def begin(self) -> None:
        """A run begins: the curves of the last one go."""
        self._points = []
        self._found = []
        self._looked_at = None
        self._show_looks()
        self._now_s = 0.0
        self.gap.setText("")
        self._stack.setCurrentIndex(0)
        self._draw()

    def add(self, point: Progress) -> None:
        """The best total or the bound has changed."""
        self._points.append(point)
        self._now_s = max(self._now_s, point.elapsed_s)
        self._draw()

    def add_found(self, found: Found) -> None:
        """Another better plan of the run."""
        self._found.append(found)
        while len(self._found) > 2 and sum(len(f.plan.events) for f in self._found) > _MOST_EVENTS:
            self._found = [*self._found[:-1:2], self._found[-1]]
        self._show_looks()

    def show_looked_at(self, found: Found | None) -> None:
        """Say which plan of the run is looked at; `None` follows the run."""
        self._looked_at = found
        self._show_looks()
        self._draw()

    def _step(self, by: int) -> None:
        """Look at the next plan or the one before; after the last one follows the run."""
        at = self._found.index(self._looked_at) if self._looked_at in self._found else len(self._found) - 1
        if at + by >= len(self._found) - 1 and by > 0:
            self.live_asked.emit()
        elif at + by >= 0:
            self.look_asked.emit(self._found[at + by])

    def _show_looks(self) -> None:
        found, at = self._found, self._looked_at
        self._looks.setVisible(len(found) > 1)
        self.earlier.setEnabled(len(found) > 1 and at is not found[0])
        self.later.setEnabled(at is not None)
        self.live.setVisible(at is not None)
        if at is None:
            self.looking.setText(tr("{found} plans on the way", found=len(found)))
        else:
            self.looking.setText(
                tr("at {elapsed_s:.2f} s: {total_ns}", elapsed_s=at.elapsed_s, total_ns=_fine(at.plan.total_ns or 0))
            )

    def _clicked(self, position: int) -> None:
        if 0 <= position < len(self._found):
            self.look_asked.emit(self._found[position])

    def tick(self, elapsed_s: float) -> None:
        """Time goes on and nothing has changed."""
        self._now_s = max(self._now_s, elapsed_s)
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_plot") and self._plot is not None:
            self._plot.dress()

    @property
    def plot(self) -> "ProgressPlot":
        """The curves; made when they are first needed, since what draws them is slow to load."""
        if self._plot is None:
            from xengine_gui.ui.panels.progress_plot import ProgressPlot  # noqa: PLC0415

            self._plot = ProgressPlot()
            self._plot.plan_clicked.connect(self._clicked)
            self._curves.addWidget(self._plot, 1)
        return self._plot

    def _draw(self) -> None:
        last = self._points[-1] if self._points else None
        if last is None or (last.total_ns is None and last.lower_bound_ns is None):
            return
        self._stack.setCurrentIndex(1)
        times = [p.elapsed_s for p in self._points]
        totals = [p.total_ns for p in self._points]
        # A bound of nothing is true of every plan, and drawn it would flatten all that is worth seeing.
        bounds = [p.lower_bound_ns or None for p in self._points]
        self.plot.show_curves(times, totals, bounds, max(self._now_s, times[-1]))
        plans = [(f.elapsed_s, f.plan.total_ns or 0) for f in self._found]
        self.plot.show_plans(plans, None if self._looked_at is None else self._found.index(self._looked_at))
        self.best_label.setText(
            tr("no plan yet") if last.total_ns is None else tr("best plan {total_ns}", total_ns=_fine(last.total_ns))
        )
        self.bound_label.setText(
            tr("proved ≥ {lower_bound_ns}", lower_bound_ns=_fine(last.lower_bound_ns))
            if last.lower_bound_ns
            else tr("no bound yet")
        )
        if last.total_ns and last.lower_bound_ns:
            gap = max(0.0, (last.total_ns - last.lower_bound_ns) / last.total_ns)
            self.gap.setText(tr("gap {gap}", gap=format_gap(gap)))


def _step_button(text: str, tip: str) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    button.setAutoRaise(True)
    return button


class _Key(QWidget):
    """A short piece of a curve, before its name."""

    def __init__(self, colour: Literal["plot_incumbent", "plot_bound"]) -> None:
        super().__init__()
        self._colour = colour
        self.setFixedSize(14, 12)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(0, 5, 14, 3, QColor(getattr(current_theme(), self._colour)))


def _fine(time_ns: int) -> str:
    return format_duration(time_ns, fine=True)
