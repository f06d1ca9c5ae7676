"""What differs between two plans, as a list: a heading for each kind of change, the dearest first."""

from dataclasses import dataclass
from itertools import groupby
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont

from xengine_gui.schedule.diff import PlanDiff
from xengine_gui.schedule.diff_words import KIND_TITLES, change_lines, format_cost
from xengine_gui.ui.theme import current_theme
from xengine_gui.ui.timeline.details import printable
from xengine_gui.units import format_duration_exact

_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
CHANGE, COST = 0, 1


@dataclass(frozen=True, slots=True)
class _Row:
    text: str
    cost_ns: int | None
    is_head: bool
    subject: str = ""


class DiffModel(QAbstractTableModel):
    """Two columns: a sentence, and what the change costs."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[_Row] = []

    def set_diff(self, difference: PlanDiff | None) -> None:
        """Show another difference, or none."""
        self.beginResetModel()
        self._rows = [] if difference is None else _rows(difference)
        self.endResetModel()

    def subject(self, row: int) -> str:
        """The operator or tensor that a line is about; empty for a heading."""
        return self._rows[row].subject if 0 <= row < len(self._rows) else ""

    def rowCount(self, parent: _Index = _ROOT) -> int:
        """Number of lines, headings included."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index = _ROOT) -> int:
        """The change and its cost."""
        return 0 if parent.isValid() else 2

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The columns' titles."""
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole and section in (0, 1):
            return ("change", "costs")[section]
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A cell; its tooltip has all of the sentence, or the exact cost."""
        answers = {
            Qt.ItemDataRole.DisplayRole: _text,
            Qt.ItemDataRole.ToolTipRole: _tip,
            Qt.ItemDataRole.TextAlignmentRole: _side,
            Qt.ItemDataRole.ForegroundRole: _ink,
            Qt.ItemDataRole.FontRole: _font,
        }
        answer = answers.get(Qt.ItemDataRole(role))
        return None if answer is None or not index.isValid() else answer(self._rows[index.row()], index.column())


def _text(row: _Row, column: int) -> str:
    if column == CHANGE:
        return row.text
    return "" if row.cost_ns is None else format_cost(row.cost_ns)


def _tip(row: _Row, column: int) -> str | None:
    if column == CHANGE:
        return row.text
    return None if row.cost_ns is None else format_duration_exact(row.cost_ns)


def _side(_row: _Row, column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column == COST else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


def _ink(row: _Row, _column: int) -> QColor | None:
    return QColor(current_theme().text_muted) if row.is_head else None


def _font(row: _Row, _column: int) -> QFont | None:
    if not row.is_head:
        return None
    font = QFont()
    font.setBold(True)
    return font


def _rows(difference: PlanDiff) -> list[_Row]:
    rows = []
    for kind, group in groupby(change_lines(difference), key=lambda line: line.kind):
        lines = list(group)
        costs = [line.cost_ns for line in lines if line.cost_ns is not None]
        rows.append(_Row(f"{KIND_TITLES[kind]} ({len(lines):,})", sum(costs) if costs else None, is_head=True))
        rows += [_Row(printable(line.sentence), line.cost_ns, is_head=False, subject=line.subject) for line in lines]
    return rows
