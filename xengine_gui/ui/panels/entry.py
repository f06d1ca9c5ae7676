"""What fields have in common in which a value with its unit is typed."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QLineEdit

from xengine_gui.ui.theme import set_style_property


class EntryEdit(QLineEdit):
    """A line to type in; `given_up` tells of Escape, which takes back what was typed."""

    given_up = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAlignment(Qt.AlignmentFlag.AlignRight)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Give up at Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.given_up.emit()
            self.selectAll()
            event.accept()
            return
        super().keyPressEvent(event)


def show_hint(edit: QLineEdit, hint: QLabel, text: str, *, wrong: bool) -> None:
    """Say something below a line, or nothing; what is `wrong` is marked in red."""
    hint.setText(text)
    hint.setVisible(bool(text))
    set_style_property(hint, "role", "error" if wrong else "small")
    set_style_property(edit, "invalid", wrong)
