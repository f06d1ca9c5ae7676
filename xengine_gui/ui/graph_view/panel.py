"""The graph with its buttons and legend, joined to the selection that all panels share."""

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QToolButton, QWidget

from xengine_gui.language import tr
from xengine_gui.model.operator import Operator
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.timeline import Category
from xengine_gui.ui.background import Background
from xengine_gui.ui.graph_view.facts import PlanFacts, facts_of
from xengine_gui.ui.graph_view.layout_job import LayoutJob
from xengine_gui.ui.graph_view.legend import GraphLegend
from xengine_gui.ui.graph_view.lighting import Lit, lit_by
from xengine_gui.ui.graph_view.looks import Looks
from xengine_gui.ui.graph_view.scene import Scene
from xengine_gui.ui.graph_view.view import GraphView
from xengine_gui.ui.panels.constraint_menu import ConstraintMenu
from xengine_gui.ui.panels.parts import ElidedLabel, Panel, column, row
from xengine_gui.ui.selection import Kind, SelectionModel
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.theme import set_style_property
from xengine_gui.ui.timeline.details import printable
from xengine_gui.units import format_count

_EMPTY = tr("No graph yet\nOpen a network or a problem; its operators are drawn here.")
_READING = tr("Arranging the graph…")
_LEAST_WITH_LEGEND = 280


class GraphPanel(Panel):
    """Draws the problem at hand as soon as it is looked at: while hidden it only remembers what there is.

    `tools` are its buttons, for whoever puts it into a window to place.
    """

    drawn = Signal()

    def __init__(self, selection: SelectionModel) -> None:
        super().__init__("graph-panel")
        self.selection = selection
        self._problem: Problem | None = None
        self._shown: ShownPlan | None = None
        self._scene: Scene | None = None
        self._expanded: frozenset[str] | None = None
        self._facts: tuple[ShownPlan, PlanFacts] | None = None
        self._wanted = False
        self._hover_ns = -1
        self._layout_job = LayoutJob(self)
        self._facts_job = Background(self)
        self._node = -1
        self.view = GraphView()
        self.legend = GraphLegend()
        self.about = ElidedLabel("", "small")
        self.about.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.collapse = _button(tr("Close blocks"), tr("Draw each block as one"))
        self.expand = _button(tr("Open blocks"), tr("Draw every operator"))
        self.fit_button = _button(tr("Fit"), tr("Show the whole graph (0)"))
        self.collapse.clicked.connect(lambda: self.show_expanded(frozenset()))
        self.expand.clicked.connect(self.expand_all)
        self.fit_button.clicked.connect(self.view.fit)
        self.tools = QWidget()
        tools = row(self.about, self.collapse, self.expand, self.fit_button, spacing=6)
        tools.setStretch(0, 1)
        self.tools.setLayout(tools)
        layout = column(self.view, self.legend, spacing=0)
        layout.setStretch(0, 1)
        self.setLayout(layout)
        self.view.node_chosen.connect(self.choose_node)
        self.view.edge_chosen.connect(self._choose_edge)
        self.view.nothing_chosen.connect(self._choose_nothing)
        self.view.block_toggled.connect(self.toggle)
        selection.changed.connect(self._show_selection)
        self._show_state()

    # ---- what is shown

    @property
    def scene(self) -> Scene | None:
        """What is drawn."""
        return self._scene

    @property
    def busy(self) -> bool:
        """Whether something is being arranged."""
        return self._layout_job.busy or self._facts_job.busy

    def show_problem(self, problem: Problem | None) -> None:
        """Another problem; with the same operators the drawing stays."""
        old, self._problem = self._problem, problem
        same = problem is not None and old is not None and _same_graph(problem, old)
        if same:
            return
        self._scene, self._expanded, self._node = None, None, -1
        self._layout_job.cancel()
        self.view.set_looks(None)
        self._wanted = problem is not None
        self._show_state()
        self._draw_if_seen()

    def show_plan(self, shown: ShownPlan | None) -> None:
        """Another plan; what it does to the graph is told once it is known."""
        if shown is self._shown:
            return
        self._shown = shown
        self._draw_if_seen()

    def hover_time(self, time_ns: int) -> None:
        """The cursor's moment on the timeline beside, -1 for none: it goes before a selected moment."""
        self._hover_ns = time_ns
        if self.isVisible():
            self._show_moment()

    def toggle(self, block: str) -> None:
        """Open a closed block or close an open one; what was under it stays where it is."""
        if self._scene is not None:
            opened = self._scene.expanded
            self.show_expanded(opened - {block} if block in opened else opened | {block}, around=block)

    def expand_all(self) -> None:
        """Open all blocks."""
        if self._scene is not None:
            self.show_expanded(frozenset(self._scene.structure.blocks))

    def show_expanded(self, expanded: frozenset[str], around: str = "") -> None:
        """Draw with these blocks open; the block `around` keeps its place in the window."""
        if self._scene is None or self._problem is None:
            return
        self._expanded = expanded
        self._arrange(self._problem, around)

    def fill_menu(self, menu: ConstraintMenu, n: int, e: int) -> None:
        """What can be done with a node, or with the largest tensor of an edge."""
        scene = self._scene
        if scene is None:
            return
        problem = scene.structure.problem
        if n < 0:
            menu.add_for_tensor(problem.tensors[self._largest(scene, e)].name)
            return
        node = scene.nodes.nodes[n]
        if node.block:
            menu.addAction(f"Open {printable(node.title)}").triggered.connect(lambda: self.toggle(node.block))
            return
        operator = node.operators[0]
        menu.add_for_operator(problem.operators[operator].name)
        around = [key for key in scene.structure.chains[operator] if key in scene.expanded]
        if around:
            menu.addSeparator()
        for key in reversed(around):
            menu.addAction(f"Close {printable(key)}").triggered.connect(lambda _on=False, k=key: self.toggle(k))

    def close_jobs(self) -> None:
        """The window closes."""
        self._layout_job.close()
        self._facts_job.close()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the legend out where the graph needs its room."""
        super().resizeEvent(event)
        self._show_legend()

    def showEvent(self, event: object) -> None:
        """Catch up with what has changed while it was hidden."""
        super().showEvent(event)  # type: ignore[arg-type]
        self._draw_if_seen()

    # ---- arranging

    def _draw_if_seen(self) -> None:
        if not self.isVisible():
            return
        if self._wanted and self._problem is not None:
            self._wanted = False
            self._arrange(self._problem)
        self._read_plan()
        self._show_moment()

    def _arrange(self, problem: Problem, around: str = "") -> None:
        structure = None if self._scene is None else self._scene.structure
        keep = self._place_of(around)

        def done(scene: Scene) -> None:
            self._scene = scene
            self._expanded = scene.expanded
            place = self._place_in(scene, around)
            self._show_scene(None if keep is None or place is None else (keep, place))

        self._layout_job.run(problem, structure, self._expanded, done, self._fail)

    def _read_plan(self) -> None:
        shown = self._shown
        if shown is None or (self._facts is not None and self._facts[0].timeline is shown.timeline):
            self._show_scene()
            return

        def done(facts: PlanFacts) -> None:
            self._facts = shown, facts
            self._show_scene()

        self._facts_job.run(lambda: facts_of(shown), done, self._fail)

    def _fail(self, sentence: str) -> None:
        self.view.set_message(tr("The graph could not be drawn\n{sentence}", sentence=sentence))

    def _current_facts(self) -> PlanFacts | None:
        """What the plan does, where it is a plan for these operators."""
        if self._facts is None or self._shown is None or self._problem is None:
            return None
        shown, facts = self._facts
        if shown.timeline is not self._shown.timeline:
            return None
        return facts if _same_graph(shown.plan.problem, self._problem) else None

    def _show_scene(self, keep_at: tuple[QPointF, QPointF] | None = None) -> None:
        if self._scene is None:
            return
        facts = self._current_facts()
        looks = self.view.looks
        if looks is None or looks.scene is not self._scene or looks.facts is not facts:
            self.view.set_looks(Looks(self._scene, facts), keep_at=keep_at)
            self._node = -1
        self._show_state()
        self._show_selection()
        self.drawn.emit()

    def _show_state(self) -> None:
        scene = self._scene
        self.view.set_message(_EMPTY if self._problem is None else _READING)
        self.tools.setEnabled(scene is not None)
        if scene is None or self._problem is None:
            self.legend.show_legend((), phases=(), with_plan=False)
            return
        structure = scene.structure
        closed = [n.block for n in scene.nodes.nodes if n.block]
        self.collapse.setEnabled(bool(scene.expanded))
        self.expand.setEnabled(bool(closed))
        self.collapse.setVisible(bool(structure.blocks))
        self.expand.setVisible(bool(structure.blocks))
        operators = format_count(len(structure.sides), "operator")
        inside = tr(" in {blocks}", blocks=format_count(len(structure.blocks), "block")) if structure.blocks else ""
        self.about.setText(
            tr(
                "{operators}{inside}, {nodes} drawn",
                operators=operators,
                inside=inside,
                nodes=format_count(len(scene.nodes.nodes), "node"),
            )
        )
        phases = {Category(c) for c in ([] if self.view.looks is None else self.view.looks.category.tolist())}
        with_plan = self.view.looks is not None and self.view.looks.facts is not None
        styles = () if self.view.looks is None else self.view.looks.styles
        devices = [(d.name, style) for d, style in zip(self._problem.devices, styles, strict=False)]
        self.legend.show_legend(devices, phases=tuple(phases), with_plan=with_plan)
        self._show_legend()

    def _show_legend(self) -> None:
        self.legend.setVisible(bool(self.legend.entries) and self.height() >= _LEAST_WITH_LEGEND)

    # ---- the shared selection

    def choose_node(self, n: int) -> None:
        """Select a node: an operator for everyone, a closed block here alone."""
        if self._scene is None:
            return
        node = self._scene.nodes.nodes[n]
        if node.block:
            self._node = n
            self.selection.clear()
            self._show_selection()
        else:
            self._node = -1
            self.selection.select_operator(self._scene.structure.problem.operators[node.operators[0]].name)

    def _choose_edge(self, e: int) -> None:
        if self._scene is None:
            return
        self._node = -1
        self.selection.select_tensor(self._scene.structure.problem.tensors[self._largest(self._scene, e)].name)

    @staticmethod
    def _largest(scene: Scene, e: int) -> int:
        """The largest tensor that goes along an edge."""
        return max(
            scene.nodes.edges[scene.placed.pairs[e]], key=scene.structure.problem.indexed.tensor_bytes.__getitem__
        )

    def _choose_nothing(self) -> None:
        self._node = -1
        self.selection.clear()
        self._show_selection()

    def _show_selection(self) -> None:
        looks = self.view.looks
        if looks is None or not self.isVisible():
            return
        if self.selection.current:
            self._node = -1
        if self._node >= 0:
            edges = looks.scene.edges_of.get(self._node, ())
            near = frozenset(n for e in edges for n in looks.scene.placed.pairs[e]) - {self._node}
            self.view.set_lit(Lit(self._node, near, frozenset(edges)))
        else:
            self.view.set_lit(lit_by(self.selection.current, looks, self._shown))
        self._show_moment()

    def _show_moment(self) -> None:
        looks, current = self.view.looks, self.selection.current
        if looks is None or looks.facts is None:
            self.view.set_moment(None)
        elif self._hover_ns >= 0:
            self.view.set_moment(looks.moment(time_ns=self._hover_ns))
        elif current.kind is Kind.EVENT:
            self.view.set_moment(looks.moment(event=current.event))
        elif current.kind is Kind.MOMENT:
            self.view.set_moment(looks.moment(time_ns=current.time_ns))
        else:
            self.view.set_moment(None)

    # ---- what stays in place when blocks open

    def _place_of(self, block: str) -> QPointF | None:
        """Where a block begins, in pixels."""
        place = None if self._scene is None else self._place_in(self._scene, block)
        return None if place is None else self.view.camera.point(place.x(), place.y())

    @staticmethod
    def _place_in(scene: Scene, block: str) -> QPointF | None:
        if not block or block not in scene.structure.blocks:
            return None
        n = scene.nodes.of_operator[scene.structure.blocks[block].members[0]]
        return QPointF(float(scene.placed.left[n]), float(scene.placed.top[n]))


def _same_graph(one: Problem, other: Problem) -> bool:
    """Whether two problems are drawn alike: they may differ in limits, times and constraints."""
    return (
        one.operators is other.operators
        or ([_drawn(o) for o in one.operators] == [_drawn(o) for o in other.operators] and one.tensors == other.tensors)
    ) and [d.name for d in one.devices] == [d.name for d in other.devices]


def _drawn(operator: Operator) -> tuple[object, ...]:
    return operator.name, operator.phase, operator.inputs, operator.outputs, operator.parameters


def _button(text: str, tip: str) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setAccessibleName(text)
    set_style_property(button, "outlined", value=True)
    return button
