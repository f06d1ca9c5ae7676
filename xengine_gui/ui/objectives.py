"""What plans are to have little of, and by when they are to end: for the strategies that know of such things."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from xengine_gui.errors import InputError
from xengine_gui.language import tr
from xengine_gui.session import Session
from xengine_gui.solve.base import Strategy
from xengine_gui.solve.objective import Objective, objective_obstacle
from xengine_gui.solve.strategies import strategy as strategy_called
from xengine_gui.ui.dialogs.objective import ObjectiveDialog
from xengine_gui.ui.document import Document
from xengine_gui.ui.planning import Planning
from xengine_gui.units import format_duration

_KEY = "objective"
_TITLE = tr("Objective and deadline")


class Objectives(QObject):
    """Owns the objective and the deadline among the options of planning; a strategy that knows none takes them away."""

    changed = Signal()
    """Another objective or deadline holds, or may be chosen."""

    def __init__(self, document: Document, planning: Planning, window: QWidget) -> None:
        super().__init__(window)
        self._document, self._planning, self._window = document, planning, window

    def slots(self) -> Mapping[str, Callable[[], object]]:
        """What the action does."""
        return {_KEY: self.ask}

    def show_state(self, actions: Mapping[str, QAction]) -> None:
        """Say on the action what holds; grey it out, with the reason, where the strategy knows of neither."""
        why_not, options = self._why_not(), self._planning.options
        holds = "" if options.objective is Objective.TIME else f": {options.objective}"
        by = (
            ""
            if options.deadline_ns is None
            else tr(", by {deadline_ns}", deadline_ns=format_duration(options.deadline_ns))
        )
        action = actions[_KEY]
        action.setText(f"{_TITLE}{holds or (': time' if by else '')}{by}…")
        action.setEnabled(not why_not)
        action.setToolTip(why_not or tr("Plan for the least energy, or for an end by a deadline"))

    def strategy_shown(self) -> None:
        """Another strategy is used: what it does not know of is taken away, before anything is planned with it."""
        options = self._planning.options
        if (options.objective is not Objective.TIME or options.deadline_ns is not None) and self._why_not():
            self._set(Objective.TIME, None)
        else:
            self.changed.emit()

    def take_session(self, session: Session) -> None:
        """Put on what a session says."""
        if self._why_not():
            self._set(Objective.TIME, None)
        else:
            self._set(session.objective, session.deadline_ns)

    def ask(self) -> None:
        """Ask for both, and plan anew where they have changed."""
        dialog = self.new_dialog()
        if dialog.exec():
            self.choose(dialog.objective, dialog.deadline_ns)
        dialog.deleteLater()

    def new_dialog(self) -> ObjectiveDialog:
        """The question, which knows what the problem at hand lacks."""
        work, options, shown = self._document.work, self._planning.options, self._document.shown
        obstacle = ""
        if work is not None and self._strategy is not None:
            obstacle = objective_obstacle(self._strategy, work.problem, Objective.ENERGY, None)
        total_ns = None if shown is None else shown.summary.total_ns
        return ObjectiveDialog(
            options.objective, options.deadline_ns, {Objective.ENERGY: obstacle}, total_ns, self._window
        )

    def choose(self, objective: Objective, deadline_ns: int | None) -> None:
        """Plan for this from now on."""
        planning, work = self._planning, self._document.work
        if (objective, deadline_ns) == (planning.options.objective, planning.options.deadline_ns):
            return
        self._set(objective, deadline_ns)
        if work is not None and (planning.plan_on_change or planning.running):
            planning.plan()

    def _set(self, objective: Objective, deadline_ns: int | None) -> None:
        self._planning.options = replace(self._planning.options, objective=objective, deadline_ns=deadline_ns)
        self.changed.emit()

    @property
    def _strategy(self) -> Strategy | None:
        try:
            return strategy_called(self._planning.strategy)
        except InputError:
            return None

    def _why_not(self) -> str:
        """Why the strategy can be given neither, in one sentence; empty where it can."""
        strategy = self._strategy
        if strategy is None or getattr(strategy, "objectives", None) or getattr(strategy, "keeps_deadlines", False):
            return ""
        return tr("{title} minimises time and knows no deadline; the strategy POET knows both.", title=strategy.title)
