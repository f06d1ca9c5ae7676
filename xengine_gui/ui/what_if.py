"""Asks by how much a limit would have to rise for the selected recompute to vanish, beside the window."""

import threading
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from xengine_gui.language import tr
from xengine_gui.model.plan import Compute, Plan
from xengine_gui.solve.vanishing import Vanishing, ask_in, device_in_question, limit_without, within_limit
from xengine_gui.solve.worker import SolverProcess
from xengine_gui.ui.document import Document
from xengine_gui.ui.long_job import LongJob
from xengine_gui.ui.panels.what_if import WhatIfPanel
from xengine_gui.ui.planning import Planning
from xengine_gui.ui.selection import Kind, Selection
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.study_plans import PlanShower

_TIME_S = 120.0


class WhatIf(QObject):
    """Between the panel of the question and the document; it has a solver process while it looks for an answer."""

    told = Signal(str)
    """A line for the log."""

    def __init__(
        self,
        document: Document,
        planning: Planning,
        parent: QObject | None = None,
        *,
        process: Callable[[], SolverProcess] = SolverProcess,
    ) -> None:
        super().__init__(parent)
        self.make_process = process
        self.panel = WhatIfPanel()
        self.job = LongJob(self)
        self._document = document
        self._shower = PlanShower(document, planning, self)
        self._plan: Plan | None = None
        self._event = -1
        self._answers: dict[str, Vanishing] = {}
        self.panel.asked.connect(self.ask)
        self.panel.stop_asked.connect(self.job.stop)
        self.panel.plan_asked.connect(self._take)
        self.job.news.connect(lambda news: self.panel.show_progress(str(news[-1])))
        self.job.finished.connect(self._finished)
        self.job.failed.connect(self.panel.show_failed)

    def show_selection(self, selection: Selection, shown: ShownPlan | None) -> None:
        """Something else is selected in a plan as it is shown, on whichever clock."""
        now = self._document.shown
        event = shown.plan.events[selection.event] if shown is not None and selection.kind is Kind.EVENT else None
        wanted = selection.kind in (Kind.OPERATOR, Kind.TENSOR) or (isinstance(event, Compute) and event.again)
        plan = None if now is None or self._document.stale else now.plan
        operator = "" if plan is None or not wanted else _operator_of(selection, plan)
        events = () if plan is None or not operator else plan.events
        again = (i for i, e in enumerate(events) if isinstance(e, Compute) and e.again and e.operator == operator)
        self.select(plan, next(again, -1))

    def select(self, plan: Plan | None, event: int) -> None:
        """Another event is selected, or another plan is shown; an answer that is being looked for is given up."""
        same = plan is not None and self._plan is not None and plan.events is self._plan.events
        if (same or plan is self._plan) and event == self._event:
            self._plan = plan
            return
        if not same:
            self._answers.clear()
        self.job.abandon()
        self._plan, self._event = plan, event
        operator = self._operator
        self.panel.setVisible(bool(operator))
        known = self._answers.get(operator)
        if known is not None:
            self.panel.show_answer(known)
        else:
            self.panel.show_idle()

    @property
    def _operator(self) -> str:
        """The operator that is recomputed by the selected event; empty for any other event."""
        plan, index = self._plan, self._event
        if plan is None or not 0 <= index < len(plan.events):
            return ""
        event = plan.events[index]
        return event.operator if isinstance(event, Compute) and event.again else ""

    def ask(self) -> None:
        """Look for the answer."""
        plan, index, operator = self._plan, self._event, self._operator
        if plan is None or not operator:
            return
        self.panel.show_progress(tr("looking for what forced it…"))
        make = self.make_process

        def work(tell: Callable[[object], None], stop: threading.Event) -> Vanishing:
            process = make()
            try:
                device = device_in_question(plan, index)
                return limit_without(
                    plan, operator, device, ask_in(process, stop), stop=stop, time_s=_TIME_S, tell=tell
                )
            finally:
                process.close()

        self.job.start(work)

    def close(self) -> None:
        """End everything."""
        self.job.close()
        self._shower.close()

    def _finished(self, found: Vanishing) -> None:
        self._answers[found.operator] = found
        self.panel.show_answer(found)
        self.told.emit(found.sentence)

    def _take(self, found: Vanishing) -> None:
        plan = None if self._plan is None else within_limit(found, self._plan)
        if plan is not None:
            self._shower.show(plan, tr("limit at which {operator} is not recomputed", operator=found.operator))


def _operator_of(selection: Selection, plan: Plan) -> str:
    """The operator that is selected, or that makes the tensor that is."""
    if selection.kind is not Kind.TENSOR:
        return selection.name
    return next((o.name for o in plan.problem.operators if selection.name in o.outputs), "")
