"""A profile has a row for every operator, and plans can be made with it."""

from dataclasses import replace
from pathlib import Path

import pytest
from recorded_modules import recorded

from xengine_gui.cli import main
from xengine_gui.cost.measured import read_costs
from xengine_gui.errors import InputError
from xengine_gui.importers import read_network
from xengine_gui.model.problem_file import read_problem
from xengine_gui.paths import sample_graphs
from xengine_gui.profile import ProfileOptions, profile
from xengine_gui.training import training_graph

Captured = pytest.CaptureFixture[str]
pytest.importorskip("onnxruntime")
FEW = ProfileOptions(runs=2, processor_time=True)


def run(*words: str | Path) -> int:
    return main([str(word) for word in words])


def test_the_command_writes_a_table_that_plans_take(tmp_path: Path, capsys: Captured) -> None:
    network, table = sample_graphs() / "lenet.onnx", tmp_path / "costs.csv"
    assert run("profile", network, "--batch", "4", "--runs", "2", "--threads", "1", "-o", table) == 0
    printed = capsys.readouterr().out
    assert "lenet: 30 operators" in printed
    assert "of the time is estimated" in printed
    problem = tmp_path / "problem.json"
    words = ("problem", network, "--batch", "4", "--device", "cpu=i7-8700k", "--costs", table, "-o", problem)
    assert run(*words) == 0
    rows = {row.operator: row for row in read_costs(table).rows}
    for operator in read_problem(problem).operators:
        assert operator.costs["cpu"][0].time_ns == rows[operator.name].time_ns > 0


def test_what_has_a_like_is_measured_and_the_rest_is_marked() -> None:
    graph = training_graph(read_network(sample_graphs() / "resnet18.onnx", batch=1))
    rows = profile(graph, "cpu", FEW)
    assert [row.operator for row in rows] == [operator.name for operator in graph.operators]
    sources = {operator.kind: row.source for operator, row in zip(graph.operators, rows, strict=True)}
    assert sources["Conv"] == sources["BatchNormalization"] == sources["MaxPool"] == sources["Gemm"] == "measured"
    assert sources["ConvGrad"].startswith("measured as Conv")
    assert sources["Update"] == "measured as Sub"
    assert sources["BatchNormalizationGrad"].startswith("estimated from ")
    assert sources["Input"].startswith("estimated by ")
    assert all(row.time_ns > 0 and row.spread_ns is not None for row in rows)


@pytest.mark.parametrize(
    "title", ["U-Net level (max pool, transposed convolution, concat)", "nn.LSTM, two layers in both directions"]
)
def test_operators_of_pytorch_are_measured(title: str) -> None:
    graph = training_graph(next(row.network for row in recorded("modules") if row.title == title))
    rows = profile(graph, "cpu", replace(FEW, runs=1))
    guessed = {o.kind for o, row in zip(graph.operators, rows, strict=True) if row.source.startswith("estimated by")}
    assert guessed <= {"Input", "ConstantOfShape"}


def test_more_arithmetic_takes_longer() -> None:
    graph = training_graph(read_network(sample_graphs() / "resnet18.onnx", batch=1))
    times = {row.operator: row.time_ns for row in profile(graph, "cpu", FEW)}
    assert times["layer1.0.conv1"] > times["layer4.0.downsample.conv"]
    assert times["layer2.0.conv2"] < times["layer2.0.conv2/grad"]


def test_unknown_sizes_are_refused() -> None:
    network = read_network(sample_graphs() / "lenet.onnx")
    unknown = replace(network.tensors["tanh1_out"], shape=None, size_bytes=None)
    network = replace(network, tensors={**network.tensors, "tanh1_out": unknown})
    with pytest.raises(InputError, match=r"the size of .* is unknown: 'tanh1_out'"):
        profile(training_graph(network), "cpu", FEW)


def test_processor_time_is_of_one_thread(capsys: Captured) -> None:
    assert run("profile", sample_graphs() / "lenet.onnx", "--processor-time", "--threads", "2") == 2
    assert "is that of one thread" in capsys.readouterr().err


def test_inference_has_no_backward(capsys: Captured) -> None:
    words = ("--inference", "--runs", "1", "--processor-time")
    assert run("profile", sample_graphs() / "lenet.onnx", *words) == 0
    assert "lenet: 12 operators" in capsys.readouterr().out


def test_a_problem_cannot_be_run(capsys: Captured) -> None:
    assert run("profile", sample_graphs() / "chain.json") == 2
    assert "is no network" in capsys.readouterr().err
