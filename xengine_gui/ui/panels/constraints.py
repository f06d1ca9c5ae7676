"""What is demanded of every plan, as a list to lift from."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

from xengine_gui.language import tr
from xengine_gui.model.constraints import Constraint
from xengine_gui.ui.panels.parts import ElidedLabel, clear, column, row, text_label
from xengine_gui.ui.timeline.details import printable

_HINT = tr("None. Right-click a bar of the timeline to retain a tensor, forbid a recompute or choose a device.")


class ConstraintsPanel(QWidget):
    """A line for each constraint with a button that lifts it; those that cannot hold say why."""

    lift_asked = Signal(object)
    """The constraints to lift, a tuple."""

    def __init__(self) -> None:
        super().__init__()
        self._constraints: tuple[Constraint, ...] = ()
        self.hint = text_label(_HINT, "muted", wrap=True)
        self._lines = column(spacing=2)
        self.lift_all = QPushButton(tr("Lift all"))
        self.lift_all.setToolTip(tr("Demand nothing any more; can be undone"))
        self.lift_all.clicked.connect(lambda: self.lift_asked.emit(self._constraints))
        self.setLayout(column(self.hint, self._lines, row(self.lift_all, 1), spacing=4))
        self.show_constraints((), {})

    @property
    def titles(self) -> tuple[str, ...]:
        """What is listed."""
        return tuple(c.title for c in self._constraints)

    def show_constraints(self, constraints: Sequence[Constraint], idle: Mapping[Constraint, str]) -> None:
        """List constraints; `idle` tells of those that cannot hold why."""
        clear(self._lines)
        self._constraints = tuple(constraints)
        self.hint.setVisible(not constraints)
        self.lift_all.setVisible(len(constraints) > 1)
        for constraint in constraints:
            self._lines.addWidget(self._line(constraint, idle.get(constraint, "")))

    def lift_button(self, constraint: Constraint) -> QToolButton:
        """The button that lifts a constraint."""
        found = self.findChild(QToolButton, f"lift {constraint.title}")
        if not isinstance(found, QToolButton):
            raise KeyError(constraint.title)
        return found

    def _line(self, constraint: Constraint, why_idle: str) -> QWidget:
        label = ElidedLabel(printable(constraint.title), "", Qt.TextElideMode.ElideMiddle)
        label.setMinimumHeight(label.fontMetrics().height() + 4)
        lift = QToolButton()
        lift.setText("✕")
        lift.setAutoRaise(True)
        lift.setObjectName(f"lift {constraint.title}")
        lift.setAccessibleName(tr("Lift: {title}", title=constraint.title))
        lift.setToolTip(tr("Lift: {title}", title=printable(constraint.title)))
        lift.clicked.connect(lambda: self.lift_asked.emit((constraint,)))
        head = row(label, lift, spacing=4)
        head.setStretch(0, 1)
        note = (
            text_label(tr("Not in force: {why_idle}.", why_idle=why_idle), "warning", wrap=True) if why_idle else None
        )
        line = QWidget()
        line.setToolTip(f"{printable(constraint.title)}\n{constraint.meaning}")
        line.setLayout(column(head, note, spacing=0))
        return line
