"""What is selected on the timeline, and what is in memory where the cursor is."""

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QGridLayout,
    QHeaderView,
    QScrollArea,
    QSizePolicy,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from xengine_gui.ui.background import Background
from xengine_gui.ui.explaining import LazyExplainer
from xengine_gui.ui.models.event_details import EventDescriber, EventDetails, Fact
from xengine_gui.ui.models.memory_model import Column, MemoryModel, held_at
from xengine_gui.ui.panels.parts import ElidedLabel, Panel, clear, column, row, section_label, text_label
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.units import format_count, format_duration, format_size

_FOLLOW_MS = 50
_MOST_TENSORS = 12
_LEAST_HEIGHT = 60


class SelectionPanel(Panel):
    """The selected event in words with the reason for it, and below it the memory of a device at the cursor.

    Reasons are looked for beside the window, since they want a replay of the whole plan.
    """

    def __init__(self) -> None:
        super().__init__("selection-panel")
        self.setMinimumWidth(220)
        self._shown: ShownPlan | None = None
        self._describer: EventDescriber | None = None
        self._explainer: LazyExplainer | None = None
        self._background = Background(self)
        self._selected: int | None = None
        self._time_ns = 0
        self._lines = column(spacing=4, margins=(12, 0, 12, 0))
        details = Panel("details")
        details.setLayout(self._lines)
        scroll = _Fitting(details)
        self.memory = MemoryModel(self)
        self.memory.set_why(self._why_in_memory)
        self.why = QWidget()
        self.memory_title = ElidedLabel("In memory", "heading")
        self.memory_total = text_label("", "small")
        self.device = QComboBox()
        self.device.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.device.setAccessibleName("Device whose memory is listed")
        self.device.currentTextChanged.connect(self._update_memory)
        self.table = _memory_table(self.memory)
        self._memory_part = QWidget()
        head = row(self.memory_title, self.device)
        head.setStretch(0, 1)
        # The table's cells have a margin of their own; heading and sum stand in line with what is in them.
        head.setContentsMargins(6, 0, 6, 0)
        self.memory_total.setContentsMargins(6, 0, 6, 0)
        self._memory_part.setLayout(column(head, self.memory_total, self.table, spacing=6, margins=(6, 0, 6, 0)))
        title = section_label("Selected")
        title.setContentsMargins(12, 0, 12, 0)
        layout = column(title, scroll, self._memory_part, 0, spacing=10, margins=(0, 12, 0, 6))
        layout.setStretch(2, 1000)
        layout.setStretch(3, 1)
        self.setLayout(layout)
        self._follow = QTimer(self, interval=_FOLLOW_MS, singleShot=True)
        self._follow.timeout.connect(self._update_memory)
        self.show_plan(None)

    def show_plan(self, shown: ShownPlan | None) -> None:
        """Show another plan; what was selected is forgotten, the moment in time is kept."""
        if shown is not None and self._shown is not None and shown.timeline is self._shown.timeline:
            return
        self._shown = shown
        self._explainer = None if shown is None else LazyExplainer(shown.plan)
        self._background.forget()
        self._describer = None if shown is None else EventDescriber(shown)
        self._memory_part.setVisible(shown is not None)
        names = [] if shown is None else [d.name for d in shown.plan.problem.devices]
        if names != [self.device.itemText(i) for i in range(self.device.count())]:
            self.device.clear()
            self.device.addItems(names)
        if shown is not None and not 0 < self._time_ns <= shown.timeline.end_ns:
            busiest = max(shown.timeline.devices, key=lambda d: d.peak_bytes, default=None)
            self._time_ns = 0 if busiest is None else busiest.peak_ns
            self.device.setCurrentText("" if busiest is None else busiest.device)
        self.select(None)
        self._update_memory()

    def select(self, index: int | None) -> None:
        """Describe an event; `None` is none."""
        self._selected = index
        clear(self._lines)
        if self._describer is None or index is None:
            text = (
                "What is clicked in the timeline is explained here."
                if self._shown is None
                else "Click a bar, a transfer or a free to see what it is."
            )
            self._lines.addWidget(text_label(text, "muted", wrap=True))
            self._lines.addStretch(1)
            return
        self.why = QWidget()
        _fill(self._lines, self._describer.describe(index), self.why)
        self._explain(index)
        self._time_ns = self._describer.start_ns_of(index)
        self.device.setCurrentText(self._describer.device_of(index))
        self._update_memory()

    def follow(self, time_ns: int) -> None:
        """List the memory at another moment, once the cursor rests a little; -1 is none, and the last one stays."""
        if time_ns >= 0:
            self._time_ns = time_ns
            self._follow.start()

    def end(self) -> None:
        """The window closes."""
        self._background.close()

    def _explain(self, index: int | None) -> None:
        """Say why an event happens, as soon as that is known; `None` only prepares for questions."""
        source = self._explainer
        if source is None or (self._background.busy and index is None):
            return

        def job() -> tuple[str, ...]:
            explainer = source.get()
            return () if index is None else explainer.why(index).sentences

        def done(sentences: tuple[str, ...]) -> None:
            if index == self._selected and sentences:
                _fill_why(self.why, sentences)

        self._background.run(job, done, lambda _sentence: None)

    def _why_in_memory(self, tensor: str) -> str:
        """Why a tensor is there at the moment that is listed; empty until that is known."""
        explainer = None if self._explainer is None else self._explainer.made
        if explainer is None:
            self._explain(None)
            return ""
        try:
            return str(explainer.why_retained(tensor, self.device.currentText(), self._time_ns))
        except ValueError:  # no tensor (parameters), or a moment that has just changed
            return ""

    def _update_memory(self) -> None:
        device = self.device.currentText()
        if self._shown is None or not device:
            return
        self.memory.set_rows(held_at(self._shown, device, self._time_ns))
        self.memory_title.setText(f"In memory at {format_duration(self._time_ns)}")
        count = self.memory.rowCount()
        self.memory_total.setText(f"{format_count(count, 'tensor')}, {format_size(self.memory.total_bytes)}")


class _Fitting(QScrollArea):
    """As high as its content where there is room, and scrolled where there is not."""

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._content = content
        self.setWidget(content)
        content.installEventFilter(self)

    def sizeHint(self) -> QSize:
        """The content's size, as high as it is at the present width."""
        width = self.viewport().width()
        hint = self._content.sizeHint()
        return QSize(hint.width(), max(self._content.heightForWidth(width), 0) or hint.height())

    def minimumSizeHint(self) -> QSize:
        """A few lines, where there are that many."""
        return QSize(0, min(_LEAST_HEIGHT, self.sizeHint().height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width, another height."""
        super().resizeEvent(event)
        self.updateGeometry()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ask for another height when the content has changed."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)


def _memory_table(model: MemoryModel) -> QTableView:
    table = QTableView()
    table.setModel(model)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
    table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(table.fontMetrics().height() + 9)
    header = table.horizontalHeader()
    header.setSectionResizeMode(Column.TENSOR, QHeaderView.ResizeMode.Stretch)
    header.setSectionResizeMode(Column.SIZE, QHeaderView.ResizeMode.ResizeToContents)
    header.setSectionResizeMode(Column.UNTIL, QHeaderView.ResizeMode.ResizeToContents)
    header.setHighlightSections(False)
    table.setAccessibleName("Tensors in memory")
    table.setMinimumHeight(4 * table.verticalHeader().defaultSectionSize())
    return table


def _fill_why(place: QWidget, sentences: Iterable[str]) -> None:
    labels = [text_label(sentence, wrap=True) for sentence in sentences]
    for label in labels:
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    place.setLayout(column(text_label("Why", "heading"), *labels, spacing=4, margins=(0, 0, 0, 6)))


def _fill(layout: QVBoxLayout, details: EventDetails, why: QWidget) -> None:
    title = ElidedLabel(details.title, "title", Qt.TextElideMode.ElideMiddle)
    layout.addWidget(title)
    layout.addWidget(text_label(details.subtitle, "muted", wrap=True))
    layout.addWidget(why)
    layout.addWidget(_facts(details.facts))
    for heading, facts in (("Inputs", details.inputs), ("Outputs", details.outputs)):
        if facts:
            layout.addWidget(text_label(heading, "heading"))
            layout.addWidget(_facts(_shortened(facts), label_role=""))


def _shortened(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    hidden = len(facts) - _MOST_TENSORS
    return facts if hidden <= 0 else (*facts[:_MOST_TENSORS], Fact(f"and {hidden} more", ""))


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
