"""A line above the timeline for what has to be said now and must not be lost in a log."""

from collections.abc import Callable, Sequence
from typing import Literal

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QPushButton, QSizePolicy, QToolButton, QWidget

from xengine_gui.language import tr
from xengine_gui.ui.panels.parts import ElidedLabel, clear, column, row, text_label
from xengine_gui.ui.theme import set_style_property

Tone = Literal["error", "warning", "muted"]
Offer = tuple[str, str, Callable[[], object]]
"""What a button says, its tooltip, and what it does."""
# A cross for errors would look like the button that closes the bar.
_SIGNS: dict[Tone, str] = {"error": "!", "warning": "!", "muted": "…"}


class MessageBar(QWidget):
    """One line: a sentence, a button where something can be done about it, and more about it when that is asked for.

    It is hidden while there is nothing to say. `inset` keeps it off the edges of its place.
    """

    button_clicked = Signal()

    def __init__(self, name: str, *, closable: bool, inset: bool) -> None:
        super().__init__()
        self.setObjectName(name)
        self._details = ""
        self._other_buttons: list[QPushButton] = []
        card = QFrame()
        card.setProperty("card", True)  # noqa: FBT003 - Qt's own signature
        self._sign = text_label("", "heading")
        self._line = ElidedLabel()
        self._whole = text_label("", wrap=True)
        self._whole.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._whole.setContentsMargins(0, 2, 0, 2)
        self._whole.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._button = QPushButton()
        self._button.clicked.connect(self.button_clicked)
        self.more = QToolButton()
        self.more.setText(tr("Details"))
        self.more.setCheckable(True)
        self.more.setToolTip(tr("Tell the whole of it, and what else can be done"))
        self.more.toggled.connect(lambda _open: self._show_parts())
        close = QToolButton()
        close.setText("✕")
        close.setAccessibleName(tr("Close this message"))
        close.setToolTip(tr("Close this message"))
        close.clicked.connect(self.hide)
        close.setVisible(closable)
        self._others = row(spacing=8)
        line = row(self._sign, self._line, self._button, self.more, close if closable else None, spacing=10)
        line.setStretch(1, 1)
        self._rest = QWidget()
        self._rest.setLayout(column(self._whole, self._others, spacing=6, margins=(0, 0, 6, 6)))
        card.setLayout(column(line, self._rest, spacing=2, margins=(12, 2, 6, 2)))
        self.setLayout(column(card, margins=(14, 6, 14, 0) if inset else (0, 0, 0, 0)))
        self.hide()

    @property
    def text(self) -> str:
        """The sentence that is shown; empty while the bar is hidden."""
        return "" if self.isHidden() else self._line.text()

    @property
    def details(self) -> str:
        """What is told besides when more is asked for; empty while the bar is hidden."""
        return "" if self.isHidden() else self._details

    @property
    def line_width(self) -> int:
        """The width at which the sentence stands in one line."""
        return self.sizeHint().width() + self._line.fontMetrics().horizontalAdvance(self._line.text()) + 20

    def show_message(
        self, text: str, tone: Tone, *, button: str = "", tip: str = "", details: str = "", offers: Sequence[Offer] = ()
    ) -> None:
        """Show a sentence. `offers` are buttons that stand with the details."""
        if text != self._line.text():
            self.more.setChecked(False)
        self._sign.setText(_SIGNS[tone])
        set_style_property(self._sign, "role", tone)
        self._line.setText(text)
        self._details = details
        self._whole.setText("\n".join(part for part in (text, details) if part))
        self._button.setText(button)
        self._button.setToolTip(tip or button)
        self._button.setVisible(bool(button))
        clear(self._others)
        self._other_buttons = []
        for title, about, do in offers:
            other = QPushButton(title)
            other.setToolTip(about)
            other.clicked.connect(do)
            self._others.addWidget(other)
            self._other_buttons.append(other)
        self._others.addStretch(1)
        self.show()
        self._show_parts()

    def offer_button(self, title: str = "") -> QPushButton:
        """The button with a title, without one that which always stands there."""
        return next((b for b in self._other_buttons if b.text() == title), self._button)

    def minimumSizeHint(self) -> QSize:
        """Any width will do."""
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """See whether the sentence still fits."""
        super().resizeEvent(event)
        self._show_parts()

    def _show_parts(self) -> None:
        """The line alone, or all there is; where the line says all there is nothing to open."""
        fits = self._line.fontMetrics().horizontalAdvance(self._line.text()) <= self._line.width()
        is_open = self.more.isChecked()
        has_more = bool(self._details or self._other_buttons) or not fits
        self.more.setVisible(has_more or is_open)
        self._rest.setVisible(is_open)
        self.more.setText(tr("Less") if is_open else tr("Details"))
