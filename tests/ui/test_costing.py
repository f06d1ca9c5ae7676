"""Measured costs, own presets and the import report in the window."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QFileDialog, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from xengine_gui.cost import device_preset, device_presets
from xengine_gui.cost.own_presets import own_presets_file
from xengine_gui.cost.preset_fields import KINDS
from xengine_gui.session import read_session
from xengine_gui.ui.dialogs.presets import PresetsDialog
from xengine_gui.ui.dialogs.report import ReportDialog
from xengine_gui.ui.main_window import MainWindow

Awaited = Callable[[], None]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "costs.csv"
    path.write_text("operator,device,time_ns\nc1,cpu,7000000\nc1,gpu,9000000\n")
    return path


@pytest.fixture
def lenet(window: MainWindow, network_file: Path, plan_awaited: Awaited) -> MainWindow:
    window.open_file(network_file)
    plan_awaited()
    return window


def presets_of(menu: QMenu) -> list[str]:
    """The titles of the presets in the submenus of a menu, of which each is for one kind of device."""
    kinds = [inner for action in menu.actions() if isinstance(inner := action.menu(), QMenu)]
    assert len({inner.title() for inner in kinds}) == len(kinds) == len(KINDS)
    return [action.text().split("  ·  ")[0] for inner in kinds for action in inner.actions()]


def time_of(window: MainWindow, operator: str, device: str) -> int:
    work = window.document.work
    assert work is not None
    return next(o for o in work.problem.operators if o.name == operator).costs[device][0].time_ns


def load(window: MainWindow, qtbot: QtBot, path: Path) -> None:
    window.document.load_costs(path)
    qtbot.waitUntil(lambda: not window.document.busy)


def test_costs_are_loaded_and_taken_back(
    lenet: MainWindow, table: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, plan_awaited: Awaited
) -> None:
    before = time_of(lenet, "c1", "cpu")
    assert not lenet.actions_by_key["drop_costs"].isEnabled()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(table), ""))
    lenet.actions_by_key["load_costs"].trigger()
    qtbot.waitUntil(lambda: time_of(lenet, "c1", "cpu") == 7_000_000)
    plan_awaited()
    assert lenet.head.description.text().endswith("measured times")
    lenet.document.undo_stack.undo()
    assert time_of(lenet, "c1", "cpu") == before
    lenet.document.undo_stack.redo()
    assert lenet.actions_by_key["drop_costs"].isEnabled()
    lenet.actions_by_key["drop_costs"].trigger()
    qtbot.waitUntil(lambda: time_of(lenet, "c1", "cpu") == before)


def test_costs_that_do_not_fit_are_refused(lenet: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    before = time_of(lenet, "c1", "cpu")
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("operator,device,time_ns\n" + "".join(f"ghost{i},cpu,1\n" for i in range(9)))
    load(lenet, qtbot, wrong)
    told = lenet.centre.error.text
    assert "wrong.csv: line 2: there is no operator 'ghost0'" in told
    assert "6 more rows have no place" in told
    assert "ghost8" not in told
    assert time_of(lenet, "c1", "cpu") == before


def test_costs_go_with_the_session_and_end_with_another_batch(
    lenet: MainWindow, table: Path, tmp_path: Path, qtbot: QtBot, plan_awaited: Awaited
) -> None:
    load(lenet, qtbot, table)
    plan_awaited()
    path = tmp_path / "kept.xengine"
    lenet.sessions.save(path)
    qtbot.waitUntil(lambda: path.exists() and not lenet.sessions.modified)
    session = read_session(path)
    assert session.costs == (table,)
    assert session.report == lenet.document.work.report  # type: ignore[union-attr]
    assert next(o for o in session.problem().operators if o.name == "c1").costs["cpu"][0].time_ns == 7_000_000
    lenet.tools.batch_edited.emit(4)
    qtbot.waitUntil(lambda: time_of(lenet, "c1", "cpu") != 7_000_000)
    assert "another batch" in lenet.costing.outdated.text
    lenet.open_file(path)
    qtbot.waitUntil(lambda: time_of(lenet, "c1", "cpu") == 7_000_000)
    table.unlink()
    lenet.open_file(path)
    qtbot.waitUntil(lambda: time_of(lenet, "c1", "cpu") != 7_000_000)
    assert "measured costs of the session are left out" in lenet.centre.error.text


def test_costs_lie_over_a_problem_file(window: MainWindow, chain_file: Path, tmp_path: Path, qtbot: QtBot) -> None:
    window.open_file(chain_file)
    qtbot.waitUntil(lambda: window.document.work is not None)
    operator = window.document.work.problem.operators[0].name  # type: ignore[union-attr]
    table = tmp_path / "costs.csv"
    table.write_text(f"operator,device,time_ns\n{operator},cpu,77\n")
    load(window, qtbot, table)
    assert time_of(window, operator, "cpu") == 77
    window.document.drop_costs()
    qtbot.waitUntil(lambda: time_of(window, operator, "cpu") == 10)


def test_the_status_bar_tells_of_assumptions_and_opens_the_report(
    window: MainWindow, network_file: Path, monkeypatch: pytest.MonkeyPatch, plan_awaited: Awaited
) -> None:
    shown: list[tuple[str, ...]] = []
    monkeypatch.setattr(ReportDialog, "exec", lambda self: shown.append(self._report))
    window.open_file(network_file)
    plan_awaited()
    work = window.document.work
    assert work is not None
    assert work.report
    link = window.status.report
    assert link.isVisible()
    assert link.text() == f"{len(work.report)} assumption{'s' if len(work.report) > 1 else ''}"
    assert "lenet.onnx" in link.toolTip()
    link.click()
    assert shown == [work.report]
    window.actions_by_key["report"].trigger()
    assert len(shown) == 2


def test_the_report_can_be_copied(qtbot: QtBot) -> None:
    dialog = ReportDialog("a.onnx", ("First.", "Second\x07."))
    qtbot.addWidget(dialog)
    dialog.copy_button.click()
    assert QGuiApplication.clipboard().text() == "First.\nSecond\x07."


# --- convolution algorithms


def ways_of(window: MainWindow, operator: str) -> int:
    work = window.document.work
    assert work is not None
    return len(next(o for o in work.problem.operators if o.name == operator).costs["gpu"])


def test_convolutions_choose_their_algorithms(
    lenet: MainWindow, tmp_path: Path, qtbot: QtBot, plan_awaited: Awaited
) -> None:
    action = lenet.actions_by_key["implementations"]
    assert (action.isChecked(), ways_of(lenet, "c3")) == (False, 1)
    action.trigger()
    qtbot.waitUntil(lambda: ways_of(lenet, "c3") > 1)
    plan_awaited()
    assert action.isChecked()
    path = tmp_path / "kept.xengine"
    lenet.sessions.save(path)
    qtbot.waitUntil(path.exists)
    qtbot.waitUntil(lambda: not lenet.sessions.modified)
    problem = read_session(path).problem()
    assert len(next(o for o in problem.operators if o.name == "c3").costs["gpu"]) == ways_of(lenet, "c3")
    lenet.document.undo_stack.undo()
    assert (action.isChecked(), ways_of(lenet, "c3")) == (False, 1)
    lenet.open_file(path)
    qtbot.waitUntil(lambda: ways_of(lenet, "c3") > 1)
    assert action.isChecked()


def test_a_problem_file_has_its_implementations(window: MainWindow, chain_file: Path, plan_awaited: Awaited) -> None:
    window.open_file(chain_file)
    plan_awaited()
    action = window.actions_by_key["implementations"]
    assert not action.isEnabled()
    assert "has its implementations" in action.toolTip()


# --- presets


def put(dialog: PresetsDialog, **texts: str) -> None:
    for name, text in texts.items():
        widget = dialog.fields[name]
        widget.setCurrentText(text) if isinstance(widget, QComboBox) else widget.setText(text)


def text_of(dialog: PresetsDialog, name: str) -> str:
    widget = dialog.fields[name]
    return widget.text() if isinstance(widget, QLineEdit) else widget.currentText()


@pytest.fixture
def dialog(qtbot: QtBot) -> PresetsDialog:
    dialog = PresetsDialog({"used": "gpu"})
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def test_bundled_presets_are_to_look_at(dialog: PresetsDialog) -> None:
    dialog.choose("p100")
    assert text_of(dialog, "memory") == "16.0 GiB"
    assert text_of(dialog, "peak") == "9.3 TFLOP/s"
    assert isinstance(dialog.fields["memory"], QLineEdit)
    assert dialog.fields["memory"].isReadOnly()
    assert not dialog.save_button.isEnabled()
    assert not dialog.remove_button.isEnabled()


def test_a_preset_is_duplicated_changed_and_removed(dialog: PresetsDialog, qtbot: QtBot) -> None:
    dialog.choose("p100")
    qtbot.mouseClick(dialog.copy_button, Qt.MouseButton.LeftButton)
    assert text_of(dialog, "key") == "my-p100"
    put(dialog, title="Half a P100", memory="8 GiB", efficiency_vector="40 %")
    with qtbot.waitSignal(dialog.changed):
        dialog.save_button.click()
    mine = device_preset("my-p100")
    assert (mine.own, mine.memory_bytes, mine.bus) == (True, 8 * 2**30, device_preset("p100").bus)
    assert mine.efficiency == {**device_preset("p100").efficiency, "vector": 0.4}
    put(dialog, key="half", memory="7 GiB")
    dialog.save_button.click()
    assert device_presets()[-1].key == "half"
    assert device_preset("half").memory_bytes == 7 * 2**30
    with qtbot.waitSignal(dialog.changed):
        dialog.remove_button.click()
    assert not any(preset.own for preset in device_presets())


def test_what_is_wrong_stands_beside_its_field(dialog: PresetsDialog) -> None:
    dialog.new_button.click()
    put(dialog, key="mine", title="Mine", memory="8 Gb", bandwidth="300 GB/s", launch="", peak="1 TFLOP/s")
    assert not dialog.save()
    assert "bits" in dialog.hints["memory"].text()
    assert dialog.hints["launch"].isVisible()
    assert dialog.hints["source"].isVisible()
    assert not dialog.hints["key"].isVisible()
    assert not own_presets_file().exists()
    put(dialog, memory="8 GiB", launch="5 µs", source="a guess")
    assert dialog.save()
    assert not dialog.hints["memory"].isVisible()
    assert device_preset("mine").peak_flop_per_s == 10**12


def test_a_preset_in_use_keeps_its_name(dialog: PresetsDialog, qtbot: QtBot) -> None:
    dialog.choose("p100")
    dialog.duplicate()
    put(dialog, key="used")
    assert dialog.save()
    assert isinstance(dialog.fields["key"], QLineEdit)
    assert dialog.fields["key"].isReadOnly()
    assert not dialog.remove_button.isEnabled()


def test_a_changed_preset_prices_the_network_anew(lenet: MainWindow, qtbot: QtBot) -> None:
    editor = lenet.costing.new_presets_dialog()
    qtbot.addWidget(editor)
    editor.choose("rtx-3060-laptop")
    editor.duplicate()
    put(editor, key="mine")
    assert editor.save()
    menu = lenet.left.devices.add_button.menu()
    menu.aboutToShow.emit()
    assert sorted(presets_of(menu)) == sorted(preset.title for preset in device_presets())
    card = lenet.left.devices.cards["gpu"].preset.menu()
    card.aboutToShow.emit()
    assert card.actions()[-1].text() == "Remove gpu"
    assert sorted(presets_of(card)) == sorted(preset.title for preset in device_presets())
    lenet.document.set_preset("gpu", "mine")
    qtbot.waitUntil(lambda: lenet.document.setup.devices[1].preset == "mine")
    before = time_of(lenet, "c1", "gpu")
    again = lenet.costing.new_presets_dialog()
    qtbot.addWidget(again)
    again.choose("mine")
    put(again, launch="1 ms")
    assert again.save()
    qtbot.waitUntil(lambda: time_of(lenet, "c1", "gpu") > before + 900_000)
