import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import onnx
import onnx.helper
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from xengine_gui import planner
from xengine_gui.model.plan import Clock, Status
from xengine_gui.model.plan_file import read_plan, write_plan
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import write_problem
from xengine_gui.schedule.verify import verify
from xengine_gui.ui.actions import ACTIONS, GROUPS, MENUS, SEPARATOR
from xengine_gui.ui.dialogs.help import AboutDialog, KeysDialog
from xengine_gui.ui.dialogs.sizes import SizesDialog
from xengine_gui.ui.main_window import MainWindow
from xengine_gui.ui.plan_runner import PlanRunner, Progress
from xengine_gui.ui.theme import current_theme

WITHIN_MS = 20_000
Wait = Callable[[], None]


def open_in(window: MainWindow, path: Path, wait: Wait) -> None:
    window.open_file(path)
    wait()


def set_limit(window: MainWindow, device: str, text: str, qtbot: QtBot) -> None:
    edit = window.left.devices.cards[device].limit.edit
    edit.selectAll()
    qtbot.keyClicks(edit, text)
    qtbot.keyClick(edit, Qt.Key.Key_Return)


def error_of(window: MainWindow, path: Path, qtbot: QtBot) -> str:
    with qtbot.waitSignal(window.document.open_failed, timeout=WITHIN_MS):
        window.open_file(path)
    return window.centre.error.text


def test_an_empty_window_says_what_to_do(window: MainWindow) -> None:
    assert not window.actions_by_key["plan"].isEnabled()
    assert not window.actions_by_key["stop"].isEnabled()
    assert not window.actions_by_key["save_plan"].isEnabled()
    assert list(window.left.devices.cards) == [d.name for d in planner.DEFAULT_DEVICES]
    assert window.status.activity.text() == "ready"


def test_a_problem_is_opened_and_planned(window: MainWindow, chain_file: Path, plan_awaited: Wait) -> None:
    open_in(window, chain_file, plan_awaited)
    shown = window.document.shown
    assert shown is not None
    assert shown.plan.total_ns == 60
    assert verify(shown.plan).ok
    assert window.centre.timeline.timeline() is shown.timeline
    assert window.status.verdict.text() == "✓ verified"
    assert window.status.total.text().startswith("total 60 ns")
    assert window.windowTitle().startswith("chain.json")
    assert window.progress.points[-1].total_ns == 60
    assert "opened" in window.log.view.toPlainText()


def test_a_network_is_opened_and_planned(
    window: MainWindow, network_file: Path, plan_awaited: Wait, qtbot: QtBot
) -> None:
    open_in(window, network_file, plan_awaited)
    work = window.document.work
    assert work is not None
    assert work.network is not None
    assert "training" in work.description
    assert window.summary.note.text() == ""
    training = len(work.problem.operators)
    with qtbot.waitSignal(window.document.work_changed, timeout=WITHIN_MS):
        next(a for a in window.submenus.menus["mode"].actions() if a.data() == "inference").trigger()
    assert window.document.work is not None
    assert "inference" in window.document.work.description
    assert len(window.document.work.problem.operators) < training


def test_an_edited_limit_makes_the_plan_old_and_a_new_one_comes(
    window: MainWindow, toy_file: Path, plan_awaited: Wait, qtbot: QtBot
) -> None:
    open_in(window, toy_file, plan_awaited)
    before = window.document.shown
    assert before is not None
    device = before.plan.problem.devices[0].name
    set_limit(window, device, "1 TiB", qtbot)
    assert window.document.stale
    assert window.document.shown is before
    assert window.status.verdict.text() == "old plan"
    assert "as it was before" in window.centre.state.text
    plan_awaited()
    after = window.document.shown
    assert after is not None
    assert after is not before
    assert after.plan.problem.device(device).memory_limit_bytes == 2**40
    assert window.centre.state.text == ""
    window.document.undo_stack.undo()
    assert window.document.work is not None
    assert window.document.work.problem is before.plan.problem
    assert window.left.devices.cards[device].limit.size_bytes == before.plan.problem.devices[0].memory_limit_bytes
    assert window.document.shown is before
    assert not window.document.stale
    assert not window.planning.running
    window.document.undo_stack.redo()
    assert window.document.shown is after
    assert not window.document.stale


def test_a_limit_that_makes_no_sense_changes_nothing(
    window: MainWindow, toy_file: Path, plan_awaited: Wait, qtbot: QtBot
) -> None:
    open_in(window, toy_file, plan_awaited)
    work = window.document.work
    assert work is not None
    device = work.problem.devices[0].name
    set_limit(window, device, "12 Gb", qtbot)
    card = window.left.devices.cards[device]
    assert "bits" in card.limit.hint.text()
    assert window.document.work is work
    assert not window.document.stale
    assert window.document.undo_stack.count() == 0


def test_dragging_the_limit_line_edits_the_same_limit(window: MainWindow, toy_file: Path, plan_awaited: Wait) -> None:
    open_in(window, toy_file, plan_awaited)
    assert window.document.work is not None
    device = window.document.work.problem.devices[0].name
    window.centre.timeline.limit_dragged.emit(device, 2**33)
    assert window.document.work.problem.device(device).memory_limit_bytes == 2**33
    assert window.left.devices.cards[device].limit.edit.text() == "8.00 GiB"
    assert window.document.undo_stack.undoText() == f"limit of {device}"


def test_devices_are_added_changed_and_removed(
    window: MainWindow, network_file: Path, plan_awaited: Wait, qtbot: QtBot
) -> None:
    open_in(window, network_file, plan_awaited)
    devices = window.left.devices
    before = list(devices.cards)
    devices.add_asked.emit("t4", "gpu")
    qtbot.waitUntil(lambda: len(devices.cards) == len(before) + 1, timeout=WITHIN_MS)
    added = next(name for name in devices.cards if name not in before)
    devices.preset_chosen.emit(added, "v100")
    qtbot.waitUntil(lambda: devices.cards[added].limit.size_bytes == 32 * 2**30, timeout=WITHIN_MS)
    assert devices.cards[added].preset.text().startswith("NVIDIA Tesla V100")
    devices.remove_asked.emit(added)
    qtbot.waitUntil(lambda: list(devices.cards) == before, timeout=WITHIN_MS)
    for _ in range(3):
        window.document.undo_stack.undo()
    assert list(devices.cards) == before
    window.document.undo_stack.redo()
    assert added in devices.cards


def test_edits_that_come_faster_than_problems_are_built_all_count(
    window: MainWindow, network_file: Path, plan_awaited: Wait, qtbot: QtBot
) -> None:
    open_in(window, network_file, plan_awaited)
    window.left.devices.add_asked.emit("t4", "gpu")
    window.tools.batch_edited.emit(16)
    window.document.set_limit("gpu", 2**30)
    qtbot.waitUntil(lambda: not window.document.busy, timeout=WITHIN_MS)
    setup = window.document.setup
    assert len(setup.devices) == 3
    assert setup.batch == 16
    assert next(d for d in setup.devices if d.name == "gpu").memory_limit_bytes == 2**30
    assert window.document.work is not None
    assert "batch 16" in window.document.work.description


def test_the_last_device_stays(window: MainWindow, network_file: Path, plan_awaited: Wait, qtbot: QtBot) -> None:
    open_in(window, network_file, plan_awaited)
    names = list(window.left.devices.cards)
    for name in names[1:]:
        window.document.remove_device(name)
    qtbot.waitUntil(lambda: len(window.left.devices.cards) == 1, timeout=WITHIN_MS)
    window.document.remove_device(names[0])
    assert "last device" in window.centre.error.text
    assert list(window.left.devices.cards) == names[:1]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("picture.onnx", b"\x89PNG\r\n\x1a\n" + bytes(64), "picture.onnx"),
        ("broken.json", b'{"format": "xengine-problem", "version": 1, "devices": [', "broken.json"),
        ("empty.onnx", b"", "empty.onnx"),
        ("notes.txt", b"hello", "notes.txt"),
    ],
)
def test_a_bad_file_is_one_sentence_and_the_work_stays(
    window: MainWindow, chain_file: Path, plan_awaited: Wait, qtbot: QtBot, name: str, content: bytes, words: str
) -> None:
    open_in(window, chain_file, plan_awaited)
    shown, work = window.document.shown, window.document.work
    bad = chain_file.with_name(name)
    bad.write_bytes(content)
    sentence = error_of(window, bad, qtbot)
    assert words in sentence
    assert "Traceback" not in sentence
    assert window.document.shown is shown
    assert window.document.work is work
    assert window.windowTitle().startswith("chain.json")
    assert [Path(r).name for r in window.settings.recent] == ["chain.json"]


def test_a_missing_file_is_told_and_leaves_the_recent_files(
    window: MainWindow, chain_file: Path, plan_awaited: Wait, qtbot: QtBot
) -> None:
    open_in(window, chain_file, plan_awaited)
    chain_file.unlink()
    assert "chain.json" in error_of(window, chain_file, qtbot)
    assert window.settings.recent == ()
    assert not window.submenus.menus["recent"].isEnabled()


def test_recent_files_are_listed_in_the_next_window(
    window: MainWindow, chain_file: Path, plan_awaited: Wait, qtbot: QtBot
) -> None:
    open_in(window, chain_file, plan_awaited)
    window.close()
    second = MainWindow()
    try:
        (action,) = second.submenus.menus["recent"].actions()
        assert action.toolTip() == str(chain_file)
        with qtbot.waitSignal(second.document.opened, timeout=WITHIN_MS):
            action.trigger()
    finally:
        second.close()
        second.deleteLater()


def test_a_file_can_be_dropped(window: MainWindow, chain_file: Path, qtbot: QtBot) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(chain_file))])
    buttons = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(9, 9), Qt.DropAction.CopyAction, data, *buttons)
    QApplication.sendEvent(window, enter)
    assert enter.isAccepted()
    with qtbot.waitSignal(window.document.opened, timeout=WITHIN_MS):
        QApplication.sendEvent(window, QDropEvent(QPoint(9, 9), Qt.DropAction.CopyAction, data, *buttons))
    words = QMimeData()
    words.setText("hello")
    enter = QDragEnterEvent(QPoint(9, 9), Qt.DropAction.CopyAction, words, *buttons)
    QApplication.sendEvent(window, enter)
    assert not enter.isAccepted()


def test_an_infeasible_limit_is_explained_and_the_old_plan_kept(
    window: MainWindow, chain_file: Path, plan_awaited: Wait, qtbot: QtBot
) -> None:
    open_in(window, chain_file, plan_awaited)
    before = window.document.shown
    set_limit(window, "cpu", "7", qtbot)
    qtbot.waitUntil(lambda: bool(window.planning.trouble), timeout=WITHIN_MS)
    assert window.document.shown is before
    assert window.document.stale
    assert window.status.verdict.text() == "✕ infeasible"
    assert window.centre.trouble.text.startswith("No plan ")
    assert window.planning.trouble in window.centre.trouble.text + window.centre.trouble.details
    assert "the one from before" in window.centre.state.text
    window.document.undo_stack.undo()
    assert window.status.verdict.text() == "✓ verified"
    assert window.centre.trouble.text == ""


def test_an_infeasible_problem_is_explained_where_the_timeline_would_be(
    window: MainWindow, tmp_path: Path, chain: Callable[..., Problem], qtbot: QtBot
) -> None:
    path = tmp_path / "tight.json"
    write_problem(chain(4, 7), path)
    window.open_file(path)
    qtbot.waitUntil(lambda: bool(window.planning.trouble), timeout=WITHIN_MS)
    assert window.planning.infeasible
    assert window.document.shown is None
    assert window.centre.timeline.accessibleDescription().endswith(window.planning.trouble)


def test_plans_are_saved_and_opened_again(
    window: MainWindow, chain_file: Path, plan_awaited: Wait, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_in(window, chain_file, plan_awaited)
    target = chain_file.with_name("saved.json")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), "Plan (*.json)"))
    with qtbot.waitSignal(window.exporting.said, timeout=WITHIN_MS):
        window.actions_by_key["save_plan"].trigger()
    assert verify(read_plan(target)).ok
    with qtbot.waitSignal(window.document.opened, timeout=WITHIN_MS):
        window.open_file(target)
    assert window.document.shown is not None
    assert window.document.shown.plan.total_ns == 60
    assert not window.document.stale
    assert not window.planning.running


def test_a_plan_that_breaks_a_rule_is_not_opened(
    window: MainWindow, chain_file: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    problem = planner.open_file(chain_file)
    assert isinstance(problem, Problem)
    plan = planner.plan(problem, "optimal")
    path = tmp_path / "wrong.json"
    write_plan(plan, path)
    path.write_text(path.read_text(encoding="utf-8").replace('"o3"', '"o4"', 1), encoding="utf-8")
    assert "wrong.json" in error_of(window, path, qtbot)
    assert window.document.shown is None


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_the_picture_is_exported(
    window: MainWindow, chain_file: Path, plan_awaited: Wait, monkeypatch: pytest.MonkeyPatch, suffix: str, qtbot: QtBot
) -> None:
    open_in(window, chain_file, plan_awaited)
    target = chain_file.with_name(f"picture{suffix}")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), f"Picture (*{suffix})"))
    with qtbot.waitSignal(window.exporting.said, timeout=WITHIN_MS):
        window.actions_by_key["export_picture"].trigger()
    assert target.stat().st_size > 500


def test_a_place_that_cannot_be_written_is_told(
    window: MainWindow, chain_file: Path, plan_awaited: Wait, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    open_in(window, chain_file, plan_awaited)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("/proc/nowhere/x.json", "Plan (*.json)"))
    with qtbot.waitSignal(window.exporting.failed, timeout=WITHIN_MS):
        window.actions_by_key["save_plan"].trigger()
    assert "x.json" in window.centre.error.text


def test_the_theme_is_switched_and_remembered(window: MainWindow, chain_file: Path, plan_awaited: Wait) -> None:
    open_in(window, chain_file, plan_awaited)
    for choice in ("dark", "light", "dark"):
        window.submenus.theme_chosen.emit(choice)
        assert current_theme().name == choice
        assert window.centre.timeline.theme().name == choice
    assert window.settings.theme == "dark"
    window.submenus.theme_chosen.emit("light")


def test_a_selected_event_is_described(window: MainWindow, toy_file: Path, plan_awaited: Wait) -> None:
    open_in(window, toy_file, plan_awaited)
    shown = window.document.shown
    assert shown is not None
    for index in range(len(shown.plan.events)):
        window.centre.timeline.select_event(index)
    window.selection.follow(shown.timeline.end_ns // 2)
    assert window.selection.memory.rowCount() >= 0


def test_the_timeline_shows_the_clock_that_is_chosen(
    window: MainWindow, toy_file: Path, plan_awaited: Wait, qtbot: QtBot
) -> None:
    open_in(window, toy_file, plan_awaited)
    shown = window.document.shown
    assert shown is not None
    serial, overlapped = window.submenus.menus["clock"].actions()
    with qtbot.waitSignal(window.clock_view.changed, timeout=WITHIN_MS):
        overlapped.trigger()
    timeline = window.centre.timeline.timeline()
    assert timeline is not None
    assert timeline.end_ns == shown.summary.makespan_ns
    assert timeline.plan.clock is Clock.OVERLAPPED
    window.centre.timeline.select_event(0)
    serial.trigger()
    assert window.centre.timeline.timeline() is shown.timeline


def test_every_key_is_in_the_help_and_every_action_in_a_menu_or_on_a_key(window: MainWindow, qtbot: QtBot) -> None:
    menus = (*MENUS, *GROUPS.values())
    in_menus = {entry for _, entries in menus for entry in entries if entry != SEPARATOR and ":" not in entry}
    assert {spec.key for spec in ACTIONS} | {"undo", "redo"} == in_menus
    keys = [key for spec in ACTIONS for key in spec.shortcuts]
    assert len(keys) == len(set(keys))
    for dialog in (KeysDialog(window), AboutDialog(window)):
        qtbot.addWidget(dialog)
        dialog.show()


def test_without_planning_on_change_nothing_is_planned_until_asked(
    window: MainWindow, chain_file: Path, plan_awaited: Wait, qtbot: QtBot
) -> None:
    window.actions_by_key["plan_on_change"].trigger()
    with qtbot.waitSignal(window.document.opened, timeout=WITHIN_MS):
        window.open_file(chain_file)
    qtbot.wait(600)
    assert window.document.shown is None
    window.actions_by_key["plan"].trigger()
    plan_awaited()
    assert window.document.shown is not None


class TestWithStrategiesThatMisbehave:
    @pytest.fixture
    def window(self, qtbot: QtBot, runner_of_tests: Callable[[], PlanRunner], chain_file: Path) -> MainWindow:
        window = MainWindow(runner=runner_of_tests())
        window.planning.plan_on_change = False
        window.show()
        with qtbot.waitSignal(window.document.opened, timeout=WITHIN_MS):
            window.open_file(chain_file)
        yield window
        window.close()
        window.deleteLater()

    def plan_with(self, window: MainWindow, key: str) -> None:
        window.planning.strategy = key
        window.actions_by_key["plan"].trigger()

    def test_plan_stop_and_plan_again(self, window: MainWindow, qtbot: QtBot, plan_awaited: Wait) -> None:
        self.plan_with(window, "deaf")
        assert window.actions_by_key["stop"].isEnabled()
        qtbot.waitUntil(lambda: window.document.shown is not None, timeout=WITHIN_MS)
        window.actions_by_key["stop"].trigger()
        assert not window.actions_by_key["stop"].isEnabled()
        plan_awaited()
        assert window.document.shown is not None
        assert window.document.shown.plan.status is Status.FEASIBLE
        self.plan_with(window, "quick")
        plan_awaited()
        assert window.document.shown.plan.strategy == "quick"

    def test_an_edit_in_the_middle_plans_anew(self, window: MainWindow, qtbot: QtBot, plan_awaited: Wait) -> None:
        self.plan_with(window, "polite")
        qtbot.waitUntil(lambda: window.document.shown is not None, timeout=WITHIN_MS)
        window.document.set_limit("cpu", 1000)
        window.planning.strategy = "quick"
        plan_awaited()
        assert window.document.shown is not None
        assert window.document.shown.plan.problem.devices[0].memory_limit_bytes == 1000

    def test_what_is_proved_later_is_shown_of_the_plan(self, window: MainWindow, qtbot: QtBot) -> None:
        self.plan_with(window, "proving")
        qtbot.waitUntil(lambda: window.document.shown is not None, timeout=WITHIN_MS)
        timeline = window.centre.timeline.timeline()
        window.centre.timeline.select_event(2)
        qtbot.waitUntil(lambda: "%" in window.status.quality.text(), timeout=WITHIN_MS)
        assert window.status.quality.text() == "at most 1.67 % to gain"
        assert window.centre.timeline.timeline() is timeline
        assert window.centre.timeline.selected_event() == 2

    def test_a_crash_is_a_message(self, window: MainWindow, qtbot: QtBot, plan_awaited: Wait) -> None:
        self.plan_with(window, "crash")
        qtbot.waitUntil(lambda: bool(window.planning.trouble), timeout=WITHIN_MS)
        assert "signal 11" in window.centre.trouble.text
        assert window.document.shown is not None
        self.plan_with(window, "quick")
        plan_awaited()
        assert window.centre.trouble.text == ""

    def test_a_stop_without_a_plan_is_told(self, window: MainWindow, qtbot: QtBot) -> None:
        self.plan_with(window, "deaf-at-once")
        window.actions_by_key["stop"].trigger()
        qtbot.waitUntil(lambda: bool(window.planning.trouble), timeout=WITHIN_MS)
        assert "stopped before a plan was found" in window.planning.trouble
        assert window.document.shown is None

    def test_closing_in_the_middle(self, window: MainWindow, qtbot: QtBot) -> None:
        self.plan_with(window, "deaf")
        qtbot.waitUntil(lambda: window.document.shown is not None, timeout=WITHIN_MS)
        window.close()
        assert window.planning.runner.process_id is None
        assert not [t for t in threading.enumerate() if t.name in ("planning", "background") and t.is_alive()]


def test_twenty_windows_leave_nothing_behind(qtbot: QtBot, chain_file: Path) -> None:
    for i in range(20):
        window = MainWindow()
        window.show()
        window.open_file(chain_file)
        QCoreApplication.processEvents()
        if i % 5 == 0:
            qtbot.waitUntil(lambda w=window: w.document.work is not None, timeout=WITHIN_MS)
        window.close()
        window.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert not [t for t in threading.enumerate() if t.name in ("planning", "background") and t.is_alive()]


def save_network(path: Path, shape: list[int | str], *, whole_numbers: bool = False) -> None:
    """Write a network of one operator."""
    kind = onnx.TensorProto.INT64 if whole_numbers else onnx.TensorProto.FLOAT
    x, y = (onnx.helper.make_tensor_value_info(name, kind, shape) for name in "xy")
    node = onnx.helper.make_node("Abs", ["x"], ["y"], name="only")
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph([node], "one", [x], [y])), path)


def test_a_network_without_parameters_is_opened_for_inference(
    window: MainWindow, tmp_path: Path, plan_awaited: Wait
) -> None:
    path = tmp_path / "untrainable.onnx"
    save_network(path, [2**21, 2], whole_numbers=True)
    open_in(window, path, plan_awaited)
    work = window.document.work
    assert work is not None
    assert "inference" in work.description
    assert "nothing to train" in window.centre.error.text
    assert not window.tools.batch.isVisible()


class TestFreeDimensions:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        """A network whose input has the shape N, 3, H, H."""
        path = tmp_path / "free.onnx"
        save_network(path, ["N", 3, "H", "H"])
        return path

    def answer(self, monkeypatch: pytest.MonkeyPatch, values: dict[str, int] | None) -> list[dict[str, int]]:
        """Answer the dialog as soon as it is there; what it proposed is written down."""
        proposed: list[dict[str, int]] = []

        def exec_(dialog: SizesDialog) -> int:
            proposed.append(dialog.bindings)
            for symbol, value in (values or {}).items():
                dialog.boxes[symbol].setValue(value)
            return 0 if values is None else 1

        monkeypatch.setattr(SizesDialog, "exec", exec_)
        return proposed

    def test_values_are_asked_for_and_remembered(
        self, window: MainWindow, file: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        proposed = self.answer(monkeypatch, {"N": 2, "H": 10})
        for _ in range(2):
            with qtbot.waitSignal(window.document.opened, timeout=WITHIN_MS):
                window.open_file(file)
        assert proposed == [{"N": 1, "H": 1}, {"N": 2, "H": 10}]
        work = window.document.work
        assert work is not None
        assert next(t for t in work.problem.tensors if t.name == "y").size_bytes == 2 * 3 * 10 * 10 * 4

    def test_the_batch_of_the_network_before_is_not_that_of_the_next(
        self, window: MainWindow, file: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = file.with_name("first.onnx")
        save_network(first, ["M", 3, 8, 8])
        self.answer(monkeypatch, {"N": 2, "H": 10})
        with qtbot.waitSignal(window.document.opened, timeout=WITHIN_MS):
            window.open_file(first)
        with qtbot.waitSignal(window.document.work_changed, timeout=WITHIN_MS):
            window.tools.batch.setValue(32)
        with qtbot.waitSignal(window.document.opened, timeout=WITHIN_MS):
            window.open_file(file)
        assert window.tools.batch.value() == 2

    def test_the_batch_and_its_dimension_are_one(
        self, window: MainWindow, file: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whichever is given later counts, in the toolbar or in the dialog."""
        self.answer(monkeypatch, {"N": 2, "H": 10})
        with qtbot.waitSignal(window.document.opened, timeout=WITHIN_MS):
            window.open_file(file)
        with qtbot.waitSignal(window.document.work_changed, timeout=WITHIN_MS):
            window.tools.batch.setValue(5)
        work = window.document.work
        assert work is not None
        assert work.network is not None
        assert work.network.symbols == {"N": 5, "H": 10}
        proposed = self.answer(monkeypatch, {"N": 3})
        with qtbot.waitSignal(window.document.opened, timeout=WITHIN_MS):
            window.files.ask_for_sizes()
        assert proposed == [{"N": 5, "H": 10}]
        assert window.tools.batch.value() == 3
        work = window.document.work
        assert work is not None
        assert next(t for t in work.problem.tensors if t.name == "y").size_bytes == 3 * 3 * 10 * 10 * 4

    def test_no_answer_opens_nothing(
        self, window: MainWindow, file: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        proposed = self.answer(monkeypatch, None)
        window.open_file(file)
        qtbot.waitUntil(lambda: bool(proposed), timeout=WITHIN_MS)
        assert window.document.work is None
        assert window.settings.recent == ()


def test_an_empty_window_offers_how_to_begin(window: MainWindow, plan_awaited: Wait, qtbot: QtBot) -> None:
    buttons = {b.text(): b for b in window.centre.welcome.findChildren(QPushButton)}
    assert all(b.isVisible() for b in buttons.values())
    window.planning.options = replace(window.planning.options, gap_ratio=0.0)
    window.planning.strategy = "greedy"
    qtbot.mouseClick(buttons["Show the demo"], Qt.MouseButton.LeftButton)
    assert window.centre.welcome.isHidden()
    assert window.planning.options.gap_ratio == planner.DEMO.gap_ratio
    assert [a.isChecked() for a in window.submenus.menus["gap"].actions() if a.data() == "0.005"] == [True]
    plan_awaited()
    assert window.document.work is not None
    assert window.document.work.path == planner.DEMO.path
    assert window.document.work.setup is not None
    assert window.document.work.setup.devices == planner.DEMO.devices


def test_a_file_that_cannot_be_opened_is_named_once(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "notes.md"
    path.write_text("# notes")
    told = error_of(window, path, qtbot)
    assert told.count("notes.md") == 1
    assert window.log.view.toPlainText().count("notes.md") == 1
    assert window.centre.welcome.isVisible()


def test_a_bound_of_nothing_is_not_drawn(window: MainWindow) -> None:
    window.progress.add(Progress(0.1, 1_000_000_000, 0))
    assert window.progress.gap.text() == ""
    assert window.progress.bound_label.text() == "no bound yet"
    low, _ = window.progress.plot.viewRange()[1]
    assert low > 0.9
    window.progress.add(Progress(0.2, 1_000_000_000, 900_000_000))
    assert window.progress.gap.text() == "gap 10.00 %"


def test_the_devices_are_never_cut_off_at_the_side(window: MainWindow, qtbot: QtBot) -> None:
    columns = window.splitters["columns"]
    columns.setSizes([1, 1000, 300])
    body, room = window.left.body, window.left.viewport()
    qtbot.waitUntil(lambda: body.width() <= room.width(), timeout=WITHIN_MS)
    window.resize(1280, 560)
    qtbot.waitUntil(window.left.verticalScrollBar().isVisible, timeout=WITHIN_MS)
    qtbot.waitUntil(lambda: body.width() <= room.width(), timeout=WITHIN_MS)
