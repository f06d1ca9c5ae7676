"""A table of rows of one kind: each column says how a row reads, how it sorts, and what its tooltip tells exactly."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)

_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
Row = TypeVar("Row")

SORT_ROLE = Qt.ItemDataRole.UserRole + 1
FILTER_ROLE = Qt.ItemDataRole.UserRole + 2
NAME_ROLE = Qt.ItemDataRole.UserRole + 3


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
    """Rows under columns. `name` gives what a row is called, `words` what a filter looks through."""

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
        self._rows: Sequence[Row] = ()
        self._places: dict[str, int] = {}

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show other rows."""
        self.beginResetModel()
        self._rows = rows
        self._places = {self._name(row): i for i, row in enumerate(rows)}
        self.endResetModel()

    def row(self, place: int) -> Row:
        """The row at a place."""
        return self._rows[place]

    def place(self, name: str) -> int:
        """Where a row of this name is, -1 where there is none."""
        return self._places.get(name, -1)

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
        others = {SORT_ROLE: column.key, FILTER_ROLE: self._words, NAME_ROLE: self._name}
        wanted = others.get(Qt.ItemDataRole(role)) if role in others else None
        return None if wanted is None else wanted(row)


class SortedRows(QSortFilterProxyModel):
    """Rows sorted by what a column means rather than by how it reads, and those alone that hold a filter's words."""

    def __init__(self, model: RowsModel[Any], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._words: list[str] = []
        self._model = model
        self.setSourceModel(model)
        self.setSortRole(SORT_ROLE)
        self.setDynamicSortFilter(False)

    def set_filter(self, text: str) -> None:
        """Show only rows that hold every word of a text."""
        self._words = text.casefold().split()
        self.invalidate()

    def filterAcceptsRow(self, source_row: int, source_parent: _Index) -> bool:  # noqa: ARG002 - Qt's signature
        """Whether a row holds all words."""
        if not self._words:
            return True
        text = self._model.data(self._model.index(source_row, 0), FILTER_ROLE)
        return all(word in text for word in self._words)

    def lessThan(self, left: _Index, right: _Index) -> bool:
        """Numbers by size, texts by the alphabet."""
        one, other = self._model.data(left, SORT_ROLE), self._model.data(right, SORT_ROLE)
        return bool(one < other)


def _alignment(is_number: bool) -> Qt.AlignmentFlag:  # noqa: FBT001 - of one use
    side = Qt.AlignmentFlag.AlignRight if is_number else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
