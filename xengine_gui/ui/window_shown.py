"""What the window shows of its document: which part is told what, and when."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QWidget

from xengine_gui.language import tr
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.timeline import Timeline
from xengine_gui.ui.selection_links import NEEDS_PLAN
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.words import READY, activity_of, message_of, trouble_of

if TYPE_CHECKING:
    from xengine_gui.ui.main_window import MainWindow

_DEAF = Qt.WidgetAttribute.WA_TransparentForMouseEvents
_SUMMED_EVERY_MS = 150
_RESTS_AFTER_MS = 150


class WindowShown(QObject):
    """Tells the panels of one window what there is to show."""

    def __init__(self, window: "MainWindow") -> None:
        super().__init__(window)
        self._window = window
        self._is_glance = False
        self._told: tuple[ShownPlan | None, Problem | None] | None = None
        self._summary = QTimer(self, interval=_SUMMED_EVERY_MS, singleShot=True)
        self._summary.timeout.connect(self.summary)
        self._rest = QTimer(self, interval=_RESTS_AFTER_MS, singleShot=True)
        self._rest.timeout.connect(self.rest)

    def work(self) -> None:
        """Something else is open, or the problem was edited."""
        window = self._window
        work, setup = window.document.work, window.document.setup
        window.left.devices.show_work(work, setup.devices)
        window.submenus.show_problem(None if work is None else work.problem)
        editable = work is None or work.setup is not None
        mode = window.submenus.show_mode(training=setup.training, optimizer=setup.optimizer)
        window.tools.show_setup(mode, setup.batch if work is None else work.batch, editable=editable)
        window.head.description.setText("" if work is None else work.description)
        self.session()
        network = None if work is None else work.network
        window.actions_by_key["sizes"].setEnabled(network is not None and bool(network.symbols))
        window.costing.show_enabled(window.actions_by_key)
        self.timeline()
        self.state()

    def what_if(self) -> None:
        """Something else is selected, which may be asked about."""
        model = self._window.links.model
        self._window.what_if.show_selection(model.current, model.shown)

    def session(self) -> None:
        """The session has another name, or is saved, or is not."""
        window, name = self._window, self._window.sessions.name
        window.setWindowTitle(f"{name}[*] · XEngine planner" if name else "XEngine planner")
        window.setWindowModified(window.sessions.modified)
        for key in ("save_session", "save_session_as"):
            window.actions_by_key[key].setEnabled(bool(name))

    def timeline(self) -> None:
        """Another plan is looked at, or on another clock."""
        window, shown = self._window, self._window.clock_view.shown
        work = window.document.work
        problem = None if work is None else work.problem
        if self._told is not None and self._told[0] is shown and self._told[1] is problem:
            return
        self._told, self._is_glance = (shown, problem), False
        self._take_mouse(takes=True)
        window.centre.show_plan(shown, problem)
        if window.planning.is_dragging and shown is not None:
            window.links.let_go()
            self._rest.start()
        else:
            self.rest()

    def rest(self) -> None:
        """Show the plan beside the timeline too; while a limit is dragged, only once it rests."""
        self._rest.stop()
        if self._told is not None:
            self._window.links.show_plan(*self._told)
            self._window.walk.show_plan(*self._told)

    def dragging(self, *, is_dragged: bool) -> None:
        """A limit is taken up, or let go of."""
        self._window.planning.is_dragging = is_dragged
        if not is_dragged and self._rest.isActive():
            self.rest()

    def glance(self, picture: Timeline | None) -> None:
        """A large plan is painted while it is judged: nothing is said of it, and nothing in it can be chosen.

        `None` where it will not be opened: what was there before is shown again.
        """
        if picture is None:
            if self._is_glance:
                self._told = None
                self.plan()
            return
        window, work = self._window, self._window.document.work
        problem = None if work is None else work.problem
        self._told, self._is_glance = None, True
        window.links.show_plan(None, problem)
        window.walk.show_plan(None, problem)
        window.centre.timeline.set_timeline(picture)
        self._take_mouse(takes=False)
        window.summary.show_plan(None, stale=False)
        window.left.devices.show_peaks({}, stale=False)
        self._enable(is_there=False)
        self.state()

    def _take_mouse(self, *, takes: bool) -> None:
        # Not by disabling the timeline, which would pass its focus on to another panel.
        self._window.centre.timeline.viewport().setAttribute(_DEAF, not takes)

    def plan(self) -> None:
        """There is another plan, or the plan is no longer of now."""
        window = self._window
        shown, stale = window.document.shown, window.document.stale
        window.clock_view.set_plan(shown)
        self.timeline()
        self.what_if()
        if not window.planning.is_dragging:
            self.summary()
        elif not self._summary.isActive():
            self._summary.start()
        window.left.devices.show_peaks({} if shown is None else shown.plan.peak_bytes, stale=stale)
        self._enable(is_there=shown is not None)
        self.state()

    def _enable(self, *, is_there: bool) -> None:
        for key in ("save_plan", "export_picture", "export_memory", *NEEDS_PLAN):
            self._window.actions_by_key[key].setEnabled(is_there)
        self._window.exporting.show_enabled(enabled=is_there)

    def summary(self) -> None:
        """The figures; while a limit is dragged only a few times a second, since the timeline goes first."""
        self._summary.stop()
        self._window.summary.show_plan(self._window.document.shown, stale=self._window.document.stale)

    def state(self) -> None:
        """Planning or reading has begun, ended, or come to trouble."""
        window = self._window
        planning, document = window.planning, window.document
        work, shown = document.work, document.shown
        window.actions_by_key["plan"].setEnabled(work is not None)
        window.actions_by_key["stop"].setEnabled(planning.running and not planning.stopping)
        window.centre.show_state(
            message=message_of(document, planning),
            stale=document.stale and not planning.at_once,
            trouble=bool(planning.trouble),
            running=planning.running,
            welcome=work is None and not document.busy,
        )
        judged = None if self._is_glance else shown
        window.status.show_plan(judged, stale=document.stale, trouble=trouble_of(planning))
        self.activity()

    def activity(self) -> None:
        """Time passes while something is being done."""
        window = self._window
        activity = tr("checking…") if self._is_glance else activity_of(window.document, window.planning)
        window.status.show_activity(tr("exporting…") if window.exporting.busy and activity == READY else activity)

    def below(self, panel: QWidget) -> None:
        """Bring a panel below to the front."""
        window = self._window
        if window.splitters["below"].isHidden():
            window.actions_by_key["show_below"].trigger()
        window.below.show_panel(panel)

    def most_recomputed(self) -> None:
        """Show the tensor table, the most recomputed first."""
        tensors = self._window.links.tensors
        tensors.filter.clear()
        tensors.sort_by("recomputed")
        self.below(tensors)
