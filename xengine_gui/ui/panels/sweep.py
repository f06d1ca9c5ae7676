"""What more memory would buy: totals over a range of limits, as curves or as a heat map."""

from collections.abc import Sequence

from PySide6.QtWidgets import QSizePolicy, QWidget

from xengine_gui.language import tr
from xengine_gui.solve.base import Strategy
from xengine_gui.solve.sweep_points import Sweep, knee, smallest_feasible
from xengine_gui.ui.panels.parts import Panel, column, fit_text, row, text_label
from xengine_gui.ui.panels.study_parts import ExportButton, RunButton, StudyProgress, TimeChoice
from xengine_gui.ui.panels.sweep_form import SweepForm
from xengine_gui.ui.panels.sweep_view import SweepView
from xengine_gui.ui.theme import set_style_property
from xengine_gui.units import format_size

_WITHOUT_WORK = tr("Open a network or a problem; then this shows what more memory would buy.")
_BEFORE = tr("Choose a device and run: the total at every limit is planned and drawn here.")
_FORM_WIDTH = 336
_FORM_DIGITS = 34
"""The form is as wide as so many digits, where that is more."""


class SweepPanel(Panel):
    """The form at the left, the plot beside it."""

    def __init__(self, strategies: Sequence[Strategy]) -> None:
        super().__init__("sweep-panel")
        self.form = SweepForm(strategies)
        self.run = RunButton(tr("Plan at every limit"))
        self.time = TimeChoice(tr("10 s each"))
        self.export = ExportButton()
        self.progress = StudyProgress()
        self.state = text_label("", "small", wrap=True)
        self.view = SweepView()
        self.progress.setMinimumWidth(40)
        self.progress.setMaximumWidth(16_777_215)
        buttons = row(self.run, self.time, self.export, 1, spacing=6)
        left = QWidget()
        left.setLayout(column(self.form, buttons, self.progress, self.state, 1, spacing=7))
        fit_text(left, lambda: left.setFixedWidth(max(_FORM_WIDTH, _digits(left, _FORM_DIGITS))))
        self.view.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        layout = row(left, self.view, spacing=14)
        layout.setContentsMargins(14, 8, 10, 6)
        layout.setStretch(1, 1)
        self.setLayout(layout)
        self._sweep: Sweep | None = None

    def show_sweep(self, sweep: Sweep | None, *, has_work: bool) -> None:
        """Draw a sweep, finished or not; none is a sentence on what to do."""
        self._sweep = sweep
        self.view.show_sweep(sweep, _BEFORE if has_work else _WITHOUT_WORK)

    def show_state(
        self, *, running: bool, stopping: bool, possible: bool, done: int, count: int, stale: bool, trouble: str
    ) -> None:
        """Say what can be done, how far it is, and what came out."""
        self.run.show_state(running=running, stopping=stopping, possible=possible)
        self.form.setEnabled(not running)
        self.time.setEnabled(not running)
        has_plan = self._sweep is not None and any(p.total_ns is not None for p in self._sweep.best())
        self.export.setEnabled(has_plan and not running)
        self.progress.show_progress(done, count, running=running)
        set_style_property(self.state, "role", "error" if trouble else "warning" if stale and not running else "small")
        if trouble:
            words = trouble
        elif running:
            words = tr("{done} of {count} plans", done=done, count=count) if count else tr("Starting…")
        elif stale:
            words = tr("For the problem as it was before.")
        else:
            words = _told(self._sweep)
        self.state.setText(words)


def _digits(widget: QWidget, count: int) -> int:
    return widget.fontMetrics().horizontalAdvance("0" * count)


def _told(sweep: Sweep | None) -> str:
    """What came out of a sweep, in a sentence or two."""
    if sweep is None:
        return ""
    declined = [
        tr("{title} declined: {declined}", title=curve.title, declined=curve.declined)
        for curve in sweep.curves
        if curve.declined
    ]
    best = sweep.best()
    if all(point.total_ns is None for point in best):
        return " ".join([*declined, tr("No limit has a plan.")])
    if len(sweep.axes) > 1:
        return " ".join([tr("Click a cell to show its plan."), *declined])
    smallest, bend = smallest_feasible(best), knee(best)
    parts = (
        []
        if smallest is None
        else [tr("smallest feasible {limit_bytes}", limit_bytes=format_size(smallest.limit_bytes))]
    )
    parts += [] if bend is None else [tr("knee {limit_bytes}", limit_bytes=format_size(bend.limit_bytes))]
    return " ".join([tr("{parts}. Click a point to show its plan.", parts=_capital(", ".join(parts))), *declined])


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
