"""Two pages of help: the keys, and which version this is."""

from PySide6 import __version__ as qt_for_python
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QWidget

from xengine_gui import __version__
from xengine_gui.ui.actions import ACTIONS
from xengine_gui.ui.panels.parts import column, text_label

MOUSE = (
    ("wheel", "zoom at the pointer"),
    ("drag", "pan"),
    ("click", "select a bar, a transfer or a free"),
    ("drag a limit line", "change a device's memory limit"),
    ("drop a file", "open it"),
)


class KeysDialog(QDialog):
    """All keys of the table of actions, and what the mouse does on the timeline."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keys")
        grid = QGridLayout()
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(6)
        lines = [(_keys(spec.shortcuts), spec.tip) for spec in ACTIONS if spec.shortcuts]
        lines += [
            ("Ctrl+Z, Ctrl+Shift+Z", "Undo and redo an edit"),
            ("Esc", "In a field of a limit: bring it back"),
        ]
        for line, (keys, tip) in enumerate([*lines, *((m, t[0].upper() + t[1:]) for m, t in MOUSE)]):
            grid.addWidget(text_label(keys, "heading"), line, 0)
            grid.addWidget(text_label(tip), line, 1)
        self.setLayout(column(grid, 1, _close(self), spacing=16, margins=(20, 18, 20, 14)))


class AboutDialog(QDialog):
    """Name, version, purpose, licence."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("About")
        purpose = (
            "Plans which tensors of a network are retained, recomputed, transferred and freed, so that it fits into "
            "the memory of your devices at the least cost in time. What is shown has been replayed and verified."
        )
        self.setLayout(
            column(
                text_label("XEngine planner", "title"),
                text_label(f"version {__version__} · PySide {qt_for_python} · MIT licence", "muted"),
                text_label(purpose, wrap=True),
                1,
                _close(self),
                spacing=10,
                margins=(20, 18, 20, 14),
            )
        )
        self.setMinimumWidth(420)


def _keys(shortcuts: tuple[str, ...]) -> str:
    return ", ".join(QKeySequence(s).toString(QKeySequence.SequenceFormat.NativeText) for s in shortcuts)


def _close(dialog: QDialog) -> QDialogButtonBox:
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.reject)
    return buttons
