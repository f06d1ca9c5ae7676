"""Shows a plan that a comparison or a sweep has found, with the limits that it was made for."""

from PySide6.QtCore import QObject

from xengine_gui.model.plan import Plan
from xengine_gui.ui.background import Background
from xengine_gui.ui.document import Document
from xengine_gui.ui.planning import Planning
from xengine_gui.ui.shown_plan import ShownPlan, UnlimitedTotal


class PlanShower(QObject):
    """Makes ready what is shown of a plan beside the window, then shows it; the last plan asked for counts."""

    def __init__(self, document: Document, planning: Planning, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document, self._planning = document, planning
        self._background = Background(self)
        self._unlimited = UnlimitedTotal()

    def show(self, plan: Plan, text: str) -> None:
        """Show a plan of the graph at hand; limits that differ are edited too, and `text` is what undo calls that."""
        if not plan.has_events:
            return

        def done(shown: ShownPlan) -> None:
            work = self._document.work
            if work is not None and work.problem.operators is shown.plan.problem.operators:
                # A search in progress would soon put its own plan in this one's place.
                self._planning.abandon()
                self._document.adopt(shown, text)

        self._background.run(lambda: ShownPlan.of(plan, self._unlimited.of(plan.problem)), done, lambda _sentence: None)

    def close(self) -> None:
        """End what is being made ready."""
        self._background.close()
