"""ONNX networks made here: shapes, batches, constants, order, and odd files."""

import contextlib
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from xengine_gui.errors import InputError
from xengine_gui.importers import IMPORTERS, read_network
from xengine_gui.model.graph import NetworkGraph

LIGHT = sorted((Path(onnx.__file__).parent / "backend/test/data/light").glob("*.onnx"))


def value(name: str, *shape: int | str | None, dtype: int = TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def ints(name: str, *values: int):
    return helper.make_tensor(name, TensorProto.INT64, [len(values)], values)


def read(folder: Path, nodes, inputs, outputs, initializers=(), opset: int = 17, **how) -> NetworkGraph:
    graph = helper.make_graph(list(nodes), "g", list(inputs), list(outputs), list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    path = folder / "network.onnx"
    path.write_bytes(model.SerializeToString())
    return read_network(path, **how)


def test_nine_light_networks_are_there() -> None:
    assert len(LIGHT) == 9


@pytest.mark.parametrize("path", LIGHT, ids=lambda path: path.stem)
def test_light_networks_scale_with_the_batch(path: Path) -> None:
    one, many = read_network(path), read_network(path, batch=32)
    assert not one.unknown_tensors
    assert not many.unknown_tensors
    assert one.operator_count == many.operator_count
    assert many.activation_bytes == 32 * one.activation_bytes
    assert many.parameter_bytes == one.parameter_bytes
    for name, tensor in many.tensors.items():
        assert tensor.shape is not None
        assert tensor.shape[0] == 32, name


def test_light_resnet50_is_what_its_nodes_say() -> None:
    network = read_network(next(path for path in LIGHT if "resnet50" in path.stem))
    # 415 nodes, of which 239 make weights.
    assert network.operator_count == 176
    assert network.activation_bytes == 150_243_136
    trainable = [p for p in network.parameters.values() if p.trainable]
    # 25,557,032 weights as published, without the running means and variances of 53 normalisations.
    assert sum(p.size_bytes or 0 for p in trainable) == 4 * 25_557_032


def test_reading_a_batch_twice_the_same_gives_the_same() -> None:
    path = LIGHT[0]
    assert read_network(path, batch=1).activation_bytes == read_network(path).activation_bytes
    with pytest.raises(InputError, match="at least 1"):
        read_network(path, batch=0)


@pytest.mark.parametrize(
    "how", [{"batch": 2**31}, {"batch": 10**30}, {"bindings": {"N": 2**63}}, {"bindings": {"N": 0}}]
)
def test_lengths_that_no_tensor_has_are_refused(tmp_path: Path, how: dict[str, object]) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    with pytest.raises(InputError, match=r"must be at (most 2,147,483,647|least 1, not 0)"):
        read(tmp_path, nodes, [value("x", "N", 4)], [value("y", "N", 4)], **how)


def test_a_tensor_larger_than_any_machine_is_refused_by_name(tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    shape = [2**62] * 20
    with pytest.raises(InputError, match="tensor 'x' is larger than any machine's memory"):
        read(tmp_path, nodes, [value("x", *shape)], [value("y", *shape)])
    huge = read(tmp_path, nodes, [value("x", 2**62, 4)], [value("y", 2**62, 4)])
    assert huge.tensors["y"].size_bytes == 2**66


def test_a_length_that_would_be_negative_is_told_and_unknown(tmp_path: Path) -> None:
    # The free dimensions are taken as 1, the convolution makes -7 of that, and ONNX itself aborts in the Slice.
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["y"], kernel_shape=[9, 9]),
        helper.make_node("Slice", ["y", "from", "to", "axes"], ["z"]),
    ]
    weights = helper.make_tensor("w", TensorProto.FLOAT, [1, 1, 9, 9], [0.0] * 81)
    constants = [weights, ints("from", 0), ints("to", 2), ints("axes", 2)]
    inputs, outputs = [value("x", 1, 1, "H", "W")], [value("z", None, None, None, None)]
    network = read(tmp_path, nodes, inputs, outputs, constants)
    assert network.unknown_tensors == ("y", "z")
    assert any("A length of y would be negative" in note for note in network.notes)
    network = read(tmp_path, nodes, inputs, outputs, constants, bindings={"H": 20, "W": 10})
    assert network.tensors["z"].shape == (1, 1, 2, 2)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of memory are a matter of Unix")
@pytest.mark.parametrize("step", [1, 2**62])
def test_values_of_long_vectors_are_never_made(tmp_path: Path, step: int) -> None:
    nodes = [
        helper.make_node("Cast", ["x"], ["y"], to=TensorProto.INT64),
        helper.make_node("NonZero", ["y"], ["open"]),
        helper.make_node("Slice", ["y", "from", "to", "axes", "steps"], ["z"]),
    ]
    constants = [ints("from", 0), ints("to", 2**40), ints("axes", 0), ints("steps", step)]
    length = 5 if step > 1 else 2**40
    graph = helper.make_graph(nodes, "g", [value("x", length)], [value("open", None), value("z", None)], constants)
    path = tmp_path / "long.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString())
    code = (
        "import resource, sys; from pathlib import Path; from xengine_gui.importers import read_network; "
        "resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32)); "
        "network = read_network(Path(sys.argv[1])); "
        "print(network.tensors['z'].shape, [note for note in network.notes if 'failed' in note])"
    )
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, f"({1 if step > 1 else length},) []\n"), run.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="limits of memory are a matter of Unix")
@pytest.mark.parametrize("kind", ["Slice", "Add", "Concat"])
def test_values_of_long_places_are_never_made(tmp_path: Path, kind: str) -> None:
    """A constant that claims to be of 2^62 elements; propagated, it would fill the memory of the machine."""
    nodes = [
        helper.make_node(kind, ["x", "long", "long"][: 3 if kind == "Slice" else 1 if kind == "Cast" else 2], ["a"]),
        helper.make_node(kind, ["long", "x", "one"][: 3 if kind == "Slice" else 1 if kind == "Cast" else 2], ["b"]),
        helper.make_node("NonZero", ["x"], ["open"]),
    ]
    for node in nodes[:2]:
        node.attribute.extend([helper.make_attribute("to", TensorProto.INT64)] * (kind == "Cast"))
        node.attribute.extend([helper.make_attribute("axis", 0)] * (kind in {"Concat", "Gather"}))
    long = ints("long", 1)
    long.dims[0] = 2**62
    outputs = [value(name, None, dtype=TensorProto.INT64) for name in ("a", "b", "open")]
    inputs = [value("x", "N", dtype=TensorProto.INT64)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, [long, ints("one", 1)])
    path = tmp_path / "long.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString())
    code = (
        "import resource, sys; from pathlib import Path; from xengine_gui.importers import read_network; "
        "import xengine_gui.importers.onnx_format.network; "
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; "
        "resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32)); read_network(Path(sys.argv[1])); "
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)"
    )
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 256  # MiB


def test_a_view_of_nothing_is_read_or_refused(tmp_path: Path) -> None:
    nodes = [helper.make_node("Identity", [], ["c"]), helper.make_node("Add", ["x", "c"], ["y"])]
    with contextlib.suppress(InputError):
        read(tmp_path, nodes, [value("x", 4)], [value("y", 4)])


@pytest.mark.parametrize("kind", sorted({schema.name for schema in onnx.defs.get_all_schemas() if not schema.domain}))
def test_no_kind_of_operator_ends_the_process(tmp_path: Path, kind: str) -> None:
    nodes = [
        helper.make_node("Mystery", ["x"], ["u"], domain="nobody"),
        helper.make_node("Conv", ["x", "w"], ["n"], kernel_shape=[9, 9]),
        helper.make_node(kind, ["u", "u"], ["a"]),
        helper.make_node(kind, ["n", "n"], ["b"]),
    ]
    weights = helper.make_tensor("w", TensorProto.FLOAT, [1, 1, 9, 9], [0.0] * 81)
    with contextlib.suppress(InputError):
        read(tmp_path, nodes, [value("x", 1, 1, 2, 2)], [value("a", None), value("b", None)], [weights])


def test_reshape_constants_follow_the_batch(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Reshape", ["x", "merge"], ["rows"]),
        helper.make_node("MatMul", ["rows", "w"], ["mixed"]),
        helper.make_node("Reshape", ["mixed", "split"], ["back"]),
        helper.make_node("Reshape", ["back", "open"], ["y"]),
    ]
    constants = [ints("merge", 8, 6), ints("split", 2, 4, 6), ints("open", 2, -1),
                 helper.make_tensor("w", TensorProto.FLOAT, [6, 6], np.zeros(36))]  # fmt: skip
    network = read(tmp_path, nodes, [value("x", 2, 4, 6)], [value("y", 2, 24)], constants, batch=10)
    assert [network.tensors[n].shape for n in ("rows", "back", "y")] == [(40, 6), (10, 4, 6), (10, 24)]


def test_shapes_computed_by_the_graph_are_constants(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Shape", ["a"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"]),
        helper.make_node("Concat", ["n", "rest"], ["target"], axis=0),
        helper.make_node("Reshape", ["a", "target"], ["y"]),
    ]
    constants = [ints("zero", 0), ints("rest", -1)]
    network = read(tmp_path, nodes, [value("x", "N", 3, 4)], [value("y", None, None)], constants, batch=7)
    assert [operator.kind for operator in network.operators] == ["Relu", "Reshape"]
    assert network.tensors["y"].shape == (7, 12)
    assert network.tensors["y"].storage == "a"


def test_shapes_beyond_onnx_data_propagation_are_folded(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("ConstantOfShape", ["two"], ["ones"], value=ints("v", 1)),
        helper.make_node("Mul", ["ones", "minus"], ["wild"]),
        helper.make_node("Equal", ["wild", "minus2"], ["is_wild"]),
        helper.make_node("Where", ["is_wild", "s", "wild"], ["target"]),
        helper.make_node("Expand", ["row", "target"], ["wide"]),
        helper.make_node("Add", ["x", "wide"], ["y"]),
    ]  # fmt: skip
    constants = [ints("two", 2), ints("minus", -1), ints("minus2", -1, -1),
                 helper.make_tensor("row", TensorProto.FLOAT, [1, 4], np.zeros(4))]  # fmt: skip
    network = read(tmp_path, nodes, [value("x", "N", 4)], [value("y", None, None)], constants, batch=3)
    assert [operator.kind for operator in network.operators] == ["Add"]
    assert network.parameters["wide"].shape == (3, 4)


def test_what_inference_leaves_open_the_file_may_state(tmp_path: Path) -> None:
    graph = helper.make_graph(
        [helper.make_node("Magic", ["x"], ["a"], domain="acme"), helper.make_node("Relu", ["a"], ["y"])],
        "g", [value("x", "N", 4)], [value("y", None, None)], value_info=[value("a", "N", 9)],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("acme", 1)])
    path = tmp_path / "network.onnx"
    path.write_bytes(model.SerializeToString())
    assert read_network(path, batch=5).tensors["y"].shape == (5, 9)


def test_views_share_storage_and_static_shapes_hold_nothing(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Flatten", ["x"], ["f"]),
        helper.make_node("Identity", ["f"], ["i"]),
        helper.make_node("Dropout", ["i"], ["d", "mask"]),
        helper.make_node("Neg", ["d"], ["y"]),
        helper.make_node("Size", ["x"], ["size"]),
        helper.make_node("Cast", ["size"], ["z"], to=TensorProto.FLOAT),
    ]
    outputs = [value("y", 2, 12), value("z")]
    network = read(tmp_path, nodes, [value("x", 2, 3, 4)], outputs)
    assert {name: tensor.storage for name, tensor in network.tensors.items()} == {
        "x": "x", "f": "x", "i": "x", "d": "x", "y": "y",
    }  # fmt: skip
    assert network.activation_bytes == 96
    assert network.outputs == ("y",)
    assert any("depend on no input" in note for note in network.notes)


def test_views_of_weights_are_counted_once(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Unsqueeze", ["w", "axes"], ["w1"]),
        helper.make_node("Mul", ["x", "w"], ["a"]),
        helper.make_node("Mul", ["a", "w1"], ["y"]),
    ]
    constants = [helper.make_tensor("w", TensorProto.FLOAT, [4], np.zeros(4)), ints("axes", 0)]
    network = read(tmp_path, nodes, [value("x", 1, 4)], [value("y", 1, 4)], constants)
    assert set(network.parameters) == {"w", "w1"}
    assert network.parameter_bytes == 16


def test_sequences_have_no_size_of_their_own(tmp_path: Path) -> None:
    inputs = [
        helper.make_tensor_sequence_value_info("parts", TensorProto.FLOAT, [2, 3]),
        value("x", 2, 3),
        helper.make_value_info("maybe", helper.make_optional_type_proto(helper.make_tensor_type_proto(1, [4]))),
    ]
    nodes = [
        helper.make_node("SequenceInsert", ["parts", "x"], ["more"]),
        helper.make_node("SequenceAt", ["more", "place"], ["y"]),
        helper.make_node("OptionalGetElement", ["maybe"], ["z"]),
    ]
    network = read(tmp_path, nodes, inputs, [value("y", None, None), value("z", None)], [ints("place", 0)])
    assert set(network.unknown_tensors) == {"parts", "maybe", "more"}
    assert network.tensors["y"].size_bytes == 24
    assert network.tensors["z"].size_bytes == 16


def test_sub_graphs_may_hold_weights(tmp_path: Path) -> None:
    weight = helper.make_tensor("w", TensorProto.FLOAT, [3], [1, 2, 3])
    branch = [
        helper.make_graph([helper.make_node("Mul", ["a", "w"], [f"{side}_out"])], side, [],
                          [value(f"{side}_out", 3)], [weight])
        for side in ("then", "else")
    ]  # fmt: skip
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("If", ["c"], ["y"], then_branch=branch[0], else_branch=branch[1]),
    ]
    inputs = [value("x", 3), value("c", dtype=TensorProto.BOOL)]
    network = read(tmp_path, nodes, inputs, [value("y", 3)])
    assert network.operators[1].captures == ("a",)
    assert network.parameter_bytes == 24
    assert network.operators[1].parameters == ("1/0/w", "1/1/w")


def test_a_constant_larger_than_memory_is_never_made(tmp_path: Path) -> None:
    node = helper.make_node("ConstantOfShape", ["s"], ["w"])
    network = read(
        tmp_path,
        [node, helper.make_node("Add", ["x", "w"], ["y"])],
        [value("x", 1)],
        [value("y", None)],
        [ints("s", 2**40)],
    )
    assert network.parameters["w"].size_bytes == 2**42


def test_recursive_functions_do_not_hang(tmp_path: Path) -> None:
    call = helper.make_node("F", ["a"], ["b"], domain="loc")
    function = helper.make_function("loc", "F", ["a"], ["b"], [call], [helper.make_opsetid("loc", 1)])
    graph = helper.make_graph(
        [helper.make_node("F", ["x"], ["y"], domain="loc")], "g", [value("x", 1)], [value("y", 1)]
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("loc", 1)]
    path = tmp_path / "network.onnx"
    path.write_bytes(helper.make_model(graph, functions=[function], opset_imports=imports).SerializeToString())
    network = read_network(path)
    assert network.operators[0].kind == "F"
    assert any("calls itself" in note for note in network.notes)


def test_a_backward_in_the_file_is_seen(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Softmax", ["x"], ["p"]),
        helper.make_node("SoftmaxGrad", ["p", "x"], ["g"], domain="com.microsoft"),
    ]
    graph = helper.make_graph(nodes, "g", [value("x", 2, 4)], [value("g", 2, 4)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.opset_import.extend([helper.make_opsetid("", 17), helper.make_opsetid("", 16)])
    path = tmp_path / "network.onnx"
    path.write_bytes(model.SerializeToString())
    network = read_network(path)
    assert network.has_backward
    assert network.tensors["g"].size_bytes == 32


@settings(deadline=None, max_examples=30)
@given(st.integers(2, 30), st.randoms(use_true_random=False))
def test_any_order_of_nodes_gives_the_same_network(count: int, chance: random.Random) -> None:
    nodes = [helper.make_node("Add", [f"t{i}", f"t{chance.randrange(i + 1)}"], [f"t{i + 1}"]) for i in range(count)]
    shuffled = chance.sample(nodes, count)
    outputs = [value(f"t{count}", 3)]
    from xengine_gui.importers.onnx_format.network import network_of  # noqa: PLC0415

    found = []
    for order in (nodes, shuffled):
        graph = helper.make_graph(order, "g", [value("t0", 3)], outputs)
        data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
        network = network_of(data, source="f", name="f", batch=None, bindings={})
        computed = {"t0"}
        for operator in network.operators:
            assert computed.issuperset(operator.inputs)
            computed.update(operator.outputs)
        found.append({(operator.inputs, operator.outputs) for operator in network.operators})
        assert network.activation_bytes == 12 * count
    assert found[0] == found[1]


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_damaged_files_are_read_or_refused(data: st.DataObject) -> None:
    from xengine_gui.importers.onnx_format.network import network_of  # noqa: PLC0415

    good = bytearray(LIGHT[0].read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(good) - 1))
        good[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
    # Nothing but an InputError may come out.
    with contextlib.suppress(InputError):
        network_of(bytes(good), source="f", name="f", batch=None, bindings={})


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.onnx"
    path.write_bytes(data)
    with pytest.raises(InputError):
        read_network(path)


def test_files_that_are_no_files(tmp_path: Path) -> None:
    for path, word in (
        (tmp_path / "nothing.onnx", "no such file"),
        (tmp_path / "network.docx", "end in .onnx"),
    ):
        with pytest.raises(InputError, match=word):
            read_network(path)
    folder = tmp_path / "folder.onnx"
    folder.mkdir()
    with pytest.raises(InputError, match="a folder"):
        read_network(folder)


def test_names_of_files_may_be_anything(tmp_path: Path) -> None:
    folder = tmp_path / "士大夫 é"
    folder.mkdir()
    path = folder / "модель.onnx"
    path.write_bytes(LIGHT[0].read_bytes())
    assert read_network(path).name == "модель"


def test_importers_say_what_they_read() -> None:
    assert {importer.key for importer in IMPORTERS} >= {"onnx"}
    for importer in IMPORTERS:
        assert importer.title
        assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in importer.suffixes)


def test_importing_the_importers_does_not_load_onnx() -> None:
    code = "import sys, xengine_gui.importers, xengine_gui.training, xengine_gui.cost; print('onnx' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.strip() == "False"
