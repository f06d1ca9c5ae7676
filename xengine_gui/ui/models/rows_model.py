"""A table of rows of one kind: each column says how a row reads, how it sorts, and what its tooltip tells exactly."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
Row = TypeVar("Row")

NAME_ROLE = Qt.ItemDataRole.UserRole + 1
"""What a row is called."""


@dataclass(frozen=True)
class ColumnOf(Generic[Row]):
    """A column: its title, a cell's text, what it sorts by, the exact text of its tooltip, and the title's tooltip."""

    title: str
    text: Callable[[Row], str]
    key: Callable[[Row], Any]
    exact: Callable[[Row], str] | None = None
    tip: str = ""
    is_number: bool = True


class RowsModel(QAbstractTableModel, Generic[Row]):
    """Rows under columns, sorted and filtered. `name` is what a row is called, `words` what a filter looks through."""

    def __init__(
        self,
        columns: Sequence[ColumnOf[Row]],
        *,
        name: Callable[[Row], str],
        words: Callable[[Row], str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._columns = tuple(columns)
        self._name, self._words = name, words
        self._every: Sequence[Row] = ()
        self._rows: list[Row] = []
        self._places: dict[str, int] | None = None
        self._texts: list[str] | None = None
        self._filter: tuple[str, ...] = ()
        self._sorting = -1, Qt.SortOrder.AscendingOrder

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show other rows, sorted and filtered as those before."""
        self._every = rows
        self._texts = None
        self._arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by what a column means rather than by how it reads; rows that are equal in it keep their order."""
        if (column, order) != self._sorting:
            self._sorting = column, order
            self._arrange()

    def set_filter(self, text: str) -> None:
        """Show only rows that hold every word of a text."""
        words = tuple(text.casefold().split())
        if words != self._filter:
            self._filter = words
            self._arrange()

    @property
    def every_count(self) -> int:
        """How many rows there are without the filter."""
        return len(self._every)

    def row(self, place: int) -> Row:
        """The row at a place."""
        return self._rows[place]

    def place(self, name: str) -> int:
        """Where a row of this name is shown, -1 where it is not."""
        if self._places is None:
            self._places = {self._name(row): i for i, row in enumerate(self._rows)}
        return self._places.get(name, -1)

    def _arrange(self) -> None:
        # In Python lists, all at once: a proxy model asks for each comparison, which takes seconds at 50,000 rows.
        self.beginResetModel()
        rows = list(self._every)
        if self._filter:
            if self._texts is None:
                self._texts = [self._words(row) for row in self._every]
            rows = [r for r, text in zip(rows, self._texts, strict=True) if all(word in text for word in self._filter)]
        column, order = self._sorting
        if 0 <= column < len(self._columns):
            rows.sort(key=self._columns[column].key, reverse=order is Qt.SortOrder.DescendingOrder)
        self._rows, self._places = rows, None
        self.endResetModel()

    def rowCount(self, parent: _Index = _ROOT) -> int:
        """Number of rows."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index = _ROOT) -> int:
        """Number of columns."""
        return 0 if parent.isValid() else len(self._columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The columns' titles, over their contents."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self._columns):
            return None
        column = self._columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.tip or None
        if role == Qt.ItemDataRole.InitialSortOrderRole and column.is_number:
            # The first click brings up what is most: that is what is looked for.
            return Qt.SortOrder.DescendingOrder
        return _alignment(column.is_number) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A cell; its tooltip has the exact figure."""
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], self._columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return (column.exact or column.text)(row)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column.is_number)
        return self._name(row) if role == NAME_ROLE else None


def _alignment(is_number: bool) -> Qt.AlignmentFlag:  # noqa: FBT001 - of one use
    side = Qt.AlignmentFlag.AlignRight if is_number else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
