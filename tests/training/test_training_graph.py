"""Training and inference graphs: structure, memory by closed forms, and every network there is."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xengine_gui.errors import InputError
from xengine_gui.importers import read_network
from xengine_gui.model.dtype import size_bytes
from xengine_gui.model.graph import GraphOperator, GraphParameter, GraphTensor, NetworkGraph, TrainingGraph
from xengine_gui.model.operator import Phase
from xengine_gui.paths import sample_graphs
from xengine_gui.training import OPTIMIZERS, inference_graph, retain_all_peak_bytes, training_graph
from xengine_gui.training.rules import RULES

LIGHT = sorted((Path(onnx.__file__).parent / "backend/test/data/light").glob("*.onnx"))
SAMPLES = sorted(sample_graphs().glob("*.onnx"))


def network(
    operators: list[tuple[str, str, str]], outputs: str, shape: tuple[int, ...] = (4, 5), weights: tuple[str, ...] = ()
) -> NetworkGraph:
    """A network from (kind, inputs, output) rows on the input x; all tensors have one shape, weights are 5 x 5."""
    views = {"Reshape", "Identity", "Dropout", "Flatten"}
    storage = {"x": "x"}
    rows = []
    for index, (kind, inputs, output) in enumerate(operators):
        names = tuple(inputs.split())
        storage[output] = storage[names[0]] if kind in views else output
        parameters = tuple(name for name in names if name in weights)
        rows.append(GraphOperator(f"{kind}_{index}", kind, names, (output,), parameters, view=kind in views))
    tensors = {n: GraphTensor(n, shape, "float32", size_bytes("float32", 20), s) for n, s in storage.items()}
    return NetworkGraph(
        name="toy",
        operators=tuple(rows),
        tensors=tensors,
        parameters={w: GraphParameter(w, (5, 5), "float32", 100, w, trainable=True) for w in weights},
        inputs=("x",),
        outputs=tuple(outputs.split()),
    )


def check_structure(graph: TrainingGraph) -> None:
    """Every tensor has one producer before its readers, names are unique, phases follow each other."""
    computed: set[str] = set()
    for operator in graph.operators:
        assert computed.issuperset(operator.inputs), operator.name
        assert len(set(operator.inputs)) == len(operator.inputs)
        assert computed.isdisjoint(operator.outputs)
        assert set(operator.parameters) <= graph.parameters.keys()
        computed.update(operator.outputs)
    assert computed == graph.tensors.keys()
    assert len({operator.name for operator in graph.operators}) == graph.operator_count
    order = [list(Phase).index(operator.phase) for operator in graph.operators]
    assert order == sorted(order)


def reads(graph: TrainingGraph, name: str) -> set[str]:
    return set(next(operator.inputs for operator in graph.operators if operator.name == name))


@pytest.mark.parametrize("path", [*LIGHT, *SAMPLES], ids=lambda path: path.stem)
@pytest.mark.parametrize("optimizer", ["none", "adam"])
def test_every_network_trains_and_infers(path: Path, optimizer: str) -> None:
    read = read_network(path, batch=8)
    training, inference = training_graph(read, optimizer=optimizer), inference_graph(read)
    for graph in (training, inference):
        check_structure(graph)
        assert graph.unknown_tensors == ()
    assert all(operator.phase is Phase.FORWARD for operator in inference.operators)
    assert len(inference.keep) == len(read.outputs)
    # Every trained parameter gets a gradient, and the gradient of a tensor has its size.
    trained = {name for operator in training.operators for name in operator.parameter_gradients}
    assert trained == {name for name, parameter in training.parameters.items() if parameter.trainable}
    for name, tensor in training.tensors.items():
        if "/grad" in name:
            assert tensor.size_bytes == training.tensors[name.split("/grad")[0]].size_bytes
    # No gradient of the network's inputs.
    assert not any(name.split("/grad")[0] in read.inputs for name in training.tensors if "/grad" in name)
    peak, inference_peak = retain_all_peak_bytes(training), retain_all_peak_bytes(inference)
    assert peak is not None
    assert inference_peak is not None
    assert peak > inference_peak


def test_a_chain_of_linear_layers_reads_what_it_must() -> None:
    graph = training_graph(network([("MatMul", "x w1", "a"), ("Relu", "a", "b"), ("MatMul", "b w2", "y")], "y",
                                   weights=("w1", "w2")))  # fmt: skip
    check_structure(graph)
    assert reads(graph, "MatMul_2/grad") == {"b", "y/grad"}
    assert reads(graph, "Relu_1/grad") == {"b", "b/grad"}
    assert reads(graph, "MatMul_0/grad") == {"x", "a/grad"}
    first = next(operator for operator in graph.operators if operator.name == "MatMul_0/grad")
    assert first.outputs == ()
    assert first.parameter_gradients == ("w1",)
    # x 80, a b y 80 each, loss 4, log-probabilities 80; the peak is in the loss's gradient or the first backward.
    assert retain_all_peak_bytes(graph) == 2 * 200 + 80 + 80 + 80 + 4 + 80


@pytest.mark.parametrize(("optimizer", "factor"), [("none", 1), ("sgd", 2), ("momentum", 3), ("adam", 4)])
def test_optimizers_hold_their_state(optimizer: str, factor: int) -> None:
    graph = training_graph(network([("MatMul", "x w", "y")], "y", weights=("w",)), optimizer=optimizer)
    assert graph.parameter_bytes == factor * 100
    assert OPTIMIZERS[optimizer] == factor
    updates = [operator for operator in graph.operators if operator.phase is Phase.UPDATE]
    assert len(updates) == (optimizer != "none")
    with pytest.raises(InputError, match="there are none, sgd, momentum, adam"):
        training_graph(network([("MatMul", "x w", "y")], "y", weights=("w",)), optimizer="lion")


def test_gradients_of_several_readers_are_added_by_operators() -> None:
    graph = training_graph(
        network([("MatMul", "x w", "a"), ("Relu", "a", "b"), ("Tanh", "a", "c"), ("Exp", "a", "d"), ("Mul", "b c", "e"),
                 ("Mul", "e d", "y")], "y", weights=("w",))
    )  # fmt: skip
    check_structure(graph)
    kinds = Counter(operator.kind for operator in graph.operators)
    assert kinds["GradientSum"] == 2
    assert reads(graph, "MatMul_0/grad") == {"x", "a/grad"}


def test_a_residual_sum_passes_its_gradient_on() -> None:
    graph = training_graph(
        network([("MatMul", "x w", "a"), ("Relu", "a", "b"), ("Add", "a b", "y")], "y", weights=("w",))
    )
    assert not any(operator.kind == "AddGrad" for operator in graph.operators)
    assert reads(graph, "Relu_1/grad") == {"b", "y/grad"}
    total = next(operator for operator in graph.operators if operator.kind == "GradientSum")
    assert "y/grad" in total.inputs


def test_a_tensor_read_twice_by_one_operator_has_one_gradient() -> None:
    for kind in ("Mul", "Add"):
        graph = training_graph(network([("MatMul", "x w", "a"), (kind, "a a", "y")], "y", weights=("w",)))
        check_structure(graph)
        assert "a/grad" in graph.tensors


def test_views_and_their_backward_vanish() -> None:
    graph = training_graph(
        network([("MatMul", "x w", "a"), ("Reshape", "a", "b"), ("Identity", "b", "c"), ("Relu", "c", "y")], "y",
                weights=("w",))
    )  # fmt: skip
    assert {operator.kind for operator in graph.operators} == {
        "Input", "MatMul", "Relu", "SoftmaxCrossEntropyLoss", "SoftmaxCrossEntropyLossGrad", "ReluGrad", "MatMulGrad",
        "Update",
    }  # fmt: skip
    assert reads(graph, "MatMul_0/grad") == {"x", "a/grad"}


def test_dropout_is_a_view_at_inference_and_has_a_mask_in_training() -> None:
    made = network([("MatMul", "x w", "a"), ("Dropout", "a", "b"), ("MatMul", "b w", "y")], "y", weights=("w",))
    training, inference = training_graph(made), inference_graph(made)
    assert [operator.kind for operator in inference.operators] == ["Input", "MatMul", "MatMul"]
    dropout = next(operator for operator in training.operators if operator.kind == "Dropout")
    assert not dropout.recomputable
    assert dropout.outputs == ("b", "b/mask")
    assert training.tensors["b/mask"].size_bytes == 20
    assert reads(training, "Dropout_1/grad") == {"b/mask", "b/grad"}


def test_an_unknown_kind_reads_everything_and_says_so() -> None:
    graph = training_graph(network([("MatMul", "x w", "a"), ("Magic", "a", "y")], "y", weights=("w",)))
    assert reads(graph, "Magic_1/grad") == {"a", "y", "y/grad"}
    assert any("Magic" in note for note in graph.notes)


def test_nothing_to_train_is_said() -> None:
    with pytest.raises(InputError, match="nothing to train"):
        training_graph(network([("Floor", "x", "y")], "y"))


def test_inputs_are_operators_and_unread_ones_are_left_out() -> None:
    graph = inference_graph(network([("Relu", "x", "y")], "y"))
    assert graph.operators[0].kind == "Input"
    assert graph.operators[0].recomputable
    assert graph.keep == ("y",)


def test_a_file_with_a_backward_is_not_differentiated_again() -> None:
    made = network([("Softmax", "x", "p"), ("SoftmaxGrad", "p", "g"), ("SGD", "g", "w_new")], "w_new")
    made = NetworkGraph(**{**made.__dict__, "has_backward": True})
    graph = training_graph(made)
    assert [operator.phase for operator in graph.operators] == [
        Phase.FORWARD, Phase.FORWARD, Phase.BACKWARD, Phase.UPDATE,
    ]  # fmt: skip
    assert not graph.operators[-1].recomputable
    assert graph.keep == ("w_new",)


def test_tied_weights_are_updated_once() -> None:
    made = network([("MatMul", "x w", "a"), ("MatMul", "a w", "y")], "y", weights=("w",))
    updates = [operator for operator in training_graph(made).operators if operator.phase is Phase.UPDATE]
    assert len(updates) == 1
    assert updates[0].parameters == ("w",)


def test_every_common_kind_has_a_rule() -> None:
    kinds = {operator.kind for path in [*LIGHT, *SAMPLES] for operator in read_network(path).operators}
    assert kinds <= RULES.keys()


UNARY = st.sampled_from(["Relu", "Tanh", "Exp", "Gelu", "Identity", "Reshape", "Neg", "Magic", "Dropout", "Floor"])
BINARY = st.sampled_from(["Add", "Mul", "Sub", "Div", "MatMul", "Max", "Concat"])


@st.composite
def networks(draw: st.DrawFn) -> NetworkGraph:
    rows, names = [("MatMul", "x w0", "t0")], ["x", "t0"]
    weights = ["w0"]
    for index in range(1, draw(st.integers(2, 14))):
        left = draw(st.sampled_from(names))
        if draw(st.booleans()):
            rows.append((draw(UNARY), left, f"t{index}"))
        else:
            right = draw(st.sampled_from([*names, *weights, f"w{index}"]))
            if right.startswith("w") and right not in weights:
                weights.append(right)
            rows.append((draw(BINARY), f"{left} {right}", f"t{index}"))
        names.append(f"t{index}")
    outputs = " ".join(dict.fromkeys([names[-1], draw(st.sampled_from(names[1:]))]))
    return network(rows, outputs, weights=tuple(weights))


@settings(deadline=None, max_examples=200)
@given(networks(), st.sampled_from(list(OPTIMIZERS)))
def test_any_network_gives_a_sound_training_graph(made: NetworkGraph, optimizer: str) -> None:
    try:
        graph = training_graph(made, optimizer=optimizer)
    except InputError as error:
        assert "nothing to train" in str(error)  # noqa: PT017
        return
    check_structure(graph)
    names = {name for operator in graph.operators for name in (*operator.inputs, *operator.outputs)}
    assert names == graph.tensors.keys()
    # Each gradient is read: by a backward operator or a sum of gradients; only gradients of no use are not made.
    read = {name for operator in graph.operators for name in operator.inputs}
    for name in graph.tensors:
        if "/grad" in name and not name.startswith("x"):
            assert name in read, name


WITHOUT_RULE = {"If", "Loop", "Scan", "Optional", "OptionalGetElement", "LinearAttention"}
"""What runs inside control flow is not known, nor what is in a sequence: all inputs and outputs are assumed."""


def test_every_operator_of_onnx_has_a_rule_or_is_told_of() -> None:
    kinds = {schema.name for schema in onnx.defs.get_all_schemas() if not schema.domain and not schema.deprecated}
    strange = {kind for kind in kinds - RULES.keys() if "Sequence" not in kind}
    assert strange <= WITHOUT_RULE


@pytest.mark.parametrize(
    ("shape", "attributes", "rows"),
    [((2, 8, 16, 64), {}, 2 * 8 * 16), ((2, 16, 512), {"q_num_heads": 8, "kv_num_heads": 8}, 2 * 16 * 8)],
)
def test_attention_keeps_a_number_for_each_row_of_scores(shape, attributes, rows: int) -> None:
    made = network([("MatMul", "x w", "q"), ("Attention", "q q q", "y")], "y", weights=("w",))
    tensors = {name: GraphTensor(name, shape, "float32", 4, name) for name in made.tensors}
    operators = (made.operators[0], replace(made.operators[1], attributes=attributes))
    graph = training_graph(replace(made, tensors=tensors, operators=operators))
    assert graph.tensors["Attention_1/statistics"].size_bytes == 4 * rows


@pytest.mark.parametrize(("kind", "widths"), [("LSTM", 6), ("GRU", 6), ("RNN", 0)])
@pytest.mark.parametrize(("direction", "both"), [("forward", 1), ("bidirectional", 2)])
def test_recurrent_operators_keep_their_gates(kind: str, widths: int, direction: str, both: int) -> None:
    made = network([("MatMul", "x w", "a"), (kind, "a w w", "y")], "y", shape=(7, 3, 5), weights=("w",))
    attributes = {"hidden_size": 11, "direction": direction}
    operators = (made.operators[0], replace(made.operators[1], attributes=attributes))
    graph = training_graph(replace(made, operators=operators))
    kept = graph.tensors.get(f"{kind}_1/statistics")
    assert (kept.size_bytes if kept else 0) == 4 * 7 * 3 * both * 11 * widths
    assert reads(graph, f"{kind}_1/grad") >= {"a", "y", "y/grad"}
