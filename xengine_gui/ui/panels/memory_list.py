"""What is in a device's memory at a moment: a table, the largest first, with the reason for each where one is asked."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from xengine_gui.language import tr
from xengine_gui.ui.models.memory_model import WHY_ROLE, Column, MemoryModel
from xengine_gui.ui.panels.parts import fit_text
from xengine_gui.ui.theme import current_theme

_PADDING = 9
_LINE_GAP = 2


class MemoryTable(QTableView):
    """The table of a `MemoryModel`; with `set_explained` each row has a second line that says why it is there."""

    def __init__(self, model: MemoryModel) -> None:
        super().__init__()
        self._why = _WhyDelegate(self)
        self.setModel(model)
        self.setItemDelegate(self._why)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setSectionResizeMode(Column.TENSOR, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(Column.SIZE, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(Column.UNTIL, QHeaderView.ResizeMode.ResizeToContents)
        # Else a thousand rows are measured whenever another moment is looked at; the largest stand above.
        header.setResizeContentsPrecision(0)
        header.setHighlightSections(False)
        self.setAccessibleName(tr("Tensors in memory"))
        self.verticalHeader().setMinimumSectionSize(1)  # else rows stay as high as large text was
        fit_text(self, lambda: self.set_explained(explained=self.is_explained))
        self.setMinimumHeight(3 * (self.fontMetrics().height() + _PADDING))

    @property
    def is_explained(self) -> bool:
        """Whether reasons are shown."""
        return self._why.is_explained

    def set_explained(self, *, explained: bool) -> None:
        """Show reasons, or only names."""
        self._why.is_explained = explained
        lines = 2 if explained else 1
        height = lines * self.fontMetrics().height() + (lines - 1) * _LINE_GAP + _PADDING
        if self.verticalHeader().defaultSectionSize() != height:
            self.verticalHeader().setDefaultSectionSize(height)
        self.viewport().update()


class _WhyDelegate(QStyledItemDelegate):
    """Two lines: the cells of the row, and below them over the whole width the reason."""

    is_explained = False

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint a cell; that of the tensor paints the reason too."""
        if not self.is_explained:
            super().paint(painter, option, index)
            return
        theme, height = current_theme(), painter.fontMetrics().height()
        is_name = index.column() == Column.TENSOR
        painter.save()
        line = option.rect.adjusted(6, _PADDING // 2, -6, 0)
        line.setHeight(height)
        side = Qt.AlignmentFlag.AlignLeft if is_name else Qt.AlignmentFlag.AlignRight
        painter.setPen(QColor(theme.text))
        name = painter.fontMetrics().elidedText(str(index.data() or ""), Qt.TextElideMode.ElideMiddle, line.width())
        painter.drawText(line, side | Qt.AlignmentFlag.AlignVCenter, name)
        if is_name:
            line.translate(0, height + _LINE_GAP)
            line.setWidth(self._table.viewport().width() - 12)
            painter.setPen(QColor(theme.text_muted))
            why = short_reason(str(index.data(WHY_ROLE) or ""))
            shown = painter.fontMetrics().elidedText(why, Qt.TextElideMode.ElideRight, line.width())
            painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
        painter.restore()

    @property
    def _table(self) -> QTableView:
        table = self.parent()
        assert isinstance(table, QTableView)  # noqa: S101 - it is made by one
        return table


def short_reason(sentences: str) -> str:
    """The reason why a tensor is in memory in as few words as say it; the tooltip has the sentences."""
    short = sentences.replace("It waits for ", "for ").replace(" Dropping it until then would cost ", " dropped: ")
    short = short.replace(
        " Dropped, it could not be had again in time: nothing makes or brings it", " it could not be had again"
    )
    way = short.find(" (")
    return (short if way < 0 else short[:way]).removesuffix(".").replace(". ", " · ")
