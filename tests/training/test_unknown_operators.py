"""Operators of unknown domains on the way from a weight to the loss: trained, once somebody has told their sizes."""

from pathlib import Path

import pytest
from onnx import TensorProto, helper

from xengine_gui import planner
from xengine_gui.cli import main
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.training import training_graph

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A convolution, an operator that nobody knows, and what follows it, of which no type can be inferred."""

    def value(name: str, *shape: int | None):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], kernel_shape=[3, 3]),
        helper.make_node("Strange", ["a"], ["b"], domain="own"),
        helper.make_node("Relu", ["b"], ["c"]),
        helper.make_node("Identity", ["c"], ["y"]),
    ]
    weight = helper.make_tensor("w", TensorProto.FLOAT, [4, 3, 3, 3], [0.1] * 108)
    graph = helper.make_graph(nodes, "g", [value("x", 2, 3, 8, 8)], [value("y", None, None)], [weight])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    file = tmp_path / "strange.onnx"
    file.write_bytes(helper.make_model(graph, opset_imports=opsets).SerializeToString())
    return file


def test_missing_sizes_are_asked_for_and_then_it_is_trained(path: Path, tmp_path: Path, capsys: Captured) -> None:
    words = ["problem", str(path), "--device", "gpu=rtx-4090", "-o", str(tmp_path / "problem.json")]
    assert main(words) == 2
    assert "the size of 2 tensors is unknown: 'b', 'c'; give sizes" in capsys.readouterr().err
    assert main([*words, "--size", "b=1MB", "--size", "c=1MB"]) == 0


def test_its_backward_reads_all_that_it_read_and_wrote(path: Path) -> None:
    network = planner.open_file(path, sizes={"b": 1_000_000, "c": 1_000_000})
    assert isinstance(network, NetworkGraph)
    graph = training_graph(network)
    backward = next(o for o in graph.operators if o.kind == "StrangeGrad")
    assert set(backward.inputs) >= {"a", "b", "b/grad"}
    assert graph.tensors["b/grad"].size_bytes == 1_000_000
    assert any("No rule says what the backward of Strange reads" in note for note in graph.notes)
    assert any(o.name.endswith("Conv_0/grad") for o in graph.operators)
