"""One network as every opset has it, from the first to the newest: the same sizes and the same backward."""

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from xengine_gui.importers import read_network
from xengine_gui.training import training_graph

NEWEST = onnx.defs.onnx_opset_version()


def value(name: str, *shape: int | None):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def weights(name: str, *shape: int):
    count = 1
    for length in shape:
        count *= length
    return helper.make_tensor(name, TensorProto.FLOAT, shape, [0.5] * count)


def written(folder: Path, opset: int) -> Path:
    """A convolution, its normalization, and a linear layer behind a dropout, as they were written then."""
    inference = {"is_test": 1} if opset < 7 else {}
    normalization = {**inference, **({"consumed_inputs": [0, 0, 0, 1, 1]} if opset < 6 else {})}
    reshape, constants = helper.make_node("Reshape", ["d", "shape"], ["e"]), []
    if opset < 5:
        reshape = helper.make_node("Reshape", ["d"], ["e"], shape=[2, -1])
    else:
        constants = [helper.make_tensor("shape", TensorProto.INT64, [2], [2, -1])]
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], kernel_shape=[3, 3]),
        helper.make_node("BatchNormalization", ["a", "scale", "bias", "mean", "var"], ["b"], **normalization),
        helper.make_node("Relu", ["b"], ["c"]),
        helper.make_node("Dropout", ["c"], ["d"], **inference),
        reshape,
        helper.make_node("Gemm", ["e", "v", "t"], ["f"], **({"broadcast": 1} if opset < 7 else {})),
        helper.make_node("Softmax", ["f"], ["y"], axis=1),
    ]
    rows = [weights("w", 4, 3, 3, 3), *(weights(name, 4) for name in ("scale", "bias", "mean", "var"))]
    rows += [weights("v", 4 * 36, 5), weights("t", 5), *constants]
    inputs = [value("x", 2, 3, 8, 8)]
    graph = helper.make_graph(nodes, "g", inputs, [value("y", 2, 5)], rows)
    path = folder / f"opset{opset}.onnx"
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.parametrize("opset", range(1, NEWEST + 1))
def test_every_opset_gives_the_same_network(tmp_path: Path, opset: int) -> None:
    network = read_network(written(tmp_path, opset))
    sizes = {name: tensor.size_bytes for name, tensor in network.tensors.items()}
    normal, linear = 2 * 4 * 36 * 4, 2 * 5 * 4
    assert sizes == {
        "x": 2 * 3 * 64 * 4, "a": normal, "b": normal, "c": normal, "d": normal, "e": normal, "f": linear, "y": linear,
    }  # fmt: skip
    assert {o.name for o in network.operators if o.view} >= {"Reshape_4"}
    trained = [p.name for p in network.parameters.values() if p.trainable]
    assert sorted(trained) == ["bias", "scale", "t", "v", "w"]
    graph = training_graph(network)
    assert {o.kind for o in graph.operators} >= {"ConvGrad", "BatchNormalizationGrad", "ReluGrad", "GemmGrad"}


def test_what_the_first_opsets_had_in_another_way(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Add", ["x", "bias"], ["a"], broadcast=1, axis=1),  # along the channels
        helper.make_node("Concat", ["a", "x"], ["b"]),
        helper.make_node("Cast", ["b"], ["c"], to="FLOAT16"),
        helper.make_node("Upsample", ["b"], ["d"], height_scale=2.0, width_scale=3.0, mode="nearest"),
        helper.make_node("Pad", ["d"], ["y"], paddings=[0, 0, 1, 1, 0, 0, 1, 1]),
    ]
    graph = helper.make_graph(nodes, "g", [value("x", 2, 3, 8, 8)], [value("y", *[None] * 4)], [weights("bias", 3)])
    path = tmp_path / "old.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 1)]).SerializeToString())
    tensors = read_network(path).tensors
    assert [tensors[name].shape for name in "abcdy"] == [
        (2, 3, 8, 8), (2, 6, 8, 8), (2, 6, 8, 8), (2, 6, 16, 24), (2, 6, 18, 26),
    ]  # fmt: skip
    assert tensors["c"].size_bytes == 2 * 2 * 6 * 64
