"""Every ONNX file of the field cases: the right value, or one sentence."""

from pathlib import Path

import pytest

from xengine_gui.errors import InputError
from xengine_gui.importers import read_network
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.training import inference_graph, training_graph


@pytest.fixture
def read(shared_folder: Path):
    """Read one of the files by its name."""
    return lambda name, **how: read_network(shared_folder / "field_cases" / "files" / f"{name}.onnx", **how)


def note(network: NetworkGraph, word: str) -> bool:
    return any(word in sentence for sentence in network.notes)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("not_onnx", "PNG picture"),
        ("html_404", "HTML page"),
        ("lfs_pointer", "git-LFS pointer"),
        ("empty", "is empty"),
        ("truncated", "is cut off"),
        ("real_cycle", "cycle: node #0 (Add) → node #1 (Relu) → node #0 (Add)"),
        ("dangling_input", "input 'ghost' of node #0 (Add) is produced by nothing"),
        ("two_producers", "tensor 'a' has two producers: node #0 (Relu) and node #1 (Abs)"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_sentence(read, name: str, word: str) -> None:
    with pytest.raises(InputError) as error:
        read(name)
    assert word in str(error.value)
    assert len(error.value.mistakes) == 1


@pytest.mark.parametrize(
    ("name", "operators", "activation_bytes", "parameter_bytes"),
    [
        ("external_missing", 1, 4096, 4 * 1024 * 1024),
        ("external_traversal", 1, 4096, 4 * 1024 * 1024),
        ("unsorted", 3, 3 * 16, 0),
        ("dup_node_names", 3, 3 * 16, 0),
        ("unnamed_nodes", 2, 2 * 16, 0),
        ("init_as_input", 1, 16, 64),
        ("if_outer_capture", 2, 2 * 4 * 1024 * 1024, 0),
        ("local_function", 4, 4 * 256, 0),
        ("zero_dim", 2, 0, 0),
        ("huge_tensor_overflow", 2, 2 * 2**66, 0),
        ("qdq", 5, (256 + 1024 + 1024 + 256 + 1024) * 1024, 5),
        ("future_ir", 1, 16, 0),
        ("future_opset", 1, 16, 0),
        ("unicode_names", 2, 32, 0),
        ("control_char_name", 2, 32, 0),
        ("scalar_only", 1, 4, 0),
        ("passthrough_output", 0, 0, 0),
        ("empty_optional_both", 2, 16, 4),
        ("chain_10000", 10_000, 10_000 * 4096, 0),
        ("symbolic_batch", 2, 24, 0),
        ("random_ops", 3, 3 * 64 * 1024 * 4 + 64 * 1024, 5),
    ],
)
def test_sizes(read, name: str, operators: int, activation_bytes: int, parameter_bytes: int) -> None:
    network = read(name)
    assert not network.unknown_tensors
    assert network.operator_count == operators
    # An unread mask of a random Dropout is not computed.
    expected = activation_bytes - 64 * 1024 if name == "random_ops" else activation_bytes
    assert network.activation_bytes == expected
    assert network.parameter_bytes == parameter_bytes
    assert inference_graph(network).unknown_tensors == ()


def test_symbols_are_listed_and_bound(read) -> None:
    assert dict(read("symbolic_batch").symbols) == {"N": 1, "H": 1, "W": 1}
    bound = read("symbolic_batch", batch=2, bindings={"H": 5, "W": 7})
    assert bound.tensors["y"].shape == (2, 3, 5, 7)
    with pytest.raises(InputError, match="there is no free dimension 'Q'; its free dimensions are N, H, W"):
        read("symbolic_batch", bindings={"Q": 5})
    with pytest.raises(InputError, match="at least 1, not -3"):
        read("symbolic_batch", bindings={"H": -3})


def test_minus_one_is_unknown_until_it_is_bound(read) -> None:
    free = read("minus_one_dim")
    assert free.tensors["x"].size_bytes is None
    assert set(free.unknown_tensors) == {"x", "y"}
    assert dict(free.symbols) == {"x[0]": None}
    assert read("minus_one_dim", bindings={"x[0]": 4}).tensors["y"].size_bytes == 48
    assert read("minus_one_dim", batch=8).tensors["y"].size_bytes == 96


def test_every_dtype_has_its_own_size(read) -> None:
    network = read("mixed_dtypes")
    sizes = {name: tensor.size_bytes for name, tensor in network.tensors.items()}
    assert sizes == {"x": 60, "h": 30, "b": 30, "i4": 8, "f8": 15, "bo": 15, "d": 120, "s": None}
    assert network.unknown_tensors == ("s",)


@pytest.mark.parametrize("name", ["custom_domain", "custom_domain_no_import"])
def test_an_unknown_operator_keeps_the_rest(read, name: str) -> None:
    network = read(name)
    assert [operator.known for operator in network.operators] == [False, True]
    assert network.tensors["y"].size_bytes == 16
    assert network.unknown_tensors == ("a",)
    assert note(network, "com.acme.MagicAttention")


def test_control_flow_holds_what_it_captures(read) -> None:
    network = read("if_outer_capture")
    assert set(network.operators[1].captures) == {"big", "x"}
    assert "big" in inference_graph(network).operators[-1].inputs
    assert note(network, "opaque")


def test_names_are_unique_and_printable(read) -> None:
    assert [operator.name for operator in read("dup_node_names").operators] == ["n_0", "n_1", "n_2"]
    assert [operator.name for operator in read("unnamed_nodes").operators] == ["Relu_0", "Relu_1"]
    assert all(operator.name.isprintable() for operator in read("control_char_name").operators)
    assert [operator.name for operator in read("unicode_names").operators] == ['卷积<1>&"quote"', "=cmd|calc!A0"]


def test_random_results_are_not_recomputed(read) -> None:
    network = read("random_ops")
    assert [operator.recomputable for operator in network.operators] == [False, False, True]
    assert [o.recomputable for o in inference_graph(network).operators] == [True, False, False, True]


def test_notes_say_what_was_assumed(read) -> None:
    assert note(read("unsorted"), "they were sorted")
    assert note(read("future_ir"), "IR version 99")
    assert note(read("future_opset"), "opset 99")
    assert note(read("external_missing"), "outside the file")
    assert note(read("zero_dim"), "0 bytes")
    assert note(read("local_function"), "inlined")


def test_all_that_load_can_be_planned_or_say_why_not(read, shared_folder: Path) -> None:
    for path in sorted((shared_folder / "field_cases" / "files").glob("*.onnx")):
        if path.stem == "chain_10000":
            continue
        try:
            network = read(path.stem)
        except InputError:
            continue
        for make in (inference_graph, training_graph):
            try:
                graph = make(network)
            except InputError as error:
                assert "nothing to train" in str(error)  # noqa: PT017
                continue
            produced = [name for operator in graph.operators for name in operator.outputs]
            assert sorted(produced) == sorted(graph.tensors)
