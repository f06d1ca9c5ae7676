"""Small widgets that the panels are made of."""

from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QTableView,
    QVBoxLayout,
    QWidget,
)

Role = Literal["", "title", "heading", "section", "muted", "small", "error", "warning", "success"]
Edge = Qt.AlignmentFlag
_LONG_NAME = 40
_BREAK_EVERY = 8


def text_label(text: str = "", role: Role = "", *, wrap: bool = False, tip: str = "") -> QLabel:
    """A label in one of the theme's roles; its text is shown as it is, never read as rich text."""
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setProperty("role", role)
    label.setWordWrap(wrap)
    label.setToolTip(tip)
    return label


def section_label(text: str) -> QLabel:
    """The small capital heading of a panel's section."""
    return text_label(text.upper(), "section")


class ElidedLabel(QLabel):
    """One line of text that ends in an ellipsis where room is short; the tooltip then has all of it."""

    def __init__(self, text: str = "", role: Role = "", mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
        super().__init__()
        self._mode = mode
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setText(text)

    def setText(self, text: str) -> None:
        """Show `text`, as much of it as fits."""
        super().setText(text)
        self._tell()

    def minimumSizeHint(self) -> QSize:
        """Any width will do."""
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """See whether the text still fits."""
        super().resizeEvent(event)
        self._tell()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw what fits."""
        painter = QPainter(self)
        shown = self.fontMetrics().elidedText(self.text(), self._mode, self.width())
        painter.drawText(self.rect(), int(self.alignment()) | Qt.TextFlag.TextSingleLine, shown)

    def _tell(self) -> None:
        fits = self.fontMetrics().horizontalAdvance(self.text()) <= self.width()
        self.setToolTip("" if fits else self.text())


def title_label(name: str) -> QLabel:
    """A name as a title: in one line while it is short, else whole in as many lines as it takes."""
    if len(name) <= _LONG_NAME:
        return ElidedLabel(name, "title", Qt.TextElideMode.ElideMiddle)
    # Names have no spaces to break lines at.
    parts = (name[i : i + _BREAK_EVERY] for i in range(0, len(name), _BREAK_EVERY))
    label = text_label("\u200b".join(parts), "heading", wrap=True, tip=name)
    label.setAccessibleName(name)
    return label


class ElidedButton(QPushButton):
    """A quiet button that opens a menu and whose text ends in an ellipsis where room is short."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setProperty("quiet", True)  # noqa: FBT003 - Qt's own signature

    def minimumSizeHint(self) -> QSize:
        """Any width will do."""
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the button with what fits of its text."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = self.fontMetrics().elidedText(option.text, Qt.TextElideMode.ElideRight, self.width() - 24)
        QStylePainter(self).drawControl(QStyle.ControlElement.CE_PushButton, option)


class _Fitted(QObject):
    """Fits a widget anew whenever the size of text has changed."""

    def __init__(self, widget: QWidget, fit: Callable[[], object]) -> None:
        super().__init__(widget)
        self._fit = fit
        widget.installEventFilter(self)
        fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Fit again."""
        if event.type() == QEvent.Type.FontChange:
            self._fit()
        return super().eventFilter(watched, event)


def fit_text(widget: QWidget, fit: Callable[[], object]) -> None:
    """Fit something to the text of a widget, now and whenever text becomes larger or smaller."""
    _Fitted(widget, fit)


def fit_width(widget: QWidget, sample: str, beside: int) -> None:
    """Make a widget as wide as a sample text and `beside` pixels, also when text becomes larger or smaller."""
    fit_text(widget, lambda: widget.setFixedWidth(widget.fontMetrics().horizontalAdvance(sample) + beside))


def fit_rows(table: QTableView, padding: int) -> None:
    """Make rows as high as a line of text and `padding` pixels, also when text becomes larger or smaller."""
    head = table.verticalHeader()
    # Its own least is that of the text before: it learns of smaller text after its table, and rows would stay high.
    head.setMinimumSectionSize(1)
    fit_text(table, lambda: head.setDefaultSectionSize(table.fontMetrics().height() + padding))


def row(*items: QWidget | int | None, spacing: int = 8) -> QHBoxLayout:
    """Widgets in a line; a number is a stretch, `None` is left out."""
    layout = QHBoxLayout()
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(spacing)
    for item in items:
        if isinstance(item, QWidget):
            layout.addWidget(item)
        elif item is not None:
            layout.addStretch(item)
    return layout


def column(
    *items: QWidget | QLayout | int | None, spacing: int = 8, margins: tuple[int, int, int, int] = (0, 0, 0, 0)
) -> QVBoxLayout:
    """Widgets and layouts one below the other; a number is a stretch, `None` is left out."""
    layout = QVBoxLayout()
    layout.setContentsMargins(*margins)
    layout.setSpacing(spacing)
    for item in items:
        if isinstance(item, QWidget):
            layout.addWidget(item)
        elif isinstance(item, QLayout):
            layout.addLayout(item)
        elif item is not None:
            layout.addStretch(item)
    return layout


def clear(layout: QLayout) -> None:
    """Take everything out of a layout, for good."""
    while (item := layout.takeAt(0)) is not None:
        widget, inner = item.widget(), item.layout()
        if inner is not None:
            clear(inner)
        if widget is not None:
            widget.hide()
            widget.deleteLater()


class Panel(QFrame):
    """A plain surface with a margin."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setProperty("panel", True)  # noqa: FBT003 - Qt's own signature


class SidePanel(QScrollArea):
    """A column that scrolls when the window is too low for it, and is never narrower than what is in it."""

    def __init__(self, name: str, *, least_width: int) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(name.replace("-", " ").capitalize())
        self.setProperty("panel", True)  # noqa: FBT003 - Qt's own signature
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._least_width = least_width
        self.body = Panel(f"{name}-body")
        self.column = column(margins=(12, 12, 12, 12))
        self.body.setLayout(self.column)
        self.setWidget(self.body)
        self.body.installEventFilter(self)

    def minimumSizeHint(self) -> QSize:
        """The width that the content needs beside a scroll bar; any height will do."""
        beside = self.verticalScrollBar().sizeHint().width() + 2 * self.frameWidth()
        needed = self.body.minimumSizeHint().width() + beside
        return QSize(max(self._least_width, needed), super().minimumSizeHint().height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Tell when the content needs another width."""
        if watched is self.body and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)
