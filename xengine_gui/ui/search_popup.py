"""A field over the window with a list that narrows as you type; for finding things and for commands."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from xengine_gui.language import tr
from xengine_gui.ui.panels.parts import column, text_label
from xengine_gui.ui.theme import current_theme

_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_WIDTH = 620
_MOST_SHOWN = 12
_ROW_PADDING = 12
HINT_ROLE = Qt.ItemDataRole.UserRole + 1


@dataclass(frozen=True)
class Entry:
    """A line of the list: what it is called, what stands at its right, and what is done or shown for it."""

    title: str
    hint: str
    value: Any
    enabled: bool = True


class EntryModel(QAbstractListModel):
    """The entries that match."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: Sequence[Entry] = ()

    def set_entries(self, entries: Sequence[Entry]) -> None:
        """Show other entries."""
        self.beginResetModel()
        self._entries = entries
        self.endResetModel()

    def entry(self, place: int) -> Entry:
        """The entry at a place."""
        return self._entries[place]

    def rowCount(self, parent: _Index = _ROOT) -> int:
        """Number of entries."""
        return 0 if parent.isValid() else len(self._entries)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """What cannot be done now cannot be chosen."""
        if not index.isValid() or not self._entries[index.row()].enabled:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> str | None:
        """Title and hint."""
        if not index.isValid():
            return None
        entry = self._entries[index.row()]
        texts: dict[int, str] = {
            Qt.ItemDataRole.DisplayRole: entry.title,
            Qt.ItemDataRole.ToolTipRole: entry.title,
            HINT_ROLE: entry.hint,
        }
        return texts.get(role)


class SearchPopup(QFrame):
    """Lies over the upper middle of its window. Arrows move, Enter chooses, Escape or a click elsewhere closes."""

    chosen = Signal(object)
    """The value of the entry that was chosen."""
    moved = Signal(object)
    """The value of the entry that the arrows have come to."""
    dismissed = Signal()

    def __init__(self, window: QWidget, title: str, find: Callable[[str], Sequence[Entry]]) -> None:
        super().__init__(window)
        self._window = window
        self._find = find
        self._before: QWidget | None = None
        self.setObjectName("search-popup")
        self.setProperty("card", True)  # noqa: FBT003 - Qt's own signature
        self.setAutoFillBackground(True)
        self.edit = QLineEdit(placeholderText=title)
        self.edit.setAccessibleName(title)
        self.model = EntryModel(self)
        self.list = QListView()
        self.list.setModel(self.model)
        self.list.setItemDelegate(_EntryDelegate(self.list))
        self.list.setUniformItemSizes(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName(tr("What was found"))
        self.note = text_label("", "muted")
        self.note.setContentsMargins(8, 2, 8, 4)
        self.setLayout(column(self.edit, self.list, self.note, spacing=6, margins=(10, 10, 10, 8)))
        self.edit.textChanged.connect(self._search)
        self.list.clicked.connect(lambda index: self._choose(index.row()))
        self.edit.installEventFilter(self)
        window.installEventFilter(self)
        self.hide()

    def open(self, text: str = "") -> None:
        """Show it, with something typed already."""
        self._before = QApplication.focusWidget()
        self.edit.setText(text)
        self._search(text)
        self._place()
        self.show()
        self.raise_()
        self.edit.setFocus(Qt.FocusReason.PopupFocusReason)
        self.edit.selectAll()

    def close_up(self, *, dismissed: bool) -> None:
        """Hide it, and give the focus back to who had it."""
        if self.isHidden():
            return
        self.hide()
        if self._before is not None and self._before.isVisible():
            self._before.setFocus(Qt.FocusReason.OtherFocusReason)
        if dismissed:
            self.dismissed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the list while the focus is in the field; a focus that is lost closes."""
        if watched is self.edit and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        if watched is self.edit and isinstance(event, QFocusEvent) and event.lostFocus():
            if event.reason() not in (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason):
                self.close_up(dismissed=True)
        elif watched is self._window and event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)

    def _key(self, event: QKeyEvent) -> bool:
        key, page = event.key(), _MOST_SHOWN - 1
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: page, Qt.Key.Key_PageUp: -page}
        if key in steps:
            self._move(steps[Qt.Key(key)])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.list.currentIndex().row())
        elif key == Qt.Key.Key_Escape:
            self.close_up(dismissed=True)
        else:
            return False
        return True

    def _search(self, text: str) -> None:
        entries = self._find(text.strip())
        self.model.set_entries(entries)
        first = next((i for i, entry in enumerate(entries) if entry.enabled), -1)
        self._go(first)
        self.list.setVisible(bool(entries))
        self.note.setText(
            ""
            if entries
            else tr("Nothing is called {part!r}.", part=text.strip())
            if text.strip()
            else tr("Type a name.")
        )
        self.note.setVisible(not entries)
        self._place()

    def _move(self, by: int) -> None:
        count = self.model.rowCount()
        place = self.list.currentIndex().row() + by
        place = min(max(place, 0), count - 1) if abs(by) > 1 else place % count if count else -1
        while 0 <= place < count and not self.model.entry(place).enabled:
            place += 1 if by > 0 else -1
        if 0 <= place < count:
            self._go(place)
            self.moved.emit(self.model.entry(place).value)

    def _go(self, place: int) -> None:
        index = self.model.index(place, 0) if place >= 0 else QModelIndex()
        self.list.setCurrentIndex(index)
        if index.isValid():
            self.list.scrollTo(index)

    def _choose(self, place: int) -> None:
        if 0 <= place < self.model.rowCount() and self.model.entry(place).enabled:
            value = self.model.entry(place).value
            self.close_up(dismissed=False)
            self.chosen.emit(value)

    def _place(self) -> None:
        window = self._window
        width = min(_WIDTH, window.width() - 40)
        line = self.list.sizeHintForRow(0) if self.model.rowCount() else 0
        shown = min(_MOST_SHOWN, self.model.rowCount())
        self.list.setFixedHeight(max(1, shown * line + 2))
        self.setFixedWidth(width)
        self.adjustSize()
        self.move((window.width() - width) // 2, max(20, window.height() // 11))


class _EntryDelegate(QStyledItemDelegate):
    """A title at the left, elided in its middle, and a hint at the right."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Draw a line."""
        theme = current_theme()
        box: QRect = option.rect
        state: QStyle.StateFlag = option.state
        chosen = bool(state & QStyle.StateFlag.State_Selected)
        painter.save()
        if chosen:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.selection))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
            painter.drawRoundedRect(box.adjusted(0, 0, -1, -1), 5, 5)
        inner = box.adjusted(10, 0, -10, 0)
        enabled = bool(state & QStyle.StateFlag.State_Enabled)
        metrics = painter.fontMetrics()
        hint = metrics.elidedText(str(index.data(HINT_ROLE) or ""), Qt.TextElideMode.ElideRight, inner.width() // 2)
        ink = theme.selection_text if chosen else theme.text
        painter.setPen(QColor(ink if enabled else theme.text_disabled))
        room = inner.width() - metrics.horizontalAdvance(hint) - 16
        title = metrics.elidedText(str(index.data()), Qt.TextElideMode.ElideMiddle, room)
        painter.drawText(inner, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, title)
        painter.setPen(QColor(ink if chosen else theme.text_muted if enabled else theme.text_disabled))
        painter.drawText(inner, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, hint)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, _index: _Index) -> QSize:
        """A line with some room."""
        return QSize(100, option.fontMetrics.height() + _ROW_PADDING)
