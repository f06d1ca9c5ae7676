"""Strategies side by side: tick, run, look at a plan, and see what differs between two."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QItemSelection, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QSplitter, QTableView, QWidget

from xengine_gui.language import tr
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.diff import PlanDiff
from xengine_gui.schedule.diff_words import headline
from xengine_gui.solve.base import Strategy
from xengine_gui.solve.compare import ComparedStrategy, Comparison, RowState
from xengine_gui.ui.models.compare_model import STRATEGY, TOTAL, CompareModel
from xengine_gui.ui.models.diff_model import CHANGE, COST, DiffModel
from xengine_gui.ui.panels.parts import ElidedLabel, Panel, column, fit_rows, row, text_label
from xengine_gui.ui.panels.study_parts import ExportButton, RunButton, StudyProgress, TimeChoice
from xengine_gui.ui.timeline.details import printable

_ROW_PADDING = 11
_DIFF_WIDTH = 340
_LIST_INDENT = 9
_WITHOUT_WORK = tr("Open a network or a problem; then every strategy can plan it here, side by side.")
_BEFORE = tr("Run plans with every ticked strategy, one after the other; click a row to see its plan.")
_AFTER = tr("Click a row to see its plan; Ctrl+click another to see what differs.")


class ComparePanel(Panel):
    """A table of strategies, and beside it what differs between the two plans that are selected."""

    plan_chosen = Signal(object)
    """The row whose plan is to be shown."""
    pair_chosen = Signal(object, object)
    """Two rows with plans, in the order in which they were selected; both `None` where there are no two."""

    def __init__(self, strategies: Sequence[Strategy]) -> None:
        super().__init__("compare-panel")
        self.model = CompareModel(strategies, self)
        self.run = RunButton(tr("Plan with every ticked strategy, one after the other"))
        self.time = TimeChoice(tr("10 s each"))
        self.export = ExportButton()
        self.progress = StudyProgress()
        self.state = ElidedLabel("", "small")
        self.note = text_label("", "warning")
        self.table = self._table()
        self.diff = DiffPane()
        self.split = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False, handleWidth=1)
        self.split.addWidget(self.table)
        self.split.addWidget(self.diff)
        self.split.setStretchFactor(0, 1)
        self.split.setSizes([600, _DIFF_WIDTH])
        head = row(self.run, self.time, self.state, self.progress, self.note, self.export)
        head.setStretch(2, 1)
        layout = column(head, self.split, spacing=6, margins=(14, 8, 10, 6))
        layout.setStretch(1, 1)
        self.setLayout(layout)
        self._selected: list[int] = []
        self._work: Problem | None = None
        self._running = False
        self._at = -1
        self.diff.hide()
        self.model.dataChanged.connect(lambda *_: self._span())
        self.model.modelReset.connect(self._rearrange)
        self.model.chosen_changed.connect(self._ticked)
        self._rearrange()
        self._ticked()

    # --- what is shown

    def show_state(self, *, running: bool, stopping: bool, work: Problem | None) -> None:
        """Say what can be done; `work` is the problem at hand."""
        self._running, self._work = running, work
        self.run.show_state(running=running, stopping=stopping, possible=work is not None and bool(self.model.chosen))
        self.time.setEnabled(not running)
        comparison = self.model.comparison
        self.export.setEnabled(comparison is not None and not running)
        stale = comparison is not None and work is not None and comparison.problem is not work
        self.note.setText(tr("for the problem as it was before") if stale else "")
        self._show_progress()

    def _ticked(self) -> None:
        self.show_state(running=self._running, stopping=False, work=self._work)

    def _show_progress(self) -> None:
        rows = [self.model.row(i) for i in range(self.model.rowCount())]
        asked = [r for r in rows if r.key in self.model.chosen]
        waiting = sum(r.state in (RowState.WAITING, RowState.RUNNING) for r in asked)
        self.progress.show_progress(len(asked) - waiting, len(asked), running=self._running)
        now = next((r for r in rows if r.state is RowState.RUNNING), None)
        self._follow(-1 if now is None else rows.index(now))
        comparison = self.model.comparison
        if self._running:
            words = (
                tr("Starting…")
                if now is None
                else tr(
                    "{place} of {count}: {title}", place=len(asked) - waiting + 1, count=len(asked), title=now.title
                )
            )
        elif comparison is None:
            words = _BEFORE if self._work is not None else _WITHOUT_WORK
        else:
            words = " ".join(comparison.contradictions()) or _AFTER
        self.state.setText(words)

    def show_diff(self, difference: PlanDiff | None, names: tuple[str, str] = ("", "")) -> None:
        """Show what differs between two plans; nothing hides the pane."""
        self.diff.show_diff(difference, names)
        self.diff.setVisible(difference is not None)

    def put(self, rows: Sequence[ComparedStrategy]) -> None:
        """Rows that have changed."""
        self.model.put(rows)
        self._show_progress()

    @property
    def comparison(self) -> Comparison | None:
        """What there is to write to a file."""
        return self.model.comparison

    def changeEvent(self, event: QEvent) -> None:
        """Follow the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "table"):
            self.table.viewport().update()

    # --- the table

    def _follow(self, place: int) -> None:
        """Bring the row that is being planned into view when its turn comes."""
        if place >= 0 and place != self._at:
            self.table.scrollTo(self.model.index(place, STRATEGY))
        self._at = place

    def _table(self) -> QTableView:
        table = _TickTable(showGrid=False)
        table.setModel(self.model)
        table.setAccessibleName(tr("Strategies side by side"))
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        table.setWordWrap(False)
        table.setTabKeyNavigation(False)
        table.verticalHeader().hide()
        fit_rows(table, _ROW_PADDING)
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        head = table.horizontalHeader()
        head.setHighlightSections(False)
        head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        head.setStretchLastSection(True)
        head.setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        table.selectionModel().selectionChanged.connect(self._selection_changed)
        table.activated.connect(lambda index: self._choose(index.row()))
        return table

    def _rearrange(self) -> None:
        self._selected.clear()
        self._span()
        self.show_diff(None)

    def _span(self) -> None:
        """A reason takes the place of all figures."""
        width = self.model.columnCount() - 3
        for place in range(self.model.rowCount()):
            wanted = width if self.model.row(place).summary is None else 1
            if self.table.columnSpan(place, TOTAL) != wanted:
                self.table.setSpan(place, TOTAL, 1, wanted)

    def _selection_changed(self, chosen: QItemSelection, _dropped: QItemSelection) -> None:
        now = {index.row() for index in self.table.selectionModel().selectedRows()}
        self._selected = [place for place in self._selected if place in now]
        self._selected += sorted(now - set(self._selected))
        added = {index.row() for index in chosen.indexes()}
        rows = [self.model.row(place) for place in self._selected]
        planned = [found for found in rows if found.summary is not None]
        if len(rows) == 2 and len(planned) == 2:
            self.pair_chosen.emit(*planned)
        else:
            self.show_diff(None)
            self.pair_chosen.emit(None, None)
        if len(added) == 1:
            self._choose(added.pop())

    def _choose(self, place: int) -> None:
        if self.model.row(place).summary is not None:
            self.plan_chosen.emit(self.model.row(place))


class _TickTable(QTableView):
    """A table whose rows have ticks; the space bar ticks all that are selected, or takes their ticks away."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tick several rows at once."""
        rows = [index.siblingAtColumn(STRATEGY) for index in self.selectionModel().selectedRows()]
        if event.key() != Qt.Key.Key_Space or len(rows) < 2:
            super().keyPressEvent(event)
            return
        now = self.currentIndex().siblingAtColumn(STRATEGY).data(Qt.ItemDataRole.CheckStateRole)
        wanted = Qt.CheckState.Unchecked if now == Qt.CheckState.Checked else Qt.CheckState.Checked
        for index in rows:
            self.model().setData(index, wanted, Qt.ItemDataRole.CheckStateRole)


class DiffPane(QWidget):
    """From one plan to another: a sentence, and every change with its cost."""

    def __init__(self) -> None:
        super().__init__()
        self.model = DiffModel(self)
        self.title = ElidedLabel("", "heading")
        self.sentence = text_label("", "small", wrap=True)
        self.list = QTableView(showGrid=False)
        self.list.setModel(self.model)
        self.list.setAccessibleName(tr("What differs between the two plans"))
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.list.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setWordWrap(False)
        self.list.verticalHeader().hide()
        fit_rows(self.list, _ROW_PADDING - 3)
        self.list.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        head = self.list.horizontalHeader()
        head.hide()
        head.setMinimumSectionSize(30)
        head.setSectionResizeMode(CHANGE, QHeaderView.ResizeMode.Stretch)
        head.setSectionResizeMode(COST, QHeaderView.ResizeMode.ResizeToContents)
        # The words of the list stand in from its edge; those above stand over them.
        above = column(self.title, self.sentence, spacing=3, margins=(_LIST_INDENT, 0, 0, 0))
        layout = column(above, self.list, spacing=3, margins=(8, 0, 0, 0))
        layout.setStretch(1, 1)
        self.setLayout(layout)
        self.setMinimumWidth(240)

    def show_diff(self, difference: PlanDiff | None, names: tuple[str, str]) -> None:
        """Show another difference, or none."""
        self.model.set_diff(difference)
        self.title.setText(" → ".join(names) if difference is not None else "")
        self.sentence.setText("" if difference is None else printable(headline(difference)))
