"""The window: panels around the timeline, and what connects them to the document and to planning."""

from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeySequence
from PySide6.QtWidgets import QMainWindow, QSplitter, QWidget

from xengine_gui import planner
from xengine_gui.language import tr
from xengine_gui.session import SUFFIX as SESSION
from xengine_gui.ui.actions import build_actions, fill_menu_bar, group_menus
from xengine_gui.ui.clock_view import ClockView
from xengine_gui.ui.costing import Costing
from xengine_gui.ui.document import Document
from xengine_gui.ui.exporting import Exporting
from xengine_gui.ui.graph_wiring import GraphWiring
from xengine_gui.ui.link_editing import LinkEditing
from xengine_gui.ui.loop import Loop
from xengine_gui.ui.menus import SubMenus
from xengine_gui.ui.objectives import Objectives
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
from xengine_gui.ui.selection_links import SelectionLinks
from xengine_gui.ui.session_bars import SessionBars
from xengine_gui.ui.session_keeper import SessionKeeper
from xengine_gui.ui.settings import load_settings
from xengine_gui.ui.shortages import Shortages
from xengine_gui.ui.studies import Studies
from xengine_gui.ui.toolbar import ToolBar
from xengine_gui.ui.what_if import WhatIf
from xengine_gui.ui.window_choices import WindowChoices
from xengine_gui.ui.window_files import WindowFiles
from xengine_gui.ui.window_layout import PanelLayout
from xengine_gui.ui.window_shown import WindowShown
from xengine_gui.ui.window_wiring import connect_window, window_slots
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
        # First, so that they go first: what is told while the document is taken apart must not reach the window.
        self.files, self.shown, self.choices = WindowFiles(self), WindowShown(self), WindowChoices(self)
        self.document = Document(Setup(planner.DEFAULT_DEVICES), self)
        self.clock_view = ClockView(self)
        self.planning = Planning(self.document, runner or PlanRunner(self), self)
        if runner is None:
            self.planning.use_instant(instant_runner(self))
        self.costing = Costing(self.document, self)
        self.objectives = Objectives(self.document, self.planning, self)
        self.actions_by_key = build_actions(self, window_slots(self))
        self.submenus = SubMenus(self)
        self.exporting = Exporting(self, self.files.to_export)
        menus = self.submenus.menus
        menus.update({"export": self.exporting.menu, **group_menus(self, self.actions_by_key)})
        self.tools = ToolBar(self.actions_by_key, menus["strategy"], menus["mode"], menus["clock"])
        self._make_panels()
        self.below = self._tabs()
        self.status = StatusLine()
        self.head = Head()
        self.splitters: dict[str, QSplitter] = {}
        self._arrange()
        connect_window(self)
        self.choices.restore()
        self.shown.work()
        self.shown.plan()
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
        self.shown.state()

    def open_demo(self) -> None:
        """Open the bundled network under its limits and plan it."""
        demo = planner.DEMO
        self.centre.error.hide()
        self.choices.options(gap_ratio=demo.gap_ratio)
        self.submenus.show_options(demo.gap_ratio, self.planning.options.time_limit_s)
        setup = Setup(demo.devices, training=demo.training, optimizer=demo.optimizer, batch=demo.batch)
        self.document.open(demo.path, setup)
        self.shown.state()

    def say_error(self, sentence: str) -> None:
        """Say above the timeline what was not done, and why."""
        self.centre.error.show_message(sentence, "error")

    # --- which panels are open

    @property
    def panel_layout(self) -> PanelLayout:
        """Which panels are open."""
        shown = self.walk.shown_view
        return PanelLayout(shown.name.lower(), self.below.front, self.left.folded)

    @panel_layout.setter
    def panel_layout(self, layout: PanelLayout) -> None:
        self.walk.take_view(layout.centre)
        self.below.bring_to_front(layout.below)
        self.left.fold(layout.folded)

    # --- building

    def _make_panels(self) -> None:
        """The parts of the window, each after those that it serves."""
        self.left = LeftPanel()
        self.link_editing = LinkEditing(self.document, self.left.links, self)
        self.centre = CentrePanel()
        self.sessions = SessionKeeper(self.document, self.planning, self.clock_view, self.centre.timeline, self)
        self.sessions.panels = lambda: self.panel_layout
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

    def _tabs(self) -> BelowTabs:
        return BelowTabs(
            {
                "summary": (tr("Summary"), self.summary),
                "operators": (tr("Operators"), self.links.operators),
                "tensors": (tr("Tensors"), self.links.tensors),
                "compare": (tr("Compare"), self.studies.compare),
                "sweep": (tr("Sweep"), self.studies.sweep),
                "difference": (tr("Difference"), self.loop.difference),
                "log": (tr("Log"), self.log),
            }
        )

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
        for bar in (self.session_bars.restore, self.session_bars.reload, self.costing.outdated):
            self.centre.messages.add(bar)
        self.setStatusBar(self.status)
        for key in ("show_left", "show_right", "show_below", "plan_on_change"):
            actions[key].setChecked(True)

    def _split(self, name: str, orientation: Qt.Orientation, *parts: QWidget) -> QSplitter:
        splitter = QSplitter(orientation, childrenCollapsible=False, handleWidth=1)
        for part in parts:
            splitter.addWidget(part)
        splitter.setSizes(list(_SPLITS[name]))
        self.splitters[name] = splitter
        return splitter

    def closeEvent(self, event: QCloseEvent) -> None:
        """End planning and remember how the window was."""
        self.choices.keep_all()
        self.costing.close()
        self.studies.close()
        self.loop.close()
        self.shortages.close()
        self.what_if.close()
        self.sessions.close()
        self.exporting.close()
        self.selection.end()
        self.links.close()
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
