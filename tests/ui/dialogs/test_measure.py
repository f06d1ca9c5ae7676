"""Measuring the network from the window: in a process of its own, told on the way, ended at once, laid over it."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from xengine_gui.model.graph import NetworkGraph
from xengine_gui.ui import measuring
from xengine_gui.ui.dialogs.measure import MeasureDialog
from xengine_gui.ui.main_window import MainWindow
from xengine_gui.ui.measuring import HOW_TO_INSTALL, Measurement, why_not_measured
from xengine_gui.ui.work import Setup, Work

Awaited = Callable[[], None]
WITHIN_MS = 60_000


@pytest.fixture
def lenet(window: MainWindow, network_file: Path, plan_awaited: Awaited) -> MainWindow:
    window.open_file(network_file)
    plan_awaited()
    return window


@pytest.fixture
def dialog(lenet: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MeasureDialog]:
    """The form, as the menu opens it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(measuring.__file__).parents[2]))
    pytest.importorskip("onnxruntime")
    lenet.actions_by_key["measure"].trigger()
    dialog = lenet.costing.measuring
    assert dialog is not None
    yield dialog
    dialog.close()


def test_a_network_is_measured_and_its_times_are_laid_over_it(
    lenet: MainWindow, dialog: MeasureDialog, tmp_path: Path, qtbot: QtBot
) -> None:
    assert dialog.device.currentText() == "cpu"
    assert Path(dialog.file.text()) == tmp_path / "lenet.costs.csv"
    assert not dialog.use_button.isVisible()
    dialog.runs.setValue(1)
    places: list[tuple[int, int]] = []
    dialog.measuring.progressed.connect(lambda number, count, _what: places.append((number, count)))
    with qtbot.waitSignal(dialog.measuring.finished, timeout=WITHIN_MS):
        dialog.start_button.click()
        assert dialog.bar.isVisible()
        assert not dialog.bar.isTextVisible()  # it is thinner than a line
        assert not dialog.start_button.isEnabled()
    work = lenet.document.work
    assert work is not None
    count = len(work.problem.operators)
    assert places == [(number, count) for number in range(1, count + 1)]
    assert f"{count} operators measured" in dialog.message.text()
    dialog.use_button.click()
    qtbot.waitUntil(lambda: lenet.document.work is not None and bool(lenet.document.work.costs))
    assert lenet.document.undo_stack.undoText() == "measured times of lenet.costs.csv"
    assert not dialog.isVisible()


def test_a_measurement_is_cancelled_and_nothing_is_written(dialog: MeasureDialog, tmp_path: Path, qtbot: QtBot) -> None:
    dialog.runs.setValue(60)
    with qtbot.waitSignal(dialog.measuring.progressed, timeout=WITHIN_MS):
        dialog.start_button.click()
    dialog.cancel_button.click()
    assert not dialog.measuring.running
    assert "nothing was written" in dialog.message.text()
    assert dialog.start_button.isEnabled()
    assert list(tmp_path.glob("*.csv")) == []
    dialog.cancel_button.click()
    assert not dialog.isVisible()


def test_times_of_another_batch_are_not_laid_over(lenet: MainWindow, dialog: MeasureDialog, qtbot: QtBot) -> None:
    lenet.document.edit_setup("batch 16", lambda setup: replace(setup, batch=16))
    qtbot.waitUntil(lambda: lenet.document.setup.batch == 16, timeout=WITHIN_MS)
    dialog.costs_asked.emit(Path(dialog.file.text()))
    assert "another network, batch, mode or optimizer" in dialog.message.text()
    assert dialog.isVisible()
    assert not lenet.document.busy


def test_a_table_in_the_folder_of_nobody_is_told(dialog: MeasureDialog) -> None:
    dialog.file.setText("~no such user/costs.csv")
    dialog.start_button.click()
    assert dialog.message.text() == "Name a file for the table, in a folder that there is."


def test_a_window_that_closes_ends_the_measurement(lenet: MainWindow, dialog: MeasureDialog, qtbot: QtBot) -> None:
    dialog.runs.setValue(60)
    with qtbot.waitSignal(dialog.measuring.progressed, timeout=WITHIN_MS):
        dialog.start_button.click()
    lenet.close()
    assert not dialog.measuring.running


def test_what_goes_wrong_is_told(
    dialog: MeasureDialog, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog.file.setText(str(tmp_path / "none" / "x.csv"))
    dialog.start_button.click()
    assert "folder that there is" in dialog.message.text()
    dialog.file.setText(str(tmp_path / "x.csv"))
    monkeypatch.setattr(Measurement, "words", lambda *_: ["profile", "none.onnx"])
    with qtbot.waitSignal(dialog.measuring.failed, timeout=WITHIN_MS):
        dialog.start_button.click()
    assert dialog.message.text() == "Not measured: none.onnx: there is no such file."
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with qtbot.waitSignal(dialog.measuring.failed, timeout=WITHIN_MS):
        dialog.start_button.click()
    assert "could not be started" in dialog.message.text()
    assert dialog.start_button.isEnabled()


def test_without_onnx_runtime_it_is_grey_and_says_what_to_install(
    lenet: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "find_spec", lambda _name: None)
    lenet.document.work_changed.emit()
    action = lenet.actions_by_key["measure"]
    assert not action.isEnabled()
    assert action.toolTip() == HOW_TO_INSTALL
    lenet.costing.measure()
    assert lenet.costing.measuring is None


def test_a_problem_cannot_be_measured(window: MainWindow, chain_file: Path, plan_awaited: Awaited) -> None:
    pytest.importorskip("onnxruntime")
    assert "Open a network first" in why_not_measured(None)
    window.open_file(chain_file)
    plan_awaited()
    assert not window.actions_by_key["measure"].isEnabled()
    assert "this is a problem" in window.actions_by_key["measure"].toolTip()


def test_the_setup_goes_with_the_words() -> None:
    setup = Setup((), training=False, optimizer="adam", batch=4, bindings={"a=b": 3}, sizes={"x": 7})
    work = Work(Path("/n/net.onnx"), None, NetworkGraph, setup)  # type: ignore[arg-type]
    words = Measurement("gpu", Path("out.csv"), 3, processor_time=True).words(work)
    assert words == [
        "profile", "/n/net.onnx", "--device", "gpu", "--runs", "3", "--inference", "--optimizer", "adam",
        "--batch", "4", "--bind", "a=b=3", "--size", "x=7", "--processor-time", "--progress", "-o", "out.csv",
    ]  # fmt: skip
