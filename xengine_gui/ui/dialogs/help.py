"""Two pages of help: the keys, and which version this is."""

from PySide6 import __version__ as qt_for_python
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QWidget

from xengine_gui import __version__
from xengine_gui.language import tr
from xengine_gui.ui.actions import ACTIONS
from xengine_gui.ui.panels.parts import column, text_label

MOUSE = (
    ("wheel", tr("zoom at the pointer (trace style: scroll, Ctrl zooms)")),
    ("Shift+wheel", "pan"),
    ("drag", tr("pan (trace style: select a stretch of time)")),
    (tr("Shift+drag, drag on the axis"), tr("select a stretch of time and see its sums")),
    ("click", tr("select a bar, transfer, free, peak or moment")),
    (tr("double click"), tr("show what is selected, large")),
    (tr("drag a limit line"), tr("change a device's memory limit")),
    (tr("drag in the overview"), tr("move the view, or draw a new one")),
    (tr("drop a file"), tr("open it")),
)
_OTHER = (
    (tr("Ctrl+Z, Ctrl+Shift+Z"), tr("Undo and redo an edit")),
    ("←, →", tr("Earlier and later")),
    (tr("Space"), tr("Play the plan event by event, and pause")),
    (tr("Arrows, Enter in the graph"), tr("Go from node to node; open and close blocks")),
    (tr("Home, End"), tr("The start and the end of the plan")),
    (tr("Esc"), tr("Select nothing; take a drag or a typed limit back")),
)


class KeysDialog(QDialog):
    """All keys of the table of actions, and what the mouse does on the timeline."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Keys"))
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
        self.setWindowTitle(tr("About"))
        purpose = tr(
            "Plans which tensors of a network are retained, recomputed, transferred and freed, so that it fits into "
            "the memory of your devices at the least cost in time. What is shown has been replayed and verified."
        )
        self.setLayout(
            column(
                text_label("XEngine planner", "title"),
                text_label(
                    tr(
                        "version {version} · PySide {qt_for_python} · MIT licence",
                        version=__version__,
                        qt_for_python=qt_for_python,
                    ),
                    "muted",
                ),
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
