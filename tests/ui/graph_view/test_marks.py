"""What the graph says of a plan, against plans of which everything is known by hand."""

import pytest
from plans_fixed import B1, F0, F1, MOVING, T0, T2, four_operators, plan_of_four
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from xengine_gui.model.plan import Plan, Run
from xengine_gui.schedule.timeline import Category
from xengine_gui.ui.graph_view.camera import Camera, fitted
from xengine_gui.ui.graph_view.facts import Fate, facts_of
from xengine_gui.ui.graph_view.lighting import lit_by
from xengine_gui.ui.graph_view.looks import Looks
from xengine_gui.ui.graph_view.painting import fate_pen
from xengine_gui.ui.graph_view.painting_nodes import dimmed, mixed
from xengine_gui.ui.graph_view.scene import scene_of
from xengine_gui.ui.graph_view.structure import structure_of
from xengine_gui.ui.graph_view.telling import tell_edge, tell_node
from xengine_gui.ui.selection import Kind, Selection
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.theme import ThemeName, contrast_ratio, load_theme


def looks_of(plan: Plan) -> Looks:
    structure = structure_of(plan.problem)
    return Looks(scene_of(structure, frozenset(structure.blocks)), facts_of(ShownPlan.of(plan)))


def edge(looks: Looks, source: int, target: int) -> int:
    of = looks.scene.nodes.of_operator
    return looks.scene.placed.pairs.index((of[source], of[target]))


def test_fates_of_stored_results() -> None:
    recomputing, moving = looks_of(plan_of_four()), looks_of(plan_of_four(MOVING))
    assert recomputing.facts is not None
    assert moving.facts is not None
    assert recomputing.facts.again == (1, 0, 0, 0)
    assert moving.facts.again == (0, 0, 0, 0)
    assert recomputing.facts.fates[T0, B1] is Fate.RECOMPUTED
    assert moving.facts.fates[T0, B1] is Fate.MOVED
    assert recomputing.facts.fates[T2, B1] is moving.facts.fates[T2, B1] is Fate.RETAINED
    assert recomputing.facts.fates[T0, F1] is Fate.RETAINED
    assert recomputing.fate_bytes[edge(recomputing, F0, B1)].tolist() == [0, 100, 0]
    assert moving.fate_bytes[edge(moving, F0, B1)].tolist() == [0, 0, 100]
    assert recomputing.is_retained.tolist() == [False, False, True, False]


def test_what_is_live_after_each_event() -> None:
    looks = looks_of(plan_of_four(MOVING))
    live = []
    for event in range(9):
        moment = looks.moment(event=event)
        assert moment is not None
        live.append([(n, d) for n, row in enumerate(moment.live_bytes) for d, b in enumerate(row) if b])
    assert live == [
        [(0, 0)],
        [(0, 0), (1, 0)],
        [(0, 0), (0, 1), (1, 0)],
        [(0, 1), (1, 0)],
        [(0, 1), (1, 0), (2, 0)],
        [(0, 1), (2, 0)],
        [(0, 0), (0, 1), (2, 0)],
        [(0, 0), (2, 0)],
        [(0, 0), (2, 0), (3, 0)],
    ]


def test_what_is_live_and_runs_at_a_time_is_as_the_replay_has_it() -> None:
    plan = plan_of_four()
    shown, looks = ShownPlan.of(plan), looks_of(plan)
    number = {t.name: i for i, t in enumerate(plan.problem.tensors)}
    for time_ns in range(0, 111, 5):
        moment = looks.moment(time_ns=time_ns)
        assert moment is not None
        wanted = {number[s.tensor] for d in ("gpu", "cpu") for s in shown.replay.resident_at(d, time_ns)}
        assert {n for n, row in enumerate(moment.live_bytes) if row.sum()} == wanted
    running = looks.moment(time_ns=65)
    assert running is not None
    assert running.running == {F0}  # again, from 60 to 70 ns


def test_the_busiest_device_is_solid() -> None:
    looks = looks_of(plan_of_four(tuple(Run(1, o) for o in range(4)), four_operators(limit_bytes=None)))
    assert looks.styles == (1, 0)
    assert looks.style.tolist() == [0, 0, 0, 0]
    assert looks.device.tolist() == [1, 1, 1, 1]


def test_without_a_plan_nothing_is_claimed() -> None:
    structure = structure_of(four_operators())
    looks = Looks(scene_of(structure, frozenset()), None)
    assert looks.moment(event=0) is None
    assert not looks.is_retained.any()
    assert "runs on" not in tell_node(looks, 0, None)


def test_words_for_nodes_and_edges() -> None:
    looks = looks_of(plan_of_four(MOVING))
    told = tell_node(looks, 0, looks.moment(event=2))
    assert told.splitlines() == [
        "f0",
        "Conv, forward",
        "runs on gpu",
        "makes 100 B",
        "in memory now on gpu: 100 B",
        "in memory now on cpu: 100 B",
    ]
    assert "recomputed: 1 time" in tell_node(looks_of(plan_of_four()), 0, None)
    assert tell_edge(looks, edge(looks, F0, B1)) == "t0: 100 B\nfrom f0 to b1\n100 B brought by a transfer"


def test_selections_mark_what_they_are_joined_to() -> None:
    plan = plan_of_four()
    looks, shown = looks_of(plan), ShownPlan.of(plan)
    tensor = lit_by(Selection(Kind.TENSOR, "t0"), looks, shown)
    assert tensor.chosen == 0
    assert tensor.nodes == {1, 3}
    assert tensor.edges == {edge(looks, F0, F1), edge(looks, F0, B1)}
    operator = lit_by(Selection(Kind.OPERATOR, "b1"), looks, shown)
    assert operator.chosen == 3
    assert operator.nodes == {0, 2}
    assert lit_by(Selection(Kind.EVENT, "t0", "gpu", 2, 30), looks, shown) == tensor
    assert lit_by(Selection(Kind.EVENT, "f0", "gpu", 5, 60), looks, shown).chosen == F0
    assert lit_by(Selection(Kind.OPERATOR, "gone"), looks, shown).chosen == -1


def test_a_place_stays_where_it_is_zoomed() -> None:
    camera = fitted((-300.0, 0.0, 300.0, 900.0), 800, 600, 30)
    at = QPointF(200, 150)
    for factor in (1.3, 0.4, 100.0, 0.001):
        zoomed = camera.zoomed(factor, at)
        assert zoomed.place(at) == pytest.approx(camera.place(at))
    gone = Camera(1, 1, 5000, 5000).within((0.0, 0.0, 100.0, 100.0), 800, 600)
    assert gone.point(0, 0).x() < 800
    assert gone.point(0, 0).y() < 600


@pytest.mark.parametrize("name", ["light", "dark"])
def test_names_read_on_every_node(name: ThemeName) -> None:
    theme = load_theme(name)
    for category in (Category.FORWARD, Category.LOSS, Category.BACKWARD, Category.UPDATE):
        colour = theme.category(category)
        faint, ink = dimmed(theme, colour)
        assert contrast_ratio(theme.text_on(colour), colour) >= 4.5  # solid
        assert contrast_ratio(ink, faint) >= 4.5  # nothing of it is in memory
        for share in (0.6, 0.86):  # hollow, and its pattern
            assert contrast_ratio(theme.text, mixed(colour, theme.card, share)) >= 4.5
            assert contrast_ratio(ink, mixed(faint, theme.card, share)) >= 4.5


@pytest.mark.parametrize("fate", Fate)
def test_lines_of_results_are_told_by_dashes_besides_colour(fate: Fate, qapp: QApplication) -> None:
    pens = [fate_pen(load_theme("light"), one, 2.0) for one in Fate]
    mine = fate_pen(load_theme("light"), fate, 2.0)
    assert sum(pen.dashPattern() == mine.dashPattern() for pen in pens) == 1
    assert sum(pen.color() == mine.color() for pen in pens) == 1
