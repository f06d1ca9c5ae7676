"""Field cases whose file is made here: weights elsewhere, files beyond two gibibytes, training graphs, late shapes."""

import json
import subprocess
import sys
import time
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from xengine_gui.cli import main
from xengine_gui.importers import read_network
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.model.operator import Phase
from xengine_gui.paths import sample_graphs
from xengine_gui.training import inference_graph, retain_all_peak_bytes, training_graph


def value(name: str, *shape: int | str | None, dtype: int = TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def read(folder: Path, nodes, inputs, outputs, initializers=(), imports=(("", 17),)) -> NetworkGraph:
    graph = helper.make_graph(list(nodes), "g", list(inputs), list(outputs), list(initializers))
    model = helper.make_model(graph)
    del model.opset_import[:]
    model.opset_import.extend(helper.make_opsetid(domain, version) for domain, version in imports)
    path = folder / "network.onnx"
    path.write_bytes(model.SerializeToString())
    return read_network(path)


def outside(name: str, shape: list[int], location: str):
    """A weight whose data stand in another file."""
    tensor = onnx.TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    return tensor


@pytest.mark.parametrize("location", ["weights.bin", "../../../../etc/passwd"])
def test_o4_no_other_file_is_ever_opened(tmp_path: Path, location: str) -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    read(tmp_path, nodes, [value("x", 2, 8)], [value("y", 2, 8)], [outside("w", [8, 8], location)])
    code = (
        "import sys; from pathlib import Path; from xengine_gui.importers import read_network; "
        "import xengine_gui.importers.onnx_format.network; opened = []; "
        "sys.addaudithook(lambda event, about: opened.append(str(about[0])) if event == 'open' else None); "
        "read_network(Path(sys.argv[1])); print([o for o in opened if not o.endswith(('.py', '.pyc'))])"
    )
    path = str(tmp_path / "network.onnx")
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == repr([path])


def test_o5_weights_beyond_two_gibibytes_are_sizes_alone(tmp_path: Path) -> None:
    weights = [outside(f"w{i}", [2**14, 2**14], "sparse.bin") for i in range(4)]
    nodes = [helper.make_node("MatMul", [f"x{i}" if i else "x", f"w{i}"], [f"x{i + 1}"]) for i in range(4)]
    network = read(tmp_path, nodes, [value("x", 1, 2**14)], [value("x4", 1, 2**14)], weights)
    assert network.operator_count == len(nodes)
    assert network.parameter_bytes == 4 * 2**30
    assert network.unknown_tensors == ()


def test_o23_a_training_graph_is_planned_as_it_is(tmp_path: Path) -> None:
    """SoftmaxGrad, LayerNormalizationGrad and SGD, the default domain three times: ONNX's inference raises."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("Softmax", ["a"], ["p"]),
        helper.make_node("SoftmaxCrossEntropyLoss", ["p", "t"], ["loss"]),
        helper.make_node("SoftmaxGrad", ["p", "a"], ["da"], domain="com.microsoft"),
        helper.make_node("LayerNormalizationGrad", ["da", "a"], ["dw"], domain="com.microsoft"),
        helper.make_node("SGD", ["lr", "w", "dw"], ["w_new"], domain="ai.onnx.preview.training"),
    ]
    inputs = [value("x", 4, 8), value("t", 4, dtype=TensorProto.INT64), value("lr", 1)]
    weights = [helper.make_tensor("w", TensorProto.FLOAT, [8, 8], [0.0] * 64)]
    network = read(
        tmp_path, nodes, inputs, [value("loss"), value("w_new", 8, 8)], weights, [("", 17), ("ai.onnx", 17), ("", 16)]
    )
    assert network.has_backward
    graph = training_graph(network)
    kinds = [operator.kind for operator in graph.operators if operator.kind != "Input"]
    assert kinds == [node.op_type for node in nodes]  # nothing is differentiated again
    update = graph.operators[-1]
    assert (update.phase, update.recomputable, update.outputs) == (Phase.UPDATE, False, ("w_new",))
    assert "w_new" in graph.keep


def test_o29_a_late_shape_holds_nothing(tmp_path: Path) -> None:
    """The tensor of a gibibyte dies after its last reader that needs its values."""
    nodes = [
        helper.make_node("Relu", ["x"], ["big"]),
        helper.make_node("ReduceSum", ["big"], ["small"], keepdims=0),
        helper.make_node("Exp", ["small"], ["b"]),
        helper.make_node("Shape", ["big"], ["s"]),
        helper.make_node("Cast", ["s"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["b", "f"], ["y"]),
    ]
    network = read(tmp_path, nodes, [value("x", 2**28)], [value("y", 1)])
    graph = inference_graph(network)
    assert [o.kind for o in graph.operators if "big" in o.inputs] == ["ReduceSum"]
    assert retain_all_peak_bytes(graph) == 2 * 2**30 + network.parameter_bytes


@pytest.mark.parametrize("name", ["resnet18", "lenet", "gpt2_small"])
def test_u7_the_head_is_the_sum_of_the_column_to_the_byte(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = sample_graphs() / f"{name}.onnx"
    assert main(["inspect", str(path), "--training", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    graph = training_graph(read_network(path))
    assert report["activation_bytes"] == sum(t.size_bytes or 0 for t in graph.tensors.values())
    assert report["parameter_bytes"] == sum(p.size_bytes or 0 for p in graph.parameters.values())


def seconds_of_a_chain(folder: Path, length: int, rounds: int = 1) -> float:
    """Processor time from the file to its training graph, the best of some."""
    nodes = []
    for i in range(0, length, 2):
        nodes.append(helper.make_node("Add", [f"t{i}", "w"], [f"t{i + 1}"]))
        nodes.append(helper.make_node("Relu", [f"t{i + 1}"], [f"t{i + 2}"]))
    weights = [helper.make_tensor("w", TensorProto.FLOAT, [8], [0.0] * 8)]
    taken = []
    for _ in range(rounds):
        start = time.process_time()
        network = read(folder, nodes, [value("t0", 4, 8)], [value(f"t{length}", 4, 8)], weights)
        graph = training_graph(network)
        taken.append(time.process_time() - start)
        assert network.operator_count == length
        assert len(graph.operators) > 2 * length
    return min(taken)


def test_o24_ten_thousand_operators_take_ten_times_as_long_as_a_thousand(tmp_path: Path) -> None:
    """What grows with the square would take a hundred times as long, and minutes on real networks."""
    seconds_of_a_chain(tmp_path, 100)
    assert seconds_of_a_chain(tmp_path, 10_000) < 30 * seconds_of_a_chain(tmp_path, 1_000, rounds=3)
