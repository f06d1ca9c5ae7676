"""PyTorch modules by `module.py:factory`. What needs PyTorch is skipped without it."""

import importlib.util
import json
from pathlib import Path

import pytest

from xengine_gui import planner
from xengine_gui.cli import main
from xengine_gui.errors import InputError
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.training import training_graph

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")

MODULE = """
import pathlib
import torch
from torch import nn
import beside

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.frozen = nn.Linear(8 * 16, 4)
        self.frozen.requires_grad_(False)
        self.last = nn.Linear(4, beside.CLASSES, bias=False)

    def forward(self, x, scale=None):
        y = torch.relu(self.norm(self.conv(x))).flatten(1)
        y = self.frozen(y)
        return self.last(y if scale is None else y * scale)

def net():
    return Net(), (torch.zeros(2, 3, 4, 4),)

def named():
    return Net(), (torch.zeros(2, 3, 4, 4),), {"scale": torch.ones(2, 4)}

def tied():
    module = nn.Sequential(nn.Embedding(10, 4), nn.Linear(4, 10, bias=False))
    module[1].weight = module[0].weight
    return module, (torch.zeros(2, 5, dtype=torch.long),)

def free():
    batch, size = torch.export.Dim("batch", max=64), torch.export.Dim("size", min=2)
    shapes = {"x": {0: batch, 2: size, 3: size}}
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.AdaptiveAvgPool2d(1)), (torch.zeros(2, 3, 4, 4),), {}, (shapes["x"],)

class Pair(nn.Module):
    def forward(self, both, table, scale):
        return both[0] * scale + both[1], table["a"] * 2

def nested():
    n, m = torch.export.Dim("n"), torch.export.Dim("m")
    inputs = ([torch.zeros(4), torch.zeros(4)], {"a": torch.zeros(2, 8)})
    shapes = {"both": [{0: n}, (n,)], "table": {"a": {0: m, 1: 2 * n}}, "scale": None}
    return Pair(), inputs, {"scale": torch.ones(1)}, shapes

def loaded():
    saved = pathlib.Path(__file__).with_name("saved.pt2")
    torch.export.save(torch.export.export(Net(), (torch.zeros(2, 3, 4, 4),)), saved)
    return torch.export.load(saved)

def no_inputs(): return Net()
def no_module(): return 3
def breaks(): raise RuntimeError("no such layer")
def ends(): raise SystemExit(7)
def bad_inputs(): return Net(), (torch.zeros(2, 5),)
constant = 3
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    (tmp_path / "beside.py").write_text("CLASSES = 5\n", encoding="utf-8")
    path = tmp_path / "nets.py"
    path.write_text(MODULE, encoding="utf-8")
    return path


def opened(path: Path, factory: str, **how) -> NetworkGraph:
    network = planner.open_file(Path(f"{path}:{factory}"), **how)
    assert isinstance(network, NetworkGraph)
    return network


@needs_torch
def test_a_module_is_read(module: Path) -> None:
    network = opened(module, "net")
    assert [o.kind for o in network.operators] == ["Conv", "BatchNormalization", "Relu", "Reshape", "Gemm", "Gemm"]
    assert [o.view for o in network.operators] == [False, False, False, True, False, False]
    assert network.operators[0].name.startswith("conv/")
    assert network.tensors[network.outputs[0]].shape == (2, 5)
    # Tensors of 2 x 8 x 4 x 4, three times, and 2 x 4 and 2 x 5, of four bytes each.
    assert network.activation_bytes == 4 * (3 * 256 + 8 + 10)
    trainable = {p.name for p in network.parameters.values() if p.trainable}
    assert trainable == {"conv.weight", "conv.bias", "norm.weight", "norm.bias", "last.weight"}
    graph = training_graph(network, optimizer="adam")
    assert graph.parameters["conv.weight"].size_bytes == 4 * graph.parameters["conv.weight"].weight_bytes
    assert graph.parameters["frozen.weight"].size_bytes == 4 * 4 * 128


@needs_torch
def test_batches_are_made_of_the_examples(module: Path) -> None:
    assert opened(module, "net", batch=6).activation_bytes == 3 * opened(module, "net").activation_bytes
    assert opened(module, "named", batch=3).tensors["mul"].shape == (3, 4)


@needs_torch
def test_tied_weights_are_one(module: Path) -> None:
    network = opened(module, "tied")
    graph = training_graph(network)
    assert [p.weight_bytes for p in graph.parameters.values()] == [160]


@needs_torch
def test_dimensions_that_the_function_names_are_bound(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = opened(module, "free")
    assert dict(network.symbols) == {"batch": 2, "size": 4}
    bound = opened(module, "free", bindings={"batch": 3, "size": 10})
    assert dict(bound.symbols) == {"batch": 3, "size": 10}
    assert bound.activation_bytes == 4 * (3 * 8 * 8 * 8 + 3 * 8)
    assert opened(module, "free", batch=3, bindings={"size": 10}) == bound
    assert main(["inspect", f"{module}:free", "--bind", "batch=3", "--bind", "size=10", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["activation_bytes"] == bound.activation_bytes


@needs_torch
def test_dimensions_of_nested_inputs_and_derived_ones(module: Path) -> None:
    network = opened(module, "nested", bindings={"n": 5, "m": 3})
    assert dict(network.symbols) == {"n": 5, "m": 3}
    assert [network.tensors[name].shape for name in network.inputs] == [(5,), (5,), (3, 10), (1,)]


@needs_torch
@pytest.mark.parametrize(
    ("factory", "bindings", "word"),
    [
        ("net", {"N": 2}, "there is no free dimension 'N'; shapes are the examples', unless the function gives"),
        ("free", {"N": 2}, "there is no free dimension 'N'; its free dimensions are batch, size"),
        ("free", {"batch": 65}, "dimension 'batch' must be at least 1 and at most 64, not 65"),
        ("free", {"size": 1}, "dimension 'size' must be at least 2"),
        ("free", {"size": 2}, "the module cannot be exported"),
    ],
)
def test_dimensions_that_cannot_be_are_told(module: Path, factory: str, bindings: dict[str, int], word: str) -> None:
    with pytest.raises(InputError, match=word):
        opened(module, factory, bindings=bindings)


@needs_torch
def test_a_saved_program_is_read_by_a_function_that_loads_it(module: Path) -> None:
    def kinds(network: NetworkGraph) -> list[str]:
        return [operator.kind for operator in network.operators]

    network = opened(module, "loaded")
    assert kinds(network) == kinds(opened(module, "net"))
    assert network.activation_bytes == opened(module, "net").activation_bytes


@needs_torch
def test_the_command_line_trains_a_module(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", f"{module}:net", "--training", "--batch", "4"]) == 0
    assert "peak without recomputation" in capsys.readouterr().out


@needs_torch
@pytest.mark.parametrize(
    ("factory", "word"),
    [
        ("absent", "nets.py has no function absent"),
        ("constant", "nets.py has no function constant"),
        ("no_inputs", "no_inputs gave no example inputs"),
        ("no_module", "no_module must give a module and a tuple"),
        ("breaks", r"breaks of nets.py failed \(RuntimeError: no such layer\)"),
        ("ends", r"ends of nets.py failed \(SystemExit: 7\)"),
        ("bad_inputs", "the module cannot be exported"),
    ],
)
def test_what_fails_in_a_module_is_one_sentence(module: Path, factory: str, word: str) -> None:
    with pytest.raises(InputError, match=word) as error:
        opened(module, factory)
    assert "\n" not in str(error.value)


@needs_torch
def test_files_that_are_no_python_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("def net(:", encoding="utf-8")
    with pytest.raises(InputError, match="SyntaxError"):
        opened(path, "net")
    with pytest.raises(InputError, match="there is no file"):
        opened(tmp_path / "absent.py", "net")


@pytest.mark.parametrize("name", ["nets.py", "nets.py:", "nets.py:a b", "nets.py:3"])
def test_a_file_is_never_run_without_the_name_of_a_function(tmp_path: Path, name: str) -> None:
    (tmp_path / "nets.py").write_text("raise RuntimeError('it was run')", encoding="utf-8")
    with pytest.raises(InputError, match="name the function"):
        planner.open_file(tmp_path / name)
