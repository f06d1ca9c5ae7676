"""Control flow whose bodies make a negative length: ONNX's own inference would end the whole process."""

import pytest
from onnx import TensorProto, helper

from xengine_gui.importers import read_network
from xengine_gui.model.graph import NetworkGraph


def value(name: str, *shape: int | str | None, dtype: int = TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def ints(name: str, *values: int):
    return helper.make_tensor(name, TensorProto.INT64, [len(values)], values)


def body(name: str, *inputs, before=()):
    """A convolution of nine rows and a Slice of what is left; a condition first, where the body has inputs."""
    nodes = [
        *before,
        helper.make_node("Conv", ["x", "w"], [f"{name}_c"], kernel_shape=[9, 9]),
        helper.make_node("Slice", [f"{name}_c", "from", "to", "axis"], [f"{name}_s"]),
    ]
    outputs = [value(f"{name}_s", None, None, None, None)]
    if inputs:
        nodes.append(helper.make_node("Identity", [inputs[1].name], [f"{name}_go"]))
        outputs.insert(0, value(f"{name}_go", dtype=TensorProto.BOOL))
    weights = helper.make_tensor("w", TensorProto.FLOAT, [1, 1, 9, 9], [0.0] * 81)
    return helper.make_graph(
        nodes, name, list(inputs), outputs, [weights, ints("from", 0), ints("to", 2), ints("axis", 2)]
    )


def control_flow(kind: str):
    if kind == "Loop":
        step, go = value("step", dtype=TensorProto.INT64), value("go", dtype=TensorProto.BOOL)
        return helper.make_node("Loop", ["n", "c"], ["y"], body=body("loop", step, go))
    inner = body("inner")
    if kind == "nested":
        inner_if = helper.make_node("If", ["c"], ["z"], then_branch=inner, else_branch=body("other"))
        inner = helper.make_graph([inner_if], "outer", [], [value("z", None, None, None, None)])
    return helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=body("else"))


def read(tmp_path, kind: str, length: int) -> NetworkGraph:
    inputs = [value("x", 1, 1, length, length), value("c", dtype=TensorProto.BOOL), value("n", dtype=TensorProto.INT64)]
    after = helper.make_node("Slice", ["y", "ones", "twos", "last"], ["result"])
    graph = helper.make_graph(
        [control_flow(kind), after], "g", inputs, [value("result", None, None, None, None)],
        [ints("ones", 1), ints("twos", 2), ints("last", 3)],
    )  # fmt: skip
    path = tmp_path / "bodies.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString())
    return read_network(path)


@pytest.mark.parametrize("kind", ["If", "nested"])
def test_a_branch_that_cannot_be_is_told_and_unknown(tmp_path, kind: str) -> None:
    network = read(tmp_path, kind, 1)
    assert network.unknown_tensors == ("y", "result")
    assert any("would be negative" in note for note in network.notes)


@pytest.mark.parametrize("kind", ["If", "nested"])
def test_a_branch_that_can_be_has_its_shape(tmp_path, kind: str) -> None:
    network = read(tmp_path, kind, 20)
    assert network.tensors["y"].shape == (1, 1, 2, 12)
    assert network.tensors["result"].shape == (1, 1, 2, 1)


@pytest.mark.parametrize("length", [1, 20])
def test_what_a_loop_stacks_up_stays_unknown(tmp_path, length: int) -> None:
    assert "y" in read(tmp_path, "Loop", length).unknown_tensors


def test_negative_lengths_that_a_branch_declares_are_left_open(tmp_path) -> None:
    slicing = helper.make_node("Slice", ["t", "from", "to"], ["t"])  # damaged: it reads what it gives
    constants = [ints("from", 0), ints("to", 1)]
    then = helper.make_graph([slicing], "then", [], [value("t", -(2**63), 4)], constants)
    otherwise = helper.make_graph([helper.make_node("Neg", ["x"], ["n"])], "else", [], [value("n", 2, 4)])
    node = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=otherwise)
    inputs = [value("x", 2, 4), value("c", dtype=TensorProto.BOOL)]
    graph = helper.make_graph([node], "g", inputs, [value("y", None, None)])
    path = tmp_path / "negative.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString())
    assert read_network(path).tensors["y"].shape is None


def test_branches_of_different_lengths_agree_on_the_rest(tmp_path) -> None:
    then = helper.make_graph([helper.make_node("Relu", ["x"], ["a"])], "then", [], [value("a", None, None)])
    slicing = helper.make_node("Slice", ["x", "from", "to", "axis"], ["b"])
    otherwise = helper.make_graph(
        [slicing], "else", [], [value("b", None, None)], [ints("from", 0), ints("to", 2), ints("axis", 0)]
    )
    node = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=otherwise)
    inputs = [value("x", 4, 3), value("c", dtype=TensorProto.BOOL)]
    graph = helper.make_graph([node], "g", inputs, [value("y", None, None)])
    path = tmp_path / "branches.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString())
    assert read_network(path).unknown_tensors == ("y",)
