"""Convolutions by several algorithms: closed forms, and plans that choose among them."""

from dataclasses import replace
from math import prod
from pathlib import Path

import pytest

from xengine_gui import planner
from xengine_gui.cli import main
from xengine_gui.cost import COST_MODELS, Algorithms, DeviceChoice, Roofline, device_preset
from xengine_gui.cost.algorithms import fft_bytes, im2col_bytes, winograd_bytes
from xengine_gui.cost.flops import Convolution, Work
from xengine_gui.model.graph import GraphOperator, GraphParameter, GraphTensor, NetworkGraph
from xengine_gui.model.plan import Status
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import read_problem
from xengine_gui.paths import sample_graphs

VGG = Convolution(8, 64, 128, (112, 112), (112, 112), (3, 3), (1, 1), (1, 1), 1)
P100 = device_preset("p100")


def work_of(shapes: Convolution, *, backward: bool = False) -> Work:
    flop = 2 * shapes.images * shapes.written_channels * shapes.read_channels // shapes.groups
    for length in (*shapes.written, *shapes.kernel):
        flop *= length
    return Work(flop, 10**6, "matrix", shapes, backward)


def names(shapes: Convolution, device: str = "p100", **more: bool) -> list[str | None]:
    return [row.name for row in Algorithms().implementations(work_of(shapes, **more), device_preset(device))]


def test_the_roofline_is_what_holds_when_nobody_asks() -> None:
    assert [model.key for model in COST_MODELS] == ["roofline", "algorithms"]


def test_workspaces_are_their_closed_forms() -> None:
    # Caffe lowers one image at a time: C kh kw by H W floats.
    assert im2col_bytes(VGG) == 4 * 64 * 9 * 112 * 112
    # 56 x 56 tiles of 4 x 4 an image, for 64 channels in and 128 out, and 16 values for each pair of channels.
    assert winograd_bytes(VGG) == 4 * 16 * (8 * 56 * 56 * (64 + 128) + 64 * 128)
    small = Convolution(1, 2, 3, (8, 8), (4, 4), (5, 5), (1, 1), (1, 1), 1)
    # Planes of 12 x 12, of which a real transform needs 12 x 7 complex values.
    assert fft_bytes(small) == 8 * 12 * 7 * (2 + 3 + 6)


def test_which_algorithms_there_are() -> None:
    assert names(VGG) == ["winograd", "im2col", "direct"]
    assert names(VGG, backward=True) == ["im2col", "direct"]
    assert names(VGG, "cortex-m7") == ["im2col", "direct"]
    assert names(replace(VGG, strides=(2, 2), written=(56, 56))) == ["im2col", "direct"]
    assert "fft" in names(replace(VGG, kernel=(11, 11)))
    assert names(replace(VGG, kernel=(1, 1))) == [None]
    assert names(VGG, "host-memory") == []


def test_none_is_there_that_another_beats() -> None:
    rows = Algorithms().implementations(work_of(VGG), P100)
    assert [row.time_ns for row in rows] == sorted({row.time_ns for row in rows})
    assert [row.workspace_bytes for row in rows] == sorted({row.workspace_bytes for row in rows}, reverse=True)
    assert rows[-1].workspace_bytes == 0
    (usual,) = Roofline().implementations(work_of(VGG), P100)
    assert usual.time_ns == next(row.time_ns for row in rows if row.name == "im2col")


@pytest.fixture(scope="module")
def one() -> Problem:
    """One convolution, by itself."""
    sizes = {"x": (8, 64, 112, 112), "w": (128, 64, 3, 3), "y": (8, 128, 112, 112)}
    x, y = (GraphTensor(n, sizes[n], "float32", 4 * prod(sizes[n]), n) for n in "xy")
    w = GraphParameter("w", sizes["w"], "float32", 4 * prod(sizes["w"]), "w")
    operator = GraphOperator("o", "Conv", ("x", "w"), ("y",), ("w",), attributes={"pads": (1, 1, 1, 1)})
    network = NetworkGraph("one", (operator,), {"x": x, "y": y}, {"w": w}, ("x",), ("y",))
    return planner.make_problem(network, [DeviceChoice("gpu", "p100")], training=False, implementations=True)


@pytest.mark.parametrize("strategy", ["optimal", "greedy"])
def test_a_plan_takes_the_workspace_that_there_is(one: Problem, strategy: str) -> None:
    bare = sum(t.size_bytes for t in one.tensors) + sum(p.size_bytes for p in one.parameters)

    def chosen(workspace_bytes: int) -> str | None:
        plan = planner.plan(one.with_limit("gpu", bare + workspace_bytes), strategy)
        assert plan.status in (Status.OPTIMAL, Status.FEASIBLE)
        return next(event.implementation for event in plan.events if getattr(event, "operator", "") == "o")

    assert chosen(winograd_bytes(VGG)) == "winograd"
    assert chosen(winograd_bytes(VGG) - 1) == "im2col"
    assert chosen(im2col_bytes(VGG)) == "im2col"
    assert chosen(im2col_bytes(VGG) - 1) == "direct"
    assert chosen(0) == "direct"
    assert planner.plan(one.with_limit("gpu", bare - 1), strategy).status is not Status.OPTIMAL


def test_the_flag_of_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["problem", str(sample_graphs() / "resnet18.onnx"), "--device", "gpu=p100", "-o"]
    assert main([*words, str(tmp_path / "a.json"), "--implementations"]) == 0
    assert main([*words, str(tmp_path / "b.json")]) == 0
    many, one = read_problem(tmp_path / "a.json"), read_problem(tmp_path / "b.json")
    assert {len(o.costs["gpu"]) for o in one.operators} == {1}
    assert {row.name for o in many.operators for row in o.costs["gpu"]} == {None, "direct", "im2col", "winograd"}
    assert main(["plan", str(tmp_path / "a.json"), "--implementations"]) == 2
    assert "--implementations has no meaning" in capsys.readouterr().err
