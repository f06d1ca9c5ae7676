"""The middle of the window: the timeline, and above it what has to be said about it."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent

from xengine_gui.model.problem import Problem
from xengine_gui.ui.panels.message_bar import MessageBar
from xengine_gui.ui.panels.parts import Panel, column
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.timeline.view import TimelineView

_WIDEST = 720
_MARGIN = 16


class CentrePanel(Panel):
    """A bar for errors, a bar for the state of the plan, the timeline."""

    retry_asked = Signal()

    def __init__(self) -> None:
        super().__init__("centre-panel")
        self._shown: ShownPlan | None = None
        self.error = MessageBar("error-bar", closable=True)
        self.state = MessageBar("state-bar", closable=False)
        self.state.button_clicked.connect(self.retry_asked)
        self.timeline = TimelineView()
        layout = column(self.error, self.timeline, spacing=0)
        layout.setStretch(1, 1)
        self.setLayout(layout)
        # It floats over the timeline, which would jump twice with every edit if the bar took room from it.
        self.state.setParent(self)
        self.state.raise_()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the floating bar at the bottom."""
        super().resizeEvent(event)
        self._place_state()

    def show_plan(self, shown: ShownPlan | None, problem: Problem | None) -> None:
        """Paint a plan, with the limit lines where they are now, whatever they were when it was made."""
        if shown is not self._shown:
            self._shown = shown
            self.timeline.set_timeline(None if shown is None else shown.timeline)
        if shown is not None and problem is not None:
            self.timeline.set_limits({d.name: d.memory_limit_bytes for d in problem.devices})

    def show_state(self, *, message: str, stale: bool, trouble: str, infeasible: bool, running: bool) -> None:
        """Say what the timeline shows: `message` where there is no plan, a bar where the plan is not of now."""
        self.timeline.set_message(message)
        if trouble:
            text = f"{'There is no plan' if infeasible else 'No plan was found'}: {trouble}"
            old = " The plan below is the one from before." if stale else ""
            self.state.show_message(f"{text}{old}", "error", button="" if infeasible else "Plan again")
        elif stale:
            doing = "a new one is being looked for." if running else "press Plan for a new one."
            self.state.show_message(f"This plan is for the problem as it was before; {doing}", "warning")
        else:
            self.state.hide()
        self._place_state()

    def _place_state(self) -> None:
        width = min(_WIDEST, self.width() - 2 * _MARGIN)
        height = self.state.heightForWidth(width)
        self.state.setGeometry((self.width() - width) // 2, self.height() - height - _MARGIN, width, height)
