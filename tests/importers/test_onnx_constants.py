"""Constants of damaged files, wherever they stand: a length below nothing is unknown, never bytes below nothing."""

from pathlib import Path

import pytest
from onnx import TensorProto, helper

from xengine_gui import planner
from xengine_gui.errors import InputError
from xengine_gui.importers import read_network


def value(name: str, *shape: int, dtype: int = TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def weight(length: int):
    made = helper.make_tensor("w", TensorProto.FLOAT, [2], [1, 2])
    made.dims[0] = length
    return made


def sparse(length: int):
    values = helper.make_tensor("w", TensorProto.FLOAT, [1], [1])
    places = helper.make_tensor("places", TensorProto.INT64, [1], [0])
    return helper.make_sparse_tensor(values, places, [length])


def written(folder: Path, place: str, length: int) -> Path:
    """A product with a constant of one dimension, in each branch or as a sparse one."""
    if place == "branch":
        branches = [
            helper.make_graph(
                [helper.make_node("Mul", ["x", "w"], [f"{side}_y"])],
                side,
                [],
                [value(f"{side}_y", 2)],
                [weight(length)],
            )
            for side in ("then", "else")
        ]
        node = helper.make_node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1])
    else:
        node = helper.make_node("Mul", ["x", "w"], ["y"])
    graph = helper.make_graph(
        [node],
        "g",
        [value("x", 2), value("c", dtype=TensorProto.BOOL)],
        [value("y", 2)],
        [],
        sparse_initializer=[sparse(length)] if place == "sparse" else None,
    )
    path = folder / "network.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString())
    return path


@pytest.mark.parametrize("place", ["branch", "sparse"])
def test_a_length_below_nothing_is_unknown(tmp_path: Path, place: str) -> None:
    sizes = [p.size_bytes for p in read_network(written(tmp_path, place, 2)).parameters.values()]
    assert sizes == ([8, 8] if place == "branch" else [8])
    network = read_network(written(tmp_path, place, -7))
    parameters = network.parameters.values()
    assert [(p.shape, p.size_bytes) for p in parameters] == [(None, None)] * len(sizes)
    assert set(network.unknown_tensors) >= {p.name for p in parameters}
    with pytest.raises(InputError, match=r"the size of \d tensors? is unknown"):
        planner.make_problem(network, planner.DEFAULT_DEVICES)
