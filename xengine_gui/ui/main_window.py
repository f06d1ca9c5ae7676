"""The window: panels around the timeline, and what connects them to the document and to planning."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QMainWindow, QSplitter, QWidget

from xengine_gui import planner
from xengine_gui.importers.costed.fields import MappingWantedError
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.model.plan import Clock
from xengine_gui.session import SUFFIX as SESSION
from xengine_gui.session import Session
from xengine_gui.ui import file_actions
from xengine_gui.ui.actions import build_actions, fill_menu_bar, group_menus
from xengine_gui.ui.clock_view import ClockView
from xengine_gui.ui.costing import Costing
from xengine_gui.ui.dialogs.help import AboutDialog, KeysDialog
from xengine_gui.ui.dialogs.mapping import MappingDialog
from xengine_gui.ui.dialogs.sizes import SizesDialog
from xengine_gui.ui.document import Document
from xengine_gui.ui.exporting import Exporting
from xengine_gui.ui.graph_wiring import GraphWiring, graph_slots
from xengine_gui.ui.link_editing import LinkEditing
from xengine_gui.ui.loop import Loop
from xengine_gui.ui.menus import SubMenus
from xengine_gui.ui.panels.below import BelowTabs
from xengine_gui.ui.panels.centre import CentrePanel
from xengine_gui.ui.panels.head import Head
from xengine_gui.ui.panels.left import LeftPanel
from xengine_gui.ui.panels.log import LogPanel
from xengine_gui.ui.panels.progress import ProgressPanel
from xengine_gui.ui.panels.selection import SelectionPanel
from xengine_gui.ui.panels.status import StatusLine
from xengine_gui.ui.panels.summary import SummaryPanel
from xengine_gui.ui.plan_runner import PlanRunner, instant_runner
from xengine_gui.ui.planning import Planning
from xengine_gui.ui.selection_links import NEEDS_PLAN, SelectionLinks, selection_slots
from xengine_gui.ui.session_bars import SessionBars
from xengine_gui.ui.session_keeper import SessionKeeper
from xengine_gui.ui.session_work import proposed_file
from xengine_gui.ui.settings import load_settings, save_settings
from xengine_gui.ui.shortages import Shortages
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.studies import Studies
from xengine_gui.ui.text_size import scale_text
from xengine_gui.ui.theme import apply_theme, chosen_theme
from xengine_gui.ui.timeline.marks import MOUSE_TITLES, MouseStyle
from xengine_gui.ui.toolbar import ToolBar
from xengine_gui.ui.what_if import WhatIf
from xengine_gui.ui.window_place import put_in_place, with_place
from xengine_gui.ui.words import activity_of, message_of, trouble_of
from xengine_gui.ui.work import Setup

_SPLITS = {"columns": (272, 870, 300), "rows": (620, 250), "below": (360, 1080)}


class MainWindow(QMainWindow):
    """The planner's window. `runner` may be given, for tests."""

    def __init__(self, *, runner: PlanRunner | None = None) -> None:
        super().__init__()
        self.setObjectName("main-window")
        self.setWindowTitle("XEngine planner")
        self.setAcceptDrops(True)
        self.settings = load_settings()
        self.document = Document(Setup(planner.DEFAULT_DEVICES), self)
        self.clock_view = ClockView(self)
        self.planning = Planning(self.document, runner or PlanRunner(self), self)
        if runner is None:
            self.planning.use_instant(instant_runner(self))
        self.costing = Costing(self.document, self)
        self.actions_by_key = build_actions(self, self._slots())
        self.submenus = SubMenus(self)
        self.exporting = Exporting(self, self._to_export)
        menus = self.submenus.menus
        menus.update({"export": self.exporting.menu, **group_menus(self, self.actions_by_key)})
        self.tools = ToolBar(self.actions_by_key, menus["strategy"], menus["mode"], menus["clock"])
        self.left = LeftPanel()
        self.link_editing = LinkEditing(self.document, self.left.links, self)
        self.centre = CentrePanel()
        self.sessions = SessionKeeper(self.document, self.planning, self.clock_view, self.centre.timeline, self)
        self.session_bars = SessionBars(self.sessions)
        self.selection = SelectionPanel()
        self.links = SelectionLinks(self, self.centre.timeline, self.selection)
        self.loop = Loop(self.document, self.clock_view, self.centre.timeline, self.left, self)
        self.centre.add_below(self.loop.beside)
        self.shortages = Shortages(self.document, self.planning, self.centre.timeline, self.centre.trouble, self)
        self.what_if = WhatIf(self.document, self.planning, self)
        self.selection.add_below_reasons(self.what_if.panel)
        self.walk = GraphWiring(self, self.centre, self.links.model)
        self.walk.serve_menu(self.loop.new_menu)
        self.progress = ProgressPanel()
        self.summary = SummaryPanel()
        self.log = LogPanel()
        self.studies = Studies(self.document, self.planning, self)
        self.below = BelowTabs(
            {
                "Summary": self.summary,
                "Operators": self.links.operators,
                "Tensors": self.links.tensors,
                "Compare": self.studies.compare,
                "Sweep": self.studies.sweep,
                "Difference": self.loop.difference,
                "Log": self.log,
            }
        )
        self.status = StatusLine()
        self.head = Head()
        self._splitters: dict[str, QSplitter] = {}
        self._arrange()
        self._connect()
        self._restore()
        self._show_work()
        self._show_plan()
        self.centre.timeline.setFocus()
        QTimer.singleShot(0, self.session_bars, self.session_bars.offer_leftover)

    # --- what others ask of the window

    def open_file(self, path: Path) -> None:
        """Open a file, beside the window."""
        self.centre.error.hide()
        if path.suffix.lower() == SESSION:
            self.sessions.open(path)
        else:
            self.document.open(path)
        self._show_state()

    def open_demo(self) -> None:
        """Open the bundled network under its limits and plan it."""
        demo = planner.DEMO
        self.centre.error.hide()
        self._choose_options(gap_ratio=demo.gap_ratio)
        self.submenus.show_options(demo.gap_ratio, self.planning.options.time_limit_s)
        setup = Setup(demo.devices, training=demo.training, optimizer=demo.optimizer, batch=demo.batch)
        self.document.open(demo.path, setup)
        self._show_state()

    # --- building

    def _slots(self) -> Mapping[str, Callable[[], object]]:
        return {
            "open": self._ask_for_file,
            "demo": self.open_demo,
            "save_session": self._save_session,
            "save_session_as": self._save_session_as,
            "open_second": lambda: self.loop.ask_for_second(),  # noqa: PLW0108 - made before the panels are
            "save_plan": self._save_plan,
            "export_picture": lambda: self.walk.ask_for_picture(self.exporting),
            "quit": self.close,
            "plan": self.planning.plan,
            "stop": self.planning.stop,
            "plan_on_change": self._toggle_plan_on_change,
            **selection_slots(
                lambda: self.links,
                lambda: self.centre.timeline,
                lambda: self.actions_by_key["stack_memory"].isChecked(),  # noqa: PLW0108 - made after the slots
            ),
            **graph_slots(lambda: self.walk),
            "show_left": lambda: self._toggle(self.left),
            "show_right": lambda: self._toggle(self.selection),
            "show_below": lambda: self._toggle(self._splitters["below"]),
            "show_compare": lambda: self._show_below(self.studies.compare),
            "show_sweep": lambda: self._show_below(self.studies.sweep),
            "show_operators": lambda: self._show_below(self.links.operators),
            "show_tensors": lambda: self._show_below(self.links.tensors),
            "larger_text": lambda: scale_text(1),
            "smaller_text": lambda: scale_text(-1),
            "usual_text": lambda: scale_text(0),
            "sizes": self._ask_for_sizes,
            **self.costing.slots(),
            "keys": lambda: KeysDialog(self).exec(),
            "about": lambda: AboutDialog(self).exec(),
        }

    def _arrange(self) -> None:
        actions = self.actions_by_key
        undo = self.document.undo_stack.createUndoAction(self)
        redo = self.document.undo_stack.createRedoAction(self)
        undo.setShortcut("Ctrl+Z")
        redo.setShortcuts([QKeySequence("Ctrl+Shift+Z"), QKeySequence("Ctrl+Y")])
        every = {**actions, "undo": undo, "redo": redo}
        fill_menu_bar(self.head.menu_bar, every, self.submenus.menus)
        self.links.set_commands(every, self.submenus.menus)
        self.setMenuWidget(self.head)
        self.addToolBar(self.tools)
        below = self._split("below", Qt.Orientation.Horizontal, self.progress, self.below)
        columns = self._split("columns", Qt.Orientation.Horizontal, self.left, self.centre, self.selection)
        rows = self._split("rows", Qt.Orientation.Vertical, columns, below)
        columns.setStretchFactor(1, 1)
        rows.setStretchFactor(0, 1)
        self.setCentralWidget(rows)
        for bars in (self.costing.outdated, self.session_bars):
            self.centre.add_bars(bars)
        self.setStatusBar(self.status)
        for key in ("show_left", "show_right", "show_below", "plan_on_change"):
            actions[key].setChecked(True)

    def _split(self, name: str, orientation: Qt.Orientation, *parts: QWidget) -> QSplitter:
        splitter = QSplitter(orientation, childrenCollapsible=False, handleWidth=1)
        for part in parts:
            splitter.addWidget(part)
        splitter.setSizes(list(_SPLITS[name]))
        self._splitters[name] = splitter
        return splitter

    def _connect(self) -> None:
        document, planning, devices = self.document, self.planning, self.left.devices
        document.work_changed.connect(self.centre.error.hide)
        document.work_changed.connect(self._show_work)
        document.plan_changed.connect(self._show_plan)
        self.clock_view.changed.connect(self._show_timeline)
        document.busy_changed.connect(self._show_state)
        self.costing.report_changed.connect(self.status.show_report)
        self.status.report.clicked.connect(self.costing.show_report)
        document.refused.connect(lambda sentence: self.centre.error.show_message(sentence, "error"))
        document.opened.connect(self._remember)
        document.open_failed.connect(self._open_failed)
        document.sizes_wanted.connect(self._ask_for_sizes)
        document.mapping_wanted.connect(self._ask_for_mapping)
        planning.state_changed.connect(self._show_state)
        planning.progressed.connect(self.progress.add)
        planning.ticked.connect(self.progress.tick)
        planning.ticked.connect(lambda _elapsed_s: self._show_activity())
        planning.logged.connect(self.log.add)
        planning.runner.started.connect(self.progress.begin)
        planning.runner.found.connect(self.progress.add_found)
        planning.looking_changed.connect(lambda: self.progress.show_looked_at(planning.looked_at))
        self.progress.look_asked.connect(planning.look_at)
        self.progress.live_asked.connect(planning.back_to_live)
        self.studies.told.connect(self.log.add)
        self.studies.refused.connect(lambda sentence: self.centre.error.show_message(sentence, "error"))
        devices.limit_edited.connect(document.set_limit)
        devices.preset_chosen.connect(document.set_preset)
        devices.remove_asked.connect(document.remove_device)
        devices.add_asked.connect(document.add_device)
        self.loop.drag_changed.connect(lambda dragging: setattr(planning, "is_dragging", dragging))
        self.links.model.changed.connect(self._ask_what_if)
        self.loop.serve_tables(self.links.operators.table, self.links.tensors.table)
        self.what_if.told.connect(self.log.add)
        self.loop.refused.connect(lambda sentence: self.centre.error.show_message(sentence, "error"))
        self.studies.compare.pair_chosen.connect(self.loop.take_pair)
        self.centre.open_asked.connect(self._ask_for_file)
        self.centre.demo_asked.connect(self.open_demo)
        self.tools.batch_edited.connect(
            lambda batch: document.edit_setup(f"batch {batch}", lambda s: replace(s, batch=batch))
        )
        self.summary.tensor_chosen.connect(self.links.model.select_tensor)
        self.summary.table_asked.connect(self._show_most_recomputed)
        self._connect_menus()
        self._connect_sessions()

    def _connect_sessions(self) -> None:
        self.exporting.busy_changed.connect(self._show_activity)
        self.exporting.said.connect(self.centre.error.hide)
        self.sessions.taken.connect(self._take_session)
        self.sessions.state_changed.connect(self._show_session)
        for one in (self.sessions, self.exporting):
            one.said.connect(self.log.add)
            one.failed.connect(lambda sentence: self.centre.error.show_message(sentence, "error"))

    def _connect_menus(self) -> None:
        menus, document = self.submenus, self.document
        menus.file_chosen.connect(self.open_file)
        menus.strategy_chosen.connect(self._choose_strategy)
        menus.theme_chosen.connect(self._choose_theme)
        menus.clock_chosen.connect(lambda key: self._choose_clock(Clock(key)))
        menus.mouse_chosen.connect(self._choose_mouse)
        menus.gap_chosen.connect(lambda gap: self._choose_options(gap_ratio=gap))
        menus.time_chosen.connect(lambda time_s: self._choose_options(time_limit_s=time_s))
        menus.mode_chosen.connect(
            lambda training, optimizer: document.edit_setup(
                "training" if training else "inference",
                lambda s: replace(s, training=training, optimizer=optimizer),
            )
        )

    # --- showing

    def _show_work(self) -> None:
        work, setup = self.document.work, self.document.setup
        self.left.devices.show_work(work, setup.devices)
        self.submenus.show_problem(None if work is None else work.problem)
        editable = work is None or work.setup is not None
        mode = self.submenus.show_mode(training=setup.training, optimizer=setup.optimizer)
        self.tools.show_setup(mode, setup.batch if work is None else work.batch, editable=editable)
        self.head.description.setText("" if work is None else work.description)
        self._show_session()
        self.actions_by_key["sizes"].setEnabled(
            work is not None and work.network is not None and bool(work.network.symbols)
        )
        self.costing.show_enabled(self.actions_by_key)
        self._show_timeline()
        self._show_state()

    def _ask_what_if(self) -> None:
        self.what_if.show_selection(self.links.model.current, self.links.model.shown)

    def _show_session(self) -> None:
        name = self.sessions.name
        self.setWindowTitle(f"{name}[*] · XEngine planner" if name else "XEngine planner")
        self.setWindowModified(self.sessions.modified)
        for key in ("save_session", "save_session_as"):
            self.actions_by_key[key].setEnabled(bool(name))

    def _show_timeline(self) -> None:
        work, shown = self.document.work, self.clock_view.shown
        problem = None if work is None else work.problem
        self.centre.show_plan(shown, problem)
        self.links.show_plan(shown, problem)
        self.walk.show_plan(shown, problem)

    def _show_plan(self) -> None:
        shown, stale = self.document.shown, self.document.stale
        self.clock_view.set_plan(shown)
        self._show_timeline()
        self._ask_what_if()
        self.summary.show_plan(shown, stale=stale)
        self.left.devices.show_peaks({} if shown is None else shown.plan.peak_bytes, stale=stale)
        for key in ("save_plan", "export_picture", *NEEDS_PLAN):
            self.actions_by_key[key].setEnabled(shown is not None)
        self.exporting.show_enabled(enabled=shown is not None)
        self._show_state()

    def _show_state(self) -> None:
        planning, document = self.planning, self.document
        work, shown = document.work, document.shown
        self.actions_by_key["plan"].setEnabled(work is not None)
        self.actions_by_key["stop"].setEnabled(planning.running and not planning.stopping)
        self.centre.show_state(
            message=message_of(document, planning),
            stale=document.stale and not planning.at_once,
            trouble=bool(planning.trouble),
            running=planning.running,
            welcome=work is None and not document.busy,
        )
        self.status.show_plan(shown, stale=document.stale, trouble=trouble_of(planning))
        self._show_activity()

    def _show_activity(self) -> None:
        activity = activity_of(self.document, self.planning)
        self.status.show_activity("exporting…" if self.exporting.busy and activity == "ready" else activity)

    # --- doing

    def _ask_for_file(self) -> None:
        work = self.document.work
        path = file_actions.ask_for_file(self, Path.cwd() if work is None else work.path.parent)
        if path is not None:
            self.open_file(path)

    def _open_failed(self, path: Path, sentence: str) -> None:
        self.settings = self.settings.without_recent(path)
        self.submenus.show_recent(self.settings.recent)
        told = sentence if path.name in sentence else f"{path}: {sentence}"
        self.centre.error.show_message(told, "error")
        self.log.add(f"not opened: {told}")
        self._show_state()

    def _remember(self, path: Path) -> None:
        self.settings = self.settings.with_recent(path)
        self.submenus.show_recent(self.settings.recent)
        work = self.document.work
        self.log.add(f"opened {path}")
        if work is not None and work.note:
            self.centre.error.show_message(work.note, "warning")
            self.log.add(work.note)
        if work is not None and work.network is not None:
            for note in work.report:
                self.log.add(note)
        self._keep()

    def _ask_for_sizes(self, path: Path | None = None, network: NetworkGraph | None = None) -> None:
        work, again = self.document.work, network is None
        if network is None and work is not None:
            path, network = work.path, work.network
        if path is None or network is None:
            return
        dialog = SizesDialog(network, self.settings.bindings, self)
        if dialog.exec():
            self.settings = replace(self.settings, bindings={**self.settings.bindings, **dialog.bindings})
            sizes = {**(self.document.setup.sizes if again else {}), **dialog.sizes}
            given = replace(self.document.setup, bindings=dialog.bindings, sizes=sizes, mapping={})
            self.document.open(path, given)

    def _ask_for_mapping(self, path: Path, wanted: MappingWantedError) -> None:
        dialog = MappingDialog(wanted, path.name, self)
        if dialog.exec():
            given = replace(self.document.setup, batch=None, bindings={}, sizes={}, mapping=dialog.mapping)
            self.document.open(path, given)

    def _save_plan(self) -> None:
        shown, work = self.document.shown, self.document.work
        if shown is not None and work is not None:
            self.exporting.ask_for_plan_file(shown, work.path.parent)

    def _to_export(self) -> tuple[ShownPlan, Path] | None:
        """The plan as the timeline shows it, and the folder to propose."""
        shown, work = self.clock_view.shown, self.document.work
        return None if shown is None or work is None else (shown, work.path.parent)

    def _save_session(self) -> None:
        if self.sessions.path is None:
            self._save_session_as()
        else:
            self.sessions.save(self.sessions.path)

    def _save_session_as(self) -> None:
        draft = self.sessions.draft()
        if draft is None:
            return
        path = file_actions.ask_for_session_file(self, self.sessions.path or proposed_file(draft.session, SESSION))
        if path is not None:
            self.sessions.save(path)
            self.settings = self.settings.with_recent(path)
            self.submenus.show_recent(self.settings.recent)
            self._keep()

    def _take_session(self, session: Session) -> None:
        """Put on what a session says besides its problem and its plan; the theme only until the window closes."""
        planning, view = self.planning, session.view
        if session.strategy in [action.data() for action in self.submenus.menus["strategy"].actions()]:
            planning.strategy = session.strategy
            self.tools.show_strategy(self.submenus.show_strategy(session.strategy))
        self._choose_options(gap_ratio=session.gap_ratio, time_limit_s=session.time_limit_s)
        self.submenus.show_options(session.gap_ratio, session.time_limit_s)
        self._choose_clock(view.clock)
        app = QApplication.instance()
        if view.theme and view.theme != chosen_theme() and isinstance(app, QApplication):
            apply_theme(app, view.theme)  # type: ignore[arg-type]
            self.submenus.show_theme(view.theme)

    def _choose_strategy(self, key: str) -> None:
        self.planning.strategy = key
        self.tools.show_strategy(self.submenus.show_strategy(key))
        if self.planning.plan_on_change or self.planning.running:
            self.planning.plan()

    def _choose_options(self, **changes: float | None) -> None:
        self.planning.options = replace(self.planning.options, **changes)  # type: ignore[arg-type]

    def _choose_clock(self, clock: Clock) -> None:
        self.clock_view.set_clock(clock)
        self.submenus.show_clock(clock.value)
        self.tools.show_clock(clock.value.capitalize())

    def _choose_mouse(self, style: str) -> None:
        self.centre.timeline.set_mouse_style(MouseStyle(style))
        self.submenus.show_mouse(style)
        if style != self.settings.mouse:
            self.settings = replace(self.settings, mouse=style)
            self._keep()

    def _choose_theme(self, choice: str) -> None:
        app = QApplication.instance()
        if isinstance(app, QApplication):
            apply_theme(app, choice)  # type: ignore[arg-type]
        self.settings = replace(self.settings, theme=choice)
        self.submenus.show_theme(choice)
        self._keep()

    def _toggle_plan_on_change(self) -> None:
        self.planning.plan_on_change = self.actions_by_key["plan_on_change"].isChecked()

    @staticmethod
    def _toggle(part: QWidget) -> None:
        part.setVisible(part.isHidden())

    def _show_below(self, panel: QWidget) -> None:
        if self._splitters["below"].isHidden():
            self.actions_by_key["show_below"].trigger()
        self.below.show_panel(panel)

    def _show_most_recomputed(self) -> None:
        self.links.tensors.filter.clear()
        self.links.tensors.sort_by("recomputed")
        self._show_below(self.links.tensors)

    # --- remembering

    def _restore(self) -> None:
        settings = self.settings
        planning = self.planning
        known = [a.data() for a in self.submenus.menus["strategy"].actions()]
        if settings.strategy in known:
            planning.strategy = settings.strategy
        elif planning.strategy not in known:
            planning.strategy = known[0]
        self.tools.show_strategy(self.submenus.show_strategy(planning.strategy))
        planning.plan_on_change = settings.plan_on_change
        self.actions_by_key["plan_on_change"].setChecked(settings.plan_on_change)
        self.submenus.show_options(planning.options.gap_ratio, planning.options.time_limit_s)
        self.submenus.show_theme(settings.theme)
        self._choose_clock(self.clock_view.clock)
        self._choose_mouse(settings.mouse if settings.mouse in MOUSE_TITLES else MouseStyle.MAP.value)
        self.actions_by_key["stack_memory"].setChecked(settings.stack_memory)
        self.centre.timeline.set_stacked(settings.stack_memory)
        self.submenus.show_recent(settings.recent)
        samples = (*planner.sample_networks(), *planner.sample_problems(), *planner.sample_sessions())
        self.submenus.show_samples(samples)
        put_in_place(self, self._splitters, settings)

    def _keep(self) -> None:
        save_settings(self.settings)

    def closeEvent(self, event: QCloseEvent) -> None:
        """End planning and remember how the window was."""
        settings = with_place(self.settings, self, self._splitters)
        planning = self.planning
        stacked = self.centre.timeline.is_stacked()
        self.settings = replace(
            settings, strategy=planning.strategy, plan_on_change=planning.plan_on_change, stack_memory=stacked
        )
        self._keep()
        self.studies.close()
        self.loop.close()
        self.shortages.close()
        self.what_if.close()
        self.sessions.close()
        self.exporting.close()
        self.selection.end()
        self.walk.close()
        self.planning.close()
        self.document.close()
        self.clock_view.close()
        event.accept()

    # --- files dropped on the window

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take files."""
        if _dropped(event) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the first file."""
        path = _dropped(event)
        if path is not None:
            event.acceptProposedAction()
            self.open_file(path)


def _dropped(event: QDropEvent) -> Path | None:
    files = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
    return files[0] if files else None
