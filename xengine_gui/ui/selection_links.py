"""Connects everything that shows the selection with the one object that holds it, and finds things to select."""

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from xengine_gui.language import tr
from xengine_gui.model.problem import Problem
from xengine_gui.ui import palette
from xengine_gui.ui.background import Background
from xengine_gui.ui.models.inventory import operator_model, operator_rows, tensor_model, tensor_rows
from xengine_gui.ui.panels.inventory import InventoryPanel
from xengine_gui.ui.panels.selection import SelectionPanel
from xengine_gui.ui.search import NameSearch
from xengine_gui.ui.search_popup import Entry, SearchPopup
from xengine_gui.ui.selection import NOTHING, Kind, Selection, SelectionModel
from xengine_gui.ui.selection_traces import Traces
from xengine_gui.ui.shown_plan import PAINTED_MS, ShownPlan
from xengine_gui.ui.timeline.lit import Lit
from xengine_gui.ui.timeline.marks import Marks
from xengine_gui.ui.timeline.view import TimelineView

_PAN_PER_KEY = 0.15


class SelectionLinks(QObject):
    """The selection of a window, its tables, its search and its command palette."""

    def __init__(self, window: QWidget, timeline: TimelineView, panel: SelectionPanel) -> None:
        super().__init__(window)
        self.model = SelectionModel(self)
        self._timeline, self._panel = timeline, panel
        self.traces: Traces | None = None
        self._problem: Problem | None = None
        self._names: NameSearch | None = None
        self._commands: palette.Commands | None = None
        self._before = NOTHING
        self._is_showing = False
        self._background = Background(self)
        self.operators = InventoryPanel(
            "operators-panel", operator_model(self), word="operator", by=tr("name, kind, phase or device"), stretched=1
        )
        self.tensors = InventoryPanel(
            "tensors-panel",
            tensor_model(self),
            word="tensor",
            by=tr("name or the operator that makes them"),
            stretched=0,
        )
        self.finder = SearchPopup(window, tr("Find an operator or a tensor by its name or kind"), self._find)
        self.palette = SearchPopup(window, tr("What do you want to do?"), self._find_command)
        self.model.changed.connect(self._show)
        timeline.event_selected.connect(self._event_selected)
        timeline.moment_selected.connect(self.model.select_moment)
        timeline.range_selected.connect(self.model.select_range)
        timeline.time_hovered.connect(panel.follow)
        panel.tensor_chosen.connect(self._tensor_in_memory)
        panel.event_chosen.connect(self.model.select_event)
        self.operators.chosen.connect(self.model.select_operator)
        self.tensors.chosen.connect(self.model.select_tensor)
        self.finder.chosen.connect(self._found)
        self.finder.moved.connect(self.model.select)
        self.finder.dismissed.connect(lambda: self.model.select(self._before))
        self.palette.chosen.connect(palette.run)

    def set_commands(self, actions: Mapping[str, QAction], menus: Mapping[str, QMenu]) -> None:
        """What the command palette offers."""
        self._commands = palette.Commands(actions, menus)

    def show_plan(self, shown: ShownPlan | None, problem: Problem | None) -> None:
        """Another plan is shown, or another problem is at hand."""
        if problem is not self._problem:
            self._problem, self._names = problem, None
        if shown is None or self.model.shown is None or shown.timeline is not self.model.shown.timeline:
            self.traces = None if shown is None else shown.traces
            self._panel.show_plan(shown, self.traces)
            traces = self.traces
            if shown is None or traces is None:
                self.operators.show_plan(None)
                self.tensors.show_plan(None)
            else:
                self.operators.show_plan(lambda: operator_rows(shown, traces))
                self.tensors.show_plan(lambda: tensor_rows(shown, traces))
                self._make_tables(traces)
        self._timeline.set_stack_source(None if self.traces is None else self.traces.stacks_made)
        self.model.set_work(problem)
        self.model.set_plan(shown)
        self._show()

    def let_go(self) -> None:
        """The timeline shows a plan on the way: what belongs to the last one is not painted into it."""
        self._timeline.set_stack_source(None)
        self._timeline.set_marks(self._marks(None))

    def _make_tables(self, traces: Traces) -> None:
        """Of a large plan, make beside the window what the first selection wants."""

        def done(_made: None) -> None:
            if traces is self.traces:
                self._timeline.repaint_all()  # the stack was not there before

        def begin() -> None:
            if traces is self.traces:
                self._background.run(traces.make, done, lambda _sentence: None)

        self._background.forget()
        if traces.is_large and not traces.is_made:
            QTimer.singleShot(PAINTED_MS, self, begin)

    def close(self) -> None:
        """End what is being made."""
        self._background.close()

    def find(self) -> None:
        """Open the search."""
        self._before = self.model.current
        self.finder.open()

    def show_commands(self) -> None:
        """Open the command palette."""
        self.palette.open()

    def select_peak(self) -> None:
        """Select the highest moment of the fullest device, or of the next one where such a moment is selected."""
        timeline, current = self._timeline.timeline(), self.model.current
        if timeline is None:
            return
        peaks = [(d.device, d.peak_ns) for d in timeline.devices if d.peak_bytes]
        if not peaks:
            return
        fullest = max(timeline.devices, key=lambda d: d.peak_bytes / d.limit_bytes if d.limit_bytes else 0.0)
        here = (current.device, current.time_ns)
        next_peak = peaks[(peaks.index(here) + 1) % len(peaks)] if here in peaks else (fullest.device, fullest.peak_ns)
        self.model.select_moment(next_peak[1], next_peak[0])

    # ---- the search

    def _find(self, text: str) -> Sequence[Entry]:
        if self._names is None:
            self._names = NameSearch(self._problem)
        return self._names.find(text)

    def _find_command(self, text: str) -> Sequence[Entry]:
        return () if self._commands is None else self._commands.find(text)

    def _found(self, selection: Selection) -> None:
        self.model.select(selection)
        self._timeline.setFocus()

    # ---- the selection

    def _event_selected(self, event: int) -> None:
        """The timeline tells of a click; what it tells while a plan is put into it is none."""
        shown = self.model.shown
        if self._is_showing or shown is None or shown.timeline is not self._timeline.timeline():
            return
        self.model.select_event(event)

    def _tensor_in_memory(self, name: str) -> None:
        """A tensor of the list of a moment: the moment stays."""
        current = self.model.current
        time_ns = current.time_ns if current.kind in (Kind.MOMENT, Kind.TENSOR) else -1
        device = current.device if time_ns >= 0 else ""
        self.model.select(Selection(Kind.TENSOR, name, device, time_ns=time_ns))

    def _marks(self, lit: Lit | None) -> Marks:
        current = self.model.current
        pinned = current.kind in (Kind.MOMENT, Kind.TENSOR) and current.time_ns >= 0
        stretch = (current.time_ns, current.end_ns) if current.kind is Kind.RANGE else None
        return Marks(lit, current.time_ns if pinned else None, stretch)

    def _show(self) -> None:
        """Show the selection everywhere."""
        current, traces = self.model.current, self.traces
        lit = None if traces is None else traces.lit(current)
        self._is_showing = True
        try:
            self._timeline.select_event(current.event)
            self._timeline.set_marks(self._marks(lit))
            self._reveal(current)
        finally:
            self._is_showing = False
        self._panel.show_selection(current)
        self.operators.select(self._operator_of(current))
        self.tensors.select(current.name if current.kind is Kind.TENSOR else "")

    def _reveal(self, current: Selection) -> None:
        if current.kind is Kind.MOMENT:
            self._timeline.reveal(current.time_ns)
        elif current.kind in (Kind.OPERATOR, Kind.TENSOR) and self.traces is not None and current.time_ns < 0:
            rows = self.traces.rows(current)
            view = self._timeline.view_range()
            if rows and not any(view.start_ns <= row.start_ns <= view.end_ns for row in rows):
                self._timeline.reveal(rows[0].start_ns)

    def _operator_of(self, current: Selection) -> str:
        if current.kind is Kind.TENSOR:
            return ""
        known = bool(current.name) and self.traces is not None and current.name in self.traces.operators
        return current.name if known and current.kind in (Kind.OPERATOR, Kind.EVENT) else ""


def selection_slots(
    links: Callable[[], SelectionLinks], timeline: Callable[[], TimelineView], stacked: Callable[[], bool]
) -> dict[str, Callable[[], object]]:
    """What the actions of moving about and of finding do; the parts are asked for when they are needed."""
    return {
        "fit": lambda: timeline().fit(),
        "fit_selection": lambda: timeline().zoom_to_selected(),
        "zoom_in": lambda: timeline().zoom_in(),
        "zoom_out": lambda: timeline().zoom_out(),
        "pan_left": lambda: timeline().pan_by(-_PAN_PER_KEY),
        "pan_right": lambda: timeline().pan_by(_PAN_PER_KEY),
        "next_event": lambda: timeline().step(1),
        "previous_event": lambda: timeline().step(-1),
        "next_stage": lambda: timeline().step(1, stage=True),
        "previous_stage": lambda: timeline().step(-1, stage=True),
        "select_peak": lambda: links().select_peak(),
        "clear_selection": lambda: links().model.clear(),  # noqa: PLW0108 - the parts are made later
        "stack_memory": lambda: timeline().set_stacked(stacked()),
        "find": lambda: links().find(),
        "palette": lambda: links().show_commands(),
    }


NEEDS_PLAN = (
    "fit",
    "fit_selection",
    "zoom_in",
    "zoom_out",
    "pan_left",
    "pan_right",
    "next_event",
    "previous_event",
    "next_stage",
    "previous_stage",
    "select_peak",
)
"""The actions that want a plan to be shown."""
