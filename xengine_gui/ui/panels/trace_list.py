"""The life of what is selected as a table: what happens to it, where and when; a click goes there."""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QObject, QSize, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from xengine_gui.language import tr
from xengine_gui.ui.models.rows_model import ColumnOf, RowsModel
from xengine_gui.ui.panels.parts import fit_rows, fit_text
from xengine_gui.ui.selection_traces import TraceRow
from xengine_gui.ui.timeline.details import printable
from xengine_gui.ui.timeline.lit import PART_WORDS, Part
from xengine_gui.units import format_duration, format_duration_exact

_PADDING = 7
_MOST_LINES = 6
_LEAST_LINES = 4
_LARGE = 32
"""Lines of large text, of which a small screen has room for few."""


def _words(row: TraceRow) -> str:
    return f"{PART_WORDS[row.part]} {printable(row.who)}" if row.part is Part.READ else PART_WORDS[row.part]


def trace_model(parent: QObject | None = None) -> RowsModel[TraceRow]:
    """A model of the events of a trace."""
    return RowsModel(
        (
            ColumnOf(
                tr("event"), _words, _words, lambda r: f"{PART_WORDS[r.part]} {printable(r.who)}", is_number=False
            ),
            ColumnOf("on", lambda r: r.device, lambda r: r.device, is_number=False),
            ColumnOf(
                "at",
                lambda r: format_duration(r.start_ns),
                lambda r: r.start_ns,
                lambda r: format_duration_exact(r.start_ns),
            ),
        ),
        name=lambda r: str(r.event),
        words=lambda r: r.who,
        parent=parent,
    )


class TraceTable(QTableView):
    """As high as its rows, up to a few lines, where there is room."""

    event_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.rows = trace_model(self)
        self._height = 0
        self.setModel(self.rows)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.verticalHeader().hide()
        fit_rows(self, _PADDING)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setResizeContentsPrecision(40)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.setAccessibleName(tr("Events of what is selected"))
        self.clicked.connect(self._chosen)
        self.activated.connect(self._chosen)
        fit_text(self, lambda: self._fit(self.rows.rowCount()))

    def show_rows(self, rows: Sequence[TraceRow]) -> None:
        """Show other events."""
        self.rows.set_rows(rows)
        self._fit(len(rows))

    def _fit(self, rows: int) -> None:
        line = self.fontMetrics().height() + _PADDING
        lines = min(rows, _MOST_LINES)
        head = self.horizontalHeader().sizeHint().height() + 4
        self._height = head + lines * line
        self.setMaximumHeight(self._height)
        self.setMinimumHeight(head + min(lines, _LEAST_LINES if line < _LARGE else 1) * line)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """High enough for the rows."""
        return QSize(super().sizeHint().width(), self._height)

    def _chosen(self, index: QModelIndex) -> None:
        self.event_chosen.emit(self.rows.row(index.row()).event)
