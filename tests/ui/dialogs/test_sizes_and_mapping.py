"""What a file does not tell is asked for, free dimensions, sizes and attributes, as on the command line."""

import json
from pathlib import Path

import pytest
from onnx import TensorProto, helper
from pytestqt.qtbot import QtBot

from xengine_gui import planner
from xengine_gui.cli import main
from xengine_gui.importers.costed.fields import MappingWantedError
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.model.problem import Problem
from xengine_gui.ui.dialogs.mapping import MappingDialog
from xengine_gui.ui.dialogs.sizes import SizesDialog
from xengine_gui.ui.main_window import MainWindow

WITHIN_MS = 20_000


def save(path: Path, nodes, inputs, outputs) -> Path:
    values = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in group]
        for group in (inputs, outputs)
    ]
    graph = helper.make_graph(nodes, "g", *values)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("acme", 1)]
    path.write_bytes(helper.make_model(graph, opset_imports=imports).SerializeToString())
    return path


@pytest.fixture
def free(tmp_path: Path) -> Path:
    """Two symbols and a dimension without a name."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Softmax", ["a"], ["y"])]
    return save(
        tmp_path / "free.onnx", nodes, [("x", ["N", "L", None]), ("w", [16, "K"])], [("y", ["N", "L", "K"])]
    )  # fmt: skip


@pytest.fixture
def strange(tmp_path: Path) -> Path:
    """An operator of which nobody knows what it gives, and a matrix after it."""
    nodes = [
        helper.make_node("Magic", ["x"], ["m"], domain="acme"),
        helper.make_node("Dropout", ["m"], ["d"]),
        helper.make_node("MatMul", ["x", "x"], ["y"]),
    ]
    return save(tmp_path / "strange.onnx", nodes, [("x", [4, 4])], [("d", None), ("y", [4, 4])])


Captured = pytest.CaptureFixture[str]


def inspected(capsys: Captured, *words: object) -> dict[str, object]:
    assert main(["inspect", *map(str, words), "--json"]) == 0
    report: dict[str, object] = json.loads(capsys.readouterr().out)
    return report


def network_of(path: Path) -> NetworkGraph:
    network = planner.open_file(path)
    assert isinstance(network, NetworkGraph)
    return network


def test_dimensions_bind_in_the_dialog_as_on_the_command_line(free: Path, qtbot: QtBot, capsys: Captured) -> None:
    network = network_of(free)
    assert dict(network.symbols) == {"N": 1, "L": 1, "x[2]": None, "K": 1}
    dialog = SizesDialog(network, {"L": 7})
    qtbot.addWidget(dialog)
    assert dialog.fields == {}
    for symbol, length in {"N": 2, "x[2]": 16, "K": 5}.items():
        dialog.boxes[symbol].setValue(length)
    dialog.accept()
    bound = planner.open_file(free, bindings=dialog.bindings)
    assert isinstance(bound, NetworkGraph)
    options = [f"--bind={name}={length}" for name, length in {"N": 2, "L": 7, "x[2]": 16, "K": 5}.items()]
    report = inspected(capsys, free, *options)
    assert report["symbols"] == dict(bound.symbols)
    assert report["activation_bytes"] == bound.activation_bytes == 2 * 4 * 2 * 7 * 5
    assert report["unknown_tensors"] == []


def test_unknown_sizes_block_planning_until_they_are_given(strange: Path, qtbot: QtBot, capsys: Captured) -> None:
    run = ["problem", str(strange), "--inference", "--device", "gpu=rtx-4090", "-o", str(strange.with_name("p.json"))]
    assert main(run) == 2
    assert "'m'; give sizes, as in --size m=8MB" in capsys.readouterr().err
    assert main([*run, "--size", "m=8MB"]) == 0
    capsys.readouterr()
    dialog = SizesDialog(network_of(strange), {})
    qtbot.addWidget(dialog)
    assert list(dialog.fields) == ["m"]
    for text, word in (("", "nothing is given"), ("8 Gb", "bits?")):
        dialog.fields["m"].setText(text)
        dialog.accept()
        assert dialog.result() == 0
        assert word in dialog.mistake.text()
    dialog.fields["m"].setText("8 MB")
    dialog.accept()
    assert dialog.result() == 1
    given = planner.open_file(strange, sizes=dialog.sizes)
    assert isinstance(given, NetworkGraph)
    # The Dropout behind it is a view of it.
    assert given.tensors["d"].size_bytes == 8_000_000
    assert inspected(capsys, strange, "--size", "m=8MB")["activation_bytes"] == given.activation_bytes == 8_000_064


@pytest.fixture
def window(qtbot: QtBot) -> MainWindow:
    window = MainWindow()
    qtbot.addWidget(window)
    window.show()
    return window


def test_the_window_asks_for_sizes_and_plans(
    window: MainWindow, strange: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answered(dialog: SizesDialog) -> int:
        dialog.fields["m"].setText("1 MiB")
        return 1

    monkeypatch.setattr(SizesDialog, "exec", answered)
    with qtbot.waitSignal(window.document.opened, timeout=WITHIN_MS):
        window.open_file(strange)
    work = window.document.work
    assert work is not None
    assert next(t for t in work.problem.tensors if t.name == "m").size_bytes == 2**20


def test_the_window_asks_for_foreign_attributes(
    window: MainWindow, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "graph.json"
    nodes = [{"id": "a", "t": 2, "m": 3}, {"id": "b", "t": 4}]
    path.write_text(json.dumps({"nodes": nodes, "edges": [{"source": "a", "target": "b"}]}), encoding="utf-8")
    refusals: list[str] = []

    def answered(dialog: MappingDialog) -> int:
        dialog.accept()
        refusals.append(dialog.mistake.text())
        dialog.keys["time"].setCurrentText("t")
        dialog.units["time"].setCurrentText("us")
        dialog.keys["size"].setCurrentText("m")
        dialog.units["size"].setCurrentText("KiB")
        dialog.defaults["size"].setText("7 MB")
        dialog.accept()
        return dialog.result()

    monkeypatch.setattr(MappingDialog, "exec", answered)
    with qtbot.waitSignal(window.document.opened, timeout=WITHIN_MS):
        window.open_file(path)
    work = window.document.work
    assert work is not None
    assert refusals == ["Time needs an attribute or a value for all nodes"]
    assert [t.size_bytes for t in work.problem.tensors] == [3072, 7_000_000]
    assert [o.costs["device"][0].time_ns for o in work.problem.operators] == [2000, 4000]
    # As with --map time=t:us --map size=m:KiB --default size=7MB.
    mapping = {"time": "t:us", "size": "m:KiB", "default.size": "7MB"}
    assert planner.open_file(path, mapping=mapping) == work.problem


def test_what_is_known_already_is_proposed(tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "graph.json"
    path.write_text(json.dumps({"nodes": [{"id": "a", "time_ms": 2, "m": 3}]}), encoding="utf-8")
    with pytest.raises(MappingWantedError) as error:
        planner.open_file(path)
    dialog = MappingDialog(error.value, path.name)
    qtbot.addWidget(dialog)
    assert (dialog.keys["time"].currentText(), dialog.units["time"].currentText()) == ("time_ms", "ms")
    assert dialog.keys["size"].currentText() == "(none)"


def test_attributes_of_single_devices_are_mapped(tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "graph.json"
    nodes = [{"id": "a", "gpu_ms": 2, "cpu_ms": 3, "took.gpu": 1, "took.cpu": 5, "size": 8}]
    path.write_text(json.dumps({"nodes": nodes}), encoding="utf-8")
    with pytest.raises(MappingWantedError) as error:
        planner.open_file(path)
    dialog = MappingDialog(error.value, path.name)
    qtbot.addWidget(dialog)
    for wrong, sentence in (
        ("", "Time needs"),
        ("time.gpu=x", "o node has an attribute 'x'"),
        ("time.gpu=gpu_ms, gpu=gpu_ms", "no field 'gpu'"),
    ):
        dialog.single.setText(wrong)
        dialog.accept()
        assert dialog.result() == 0
        assert sentence in dialog.mistake.text()
    dialog.single.setText("time.gpu=gpu_ms:ms, time.cpu=cpu_ms:ms")
    dialog.accept()
    assert dialog.result() == 1
    named = planner.open_file(path, mapping=dialog.mapping)
    assert isinstance(named, Problem)
    assert {d: ways[0].time_ns for d, ways in named.operators[0].costs.items()} == {"gpu": 2_000_000, "cpu": 3_000_000}
    dialog.single.clear()
    dialog.keys["time"].setCurrentText("took")
    dialog.units["time"].setCurrentText("us")
    spread = planner.open_file(path, mapping=dialog.mapping)
    assert isinstance(spread, Problem)
    assert {d: ways[0].time_ns for d, ways in spread.operators[0].costs.items()} == {"gpu": 1000, "cpu": 5000}
