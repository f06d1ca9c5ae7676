"""The figures of the plan that is shown."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QLabel, QPushButton, QScrollArea, QWidget

from xengine_gui.language import tr
from xengine_gui.model.plan import Status
from xengine_gui.schedule.summary import PlanSummary
from xengine_gui.ui.panels.parts import ElidedLabel, Panel, Role, clear, column, row, text_label
from xengine_gui.ui.shown_plan import Recomputed, ShownPlan
from xengine_gui.ui.timeline.details import printable, shortened
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
_NAME_WIDTH = 90
_MOST_LISTED = 3
_LONGEST_LINK = 44
_GAP = 40


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
    bound = (
        tr("nothing is proved")
        if s.lower_bound_ns is None
        else tr("proved ≥ {lower_bound_ns}", lower_bound_ns=format_duration_exact(s.lower_bound_ns))
    )
    return (
        Figure(
            "total",
            format_duration(s.total_ns, fine=True),
            tr("{total_ns} on the serial clock", total_ns=format_duration_exact(s.total_ns)),
        ),
        Figure(
            tr("over unlimited memory"),
            overhead,
            tr("how much longer than the best plan known without any memory limit"),
        ),
        Figure("gap", _NOTHING if s.gap_ratio is None else format_gap(s.gap_ratio), bound),
        Figure(
            "recomputes",
            f"{s.recompute_count:,}",
            tr("{recompute_ns} in all", recompute_ns=format_duration(s.recompute_ns)),
        ),
        Figure(
            "transfers",
            f"{s.transfer_count:,}",
            tr(
                "{transfer_ns} and {transfer_bytes} in all",
                transfer_ns=format_duration(s.transfer_ns),
                transfer_bytes=format_size(s.transfer_bytes),
            ),
        ),
        Figure(tr("planned in"), f"{plan.runtime_s:.2f} s", tr("by {strategy}", strategy=plan.strategy)),
    )


class SummaryPanel(Panel):
    """Six figures, a line per device, and what is recomputed most."""

    tensor_chosen = Signal(str)
    """A tensor that is to be selected."""
    table_asked = Signal()
    """The tensor table is to be shown, the most recomputed first."""

    def __init__(self) -> None:
        super().__init__("summary-panel")
        self.note = text_label("", "warning")
        self._empty = text_label(tr("Total, overhead, gap and peaks of a plan are shown here."), "muted", wrap=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._body = QWidget()
        self._layout = column(spacing=12)
        self._body.setLayout(self._layout)
        scroll = QScrollArea(widgetResizable=True)
        scroll.setAccessibleName(tr("Summary"))
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
        self.note.setText(tr("for the problem as it was before") if old else "")
        self.note.setVisible(old)
        if shown is None:
            return
        figures = _Figures(figures_of(shown))
        devices = _devices(shown.summary)
        self._layout.addWidget(figures)
        again = shown.most_recomputed
        if again:
            self._layout.addWidget(_Beside(devices, self._most_recomputed(again, shown)))
        else:
            self._layout.addWidget(devices)

    def _most_recomputed(self, again: Sequence[Recomputed], shown: ShownPlan) -> QWidget:
        """The tensors that are recomputed most, each a link to why."""
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(2)
        for place, title in enumerate((tr("most recomputed"), "times", "size", "takes")):
            grid.addWidget(_cell(title, place, "small"), 0, place)
        for line, one in enumerate(again[:_MOST_LISTED], start=1):
            link = QPushButton(shortened(one.tensor, _LONGEST_LINK))
            link.setProperty("link", True)  # noqa: FBT003 - Qt's own signature
            link.setToolTip(
                tr("Select {tensor}: why it is recomputed is told on the right", tensor=printable(one.tensor))
            )
            link.setAccessibleName(tr("Select the recomputed tensor {tensor}", tensor=printable(one.tensor)))
            link.clicked.connect(lambda _checked=False, name=one.tensor: self.tensor_chosen.emit(name))
            grid.addWidget(link, line, 0)
            cells = (f"{one.count}×", format_size(shown.tensor_bytes[one.tensor]), format_duration(one.time_ns))  # noqa: RUF001
            for place, text in enumerate(cells, start=1):
                grid.addWidget(_cell(text, place), line, place)
        more = len(again) - _MOST_LISTED
        if more > 0:
            every = QPushButton(tr("all {again:,} in the table", again=len(again)))
            every.setProperty("link", True)  # noqa: FBT003
            every.setToolTip(tr("Show the tensor table, the most recomputed first"))
            every.clicked.connect(self.table_asked)
            grid.addWidget(every, _MOST_LISTED + 1, 0)
        grid.setColumnStretch(4, 1)
        grid.setRowStretch(_MOST_LISTED + 2, 1)
        widget = QWidget()
        widget.setLayout(grid)
        return widget


def status_words(shown: ShownPlan) -> str:
    """How good a plan is: `optimal within 0.09 %`, or what is known."""
    gap = shown.plan.gap_ratio
    if shown.plan.status is Status.OPTIMAL or gap == 0:
        # What rounds to nothing was proved to less than can be shown.
        return "optimal" if not gap else tr("optimal within {gap}", gap=format_percent(max(gap, 0.0001), 2))
    return (
        tr("nothing is proved of it")
        if gap is None
        else tr("at most {gap} to gain", gap=format_percent(max(gap, 0.0001), 2))
    )


class _Figures(QWidget):
    """Figures in as many columns as there is room for: all in one line, or in two."""

    def __init__(self, figures: Sequence[Figure]) -> None:
        super().__init__()
        self._cells: list[QWidget] = []
        for figure in figures:
            cell = QWidget(toolTip=figure.more)
            cell.setLayout(column(text_label(figure.value, "title"), text_label(figure.caption, "small"), spacing=0))
            self._cells.append(cell)
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(8)
        self.setLayout(self._grid)
        self._columns = 0
        self._arrange(len(figures) // 2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use the width."""
        super().resizeEvent(event)
        every, room = len(self._cells), event.size().width() // (self._widest() + 16)
        self._arrange(next((n for n in (every, every // 2) if n <= room), max(1, every // 3)))

    def minimumSizeHint(self) -> QSize:
        """Narrow enough for three lines, whatever the present arrangement."""
        return QSize((self._widest() + 16) * max(1, len(self._cells) // 3), super().minimumSizeHint().height())

    def _widest(self) -> int:
        return max(cell.sizeHint().width() for cell in self._cells)

    def _arrange(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        for i, cell in enumerate(self._cells):
            self._grid.addWidget(cell, i // columns, i % columns)
        for i in range(len(self._cells)):
            self._grid.setColumnStretch(i, 1 if i < columns else 0)


class _Beside(QWidget):
    """Two things side by side, or one below the other where they are too wide for that."""

    def __init__(self, one: QWidget, other: QWidget) -> None:
        super().__init__()
        self._parts = one, other
        self._line = row(one, other, spacing=_GAP)
        self._line.setStretch(1, 1)
        self.setLayout(self._line)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use the width."""
        super().resizeEvent(event)
        fits = sum(part.minimumSizeHint().width() for part in self._parts) + _GAP <= event.size().width()
        self._line.setDirection(QBoxLayout.Direction.LeftToRight if fits else QBoxLayout.Direction.TopToBottom)
        self._line.setSpacing(_GAP if fits else _GAP // 3)

    def minimumSizeHint(self) -> QSize:
        """The wider of the two."""
        widest = max(part.minimumSizeHint().width() for part in self._parts)
        return QSize(widest, super().minimumSizeHint().height())


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
    grid.setRowStretch(len(summary.peak_bytes) + 1, 1)
    widget = QWidget()
    widget.setLayout(grid)
    return widget


def _cell(text: str, place: int, role: Role = "", *, tip: str = "") -> QLabel:
    label = text_label(text, role, tip=tip)
    side = Qt.AlignmentFlag.AlignLeft if place == 0 else Qt.AlignmentFlag.AlignRight
    label.setAlignment(side | Qt.AlignmentFlag.AlignVCenter)
    return label
