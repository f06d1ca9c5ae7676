"""A line above the timeline for what has to be said now and must not be lost in a log."""

from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QToolButton

from xengine_gui.ui.panels.parts import Panel, row, text_label
from xengine_gui.ui.theme import set_style_property

Tone = Literal["error", "warning", "muted"]
_SIGNS: dict[Tone, str] = {"error": "✕", "warning": "!", "muted": "…"}


class MessageBar(Panel):
    """One sentence, with a button where something can be done about it; hidden while there is nothing to say."""

    button_clicked = Signal()

    def __init__(self, name: str, *, closable: bool) -> None:
        super().__init__(name)
        self.setProperty("card", True)  # noqa: FBT003
        self._sign = text_label("", "heading")
        self._text = text_label("", wrap=True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
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
        layout.setContentsMargins(14, 7, 8, 7)
        self.setLayout(layout)
        self.hide()

    @property
    def text(self) -> str:
        """The sentence that is shown; empty while the bar is hidden."""
        return "" if self.isHidden() else self._text.text()

    def show_message(self, text: str, tone: Tone, *, button: str = "") -> None:
        """Show a sentence."""
        self._sign.setText(_SIGNS[tone])
        set_style_property(self._sign, "role", tone)
        self._text.setText(text)
        self._text.setToolTip(text)
        self._button.setText(button)
        self._button.setVisible(bool(button))
        self.show()
