"""Operations against closed forms; `test_published.py` has the totals that are published."""

from pathlib import Path

import onnx
import pytest

from xengine_gui.cost.flops import forward_flop, network_mac, work
from xengine_gui.importers import read_network
from xengine_gui.model.dtype import size_bytes
from xengine_gui.model.graph import GraphOperator, GraphParameter, GraphTensor, NetworkGraph
from xengine_gui.model.operator import Phase
from xengine_gui.paths import sample_graphs
from xengine_gui.training import inference_graph, training_graph

LIGHT = Path(onnx.__file__).parent / "backend/test/data/light"


@pytest.mark.parametrize(
    ("name", "gmac"),
    [
        # An encoder of 85 million weights on 128 tokens with the attention of 12 layers.
        ("bert_base", 128 * (12 * 12 * 768**2 + 12 * 2 * 128 * 768) / 1e9),
        ("gpt2_small", 1024 * (12 * 12 * 768**2 + 12 * 2 * 1024 * 768 + 768 * 50257) / 1e9),
    ],
)
def test_multiply_accumulates_of_transformers_are_their_closed_form(name: str, gmac: float) -> None:
    network = read_network(sample_graphs() / f"{name}.onnx")
    assert network_mac(network) / 1e9 == pytest.approx(gmac, rel=0.001)


def test_light_networks_agree_with_the_samples() -> None:
    assert network_mac(read_network(LIGHT / "light_vgg19.onnx")) / 1e9 == pytest.approx(19.6, rel=0.02)
    assert network_mac(read_network(LIGHT / "light_densenet121.onnx")) / 1e9 == pytest.approx(2.87, rel=0.02)


def one(kind: str, shapes: dict[str, tuple[int, ...]], **attributes: int | str | tuple[int, ...]) -> NetworkGraph:
    """A network of one operator that reads all shapes but the last, which it writes; names that start with w weigh."""
    names = list(shapes)
    tensors = {
        n: GraphTensor(n, s, "float32", size_bytes("float32", _count(s)), n) for n, s in shapes.items() if n[0] != "w"
    }
    parameters = {
        n: GraphParameter(n, s, "float32", size_bytes("float32", _count(s)), n, trainable=True)
        for n, s in shapes.items()
        if n[0] == "w"
    }
    operator = GraphOperator("o", kind, tuple(names[:-1]), (names[-1],), tuple(parameters), attributes=attributes)
    inputs = tuple(name for name in names[:-1] if name in tensors)
    return NetworkGraph("n", (operator,), tensors, parameters, inputs, (names[-1],))


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for length in shape:
        count *= length
    return count


@pytest.mark.parametrize(
    ("network", "mac"),
    [
        (one("Conv", {"x": (2, 3, 8, 8), "w": (5, 3, 3, 3), "y": (2, 5, 6, 6)}), 2 * 5 * 36 * 27),
        (one("Conv", {"x": (1, 4, 8, 8), "w": (4, 1, 3, 3), "y": (1, 4, 8, 8)}, group=4), 4 * 64 * 9),
        (one("ConvTranspose", {"x": (1, 4, 5, 5), "w": (4, 6, 2, 2), "y": (1, 6, 10, 10)}), 4 * 25 * 6 * 4),
        (one("Gemm", {"x": (7, 3), "w": (3, 2), "y": (7, 2)}), 7 * 3 * 2),
        (one("Gemm", {"x": (3, 7), "w": (2, 3), "y": (7, 2)}, transA=1, transB=1), 7 * 3 * 2),
        (one("MatMul", {"a": (5, 7, 3), "b": (5, 3, 2), "y": (5, 7, 2)}), 5 * 7 * 3 * 2),
        (one("Einsum", {"a": (5, 7, 3), "b": (5, 2, 3), "y": (5, 7, 2)}, equation="bik,bjk->bij"), 5 * 7 * 3 * 2),
        (one("LSTM", {"x": (9, 2, 3), "w": (1, 16, 3), "wr": (1, 16, 4), "y": (9, 1, 2, 4)}, hidden_size=4),
         9 * 2 * 16 * 7),
    ],
)  # fmt: skip
def test_matrix_work_is_exact(network: NetworkGraph, mac: int) -> None:
    assert forward_flop(network, network.operators[0]) == 2 * mac
    assert network_mac(network) == mac


def test_backward_of_matrix_work_counts_each_gradient() -> None:
    network = one("MatMul", {"x": (8, 8), "w": (8, 8), "y": (8, 8)})
    graph = training_graph(network)
    backward = next(operator for operator in graph.operators if operator.kind == "MatMulGrad")
    # The gradient of the network's input is not computed.
    assert work(graph, backward).flop == 2 * 8**3
    # The input and the output's gradient are read, the weights' gradient is written.
    assert work(graph, backward).bytes_moved == 3 * 256 + 256
    update = next(operator for operator in graph.operators if operator.phase is Phase.UPDATE)
    # Weights and gradient are read, weights written.
    assert work(graph, update).bytes_moved == 3 * 256


def test_a_lookup_reads_rows_and_not_its_table() -> None:
    network = one("Gather", {"w": (1000, 16), "x": (4,), "y": (4, 16)})
    graph = inference_graph(network)
    assert work(graph, graph.operators[-1]).bytes_moved == 16 + 256 + 256


def test_depthwise_convolutions_are_a_class_of_their_own() -> None:
    dense = one("Conv", {"x": (1, 4, 8, 8), "w": (4, 4, 3, 3), "y": (1, 4, 8, 8)})
    depthwise = one("Conv", {"x": (1, 4, 8, 8), "w": (4, 1, 3, 3), "y": (1, 4, 8, 8)}, group=4)
    for network, expected in ((dense, "matrix"), (depthwise, "depthwise")):
        graph = inference_graph(network)
        assert work(graph, graph.operators[-1]).work_class == expected
