"""The figures of the plan that is shown."""

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QScrollArea, QWidget

from xengine_gui.model.plan import Status
from xengine_gui.schedule.summary import PlanSummary
from xengine_gui.ui.panels.parts import ElidedLabel, Panel, Role, clear, column, text_label
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.units import (
    format_duration,
    format_duration_exact,
    format_gap,
    format_percent,
    format_size,
    format_size_exact,
)

_NOTHING = "\u2013"
_COLUMNS = ("device", "peak", "limit", "used", "busy")
_NAME_WIDTH = 120


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with what it is, and more about it for the tooltip."""

    caption: str
    value: str
    more: str = ""


def figures_of(shown: ShownPlan) -> tuple[Figure, ...]:
    """The six figures that plans are compared by."""
    s, plan = shown.summary, shown.plan
    overhead = _NOTHING if s.overhead_ratio is None else f"{s.overhead_ratio:+.1%}".replace("%", " %")
    bound = "nothing is proved" if s.lower_bound_ns is None else f"proved ≥ {format_duration_exact(s.lower_bound_ns)}"
    return (
        Figure(
            "total", format_duration(s.total_ns, fine=True), f"{format_duration_exact(s.total_ns)} on the serial clock"
        ),
        Figure("over unlimited memory", overhead, "how much longer than the best plan known without any memory limit"),
        Figure("gap", _NOTHING if s.gap_ratio is None else format_gap(s.gap_ratio), bound),
        Figure("recomputes", f"{s.recompute_count:,}", f"{format_duration(s.recompute_ns)} in all"),
        Figure(
            "transfers",
            f"{s.transfer_count:,}",
            f"{format_duration(s.transfer_ns)} and {format_size(s.transfer_bytes)} in all",
        ),
        Figure("planned in", f"{plan.runtime_s:.2f} s", f"by {plan.strategy}"),
    )


class SummaryPanel(Panel):
    """Six figures, and a line per device."""

    def __init__(self) -> None:
        super().__init__("summary-panel")
        self.note = text_label("", "warning")
        self._empty = text_label("Total, overhead, gap and peaks of a plan are shown here.", "muted", wrap=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._body = QWidget()
        self._layout = column(spacing=12)
        self._body.setLayout(self._layout)
        scroll = QScrollArea(widgetResizable=True)
        scroll.setAccessibleName("Summary")
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        body = Panel("summary-body")
        body.setLayout(column(self._body, 1, margins=(0, 0, 4, 0)))
        scroll.setWidget(body)
        self._scroll = scroll
        self.note.hide()
        layout = column(self.note, self._empty, scroll, 0, margins=(14, 12, 10, 10))
        layout.setStretch(2, 1000)
        layout.setStretch(3, 1)
        self.setLayout(layout)
        self.show_plan(None, stale=False)

    def show_plan(self, shown: ShownPlan | None, *, stale: bool) -> None:
        """Show the figures of a plan."""
        clear(self._layout)
        self._empty.setVisible(shown is None)
        self._scroll.setVisible(shown is not None)
        old = stale and shown is not None
        self.note.setText("for the problem as it was before" if old else "")
        self.note.setVisible(old)
        if shown is None:
            return
        self._layout.addWidget(_figures(figures_of(shown)))
        self._layout.addWidget(_devices(shown.summary))


def status_words(shown: ShownPlan) -> str:
    """How good a plan is: `optimal within 0.09 %`, or what is known."""
    gap = shown.plan.gap_ratio
    if shown.plan.status is Status.OPTIMAL or gap == 0:
        # What rounds to nothing was proved to less than can be shown.
        return "optimal" if not gap else f"optimal within {format_percent(max(gap, 0.0001), 2)}"
    return "nothing is proved of it" if gap is None else f"at most {format_percent(max(gap, 0.0001), 2)} to gain"


def _figures(figures: tuple[Figure, ...]) -> QWidget:
    grid = QGridLayout()
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(16)
    grid.setVerticalSpacing(8)
    for i, figure in enumerate(figures):
        cell = QWidget(toolTip=figure.more)
        cell.setLayout(column(text_label(figure.value, "title"), text_label(figure.caption, "small"), spacing=0))
        grid.addWidget(cell, i // 3, i % 3)
        grid.setColumnStretch(i % 3, 1)
    widget = QWidget()
    widget.setLayout(grid)
    return widget


def _devices(summary: PlanSummary) -> QWidget:
    grid = QGridLayout()
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(16)
    grid.setVerticalSpacing(4)
    for place, title in enumerate(_COLUMNS):
        grid.addWidget(_cell(title, place, "small"), 0, place)
    for line, (device, peak) in enumerate(summary.peak_bytes.items(), start=1):
        limit = summary.limit_bytes.get(device)
        busy = summary.busy_ns[device] / summary.total_ns if summary.total_ns else 0.0
        cells = (
            ElidedLabel(device),
            _cell(format_size(peak), 1, tip=format_size_exact(peak)),
            _cell(
                _NOTHING if limit is None else format_size(limit),
                2,
                tip="" if limit is None else format_size_exact(limit),
            ),
            _cell(format_percent(peak / limit) if limit else _NOTHING, 3),
            _cell(format_percent(busy), 4, tip=format_duration(summary.busy_ns[device])),
        )
        for place, cell in enumerate(cells):
            grid.addWidget(cell, line, place)
    # A device's figures stand beside its name, however wide the panel is.
    grid.setColumnMinimumWidth(0, _NAME_WIDTH)
    grid.setColumnStretch(len(_COLUMNS), 1)
    widget = QWidget()
    widget.setLayout(grid)
    return widget


def _cell(text: str, place: int, role: Role = "", *, tip: str = "") -> QLabel:
    label = text_label(text, role, tip=tip)
    label.setAlignment(Qt.AlignmentFlag.AlignLeft if place == 0 else Qt.AlignmentFlag.AlignRight)
    return label
