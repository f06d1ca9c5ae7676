"""Programs that `torch.export.save` has written (`.pt2`): read without PyTorch, and without running what is in them."""

import json
import pickle
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from saved_programs import MODEL, written

from xengine_gui import planner
from xengine_gui.cli import main
from xengine_gui.errors import InputError
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.training import training_graph

Captured = pytest.CaptureFixture[str]


def opened(path: Path, **how) -> NetworkGraph:
    network = planner.open_file(path, **how)
    assert isinstance(network, NetworkGraph)
    return network


def test_a_program_is_read_without_pytorch(tmp_path: Path) -> None:
    network = opened(written(tmp_path, MODEL))
    assert [(o.kind, o.view) for o in network.operators] == [("Conv", False), ("Relu", False), ("Reshape", True)]
    assert network.operators[0].name == "conv/conv2d"
    assert network.operators[0].parameters == ("conv.weight",)
    assert network.tensors["relu"].shape == (2, 4, 6, 6)
    assert [(p.name, p.trainable, p.size_bytes) for p in network.parameters.values()] == [("conv.weight", True, 432)]
    assert training_graph(network).parameters["conv.weight"].weight_bytes == 432


def test_free_dimensions_are_called_by_the_input_that_has_them(tmp_path: Path, capsys: Captured) -> None:
    path = written(tmp_path, MODEL)
    assert dict(opened(path).symbols) == {"x[0]": 2, "x[2]": 8}
    bound = opened(path, bindings={"x[0]": 3, "x[2]": 12})
    assert bound.tensors["flatten"].shape == (3, 4 * 10 * 6)
    assert bound == opened(path, batch=3, bindings={"x[2]": 12})
    assert main(["inspect", str(path), "--bind", "x[0]=3", "--bind", "x[2]=12", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["activation_bytes"] == bound.activation_bytes == 2 * 4 * 3 * 240


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"bindings": {"N": 3}}, "there is no free dimension 'N'; its free dimensions are x[0], x[2]"),
        ({"bindings": {"x[0]": 17}}, "dimension 'x[0]' must be at least 1 and at most 16, not 17"),
        ({"bindings": {"x[2]": 3}}, "dimension 'x[2]' must be at least 4"),
        ({"batch": 99}, "dimension 'x[0]' must be at least 1 and at most 16, not 99"),
        ({"batch": 3, "bindings": {"x[0]": 4}}, "the batch is 3, but 'x[0]', which is the batch, is bound to 4"),
        ({"mapping": {"time": "t"}}, "no attributes with names of their own"),
    ],
)
def test_lengths_that_cannot_be_are_told(tmp_path: Path, how: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError) as error:
        planner.open_file(written(tmp_path, MODEL), **how)  # type: ignore[arg-type]
    assert sentence in str(error.value)


class Harm:
    """What would leave a file behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.path,)


def test_nothing_in_the_file_is_run(tmp_path: Path) -> None:
    traces = [tmp_path / "pickled", tmp_path / "evaluated"]
    harm = f"__import__('pathlib').Path({str(traces[1])!r}).touch()"
    text = json.dumps(MODEL).replace("Symbol('s2', positive=True, integer=True)", harm.replace('"', "'"))
    path = written(tmp_path, json.loads(text))
    with zipfile.ZipFile(path, "a") as archive:
        for name in ("data/sample_inputs/model.pt", "data/constants/constant_0", "data/weights/weight_0"):
            archive.writestr(f"net/{name}", pickle.dumps(Harm(traces[0])))
    network = opened(path)
    assert network.unknown_tensors  # a length that is no arithmetic is unknown, not run
    assert not any(trace.exists() for trace in traces)


@pytest.mark.parametrize(
    ("expression", "length"),
    [
        ("Add(Symbol('s2', positive=True), Integer(-2))", 6),
        ("Mul(Integer(3), Symbol('s2'), Symbol('s0'))", 48),
        ("FloorDiv(Symbol('s2'), Integer(3))", 2),
        ("s2 + 1", 9),
        ("(s2*s0)//4", 4),
        ("-s2", None),
        ("Symbol('u0', integer=True)", None),
        ("FloorDiv(s2, 0)", None),
        ("s2.__class__", None),
        ("print(1)", None),
        ("Integer('7')", None),
        ("2**9999999", None),
        ("9" * 40, None),
        ("(" * 500, None),
    ],
)
def test_lengths_are_arithmetic_of_the_free_dimensions(tmp_path: Path, expression: str, length: int | None) -> None:
    model = json.loads(json.dumps(MODEL))
    sizes = model["graph_module"]["graph"]["tensor_values"]["relu"]["sizes"]
    sizes[1] = {"as_expr": {"expr_str": expression}}
    shape = opened(written(tmp_path, model)).tensors["relu"].shape
    assert shape == (None if length is None else (2, length, 6, 6))


def test_what_is_no_program_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "net.pt2"
    for content, sentence in (
        (None, "there is no such file"),
        (b"PK\x03\x04 and nothing", "this is no program that torch.export.save has written"),
        (b"", "this is no program that torch.export.save has written"),
    ):
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(InputError, match=sentence):
            planner.open_file(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", b"")
    with pytest.raises(InputError, match=r"it has no model.json"):
        planner.open_file(path)
    for model, sentence in (([], "not as PyTorch writes it"), ({"graph_module": {"graph": {}}}, "KeyError")):
        with pytest.raises(InputError, match=sentence):
            planner.open_file(written(tmp_path, model))


def archive(folder: Path, model: bytes, packed: int = zipfile.ZIP_DEFLATED) -> Path:
    path = folder / "net.pt2"
    with zipfile.ZipFile(path, "w", packed) as file:
        file.writestr("net/models/model.json", model)
    return path


@pytest.mark.parametrize(("part", "count"), [(b"[],", 2**21), (b'{"":0,"":0},', 2**20), (b" " * 2**20, 33)])
def test_a_small_archive_of_a_large_model_is_refused_before_it_is_read(tmp_path: Path, part: bytes, count: int) -> None:
    path = archive(tmp_path, b"[" + part * count + b"0]")
    assert path.stat().st_size < 2**18
    tracemalloc.start()
    with pytest.raises(InputError, match="larger than any program's"):
        planner.open_file(path)
    most_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most_bytes < 2**27


@pytest.mark.parametrize("packed", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_only_what_pytorch_writes_is_unpacked(tmp_path: Path, packed: int) -> None:
    with pytest.raises(InputError, match="packed in a way that PyTorch never uses"):
        planner.open_file(archive(tmp_path, json.dumps(MODEL).encode(), packed))


@pytest.mark.parametrize("length", [-5, True, 2**63, 10**400])
def test_lengths_that_no_tensor_has_are_refused(tmp_path: Path, length: int) -> None:
    for tensor in ("relu", "p_conv_weight"):
        model = json.loads(json.dumps(MODEL))
        model["graph_module"]["graph"]["tensor_values"][tensor]["sizes"][1] = {"as_int": length}
        with pytest.raises(InputError, match=r"a length or a step of (-5|true|\d+)"):
            planner.open_file(written(tmp_path, model))


@pytest.mark.filterwarnings("ignore")
def test_a_saved_module_is_read_as_by_pytorch(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from torch_modules import ROWS, network_by_export  # noqa: PLC0415 - loads PyTorch

    for row in (ROWS[1], ROWS[7]):
        torch.manual_seed(0)
        module, inputs = row.module(), (row.inputs(),)
        path = tmp_path / "net.pt2"
        torch.export.save(torch.export.export(module, inputs), path)
        found, wanted = opened(path), network_by_export(module, inputs)
        assert found.operators == wanted.operators, row.title
        assert (found.tensors, found.parameters) == (wanted.tensors, wanted.parameters), row.title
        assert (found.inputs, found.outputs) == (wanted.inputs, wanted.outputs), row.title
