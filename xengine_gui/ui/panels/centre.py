"""The middle of the window: the timeline, and above it what has to be said about it."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QWidget

from xengine_gui.language import tr
from xengine_gui.model.problem import Problem
from xengine_gui.ui.panels.message_bar import MessageBar
from xengine_gui.ui.panels.messages import Messages
from xengine_gui.ui.panels.parts import Panel, column, row
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.theme import set_style_property
from xengine_gui.ui.timeline.overview import OverviewBar
from xengine_gui.ui.timeline.transition import Transition
from xengine_gui.ui.timeline.view import TimelineView

_MARGIN = 16
_LOW = 580


class CentrePanel(Panel):
    """A bar for errors, one for why there is no plan, the timeline, and over it a note when its plan is an old one."""

    open_asked = Signal()
    demo_asked = Signal()

    def __init__(self) -> None:
        super().__init__("centre-panel")
        self.error = MessageBar("error-bar", closable=True, inset=True)
        self.trouble = MessageBar("trouble-bar", closable=False, inset=True)
        self.state = MessageBar("state-bar", closable=False, inset=False)
        self.timeline = TimelineView()
        self.transition = Transition(self.timeline)
        self.overview = OverviewBar(self.timeline)
        self.messages = Messages((self.error, self.trouble))
        self._column = column(self.messages, self.overview, self.timeline, spacing=0)
        self._column.setStretch(2, 2)
        self._shows_timeline, self._is_shared = True, False
        self.setLayout(self._column)
        # It floats over the timeline, which would jump twice with every edit if the bar took room from it.
        self.state.setParent(self)
        self.state.raise_()
        self.welcome = self._welcome()
        self._foot = QWidget(self)

    def add_head(self, head: QWidget) -> None:
        """Put something above everything."""
        self._column.insertWidget(0, head)

    def add_below(self, view: QWidget) -> None:
        """Put another view below the timeline, with less room: it has no devices to show one below the other."""
        self._column.addWidget(view, 1)

    def add_foot(self, bar: QWidget) -> None:
        """Put a bar below everything, as high as it wants to be."""
        self._column.addWidget(bar)
        self._foot = bar

    def show_timeline(self, *, visible: bool, is_shared: bool = False) -> None:
        """Show the timeline, alone or sharing the room, or leave its room to another view."""
        self._shows_timeline, self._is_shared = visible, is_shared
        self.timeline.setVisible(visible)
        self._show_overview()

    def _show_overview(self) -> None:
        """The overview gives way where timeline and graph share too little."""
        self.overview.setVisible(self._shows_timeline and not (self._is_shared and self.height() < _LOW))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the floating bar at the bottom, and the buttons below the words of the empty view."""
        super().resizeEvent(event)
        self._show_overview()
        self._place_state()
        self._place_welcome()

    def show_plan(self, shown: ShownPlan | None, problem: Problem | None) -> None:
        """Paint a plan, with the limit lines where they are now, whatever they were when it was made."""
        timeline = None if shown is None else shown.timeline
        if timeline is not self.timeline.timeline():
            self.timeline.set_timeline(timeline)
        if shown is not None and problem is not None:
            self.timeline.set_limits({d.name: d.memory_limit_bytes for d in problem.devices})

    def show_state(self, *, message: str, stale: bool, trouble: bool, running: bool, welcome: bool) -> None:
        """Say what the timeline shows: `message` where there is no plan, a bar where the plan is not of now.

        With `welcome` two buttons offer how to begin.
        """
        self.timeline.set_message(message)
        self.welcome.setVisible(welcome)
        self._place_welcome()
        if stale and trouble:
            self.state.show_message(tr("This plan is the one from before, for other limits."), "warning")
        elif stale:
            doing = tr("a new one is being looked for.") if running else tr("press Plan for a new one.")
            self.state.show_message(
                tr("This plan is for the problem as it was before; {doing}", doing=doing), "warning"
            )
        else:
            self.state.hide()
        self._place_state()

    def _place_state(self) -> None:
        width = min(self.state.line_width, self.width() - 2 * _MARGIN)
        height = self.state.sizeHint().height()
        bottom = self.height() - (self._foot.sizeHint().height() if self._foot.isVisible() else 0)
        self.state.setGeometry((self.width() - width) // 2, bottom - height - _MARGIN, width, height)

    def _welcome(self) -> QWidget:
        buttons = QWidget(self)
        choose, demo = QPushButton(tr("Open…")), QPushButton(tr("Show the demo"))
        set_style_property(choose, "primary", value=True)
        choose.setToolTip(tr("Open a network, a problem or a plan (Ctrl+O)"))
        demo.setToolTip(tr("Plan the training of ResNet-50 on a laptop that is too small for it"))
        choose.clicked.connect(self.open_asked)
        demo.clicked.connect(self.demo_asked)
        buttons.setLayout(row(choose, demo, spacing=10))
        return buttons

    def _place_welcome(self) -> None:
        size = self.welcome.sizeHint()
        middle = self.timeline.geometry().center()
        # The words of the empty view are centred; half of them and a gap lie between.
        below = round(self.fontMetrics().lineSpacing() * 3.9) + 26
        self.welcome.setGeometry(middle.x() - size.width() // 2, middle.y() + below, size.width(), size.height())
