"""The question what a plan is to have little of, and by when it is to end."""

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFormLayout, QLineEdit, QRadioButton, QWidget

from xengine_gui.errors import InputError
from xengine_gui.language import tr
from xengine_gui.solve.objective import Objective
from xengine_gui.ui.panels.parts import column, row, text_label
from xengine_gui.ui.theme import set_style_property
from xengine_gui.units import format_duration_exact, parse_duration_ns

_TITLES = {Objective.TIME: tr("Time"), Objective.ENERGY: tr("Energy")}
_TIPS = {
    Objective.TIME: tr("The least total on the serial clock"),
    Objective.ENERGY: tr("The least energy above idle, of computing and of transferring"),
}


class ObjectiveDialog(QDialog):
    """A choice between objectives, and a field for a deadline that may be empty.

    `obstacles` tell of an objective why it cannot be chosen; `total_ns` is what the plan that is shown takes.
    """

    def __init__(
        self,
        objective: Objective,
        deadline_ns: int | None,
        obstacles: dict[Objective, str],
        total_ns: int | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Objective and deadline"))
        self.choices: dict[Objective, QRadioButton] = {}
        for one, title in _TITLES.items():
            choice = self.choices[one] = QRadioButton(title)
            choice.setEnabled(not obstacles.get(one))
            choice.setToolTip(obstacles.get(one) or _TIPS[one])
            choice.setChecked(one is objective)
        why = text_label(" ".join(_sentence(o) for o in obstacles.values() if o), "muted", wrap=True)
        why.setVisible(bool(why.text()))
        self.deadline = QLineEdit("" if deadline_ns is None else _typed(deadline_ns))
        self.deadline.setPlaceholderText(tr("none, or a time such as 20 s"))
        self.deadline.setToolTip(tr("The most that the plan may take on the serial clock"))
        self.deadline.setAccessibleName(tr("Deadline"))
        self.deadline.textEdited.connect(lambda _text: self._tell(""))
        self.mistake = text_label("", "error", wrap=True)
        self.mistake.hide()
        form = QFormLayout()
        form.setSpacing(8)
        form.addRow(text_label(tr("Least")), row(*self.choices.values(), 1))
        form.addRow(text_label(tr("Deadline")), self.deadline)
        if total_ns is not None:
            form.addRow(text_label(tr("Plan that is shown")), text_label(format_duration_exact(total_ns), "muted"))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        self.setLayout(column(form, why, self.mistake, 1, buttons, spacing=12, margins=(18, 16, 18, 14)))
        self.setMinimumWidth(420)

    @property
    def objective(self) -> Objective:
        """What was chosen."""
        return next((one for one, choice in self.choices.items() if choice.isChecked()), Objective.TIME)

    @property
    def deadline_ns(self) -> int | None:
        """The time that was typed, `None` for none."""
        text = self.deadline.text().strip()
        return parse_duration_ns(text) if text else None

    def accept(self) -> None:
        """Close, unless the deadline makes no sense: that is told below."""
        try:
            deadline_ns = self.deadline_ns
        except InputError as error:
            self._tell(_sentence(str(error)))
            return
        if deadline_ns == 0:
            self._tell(tr("A deadline of 0 s leaves no time for anything."))
            return
        super().accept()

    def _tell(self, sentence: str) -> None:
        self.mistake.setText(sentence)
        self.mistake.setVisible(bool(sentence))
        set_style_property(self.deadline, "invalid", bool(sentence))
        self.adjustSize()


def _typed(time_ns: int) -> str:
    """A time to the nanosecond as it may be typed: in the largest unit that leaves it whole."""
    units = (("s", 10**9), ("ms", 10**6), ("µs", 10**3))
    return next((f"{time_ns // size} {unit}" for unit, size in units if time_ns % size == 0), f"{time_ns} ns")


def _sentence(text: str) -> str:
    text = f"{text[:1].upper()}{text[1:]}"
    return text if text.endswith((".", "?")) else f"{text}."
