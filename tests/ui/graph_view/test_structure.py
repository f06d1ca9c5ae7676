from pathlib import Path

import pytest
from hypothesis import given, settings
from problems import problems
from problems_fixed import chain_problem, training_chain

from xengine_gui import planner
from xengine_gui.model.device import Device
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Tensor
from xengine_gui.paths import sample_graphs
from xengine_gui.ui.graph_view.nodes import LayoutStoppedError
from xengine_gui.ui.graph_view.routes import NODE_HEIGHT, EdgeKind
from xengine_gui.ui.graph_view.scene import Scene, scene_of
from xengine_gui.ui.graph_view.structure import Side, structure_of


def problem_of(rows: list[tuple[str, Phase, str]], sizes: dict[str, int] | None = None) -> Problem:
    """Operators `(name, phase, operators that it reads)`, each with one result called as itself."""
    return Problem(
        "by hand",
        (Device("gpu"),),
        tuple(Operator(n, "x", p, tuple(r.split()), (n,), costs={"gpu": (Implementation(1),)}) for n, p, r in rows),
        tuple(Tensor(n, (sizes or {}).get(n, 100)) for n, _, _ in rows),
    )


def drawn(problem: Problem, *, closed: bool = False) -> Scene:
    structure = structure_of(problem)
    return scene_of(structure, frozenset() if closed else frozenset(structure.blocks))


def row_of(scene: Scene) -> dict[str, int]:
    return {n.title: row for n, row in zip(scene.nodes.nodes, scene.grid.rows, strict=True)}


F, B = Phase.FORWARD, Phase.BACKWARD


def test_names_make_blocks_that_nest() -> None:
    names = ["stem", "a.0.conv", "a.0.relu", "a.1.conv", "a.1.relu", "b.conv", "b.relu", "head"]
    problem = problem_of([(n, F, names[i - 1] if i else "") for i, n in enumerate(names)])
    structure = structure_of(problem)
    assert {b.key: b.members for b in structure.blocks.values()} == {
        "a": (1, 2, 3, 4),
        "b": (5, 6),
        "a.0": (1, 2),
        "a.1": (3, 4),
    }
    assert structure.chains[1] == ("a", "a.0")
    assert structure.blocks["a.0"].parent == "a"
    assert structure.count_visible(frozenset()) == 4
    assert structure.count_visible(frozenset({"a"})) == 5
    assert structure.count_visible(frozenset({"a", "a.0"})) == 6


def test_gradients_and_updates_are_in_the_block_of_their_operator() -> None:
    problem = planner.make_problem(planner.open_file(sample_graphs() / "resnet18.onnx"), planner.DEMO.devices)
    structure = structure_of(problem)
    inside = {problem.operators[o].name for o in structure.blocks["layer2.0"].members}
    assert {"layer2.0.conv1", "layer2.0.conv1/grad"} <= inside
    assert not any(name.startswith("layer2.1") for name in inside)
    updates = [o for o in problem.operators if o.phase is Phase.UPDATE and o.name.startswith("layer")]
    assert updates
    for o, operator in enumerate(problem.operators):
        if operator in updates:
            assert structure.chains[o][-1] in operator.name


def test_where_names_tell_nothing_sizes_and_narrow_places_do() -> None:
    sizes = {f"{i:02}": 100 if i < 5 else 25 for i in range(10)}
    problem = problem_of([(f"{i:02}", F, f"{i - 1:02}" if i else "") for i in range(10)], sizes)
    structure = structure_of(problem)
    assert {b.members for b in structure.blocks.values()} == {(0, 1, 2, 3, 4, 5), (6, 7, 8, 9)}


def test_a_residual_block_is_one_block() -> None:
    rows = [("0", F, ""), ("1", F, "0"), ("2", F, "1"), ("3", F, "0 2"), ("4", F, "3"), ("5", F, "4"), ("6", F, "3 5")]
    members = [b.members for b in structure_of(problem_of(rows)).blocks.values()]
    assert (1, 2, 3) in members or (0, 1, 2, 3) in members
    assert any({4, 5, 6} <= set(m) for m in members)


def test_a_training_chain_folds_at_the_loss_and_gradients_stand_level() -> None:
    chain = [(f"f{i}", F, f"f{i - 1}" if i else "") for i in range(4)]
    back = [(f"b{i}", B, f"f{i} b{i + 1}" if i < 3 else "f3") for i in reversed(range(4))]
    rows = row_of(drawn(problem_of([*chain, *back])))
    assert [rows[f"f{i}"] for i in range(4)] == [0, 1, 2, 3]
    assert [rows[f"b{i}"] for i in range(4)] == [0, 1, 2, 3]


def test_a_skip_stays_clear_of_the_nodes_that_it_skips() -> None:
    rows = [("a", F, ""), ("b", F, "a"), ("c", F, "b"), ("d", F, "a c")]
    scene = drawn(problem_of(rows))
    skip = scene.placed.pairs.index((0, 3))
    first, last = scene.placed.first[skip], scene.placed.first[skip + 1]
    boxes = list(zip(scene.placed.left, scene.placed.top, scene.placed.width, strict=True))
    for (x1, y1), (x2, y2) in zip(scene.placed.points[first:last], scene.placed.points[first + 1 : last], strict=False):
        for left, top, width in boxes[1:3]:
            apart = max(x1, x2) <= left or min(x1, x2) >= left + width
            assert apart or max(y1, y2) <= top or min(y1, y2) >= top + NODE_HEIGHT


def test_blocks_that_wait_for_one_another_are_opened() -> None:
    rows = [("a.1", F, ""), ("b.1", F, "a.1"), ("a.2", F, "b.1"), ("b.2", F, "a.2")]
    scene = drawn(problem_of(rows), closed=True)
    assert scene.expanded == frozenset({"a", "b"})
    assert len(scene.nodes.nodes) == 4


def test_a_layout_that_is_not_wanted_any_more_stops() -> None:
    structure = structure_of(training_chain(50))
    with pytest.raises(LayoutStoppedError):
        scene_of(structure, frozenset(), lambda: True)


def test_two_thousand_operators_are_closed_to_what_can_be_read() -> None:
    structure = structure_of(chain_problem(length=2000))
    assert structure.count_visible(structure.default_expanded()) <= 2000 / 8
    assert len(drawn(chain_problem(length=2000)).nodes.nodes) == 2000


@pytest.mark.parametrize("name", ["unet.onnx", "googlenet.onnx", "lenet.onnx", "gpt2_small.onnx"])
@pytest.mark.parametrize("closed", [True, False])
def test_drawings_of_networks_hold_their_rules(name: str, closed: bool) -> None:
    network = planner.open_file(Path(sample_graphs() / name))
    holds_its_rules(drawn(planner.make_problem(network, planner.DEMO.devices), closed=closed))


@settings(deadline=None, max_examples=60)
@given(problems(max_operators=9))
def test_drawings_of_random_problems_hold_their_rules(problem: Problem) -> None:
    holds_its_rules(drawn(problem))
    holds_its_rules(drawn(problem, closed=True))


def holds_its_rules(scene: Scene) -> None:
    nodes, rows, columns = scene.nodes.nodes, scene.grid.rows, scene.grid.columns
    places = {(n.side, r, c) for n, r, c in zip(nodes, rows, columns, strict=True)}
    assert len(places) == len(nodes)  # no node lies on another one
    assert sorted(o for n in nodes for o in n.operators) == list(range(len(scene.structure.sides)))
    assert set(scene.placed.pairs) == set(scene.nodes.edges)
    for (a, b), kind in zip(scene.placed.pairs, scene.placed.kinds, strict=True):
        sides = nodes[a].side, nodes[b].side
        assert (kind is EdgeKind.FLOW) == (sides[0] is sides[1])
        if sides == (Side.FORWARD, Side.FORWARD):
            assert rows[a] < rows[b]
        if sides == (Side.BACKWARD, Side.BACKWARD):
            assert rows[a] > rows[b]
        if sides == (Side.FORWARD, Side.BACKWARD):
            assert rows[a] <= rows[b]
