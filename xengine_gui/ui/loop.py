"""The loop of work: an edit by drag, wheel or menu, a plan at once, the plan before as a ghost, and what differs."""

from pathlib import Path

from PySide6.QtCore import QEasingCurve, QElapsedTimer, QObject, QPoint, Qt, QTimer, QVariantAnimation, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QFileDialog, QTableView, QWidget

from xengine_gui import planner
from xengine_gui.errors import InputError
from xengine_gui.language import tr
from xengine_gui.model.plan import Compute, Plan
from xengine_gui.solve.compare import ComparedStrategy
from xengine_gui.ui.background import Background
from xengine_gui.ui.beside import BesideView
from xengine_gui.ui.checking import checked
from xengine_gui.ui.clock_view import ClockView
from xengine_gui.ui.document import Document
from xengine_gui.ui.ghost import GhostKeeper
from xengine_gui.ui.ghost_paint import paint_ghost
from xengine_gui.ui.models.rows_model import NAME_ROLE
from xengine_gui.ui.panels.constraint_menu import ConstraintMenu
from xengine_gui.ui.panels.difference import DifferencePanel
from xengine_gui.ui.panels.left import LeftPanel
from xengine_gui.ui.shown_plan import ShownPlan, UnlimitedTotal
from xengine_gui.ui.timeline.frame import Frame
from xengine_gui.ui.timeline.view import TimelineView

_DRAG_EVERY_MS = 40
_PLAN_AWAITED_MS = 120
"""So long a limit that the mouse has passed by is left in place for its plan, which a next edit would end."""
_LISTED_EVERY_MS = 150
_RESTS_MS = 800
_FADE_MS = 260


class Loop(QObject):
    """Owns the panels of constraints and differences and the ghost; the window gives them their places."""

    refused = Signal(str)
    """One sentence on why something was not done."""
    subject_chosen = Signal(str)
    """An operator or a tensor that is to be selected."""
    drag_changed = Signal(bool)
    """A limit begins to be dragged or turned, or is let go."""

    def __init__(
        self,
        document: Document,
        clock_view: ClockView,
        timeline: TimelineView,
        left: LeftPanel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._document, self._timeline = document, timeline
        self.ghosts = GhostKeeper(document, clock_view, self)
        self.constraints = left.constraints
        self.difference = DifferencePanel()
        self.beside = BesideView(timeline)
        self.menu: ConstraintMenu | None = None
        self._drag = _Drag(document, self)
        self._drag.active_changed.connect(self.drag_changed)
        self._drag.active_changed.connect(self._list)
        self._listing = QTimer(self, interval=_LISTED_EVERY_MS, singleShot=True)
        self._listing.timeout.connect(self._show_difference)
        self._reader = Background(self)
        self._strength = 1.0
        self._is_ghost_wanted = True
        self._fade = QVariantAnimation(self, duration=_FADE_MS, startValue=0.0, endValue=1.0)
        self._fade.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._fade.valueChanged.connect(self._set_strength)
        timeline.add_layer(self._paint)
        left.devices.limit_turned.connect(self._drag.turn)
        self._connect()

    def _connect(self) -> None:
        timeline, panel = self._timeline, self.difference
        timeline.limit_dragging.connect(self._drag.move)
        timeline.limit_dragged.connect(self._drag.end)
        timeline.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        timeline.customContextMenuRequested.connect(self._show_menu)
        self._document.work_changed.connect(self._show_constraints)
        self._document.plan_changed.connect(self._list)
        self.ghosts.changed.connect(self._ghost_changed)
        self.ghosts.refused.connect(self.refused)
        self.constraints.lift_asked.connect(self._document.lift)
        panel.ghost_toggled.connect(self._want_ghost)
        panel.beside_toggled.connect(self.beside.set_wanted)
        panel.keep_asked.connect(self._keep)
        panel.let_go_asked.connect(self.ghosts.let_go)
        panel.second_asked.connect(self.ask_for_second)
        panel.subject_chosen.connect(self._choose)

    # --- edits

    def menu_at(self, point: QPoint) -> ConstraintMenu | None:
        """The menu for what is under the mouse or else selected, `None` where that is nothing."""
        work, shown = self._document.work, self._timeline.timeline()
        event = self._timeline.hovered_event()
        if event < 0 and not self._timeline.viewport().rect().contains(point):
            event = self._timeline.selected_event()
        if work is None or shown is None or event < 0:
            return None
        menu = self.new_menu(self._timeline)
        if menu is not None:
            menu.add_for_event(shown.plan.events[event])
        return menu

    def new_menu(self, parent: QWidget) -> ConstraintMenu | None:
        """A menu to add operators and tensors to; `None` where nothing is open."""
        work = self._document.work
        if work is None:
            return None
        document = self._document
        return ConstraintMenu(
            work.free_problem, work.constraints, document.constrain, lambda c: document.lift((c,)), parent
        )

    def serve_tables(self, operators: QTableView, tensors: QTableView) -> None:
        """Open the same menu on the rows of the tables of operators and of tensors."""
        for table in (operators, tensors):
            table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
            table.customContextMenuRequested.connect(
                lambda point, t=table: self._pop_up(self.menu_of_row(t, point, is_operator=t is operators), t, point)
            )

    def menu_of_row(self, table: QTableView, point: QPoint, *, is_operator: bool) -> ConstraintMenu | None:
        """The menu of the row under a point."""
        name = table.indexAt(point).data(NAME_ROLE)
        menu = self.new_menu(table) if name else None
        if menu is not None and is_operator:
            menu.add_for_operator(name)
        elif menu is not None:
            menu.add_for_tensor(name)
        return menu

    def _show_menu(self, point: QPoint) -> None:
        self._pop_up(self.menu_at(point), self._timeline, point)

    def _pop_up(self, menu: ConstraintMenu | None, view: QAbstractScrollArea, point: QPoint) -> None:
        if self.menu is not None:
            self.menu.deleteLater()
        self.menu = menu
        if menu is not None:
            menu.popup(view.viewport().mapToGlobal(point))

    def _show_constraints(self) -> None:
        work = self._document.work
        self.constraints.show_constraints(() if work is None else work.constraints, {} if work is None else work.idle)

    # --- two plans

    def ask_for_second(self) -> None:
        """Ask for a plan to compare the shown one with."""
        work = self._document.work
        if work is None or self._document.shown is None:
            self.refused.emit(tr("Open and plan something first; then a second plan of it can be opened."))
            return
        text, _ = QFileDialog.getOpenFileName(
            self._timeline, tr("Open second plan"), str(work.path.parent), tr("Plans (*.json);;All files (*)")
        )
        if text:
            self.open_second(Path(text))

    def open_second(self, path: Path) -> None:
        """Compare the shown plan with the one in a file."""

        def read() -> ShownPlan:
            opened = planner.open_file(path)
            found = checked(path, opened) if isinstance(opened, Plan) else None
            if found is None:
                raise InputError(path.name, "holds no plan to compare with")
            return found

        self._reader.run(read, lambda shown: self.ghosts.compare_with(shown, path.name), self.refused.emit)

    def take_pair(self, before: ComparedStrategy | None, after: ComparedStrategy | None) -> None:
        """Two plans were chosen in the table of strategies: the first is compared with, the second is shown."""
        plan = None if before is None or after is None else before.plan
        if plan is None or before is None:
            return
        title = before.title
        self._reader.run(
            lambda: ShownPlan.of(plan, UnlimitedTotal().of(plan.problem)),
            lambda shown: self.ghosts.compare_with(shown, title),
            lambda _sentence: None,
        )

    def close(self) -> None:
        """End what is being made."""
        self.ghosts.close()
        self._reader.close()
        self.beside.end()
        self._listing.stop()
        self._fade.stop()

    def _keep(self) -> None:
        shown = self._document.shown
        if shown is not None:
            self.ghosts.compare_with(shown, tr("kept plan of {strategy}", strategy=shown.plan.strategy))

    def _choose(self, subject: str) -> None:
        """Select the first event that a change is about."""
        shown = self._timeline.timeline()
        events = () if shown is None else shown.plan.events
        about = [i for i, e in enumerate(events) if subject == (e.operator if isinstance(e, Compute) else e.tensor)]
        again = [i for i in about if events[i].kind == "recompute"]
        if about:
            self._timeline.select_event((again or about)[0])
        self.subject_chosen.emit(subject)

    # --- the ghost

    def _ghost_changed(self) -> None:
        ghost = self.ghosts.ghost
        self.beside.show_ghost(ghost)
        self._list()
        if ghost is not None and self._is_ghost_wanted and not self._drag.active:
            self._fade.stop()
            self._fade.start()
        else:
            self._set_strength(1.0)

    def _list(self) -> None:
        """Tell what differs: at once, or while a limit is dragged a few times a second, since plans go first."""
        if not self._drag.active:
            self._show_difference()
        elif not self._listing.isActive():
            self._listing.start()

    def _show_difference(self) -> None:
        self._listing.stop()
        can_keep = self._document.shown is not None and not self._document.stale
        self.difference.show_ghost(self.ghosts.ghost, is_fixed=self.ghosts.is_fixed, can_keep=can_keep)

    def _want_ghost(self, wanted: bool) -> None:  # noqa: FBT001 - a slot
        self._is_ghost_wanted = wanted
        self._timeline.repaint_all()

    def _set_strength(self, strength: float) -> None:
        self._strength = strength
        self._timeline.repaint_all()

    def _paint(self, painter: QPainter, frame: Frame) -> None:
        ghost = self.ghosts.ghost
        if ghost is not None and self._is_ghost_wanted:
            paint_ghost(painter, frame, ghost, self._strength)


class _Drag(QObject):
    """Turns the many steps of a drag or of a wheel into few edits that are undone as one."""

    active_changed = Signal(bool)

    def __init__(self, document: Document, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._gesture = 0
        self._waiting: tuple[str, int | None] | None = None
        self.active = False
        self._wheeled = ""
        self._pace = QTimer(self, interval=_DRAG_EVERY_MS, singleShot=True)
        self._pace.timeout.connect(self._next)
        self._since_edit = QElapsedTimer()
        document.plan_changed.connect(self._plan_changed)
        document.opened.connect(lambda _path: self.give_up())
        self._rest = QTimer(self, interval=_RESTS_MS, singleShot=True)
        self._rest.timeout.connect(self._rested)

    def move(self, device: str, memory_limit_bytes: int | None) -> None:
        """The line is here now."""
        if not self.active:
            self._begin()
        self._waiting = device, memory_limit_bytes
        self._rest.start()
        if not self._pace.isActive():
            self._apply()

    def end(self, device: str, memory_limit_bytes: int | None) -> None:
        """The line was let go."""
        if not self.active:
            self._begin()
        self._waiting = device, memory_limit_bytes
        self._apply()
        self._stop()

    def turn(self, device: str, memory_limit_bytes: int) -> None:
        """A wheel has turned over a field; turns that follow soon go on with the same edit."""
        if device != self._wheeled:
            self._stop()
        self.move(device, memory_limit_bytes)
        self._wheeled = device

    def give_up(self) -> None:
        """Another file is open: what waits was meant for the one before."""
        self._waiting = None
        if self.active:
            self._stop()

    def _begin(self) -> None:
        self._gesture += 1
        self.active = True
        self.active_changed.emit(self.active)

    def _rested(self) -> None:
        """Nothing has moved for a while: with the mouse let go that is all (a drag taken back says no more)."""
        if QApplication.mouseButtons() == Qt.MouseButton.NoButton:
            self._stop()
        else:
            self._rest.start()

    def _stop(self) -> None:
        self._apply()
        self._pace.stop()
        self._rest.stop()
        self.active, self._wheeled = False, ""
        self.active_changed.emit(self.active)

    def _next(self) -> None:
        """Edit again, once the plan of the last edit is there or has been waited for long enough."""
        if self._waiting is None:
            return
        if self._document.stale and self._since_edit.elapsed() < _PLAN_AWAITED_MS:
            self._pace.start(_PLAN_AWAITED_MS - self._since_edit.elapsed())
        else:
            self._apply()

    def _plan_changed(self) -> None:
        if self.active and self._waiting is not None and not self._document.stale:
            # The plan is painted before the next one is asked for.
            self._pace.start(0 if self._since_edit.elapsed() >= _DRAG_EVERY_MS else _DRAG_EVERY_MS)

    def _apply(self) -> None:
        waiting, self._waiting = self._waiting, None
        work = self._document.work
        # A device may be gone since: its edit may have been undone meanwhile.
        if waiting is not None and work is not None and any(d.name == waiting[0] for d in work.problem.devices):
            self._pace.start(_DRAG_EVERY_MS)
            self._since_edit.start()
            self._document.set_limit(*waiting, self._gesture)
