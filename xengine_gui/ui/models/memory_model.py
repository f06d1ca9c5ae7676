"""The tensors that are in a device's memory at one moment, the largest first."""

from collections.abc import Callable, Sequence
from enum import IntEnum

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from xengine_gui.language import tr
from xengine_gui.ui.held import HeldTensor, HeldTensors
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.units import format_duration, format_duration_exact, format_size, format_size_exact

_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
WHY_ROLE = Qt.ItemDataRole.UserRole + 1
"""Why the tensor of a row is in memory, in one short sentence."""


class Column(IntEnum):
    """The columns of the table."""

    TENSOR = 0
    SIZE = 1
    UNTIL = 2


_TITLES = {Column.TENSOR: tr("tensor"), Column.SIZE: tr("size"), Column.UNTIL: tr("until")}


def held_at(shown: ShownPlan, device: str, time_ns: int) -> HeldTensors:
    """What a device holds at a moment, the largest first; parameters are one row, workspace is not listed."""
    return shown.held[device].at(time_ns)


class MemoryModel(QAbstractTableModel):
    """Rows of `HeldTensor`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: Sequence[HeldTensor] = ()
        self._why: Callable[[str], str] = lambda _name: ""

    def set_why(self, why: Callable[[str], str]) -> None:
        """Who says why a tensor is in memory, for the tooltips."""
        self._why = why

    @property
    def total_bytes(self) -> int:
        """The bytes of all rows."""
        rows = self._rows
        return rows.total_bytes if isinstance(rows, HeldTensors) else sum(row.size_bytes for row in rows)

    def name(self, place: int) -> str:
        """What a row is of."""
        return self._rows[place].name

    def tell_reasons(self) -> None:
        """Reasons are known by now: tell who shows them."""
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, 0), [WHY_ROLE])

    def set_rows(self, rows: Sequence[HeldTensor]) -> None:
        """Show other rows."""
        if isinstance(rows, HeldTensors) and rows.same_as(self._rows):
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def rowCount(self, parent: _Index = _ROOT) -> int:
        """Number of tensors."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index = _ROOT) -> int:
        """Tensor, size, until."""
        return 0 if parent.isValid() else len(Column)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> str | Qt.AlignmentFlag | None:
        """The columns' titles, over their contents."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(Column):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _TITLES[Column(section)]
        return _alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> str | Qt.AlignmentFlag | None:
        """A cell; its tooltip has the whole name and the exact figure."""
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], Column(index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.DisplayRole:
            until = "end" if row.until_ns is None else format_duration(row.until_ns)
            return (row.name, format_size(row.size_bytes), until)[column]
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(row, column)
        return self._why(row.name) if role == WHY_ROLE and column is Column.TENSOR else None

    def _tip(self, row: HeldTensor, column: Column) -> str:
        if column is Column.TENSOR:
            return "\n".join(filter(None, (row.name, self._why(row.name))))
        if column is Column.SIZE:
            return format_size_exact(row.size_bytes)
        return tr("to the end") if row.until_ns is None else format_duration_exact(row.until_ns)


def _alignment(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignLeft if column == Column.TENSOR else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter
