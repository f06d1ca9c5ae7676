"""The sample graphs: made again by their script, and as large as published."""

import json
import subprocess
import sys
from math import prod
from pathlib import Path

import onnx
import pytest

from xengine_gui.importers import read_network
from xengine_gui.paths import sample_graphs

PUBLISHED = {
    "lenet": 61_706,
    "vgg16": 138_357_544,
    "resnet18": 11_689_512,
    "resnet50": 25_557_032,
    "googlenet": 6_624_904,
    "unet": 31_030_658,
    "mobilenet_v2": 3_504_872,
    "bert_base": 109_482_240,
    "gpt2_small": 124_439_808,
}


@pytest.fixture(scope="module")
def remade(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    script = sample_graphs() / "make_samples.py"
    subprocess.run([sys.executable, str(script), str(folder)], check=True, timeout=100)
    return folder


def test_the_script_makes_what_is_committed(remade: Path) -> None:
    committed = {path.name for path in sample_graphs().iterdir() if path.suffix in (".onnx", ".json")}
    assert {path.name for path in remade.iterdir()} == committed
    for name in committed:
        if name.endswith(".json"):
            assert (remade / name).read_text() == (sample_graphs() / name).read_text()
        else:
            # Compared as messages: the order of bytes is the writer's affair.
            assert onnx.load(remade / name) == onnx.load(sample_graphs() / name), name


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameters_are_as_many_as_published(name: str) -> None:
    network = read_network(sample_graphs() / f"{name}.onnx", batch=4)
    trainable = {p.storage: prod(p.shape or ()) for p in network.parameters.values() if p.trainable}
    assert sum(trainable.values()) == PUBLISHED[name]
    assert not network.unknown_tensors
    assert network.tensors[network.outputs[0]].shape is not None
    assert network.tensors[network.outputs[0]].shape[0] == 4


@pytest.mark.parametrize("name", PUBLISHED)
def test_samples_are_valid_and_small(name: str) -> None:
    path = sample_graphs() / f"{name}.onnx"
    onnx.checker.check_model(onnx.load(path), full_check=True)
    assert path.stat().st_size < 100_000


@pytest.mark.parametrize("name", ["chain", "skip", "two_devices"])
def test_toys_do_not_fit_without_a_trick_but_each_step_does(name: str) -> None:
    toy = json.loads((sample_graphs() / f"{name}.json").read_text())
    size = {tensor["name"]: tensor["bytes"] for tensor in toy["tensors"]}
    limit = toy["devices"][0]["memory_limit_bytes"]
    last = {t: place for place, o in enumerate(toy["operators"]) for t in [*o["outputs"], *o["inputs"]]}
    level = peak = 0
    for place, operator in enumerate(toy["operators"]):
        needed = sum(size[t] for t in {*operator["inputs"], *operator["outputs"]})
        assert needed <= limit
        level += sum(size[t] for t in operator["outputs"])
        peak = max(peak, level)
        level -= sum(size[t] for t in size if last[t] == place)
    assert peak > limit
    assert len(toy["notes"]) > 100
