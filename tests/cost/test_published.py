"""Counts of the sample networks against the totals that papers and libraries publish; the README holds the table."""

from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path

import pytest

from xengine_gui.cost.flops import network_mac
from xengine_gui.importers import read_network
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.paths import sample_graphs

README = Path(__file__).resolve().parents[2] / "README.md"
WITHIN = 0.02
HEAD = (
    "| network | GMAC | published | parameters, M | published | activations, M | published |\n"
    "| --- | --- | --- | --- | --- | --- | --- |\n"
)


@dataclass(frozen=True)
class Published:
    """Multiply-accumulates of one inference in 10^9, weights and results of convolutions and last layer in 10^6.

    `None` where nobody states it.
    """

    name: str
    gmac: float
    parameters: float
    activations: float | None = None
    title: str = ""


# torchvision states GMAC (as "GFLOPS") and parameters of its models, timm the activations as fvcore counts them. The
# MobileBERT paper (Sun et al., ACL 2020) states 22.5 GFLOP of BERT-base on 128 tokens, nanoGPT's transformer_sizing
# 291,648,307,200 FLOP of GPT-2 small on 1,024, the vocabulary included; a multiply-accumulate is two.
ROWS = (
    Published("resnet18", 1.81, 11.689512, 2.48, "ResNet-18"),
    Published("resnet50", 4.09, 25.557032, 11.11, "ResNet-50"),
    Published("vgg16", 15.47, 138.357544, 13.56, "VGG-16"),
    Published("mobilenet_v2", 0.30, 3.504872, 6.68, "MobileNetV2"),
    Published("googlenet", 1.50, 6.624904, None, "GoogLeNet"),
    Published("bert_base", 22.5 / 2, 109.48224, None, "BERT-base, 128 tokens"),
    Published("gpt2_small", 291.6483072 / 2, 124.439808, None, "GPT-2 small, 1,024 tokens"),
)


@cache
def network(name: str) -> NetworkGraph:
    return read_network(sample_graphs() / f"{name}.onnx")


def parameter_count(name: str) -> int:
    weights = {p.storage: p for p in network(name).parameters.values() if p.trainable}
    return sum(prod(p.shape or ()) for p in weights.values())


def activation_count(name: str) -> int:
    read = network(name)
    layers = (o.outputs[0] for o in read.operators if o.kind in ("Conv", "Gemm"))
    return sum(prod(read.tensors[output].shape or ()) for output in layers)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_counts_match_what_is_published(row: Published) -> None:
    assert network_mac(network(row.name)) / 1e9 == pytest.approx(row.gmac, rel=WITHIN)
    assert parameter_count(row.name) / 1e6 == pytest.approx(row.parameters, rel=1e-6)
    if row.activations is not None:
        assert activation_count(row.name) / 1e6 == pytest.approx(row.activations, rel=WITHIN)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_bytes_are_four_times_the_counts(row: Published) -> None:
    read = network(row.name)
    weights = {p.storage: p for p in read.parameters.values() if p.trainable}
    assert sum(p.size_bytes or 0 for p in weights.values()) == 4 * parameter_count(row.name)


def table() -> str:
    lines = []
    for row in ROWS:
        shown = "-" if row.activations is None else f"{activation_count(row.name) / 1e6:.2f}"
        stated = "-" if row.activations is None else f"{row.activations:.2f}"
        counts = [f"{network_mac(network(row.name)) / 1e9:.2f}", f"{row.gmac:.2f}"]
        counts += [f"{parameter_count(row.name) / 1e6:.2f}", f"{row.parameters:.2f}", shown, stated]
        lines.append(f"| {row.title} | {' | '.join(counts)} |")
    return HEAD + "\n".join(lines) + "\n"


def test_the_readme_holds_the_table() -> None:
    if not README.is_file():
        pytest.skip("the tests run without the checkout")
    assert table() in README.read_text(encoding="utf-8"), f"the table is now\n{table()}"
