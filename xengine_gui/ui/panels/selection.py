"""What is selected in the window, told in words, and what is in memory where the cursor or the selection is."""

from collections.abc import Iterable

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QGridLayout,
    QHeaderView,
    QSizePolicy,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from xengine_gui.language import tr
from xengine_gui.schedule.timeline import DeviceTimeline
from xengine_gui.ui.background import Background
from xengine_gui.ui.explaining import LazyExplainer
from xengine_gui.ui.models.event_details import EventDescriber, EventDetails, Fact
from xengine_gui.ui.models.memory_model import MemoryModel, held_at
from xengine_gui.ui.models.range_model import range_model, range_rows
from xengine_gui.ui.models.thing_details import moment_details, operator_details, tensor_details
from xengine_gui.ui.panels.fitting import Fitting
from xengine_gui.ui.panels.memory_list import MemoryTable
from xengine_gui.ui.panels.parts import (
    ElidedLabel,
    Panel,
    clear,
    column,
    fit_rows,
    row,
    section_label,
    text_label,
    title_label,
)
from xengine_gui.ui.panels.trace_list import TraceTable
from xengine_gui.ui.selection import NOTHING, Kind, Selection
from xengine_gui.ui.selection_traces import Traces
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.timeline.details import shortened
from xengine_gui.ui.timeline.index import DeviceIndex
from xengine_gui.ui.timeline.stack import PARAMETERS
from xengine_gui.ui.timeline.sums import sums_of
from xengine_gui.units import format_count, format_duration, format_size

_EMPTY_HINT = tr("What is clicked in the timeline is explained here.")
_NOT_IN_PLAN = tr("The plan that is shown does not have {}: it is of the problem as it was before.")
_HINT = tr("Click a bar, a transfer, a free or a memory curve, or press / to find an operator or a tensor.")
_FOLLOW_MS = 50
_MOST_TENSORS = 12


class SelectionPanel(Panel):
    """What is selected in words, with the reason for it, and below it the memory of a device at a moment.

    Reasons are looked for beside the window, since they want a replay of the whole plan.
    """

    tensor_chosen = Signal(str)
    """A tensor of the list of what is in memory was clicked."""
    event_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__("selection-panel")
        self.setMinimumWidth(220)
        self._shown: ShownPlan | None = None
        self._describer: EventDescriber | None = None
        self._traces: Traces | None = None
        self._explainer: LazyExplainer | None = None
        self._background = Background(self)
        self._selection = NOTHING
        self._time_ns = 0
        self._lines = column(spacing=4, margins=(12, 0, 12, 0))
        details = Panel("details")
        details.setLayout(self._lines)
        self._details = Fitting(details)
        self.memory = MemoryModel(self)
        self.memory.set_why(self._why_in_memory)
        self.why = QWidget()
        self.trace = TraceTable()
        self.trace.event_chosen.connect(self.event_chosen)
        self.sums = QTableView()
        self.memory_title = ElidedLabel(tr("In memory"), "heading")
        self.memory_total = text_label("", "small")
        self.device = QComboBox()
        self.device.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.device.setAccessibleName(tr("Device whose memory is listed"))
        self.device.setToolTip(tr("The device whose memory is listed"))
        self.device.currentTextChanged.connect(self._update_memory)
        self.table = MemoryTable(self.memory)
        self.table.clicked.connect(self._memory_clicked)
        self._memory_part = QWidget()
        head = row(self.memory_title, self.device)
        head.setStretch(0, 1)
        # The table's cells have a margin of their own; heading and sum stand in line with what is in them.
        head.setContentsMargins(6, 0, 6, 0)
        self.memory_total.setContentsMargins(6, 0, 6, 0)
        self._memory_part.setLayout(column(head, self.memory_total, self.table, spacing=6, margins=(6, 0, 6, 0)))
        self._trace_part = QWidget()
        self._trace_part.setLayout(column(self.trace, margins=(6, 0, 6, 0)))
        title = section_label(tr("Selected"))
        title.setContentsMargins(12, 0, 12, 0)
        layout = column(title, self._details, self._trace_part, self._memory_part, 0, spacing=10, margins=(0, 12, 0, 6))
        layout.setStretch(3, 1000)
        layout.setStretch(4, 1)
        self.setLayout(layout)
        self._follow = QTimer(self, interval=_FOLLOW_MS, singleShot=True)
        self._follow.timeout.connect(self._update_memory)
        self.show_plan(None)

    def add_below_reasons(self, widget: QWidget) -> None:
        """Put something between what is selected and the list of its events."""
        layout = self.layout()
        if isinstance(layout, QVBoxLayout):
            layout.insertWidget(2, widget)

    def show_plan(self, shown: ShownPlan | None, traces: Traces | None = None) -> None:
        """Show another plan; what was selected is forgotten, the moment in time is kept."""
        if shown is not None and self._shown is not None and shown.timeline is self._shown.timeline:
            return
        self._shown = shown
        self._traces = traces if traces is not None or shown is None else shown.traces
        self._explainer = None if shown is None else LazyExplainer(shown.plan)
        self._background.forget()
        self._describer = None if shown is None else EventDescriber(shown)
        self._memory_part.setVisible(shown is not None)
        names = [] if shown is None else [d.name for d in shown.plan.problem.devices]
        if names != [self.device.itemText(i) for i in range(self.device.count())]:
            self.device.clear()
            self.device.addItems(names)
        if shown is not None and not 0 < self._time_ns <= shown.timeline.end_ns:
            busiest = max(shown.timeline.devices, key=_fullness, default=None)
            self._time_ns = 0 if busiest is None else busiest.peak_ns
            self.device.setCurrentText("" if busiest is None else busiest.device)
        self.show_selection(NOTHING)

    def show_selection(self, selection: Selection) -> None:
        """Describe what is selected; the memory that is listed is that of its moment, or follows the mouse."""
        self._selection = selection
        clear(self._lines)
        rows = self._traces.rows(selection) if self._traces is not None else []
        self._trace_part.setVisible(len(rows) > 1)
        self.trace.show_rows(rows)
        self._memory_part.setVisible(self._shown is not None and selection.kind is not Kind.RANGE)
        self.table.set_explained(explained=selection.kind is Kind.MOMENT)
        if selection.time_ns >= 0:
            self._time_ns = selection.time_ns
        if selection.device:
            self.device.setCurrentText(selection.device)
        self.why = QWidget()
        shown, traces = self._shown, self._traces
        is_there = traces is not None and traces.knows(selection)
        if shown is not None and self._describer is not None and traces is not None and selection and is_there:
            self._describe(shown, self._describer, traces)
        else:
            hint = (
                _EMPTY_HINT
                if shown is None
                else _HINT
                if is_there
                else _NOT_IN_PLAN.format(shortened(selection.name, 28))
            )
            self._lines.addWidget(text_label(hint, "muted", wrap=True))
            self._lines.addStretch(1)
        self._update_memory()

    def _describe(self, shown: ShownPlan, describer: EventDescriber, traces: Traces) -> None:
        selection = self._selection
        if selection.kind is Kind.EVENT:
            _fill(self._lines, describer.describe(selection.event), self.why)
            self._explain(selection.event)
        elif selection.kind is Kind.RANGE:
            details = EventDetails(
                tr("{end_ns} selected", end_ns=format_duration(selection.end_ns - selection.time_ns)),
                tr(
                    "{time_ns} to {end_ns}",
                    time_ns=format_duration(selection.time_ns),
                    end_ns=format_duration(selection.end_ns),
                ),
                (),
            )
            _fill(self._lines, details, self.why)
            self.sums = sums_table(shown, traces, selection.time_ns, selection.end_ns)
            self._lines.addWidget(self.sums)
        elif selection.kind is Kind.MOMENT:
            _fill(self._lines, moment_details(shown, selection.device, selection.time_ns), self.why)
            self._explain(None)
        else:
            of = operator_details if selection.kind is Kind.OPERATOR else tensor_details
            _fill(self._lines, of(shown, traces, selection.name), self.why)
            again = _first_recompute(shown, traces, selection)
            if again is not None:
                self._explain(again)

    def follow(self, time_ns: int) -> None:
        """List the memory at another moment, once the cursor rests a little; -1 is none, and the last one stays.

        While a moment is selected its list stays.
        """
        if time_ns >= 0 and not self._is_pinned:
            self._time_ns = time_ns
            self._follow.start()

    @property
    def _is_pinned(self) -> bool:
        selection = self._selection
        return selection.kind is Kind.MOMENT or (selection.kind is Kind.TENSOR and selection.time_ns >= 0)

    def end(self) -> None:
        """The window closes."""
        self._background.close()

    def _explain(self, index: int | None) -> None:
        """Say why an event happens, as soon as that is known; `None` only prepares for questions."""
        source = self._explainer
        if source is None or (self._background.busy and index is None):
            return

        asked = self._selection

        def job() -> tuple[str, ...]:
            explainer = source.get()
            return () if index is None else explainer.why(index).sentences

        def done(sentences: tuple[str, ...]) -> None:
            if index is None:
                self.memory.tell_reasons()
            elif self._selection == asked and sentences:
                _fill_why(
                    self.why, sentences, tr("Why") if asked.kind is Kind.EVENT else tr("Why it is computed again")
                )

        self._background.run(job, done, lambda _sentence: None)

    def _why_in_memory(self, tensor: str) -> str:
        """Why a tensor is there at the moment that is listed; empty until that is known."""
        if tensor == PARAMETERS:
            return tr("Parameters stay for the whole plan.")
        explainer = None if self._explainer is None else self._explainer.made
        if explainer is None:
            self._explain(None)
            return ""
        try:
            return str(explainer.why_retained(tensor, self.device.currentText(), self._time_ns))
        except ValueError:  # a moment that has just changed
            return ""

    def _memory_clicked(self, index: QModelIndex) -> None:
        name = self.memory.name(index.row())
        if name != PARAMETERS:
            self.tensor_chosen.emit(name)

    def _update_memory(self) -> None:
        device = self.device.currentText()
        if self._shown is None or not device:
            return
        self.memory.set_rows(held_at(self._shown, device, self._time_ns))
        self.memory_title.setText(tr("In memory at {time_ns}", time_ns=format_duration(self._time_ns)))
        count = self.memory.rowCount()
        self.memory_total.setText(f"{format_count(count, 'tensor')}, {format_size(self.memory.total_bytes)}")


def sums_table(shown: ShownPlan, traces: Traces, start_ns: int, end_ns: int) -> QTableView:
    """The sums of a stretch of time, a column per device, as high as its rows."""
    end = shown.timeline.end_ns
    sums = [sums_of(DeviceIndex(d, end), start_ns, end_ns, traces.transfer_bytes) for d in shown.timeline.devices]
    table = QTableView()
    model = range_model([s.device for s in sums], table)
    model.set_rows(range_rows(sums))
    table.setModel(model)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
    table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    table.verticalHeader().hide()
    fit_rows(table, 7)
    header = table.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
    header.setHighlightSections(False)
    table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    lines = model.rowCount() * table.verticalHeader().defaultSectionSize()
    table.setFixedHeight(header.sizeHint().height() + lines + 4)
    table.setAccessibleName(tr("Sums of the selected stretch of time"))
    return table


def _first_recompute(shown: ShownPlan, traces: Traces, selection: Selection) -> int | None:
    """The event that first computes an operator, or what makes a tensor, again."""
    name = selection.name if selection.kind is Kind.OPERATOR else traces.producer.get(selection.name, "")
    events = shown.plan.events
    return next((i for i in traces.computations.get(name, ()) if getattr(events[i], "again", False)), None)


def _fill_why(place: QWidget, sentences: Iterable[str], title: str) -> None:
    labels = [text_label(sentence, wrap=True) for sentence in sentences]
    for label in labels:
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    place.setLayout(column(text_label(title, "heading"), *labels, spacing=4, margins=(0, 0, 0, 6)))


def _fill(layout: QVBoxLayout, details: EventDetails, why: QWidget) -> None:
    layout.addWidget(title_label(details.title))
    layout.addWidget(text_label(details.subtitle, "muted", wrap=True))
    layout.addWidget(why)
    layout.addWidget(_facts(details.facts))
    for heading, facts in ((tr("Inputs"), details.inputs), (tr("Outputs"), details.outputs)):
        if facts:
            layout.addWidget(text_label(heading, "heading"))
            layout.addWidget(_facts(_shortened(facts), label_role=""))


def _shortened(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    hidden = len(facts) - _MOST_TENSORS
    return facts if hidden <= 0 else (*facts[:_MOST_TENSORS], Fact(tr("and {hidden} more", hidden=hidden), ""))


def _facts(facts: Iterable[Fact], label_role: str = "muted") -> QWidget:
    grid = QGridLayout()
    grid.setContentsMargins(0, 2, 0, 6)
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(3)
    grid.setColumnStretch(0, 1)
    for line, fact in enumerate(facts):
        label = ElidedLabel(fact.label, "muted" if label_role == "muted" else "", Qt.TextElideMode.ElideMiddle)
        value = text_label(fact.value, tip=fact.exact)
        value.setAlignment(Qt.AlignmentFlag.AlignRight)
        value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        value.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        grid.addWidget(label, line, 0)
        grid.addWidget(value, line, 1, Qt.AlignmentFlag.AlignRight)
    widget = QWidget()
    widget.setLayout(grid)
    return widget


def _fullness(device: DeviceTimeline) -> tuple[float, int]:
    """How much of its limit a device comes to hold; of those without limits, how many bytes."""
    return (device.peak_bytes / device.limit_bytes if device.limit_bytes else 0.0), device.peak_bytes
