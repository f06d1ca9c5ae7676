"""The middle of the window: the timeline, and above it what has to be said about it."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent

from xengine_gui.model.problem import Problem
from xengine_gui.ui.panels.message_bar import MessageBar
from xengine_gui.ui.panels.parts import Panel, column
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.timeline.view import TimelineView

_MARGIN = 16


class CentrePanel(Panel):
    """A bar for errors, one for why there is no plan, the timeline, and over it a note when its plan is an old one."""

    retry_asked = Signal()

    def __init__(self) -> None:
        super().__init__("centre-panel")
        self.error = MessageBar("error-bar", closable=True, inset=True)
        self.trouble = MessageBar("trouble-bar", closable=False, inset=True)
        self.trouble.button_clicked.connect(self.retry_asked)
        self.state = MessageBar("state-bar", closable=False, inset=False)
        self.timeline = TimelineView()
        layout = column(self.error, self.trouble, self.timeline, spacing=0)
        layout.setStretch(2, 1)
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
        timeline = None if shown is None else shown.timeline
        if timeline is not self.timeline.timeline():
            self.timeline.set_timeline(timeline)
        if shown is not None and problem is not None:
            self.timeline.set_limits({d.name: d.memory_limit_bytes for d in problem.devices})

    def show_state(self, *, message: str, stale: bool, trouble: str, infeasible: bool, running: bool) -> None:
        """Say what the timeline shows: `message` where there is no plan, a bar where the plan is not of now."""
        self.timeline.set_message(message)
        if trouble:
            old = " The plan below is the one from before." if stale else ""
            self.trouble.show_message(f"{trouble}{old}", "error", button="" if infeasible else "Plan again")
        else:
            self.trouble.hide()
        if stale and not trouble:
            doing = "a new one is being looked for." if running else "press Plan for a new one."
            self.state.show_message(f"This plan is for the problem as it was before; {doing}", "warning")
        else:
            self.state.hide()
        self._place_state()

    def _place_state(self) -> None:
        width = min(self.state.line_width, self.width() - 2 * _MARGIN)
        height = self.state.heightForWidth(width)
        self.state.setGeometry((self.width() - width) // 2, self.height() - height - _MARGIN, width, height)
