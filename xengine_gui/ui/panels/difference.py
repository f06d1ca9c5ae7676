"""What differs between the plan that is shown and another: a sentence, a list, and ways to look at both."""

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QPushButton, QStackedLayout, QWidget

from xengine_gui.language import tr
from xengine_gui.ui.ghost import Ghost
from xengine_gui.ui.panels.compare import DiffPane
from xengine_gui.ui.panels.parts import ElidedLabel, Panel, column, row, text_label
from xengine_gui.units import format_duration

_EMPTY = tr(
    "Change a limit or a constraint: what that moves, recomputes or transfers is listed here with what it costs, and "
    "the plan from before stays on the timeline as a dashed ghost. Or open a second plan of the same network."
)


class DifferencePanel(Panel):
    """From the plan before to the plan of now."""

    subject_chosen = Signal(str)
    """The operator or tensor of a change that was clicked."""
    ghost_toggled = Signal(bool)
    beside_toggled = Signal(bool)
    second_asked = Signal()
    keep_asked = Signal()
    let_go_asked = Signal()

    def __init__(self) -> None:
        super().__init__("difference-panel")
        self.state = ElidedLabel("", "small")
        self.ghost = _box(tr("Ghost"), tr("Lay the other plan over the timeline, dashed"))
        self.ghost.setChecked(True)
        self.beside = _box(tr("Side by side"), tr("Show the other plan below, aligned by operator"))
        self.keep = _button(tr("Keep this plan"), tr("Compare all later plans with the one that is shown now"))
        self.let_go = _button(tr("Let go"), tr("Compare with the plan from before the last edit again"))
        self.second = _button(tr("Open second plan…"), tr("Compare with a plan of the same network from a file"))
        self.ghost.toggled.connect(self.ghost_toggled)
        self.beside.toggled.connect(self.beside_toggled)
        self.keep.clicked.connect(self.keep_asked)
        self.let_go.clicked.connect(self.let_go_asked)
        self.second.clicked.connect(self.second_asked)
        self.pane = DiffPane()
        self.pane.list.clicked.connect(self._clicked)
        self.pane.list.activated.connect(self._clicked)
        empty = text_label(_EMPTY, "muted", wrap=True)
        empty.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._stack = QStackedLayout()
        self._stack.addWidget(empty)
        self._stack.addWidget(self.pane)
        body = QWidget()
        body.setLayout(self._stack)
        head = row(self.state, self.ghost, self.beside, self.keep, self.let_go, self.second)
        head.setStretch(0, 1)
        layout = column(head, body, spacing=6, margins=(14, 8, 10, 6))
        layout.setStretch(1, 1)
        self.setLayout(layout)
        self.show_ghost(None, is_fixed=False, can_keep=False)

    def show_ghost(self, ghost: Ghost | None, *, is_fixed: bool, can_keep: bool) -> None:
        """Show another difference, or none; `is_fixed` where somebody chose the plan to compare with."""
        for button in (self.ghost, self.beside):
            button.setEnabled(ghost is not None)
        self.keep.setEnabled(can_keep)
        self.let_go.setVisible(is_fixed)
        self._stack.setCurrentIndex(0 if ghost is None else 1)
        if ghost is None:
            self.state.setText("")
            self.pane.show_diff(None, ("", ""))
            return
        totals = [shown.plan.total_ns or 0 for shown in (ghost.before, ghost.after)]
        self.state.setText(" → ".join(format_duration(total, fine=True) for total in totals))
        self.pane.show_diff(ghost.difference, (ghost.before_name, "now"))

    def _clicked(self, index: QModelIndex) -> None:
        subject = self.pane.model.subject(index.row())
        if subject:
            self.subject_chosen.emit(subject)


def _box(text: str, tip: str) -> QCheckBox:
    box = QCheckBox(text)
    box.setToolTip(tip)
    return box


def _button(text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tip)
    return button
