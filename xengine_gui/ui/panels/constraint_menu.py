"""The context menu of an operator or a tensor: what can be demanded of every plan about it."""

from collections.abc import Callable, Sequence

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from xengine_gui.language import tr
from xengine_gui.model.constraints import Constraint, Rule
from xengine_gui.model.operator import Operator
from xengine_gui.model.plan import Compute, Event
from xengine_gui.model.problem import Problem
from xengine_gui.ui.timeline.details import printable

Chosen = Callable[[Constraint], object]
_MOST_OUTPUTS = 6


class ConstraintMenu(QMenu):
    """Entries for one operator and for tensors; those that hold already are ticked, and are lifted when chosen."""

    def __init__(
        self, problem: Problem, held: Sequence[Constraint], demand: Chosen, lift: Chosen, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setToolTipsVisible(True)
        self._problem, self._held, self._demand, self._lift = problem, held, demand, lift
        self._operators = {operator.name: operator for operator in problem.operators}
        self._makers = {tensor: operator for operator in problem.operators for tensor in operator.outputs}

    def add_for_event(self, event: Event) -> None:
        """The entries for an event of a plan."""
        if isinstance(event, Compute):
            self.add_for_operator(event.operator, event.device)
        else:
            self.add_for_tensor(event.tensor)

    def add_for_operator(self, name: str, device: str = "") -> None:
        """The entries for an operator; what it makes can be retained on the device that is meant."""
        operator = self._operators.get(name)
        if operator is None:
            return
        self._head(name)
        once = Constraint(Rule.COMPUTE_ONCE, name)
        self._add(tr("Never recompute it"), once, enabled=operator.recomputable or once in self._held)
        able = [d.name for d in self._problem.devices if operator.costs.get(d.name)]
        for place in able if len(self._problem.devices) > 1 else ():
            forced = Constraint(Rule.RUN_ON, name, place)
            self._add(
                tr("Run it on {place} only", place=printable(place)),
                forced,
                enabled=len(able) > 1 or forced in self._held,
            )
        self._add_retain(operator, operator.outputs[:_MOST_OUTPUTS], device)

    def add_for_tensor(self, name: str) -> None:
        """The entries for a tensor."""
        operator = self._makers.get(name)
        if operator is None:
            return
        self._head(name)
        self._add_retain(operator, (name,), "")

    def _head(self, name: str) -> None:
        """What the entries below are about; headings of menus are not drawn in every style."""
        if not self.isEmpty():
            self.addSeparator()
        self.addAction(printable(name)).setEnabled(False)

    def _add_retain(self, operator: Operator, tensors: Sequence[str], device: str) -> None:
        for tensor in tensors:
            what = "it" if len(tensors) == 1 and device == "" else printable(tensor)
            for place in (d.name for d in self._problem.devices if operator.costs.get(d.name)):
                if device in ("", place):
                    self._add(
                        tr("Retain {what} on {place}", what=what, place=printable(place)),
                        Constraint(Rule.RETAIN, tensor, place),
                    )

    def _add(self, text: str, constraint: Constraint, *, enabled: bool = True) -> QAction:
        holds = constraint in self._held
        action: QAction = self.addAction(text)
        action.setCheckable(True)
        action.setChecked(holds)
        action.setEnabled(enabled)
        action.setToolTip(
            tr("{meaning} Choose it again to lift it.", meaning=constraint.meaning) if holds else constraint.meaning
        )
        action.setData(constraint)
        action.triggered.connect(lambda: (self._lift if holds else self._demand)(constraint))
        return action
