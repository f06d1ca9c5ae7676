"""Two pages of help: the keys, and which version this is."""

from PySide6 import __version__ as qt_for_python
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QWidget

from xengine_gui import __version__
from xengine_gui.ui.actions import ACTIONS
from xengine_gui.ui.panels.parts import column, text_label

MOUSE = (
    ("wheel", "zoom at the pointer (trace style: scroll, Ctrl zooms)"),
    ("Shift+wheel", "pan"),
    ("drag", "pan (trace style: select a stretch of time)"),
    ("Shift+drag, drag on the axis", "select a stretch of time and see its sums"),
    ("click", "select a bar, transfer, free, peak or moment"),
    ("double click", "show what is selected, large"),
    ("drag a limit line", "change a device's memory limit"),
    ("drag in the overview", "move the view, or draw a new one"),
    ("drop a file", "open it"),
)
_OTHER = (
    ("Ctrl+Z, Ctrl+Shift+Z", "Undo and redo an edit"),
    ("←, →", "Earlier and later"),
    ("Space", "Play the plan event by event, and pause"),
    ("Arrows, Enter in the graph", "Go from node to node; open and close blocks"),
    ("Home, End", "The start and the end of the plan"),
    ("Esc", "Select nothing; take a drag or a typed limit back"),
)


class KeysDialog(QDialog):
    """All keys of the table of actions, and what the mouse does on the timeline."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keys")
        grid = QGridLayout()
        grid.setHorizontalSpacing(18)
        grid.setVerticalSpacing(4)
        grid.setColumnMinimumWidth(2, 12)
        lines = [(_keys(spec.shortcuts), spec.tip) for spec in ACTIONS if spec.shortcuts]
        lines += [*_OTHER, *((m, t[0].upper() + t[1:]) for m, t in MOUSE)]
        rows = -(-len(lines) // 2)
        for line, (keys, tip) in enumerate(lines):
            half, place = divmod(line, rows)
            grid.addWidget(text_label(keys, "heading"), place, 3 * half)
            grid.addWidget(text_label(tip), place, 3 * half + 1)
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
