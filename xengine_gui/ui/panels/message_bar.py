"""A line above the timeline for what has to be said now and must not be lost in a log."""

from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QSizePolicy, QToolButton, QWidget

from xengine_gui.ui.panels.parts import column, row, text_label
from xengine_gui.ui.theme import set_style_property

Tone = Literal["error", "warning", "muted"]
# A cross for errors would look like the button that closes the bar.
_SIGNS: dict[Tone, str] = {"error": "!", "warning": "!", "muted": "…"}


class MessageBar(QWidget):
    """One sentence, with a button where something can be done about it; hidden while there is nothing to say.

    `inset` keeps it off the edges of its place.
    """

    button_clicked = Signal()

    def __init__(self, name: str, *, closable: bool, inset: bool) -> None:
        super().__init__()
        self.setObjectName(name)
        card = QFrame()
        card.setProperty("card", True)  # noqa: FBT003 - Qt's own signature
        self._sign = text_label("", "heading")
        self._text = text_label("", wrap=True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text.setContentsMargins(0, 3, 0, 3)
        self._text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._button = QPushButton()
        self._button.clicked.connect(self.button_clicked)
        close = QToolButton()
        close.setText("✕")
        close.setToolTip("Close this message")
        close.clicked.connect(self.hide)
        close.setVisible(closable)
        layout = row(self._sign, self._text, self._button, close if closable else None, spacing=10)
        layout.setStretch(1, 1)
        layout.setContentsMargins(14, 4, 8, 4)
        card.setLayout(layout)
        self.setLayout(column(card, margins=(14, 10, 14, 0) if inset else (0, 0, 0, 0)))
        self.hide()

    @property
    def text(self) -> str:
        """The sentence that is shown; empty while the bar is hidden."""
        return "" if self.isHidden() else self._text.text()

    @property
    def line_width(self) -> int:
        """The width at which the sentence stands in one line."""
        return self.sizeHint().width() + self._text.fontMetrics().horizontalAdvance(self._text.text()) + 20

    def show_message(self, text: str, tone: Tone, *, button: str = "") -> None:
        """Show a sentence."""
        self._sign.setText(_SIGNS[tone])
        set_style_property(self._sign, "role", tone)
        self._text.setText(text)
        self._text.setToolTip(text)
        self._button.setText(button)
        self._button.setVisible(bool(button))
        self.show()
