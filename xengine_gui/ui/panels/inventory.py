"""A table of everything of one kind, with a filter; what is selected in the window is selected in it, and back."""

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QTableView

from xengine_gui.language import tr
from xengine_gui.ui.models.rows_model import NAME_ROLE, RowsModel
from xengine_gui.ui.panels.parts import ElidedLabel, Panel, column, fit_rows, row
from xengine_gui.units import format_count

_FILTER_MS = 60
_ROW_PADDING = 8
_LEAST_NAME = 14
_INDICATOR = 12


class InventoryPanel(Panel):
    """Filter, count and table; `by` is what the filter looks through. Rows are made when it is first seen."""

    chosen = Signal(str)
    """The name of a row that the user has gone to."""

    def __init__(self, name: str, model: RowsModel[Any], *, word: str, by: str, stretched: int) -> None:
        super().__init__(name)
        self.model = model
        self._word = word
        self._make: Callable[[], Sequence[Any]] | None = None
        self._is_filled = False
        self._wanted = ""
        self.filter = QLineEdit(
            placeholderText=tr("filter {word}s by {by}…", word=word, by=by), clearButtonEnabled=True
        )
        self.filter.setAccessibleName(tr("Filter of the {word} table", word=word))
        self.count = ElidedLabel("", "small")
        self.table = _Table(model, stretched)
        self.table.setAccessibleName(tr("{word} table", word=word.capitalize()))
        head = row(self.filter, self.count)
        head.setStretch(0, 2)
        head.setStretch(1, 3)
        layout = column(head, self.table, spacing=6, margins=(14, 8, 10, 4))
        layout.setStretch(1, 1)
        self.setLayout(layout)
        self._delay = QTimer(self, interval=_FILTER_MS, singleShot=True)
        self._delay.timeout.connect(self.apply_filter)
        self.filter.textChanged.connect(lambda _text: self._delay.start())
        self.filter.returnPressed.connect(self._enter_table)
        self.table.selectionModel().currentRowChanged.connect(self._went)
        self.table.horizontalHeader().sortIndicatorChanged.connect(lambda *_: self.select(self._wanted))
        self._is_showing = False

    def sort_by(self, title: str) -> None:
        """Sort by a column, the most first."""
        header = self.table.horizontalHeader()
        titles = [self.model.headerData(i, Qt.Orientation.Horizontal) for i in range(header.count())]
        self.table.sortByColumn(titles.index(title), Qt.SortOrder.DescendingOrder)
        self.table.scrollToTop()

    def show_plan(self, make: Callable[[], Sequence[Any]] | None) -> None:
        """Show other rows, which `make` makes; `None` is none."""
        self._make, self._is_filled = make, False
        if make is None:
            self._put(())
        elif self.isVisible():
            self._fill()

    def select(self, name: str) -> None:
        """Go to a row without telling of it; a name that there is not selects nothing."""
        self._wanted = name
        if self._make is None or not self.isVisible():
            return
        self._is_showing = True
        try:
            place = self.model.place(name)
            index = self.model.index(place, 0) if place >= 0 else QModelIndex()
            if index.isValid():
                flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
                self.table.selectionModel().setCurrentIndex(index, flags)
                self.table.scrollTo(index)
            else:
                self.table.clearSelection()
                self.table.selectionModel().clearCurrentIndex()
        finally:
            self._is_showing = False

    def apply_filter(self) -> None:
        """Show only what holds the filter's words."""
        self._is_showing = True
        self.model.set_filter(self.filter.text())
        self._is_showing = False
        self._tell()
        self.select(self._wanted)

    def showEvent(self, event: QShowEvent) -> None:
        """Make the rows when they are first seen."""
        super().showEvent(event)
        self._fill()

    def _fill(self) -> None:
        if self._make is not None and not self._is_filled:
            self._is_filled = True
            self._put(self._make())
        self.select(self._wanted)

    def _put(self, rows: Sequence[Any]) -> None:
        self._is_showing = True
        self.model.set_rows(rows)
        self._is_showing = False
        self.table.fit_columns()
        self._tell()

    def _tell(self) -> None:
        every, shown = self.model.every_count, self.model.rowCount()
        words = format_count(every, self._word)
        self.count.setText(words if shown == every else tr("{shown:,} of {words}", shown=shown, words=words))

    def _went(self, current: QModelIndex, _before: QModelIndex) -> None:
        if current.isValid() and not self._is_showing:
            self._wanted = str(current.data(NAME_ROLE))
            self.chosen.emit(self._wanted)

    def _enter_table(self) -> None:
        self.apply_filter()
        if self.model.rowCount():
            self.table.setFocus(Qt.FocusReason.TabFocusReason)
            self.table.selectRow(0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape in the filter empties it."""
        if event.key() == Qt.Key.Key_Escape and self.filter.text():
            self.filter.clear()
            return
        super().keyPressEvent(event)


class _Table(QTableView):
    """A table whose column of names takes what is left of the width, though never less than a name needs."""

    def __init__(self, rows: RowsModel[Any], stretched: int) -> None:
        super().__init__()
        self._stretched = stretched
        self.setModel(rows)
        self.setSortingEnabled(True)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setAlternatingRowColors(True)
        self.setTabKeyNavigation(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        fit_rows(self, _ROW_PADDING)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setMinimumSectionSize(52)
        header.setSortIndicator(0, Qt.SortOrder.AscendingOrder)

    def fit_columns(self) -> None:
        """Make columns as wide as their contents."""
        # All rows are looked at for the width of a column by default, which takes long where there are many.
        self.horizontalHeader().setResizeContentsPrecision(60)
        self.resizeColumnsToContents()
        header = self.horizontalHeader()
        for section in range(header.count()):
            header.resizeSection(section, header.sectionSize(section) + _INDICATOR)
        self._stretch()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the names what is left."""
        super().resizeEvent(event)
        self._stretch()

    def _stretch(self) -> None:
        header = self.horizontalHeader()
        others = sum(header.sectionSize(i) for i in range(header.count()) if i != self._stretched)
        least = self.fontMetrics().horizontalAdvance("m") * _LEAST_NAME
        header.resizeSection(self._stretched, max(least, self.viewport().width() - others))
