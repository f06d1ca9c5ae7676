"""The strategies side by side: a row each, with a tick for those that are to run."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QFont

from xengine_gui.language import tr
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import Strategy
from xengine_gui.solve.compare import ComparedStrategy, Comparison, RowState
from xengine_gui.ui.theme import current_theme
from xengine_gui.ui.timeline.details import printable, shortened
from xengine_gui.units import (
    format_duration,
    format_duration_exact,
    format_gap,
    format_size,
    format_size_exact,
)

_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_NOTHING = "–"  # noqa: RUF001
STRATEGY, TOTAL = 0, 1
_FIXED = ("strategy", "total", "overhead", "gap", "recomputes", "transfers")
_LONGEST_DEVICE = 14


class CompareModel(QAbstractTableModel):
    """Rows of `ComparedStrategy`: strategy, figures, a peak per device, time taken, status.

    A row without a plan has its reason in the column of the total, for a cell that spans all figures.
    """

    chosen_changed = Signal()
    """Other strategies are ticked."""

    def __init__(self, strategies: Sequence[Strategy], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._summaries = {s.key: s.summary for s in strategies}
        self._rows = [ComparedStrategy(s.key, s.title, RowState.NOT_RUN) for s in strategies]
        self._chosen = {s.key for s in strategies}
        self._problem: Problem | None = None
        self._unlimited_total_ns: int | None = None
        self._devices: tuple[str, ...] = ()

    # --- what is shown

    @property
    def comparison(self) -> Comparison | None:
        """All rows that have something to say, `None` where there are none."""
        rows = tuple(row for row in self._rows if row.state not in (RowState.NOT_RUN, RowState.WAITING))
        return Comparison(self._problem, rows, self._unlimited_total_ns) if rows and self._problem is not None else None

    @property
    def chosen(self) -> tuple[str, ...]:
        """The keys of the strategies that are ticked."""
        return tuple(row.key for row in self._rows if row.key in self._chosen)

    @property
    def problem(self) -> Problem | None:
        """What was compared last."""
        return self._problem

    def row(self, place: int) -> ComparedStrategy:
        """The row at a place."""
        return self._rows[place]

    def begin(self, problem: Problem) -> None:
        """A comparison of the ticked strategies begins; the others keep what they had of this problem."""
        self.beginResetModel()
        fresh = self._problem is not problem
        self._problem, self._devices = problem, tuple(d.name for d in problem.devices)
        self._rows = [
            ComparedStrategy(row.key, row.title, RowState.WAITING if row.key in self._chosen else RowState.NOT_RUN)
            if fresh or row.key in self._chosen
            else row
            for row in self._rows
        ]
        self.endResetModel()

    def clear(self) -> None:
        """Forget every figure."""
        self.beginResetModel()
        self._rows = [ComparedStrategy(row.key, row.title, RowState.NOT_RUN) for row in self._rows]
        self._problem, self._devices = None, ()
        self.endResetModel()

    def put(self, rows: Sequence[ComparedStrategy], unlimited_total_ns: int | None = None) -> None:
        """Rows that have changed."""
        if unlimited_total_ns is not None:
            self._unlimited_total_ns = unlimited_total_ns
        places = {row.key: i for i, row in enumerate(self._rows)}
        for row in rows:
            if row.key in places:
                self._rows[places[row.key]] = row
        # Every gap is measured by the highest bound of all, so other rows may read differently now.
        self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, self.columnCount() - 1))

    def end(self) -> None:
        """No more rows will come: those that still wait were not run."""
        self.put(
            [
                ComparedStrategy(row.key, row.title, RowState.NOT_RUN)
                for row in self._rows
                if row.state in (RowState.WAITING, RowState.RUNNING)
            ]
        )

    # --- Qt's side

    def rowCount(self, parent: _Index = _ROOT) -> int:
        """Number of strategies."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index = _ROOT) -> int:
        """The figures, with a peak for each device."""
        return 0 if parent.isValid() else len(_FIXED) + len(self._devices) + 2

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """A strategy can be ticked."""
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsUserCheckable if index.isValid() and index.column() == STRATEGY else flags

    def setData(self, index: _Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Tick a strategy or take the tick away."""
        if role != Qt.ItemDataRole.CheckStateRole or not index.isValid() or index.column() != STRATEGY:
            return False
        key = self._rows[index.row()].key
        (self._chosen.add if Qt.CheckState(value) is Qt.CheckState.Checked else self._chosen.discard)(key)
        self.dataChanged.emit(index, index, [Qt.ItemDataRole.CheckStateRole])
        self.chosen_changed.emit()
        return True

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The columns' titles, over their contents."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < self.columnCount():
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(words=section in (STRATEGY, self.columnCount() - 1))
        peaks = [tr("{device} peak", device=shortened(device, _LONGEST_DEVICE)) for device in self._devices]
        if role == Qt.ItemDataRole.DisplayRole:
            return (*_FIXED, *peaks, "took", "status")[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return _HEAD_TIPS.get(section)
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A cell; its tooltip has the exact figure."""
        answers = {
            Qt.ItemDataRole.DisplayRole: self._text,
            Qt.ItemDataRole.ToolTipRole: self._tip,
            Qt.ItemDataRole.TextAlignmentRole: self._side,
            Qt.ItemDataRole.CheckStateRole: self._tick,
            Qt.ItemDataRole.ForegroundRole: self._ink,
            Qt.ItemDataRole.FontRole: self._font,
        }
        answer = answers.get(Qt.ItemDataRole(role))
        return None if answer is None or not index.isValid() else answer(self._rows[index.row()], index.column())

    def _side(self, row: ComparedStrategy, column: int) -> Qt.AlignmentFlag:
        spans = row.summary is None and column == TOTAL
        return _alignment(words=spans or column in (STRATEGY, self.columnCount() - 1))

    def _tick(self, row: ComparedStrategy, column: int) -> Qt.CheckState | None:
        if column != STRATEGY:
            return None
        return Qt.CheckState.Checked if row.key in self._chosen else Qt.CheckState.Unchecked

    def _font(self, row: ComparedStrategy, column: int) -> QFont | None:
        if column != TOTAL or not self._is_best(row):
            return None
        font = QFont()
        font.setBold(True)
        return font

    def _text(self, row: ComparedStrategy, column: int) -> str:
        last = self.columnCount() - 1
        if column == STRATEGY:
            return row.title
        if column == last:
            return "" if row.state is RowState.NOT_RUN else row.status
        if column == last - 1:
            return "" if row.took_s is None else f"{row.took_s:.2f} s"
        figures = row.summary
        if figures is None:
            return printable(row.reason) if column == TOTAL else ""
        gap = self._gap(row)
        texts = (
            format_duration(figures.total_ns, fine=True),
            _NOTHING if figures.overhead_ratio is None else f"{100 * figures.overhead_ratio:+.1f} %",
            _NOTHING if gap is None else format_gap(gap),
            f"{figures.recompute_count:,}",
            f"{figures.transfer_count:,}",
            *(format_size(figures.peak_bytes.get(device, 0)) for device in self._devices),
        )
        return texts[column - 1]

    def _tip(self, row: ComparedStrategy, column: int) -> str | None:
        figures = row.summary
        if column == STRATEGY:
            return self._summaries.get(row.key)
        if figures is None or column == self.columnCount() - 1:
            return row.reason or None
        own = "nothing" if row.lower_bound_ns is None else f"≥ {format_duration_exact(row.lower_bound_ns)}"
        tips = (
            tr("{total_ns} on the serial clock", total_ns=format_duration_exact(figures.total_ns)),
            tr("how much longer than the best plan known without any memory limit"),
            tr("by the highest bound of all strategies; this one itself proved {own}", own=own),
            tr("{recompute_ns} in all", recompute_ns=format_duration(figures.recompute_ns)),
            tr(
                "{transfer_ns} and {transfer_bytes} in all",
                transfer_ns=format_duration(figures.transfer_ns),
                transfer_bytes=format_size(figures.transfer_bytes),
            ),
            *(format_size_exact(figures.peak_bytes.get(device, 0)) for device in self._devices),
        )
        return tips[column - 1] if column <= len(tips) else None

    def _ink(self, row: ComparedStrategy, column: int) -> QColor | None:
        theme, spans = current_theme(), row.summary is None and column == TOTAL
        if column == STRATEGY:
            return QColor(theme.text_disabled) if row.state is RowState.DECLINED else None
        if row.state is RowState.FAILED or (spans and row.status == "infeasible"):
            return QColor(theme.error)
        muted = spans or column >= self.columnCount() - 2
        return QColor(theme.text_muted) if muted else None

    def _gap(self, row: ComparedStrategy) -> float | None:
        comparison = self.comparison
        return None if comparison is None else comparison.gap_ratio(row)

    def _is_best(self, row: ComparedStrategy) -> bool:
        totals = [other.total_ns for other in self._rows if other.total_ns is not None]
        return row.total_ns is not None and len(totals) > 1 and row.total_ns == min(totals)


_HEAD_TIPS = {
    STRATEGY: tr("Ticked strategies are run"),
    TOTAL: tr("Everything one after the other: the serial clock"),
    2: tr("How much longer than the best plan known without any memory limit"),
    3: tr("How far above the best possible a plan may be, by the highest bound that any strategy proved"),
}


def _alignment(*, words: bool) -> Qt.AlignmentFlag:
    return (Qt.AlignmentFlag.AlignLeft if words else Qt.AlignmentFlag.AlignRight) | Qt.AlignmentFlag.AlignVCenter
