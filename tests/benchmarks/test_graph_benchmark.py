"""How long the graph of 2,000 operators takes to arrange, to paint at any zoom, and to answer.

Times are reported, not asserted. Run with `--benchmark-only` for the table.
"""

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPixmap
from pytest_benchmark.fixture import BenchmarkFixture
from pytestqt.qtbot import QtBot

from xengine_gui.model.device import Device
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.plan import Run
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Tensor
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.ui.graph_view.camera import Camera
from xengine_gui.ui.graph_view.facts import facts_of
from xengine_gui.ui.graph_view.hits import edge_at, node_at
from xengine_gui.ui.graph_view.looks import Looks
from xengine_gui.ui.graph_view.scene import scene_of
from xengine_gui.ui.graph_view.structure import Structure, structure_of
from xengine_gui.ui.graph_view.view import GraphView
from xengine_gui.ui.shown_plan import ShownPlan

ROUNDS = 15
BLOCKS, PER_BLOCK = 200, 5
SCALES = {"whole": 0.0, "quarter": 0.25, "names": 0.7, "near": 1.2}


def residual_training() -> Problem:
    """Forward and backward of residual blocks, 2,000 operators on two devices."""
    rows: list[tuple[str, Phase, list[str]]] = []
    for b in range(BLOCKS):
        for i in range(PER_BLOCK):
            read = [rows[-1][0]] if rows else []
            if i == PER_BLOCK - 1 and b:
                read.append(f"block{b - 1}.op{PER_BLOCK - 1}")
            rows.append((f"block{b}.op{i}", Phase.FORWARD, read))
    for name, _, read in reversed(rows[:]):
        rows.append((f"{name}/grad", Phase.BACKWARD, [rows[-1][0], name, *read[:1]]))
    way = (Implementation(1000),)
    return Problem(
        "residual",
        (Device("gpu"), Device("cpu")),
        tuple(Operator(n, "x", p, tuple(r), (n,), costs={"gpu": way, "cpu": way}) for n, p, r in rows),
        tuple(Tensor(n, 2**20) for n, _, _ in rows),
    )


@pytest.fixture(scope="module")
def looks() -> Looks:
    problem = residual_training()
    plan = finished_plan(problem, "by hand", [Run(0, o) for o in range(len(problem.operators))])
    structure = structure_of(problem)
    return Looks(scene_of(structure, frozenset(structure.blocks)), facts_of(ShownPlan.of(plan)))


@pytest.fixture
def view(looks: Looks, qtbot: QtBot) -> GraphView:
    view = GraphView()
    qtbot.addWidget(view)
    view.resize(1600, 900)
    view.show()
    view.set_looks(looks)
    assert len(looks.scene.nodes.nodes) == 2 * BLOCKS * PER_BLOCK
    return view


def look_at(view: GraphView, scale: float) -> None:
    view.fit()
    if scale:
        view._set_camera(Camera(1.0, scale, 800.0, -3000.0 * scale))


@pytest.mark.parametrize("is_moment", [False, True], ids=["plan", "moment"])
@pytest.mark.parametrize("zoom", SCALES)
def test_a_frame(view: GraphView, looks: Looks, zoom: str, is_moment: bool, benchmark: BenchmarkFixture) -> None:
    look_at(view, SCALES[zoom])
    view.set_moment(looks.moment(event=1200) if is_moment else None)
    onto = QPixmap(view.size())

    def frame() -> None:
        view.repaint_all()
        view.render(onto)

    benchmark.pedantic(frame, rounds=ROUNDS, warmup_rounds=1)


def test_hover(view: GraphView, benchmark: BenchmarkFixture) -> None:
    look_at(view, 0.0)
    frame = view.frame()
    assert frame is not None
    at = QPointF(800, 450)
    benchmark(lambda: (node_at(frame, at), edge_at(frame, at)))


def test_moment(looks: Looks, benchmark: BenchmarkFixture) -> None:
    benchmark(lambda: looks.moment(event=1200))


def test_layout(benchmark: BenchmarkFixture) -> None:
    problem = residual_training()

    def arranged() -> Structure:
        structure = structure_of(problem)
        scene_of(structure, frozenset(structure.blocks))
        return structure

    benchmark.pedantic(arranged, rounds=3)
