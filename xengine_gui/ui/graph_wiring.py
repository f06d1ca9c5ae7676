"""Puts the graph beside the timeline and the playback bar below both, and keeps them told."""

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Protocol

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QSizePolicy, QTabBar, QWidget

from xengine_gui.language import tr
from xengine_gui.model.problem import Problem
from xengine_gui.ui.exporting import Exporting
from xengine_gui.ui.graph_view.panel import GraphPanel
from xengine_gui.ui.panels.centre import CentrePanel
from xengine_gui.ui.panels.constraint_menu import ConstraintMenu
from xengine_gui.ui.panels.parts import Panel, row
from xengine_gui.ui.playback import Playback
from xengine_gui.ui.playback_bar import PlaybackBar
from xengine_gui.ui.selection import Kind, SelectionModel
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.timeline.frame import Frame
from xengine_gui.ui.timeline.overlay import paint_cursor


class CentreView(IntEnum):
    """What the middle of the window shows."""

    TIMELINE = 0
    GRAPH = 1
    BOTH = 2


_TITLES = {CentreView.TIMELINE: tr("Timeline"), CentreView.GRAPH: tr("Graph"), CentreView.BOTH: tr("Both")}
_TIPS = {
    CentreView.TIMELINE: tr("See when what runs, and the memory (Ctrl+1)"),
    CentreView.GRAPH: tr("See what reads what, and where results wait (Ctrl+2)"),
    CentreView.BOTH: tr("See the timeline with the graph below it (Ctrl+3)"),
}


class Zoomable(Protocol):
    """A view that can be zoomed."""

    def fit(self) -> None:
        """Show everything."""

    def zoom_in(self) -> None:
        """Show less, larger."""

    def zoom_out(self) -> None:
        """Show more, smaller."""

    def zoom_to_selected(self) -> None:
        """Show what is selected, large."""


class GraphWiring(QObject):
    """The graph, the playback and the tabs of one window."""

    def __init__(self, window: QWidget, centre: CentrePanel, selection: SelectionModel) -> None:
        super().__init__(window)
        self._centre, self._selection = centre, selection
        self._has_problem = False
        self._new_menu: Callable[[QWidget], ConstraintMenu | None] | None = None
        self.menu: ConstraintMenu | None = None
        self.graph = GraphPanel(selection)
        self.playback = Playback(selection, self)
        self.bar = PlaybackBar(self.playback)
        self.bar.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.tabs = _tabs()
        self.head = Panel("centre-head")
        head = row(self.tabs, self.graph.tools)
        head.setStretch(1, 1)
        head.setContentsMargins(0, 0, 10, 0)
        self.head.setLayout(head)
        centre.add_head(self.head)
        centre.add_below(self.graph)
        centre.add_foot(self.bar)
        centre.timeline.add_layer(self._paint_cursor)
        self.playback.state_changed.connect(centre.timeline.repaint_all)
        self.tabs.currentChanged.connect(lambda _index: self._show_view())
        centre.timeline.time_hovered.connect(self.graph.hover_time)
        for view in (centre.timeline, self.graph.view):
            view.installEventFilter(self)
        self._show_view()

    @property
    def shown_view(self) -> CentreView:
        """What the middle of the window shows."""
        return CentreView(self.tabs.currentIndex())

    def show_view(self, view: CentreView) -> None:
        """Show the timeline, the graph, or both, and go there."""
        self.tabs.setCurrentIndex(view)
        if self._has_problem:
            (self._centre.timeline if view is CentreView.TIMELINE else self.graph.view).setFocus()

    def take_view(self, name: str) -> None:
        """Show the view of a name in lower case, the timeline where there is none of it."""
        view = CentreView.__members__.get(name.upper(), CentreView.TIMELINE)
        self.tabs.setCurrentIndex(view)

    def zoomable(self) -> Zoomable:
        """The view that zooming is about: the graph where it has the focus or is alone."""
        alone = self.shown_view is CentreView.GRAPH
        return self.graph.view if alone or self.graph.view.hasFocus() else self._centre.timeline

    def ask_for_picture(self, exporting: Exporting) -> None:
        """Export a picture of the graph where it is alone, else of the timeline."""
        if self.shown_view is CentreView.GRAPH and self.graph.scene is not None:
            exporting.ask_for_graph(self.graph.scene.expanded)
        else:
            exporting.ask_for_picture()

    def show_plan(self, shown: ShownPlan | None, problem: Problem | None) -> None:
        """Another plan is shown, or another problem is at hand."""
        self.graph.show_problem(problem)
        self.graph.show_plan(shown)
        self.playback.set_plan(shown)
        if self._has_problem is not (problem is not None):
            self._has_problem = problem is not None
            self._show_view()

    def serve_menu(self, new_menu: Callable[[QWidget], ConstraintMenu | None]) -> None:
        """Open the same menu on nodes and edges of the graph as on the timeline."""
        self._new_menu = new_menu
        self.graph.view.menu_asked.connect(self._pop_up)

    def _pop_up(self, node: int, edge: int, where: QPoint) -> None:
        if self.menu is not None:
            self.menu.deleteLater()
        self.menu = None if self._new_menu is None else self._new_menu(self.graph.view)
        if self.menu is not None:
            self.graph.fill_menu(self.menu, node, edge)
            self.menu.popup(where)

    def close(self) -> None:
        """The window closes."""
        self.bar.close_jobs()
        self.graph.close_jobs()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Space plays and pauses in the timeline and in the graph; elsewhere it presses buttons."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and not event.isAutoRepeat():
            is_plain = event.modifiers() == Qt.KeyboardModifier.NoModifier
            if event.key() == Qt.Key.Key_Space and is_plain and self.playback.count:
                self.playback.toggle()
                return True
        return super().eventFilter(watched, event)

    def _show_view(self) -> None:
        """Show what the tabs say; while there is no problem, the timeline with its words of welcome."""
        view = self.shown_view if self._has_problem else CentreView.TIMELINE
        self.head.setVisible(self._has_problem)
        self.graph.tools.setVisible(view is not CentreView.TIMELINE)
        self._centre.show_timeline(visible=view is not CentreView.GRAPH, is_shared=view is CentreView.BOTH)
        self.graph.setVisible(view is not CentreView.TIMELINE)

    def _paint_cursor(self, painter: QPainter, frame: Frame) -> None:
        """The moment of playback on the timeline, with what each device then holds."""
        playback = self.playback
        selected = self._selection.current.kind is Kind.EVENT
        if selected and playback.shown is not None and playback.position >= 0:
            moment_ns = playback.shown.plan.events[playback.position].start_ns
            if playback.playing and frame.view.start_ns <= moment_ns <= frame.view.end_ns:
                paint_cursor(painter, frame, moment_ns, frame.layout.height)


def graph_slots(wiring: Callable[[], GraphWiring]) -> Mapping[str, Callable[[], object]]:
    """What the actions of views, of zooming and of playing do once there is a graph beside the timeline."""
    return {
        "view_timeline": lambda: wiring().show_view(CentreView.TIMELINE),
        "view_graph": lambda: wiring().show_view(CentreView.GRAPH),
        "view_both": lambda: wiring().show_view(CentreView.BOTH),
        "play": lambda: wiring().playback.toggle(),  # noqa: PLW0108 - made before the parts are
        "fit": lambda: wiring().zoomable().fit(),
        "fit_selection": lambda: wiring().zoomable().zoom_to_selected(),
        "zoom_in": lambda: wiring().zoomable().zoom_in(),
        "zoom_out": lambda: wiring().zoomable().zoom_out(),
    }


def _tabs() -> QTabBar:
    tabs = QTabBar()
    tabs.setObjectName("centre-tabs")
    tabs.setAccessibleName(tr("What the middle of the window shows"))
    tabs.setDrawBase(False)
    tabs.setExpanding(False)
    tabs.setUsesScrollButtons(False)
    for view in CentreView:
        tabs.addTab(_TITLES[view])
        tabs.setTabToolTip(view, _TIPS[view])
    return tabs
