"""What is asked of the window while something else is under way: nothing is lost, or goes to the wrong file."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from xengine_gui.model.plan_file import write_plan
from xengine_gui.session import Session, write_session
from xengine_gui.ui import session_keeper
from xengine_gui.ui.main_window import MainWindow
from xengine_gui.ui.selection import NOTHING, Kind

WITHIN_MS = 20_000
Wait = Callable[[], None]


@pytest.fixture
def lenet(window: MainWindow, network_file: Path, qtbot: QtBot) -> MainWindow:
    """A window on a network, in which nothing is planned by itself."""
    window.planning.plan_on_change = False
    open_and_wait(window, network_file, qtbot)
    return window


def open_and_wait(window: MainWindow, path: Path, qtbot: QtBot) -> None:
    window.open_file(path)
    at_rest(window, qtbot)


def at_rest(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.document.busy, timeout=WITHIN_MS)


def batch_of(window: MainWindow) -> int | None:
    return window.document.setup.batch


def set_batch(window: MainWindow, batch: int | None) -> None:
    window.document.edit_setup(f"batch {batch}", lambda setup: replace(setup, batch=batch))


def test_a_session_that_is_written_while_another_file_opens_stays_that_of_its_own_work(
    lenet: MainWindow, toy_file: Path, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()

    def slowly(session: Session, path: Path) -> None:
        assert go_on.wait(WITHIN_MS / 1000)
        write_session(session, path)

    monkeypatch.setattr(session_keeper, "write_session", slowly)
    path = tmp_path / "lenet.xengine"
    lenet.sessions.save(path)
    open_and_wait(lenet, toy_file, qtbot)
    go_on.set()
    qtbot.waitUntil(path.exists, timeout=WITHIN_MS)
    qtbot.waitUntil(lambda: not lenet.sessions._writer.busy, timeout=WITHIN_MS)
    assert lenet.sessions.path is None
    assert lenet.sessions.name == toy_file.name


def test_an_edit_does_not_take_the_place_of_a_file_that_is_being_opened(
    lenet: MainWindow, toy_file: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "toy.xengine"
    write_session(Session(toy_file), path)
    lenet.open_file(path)
    set_batch(lenet, 16)
    assert lenet.centre.error.text == "toy.xengine is being opened: batch 16 can be chosen once it is there."
    at_rest(lenet, qtbot)
    assert lenet.sessions.path == path
    assert lenet.document.undo_stack.count() == 0


def test_an_edit_goes_on_where_the_next_file_cannot_be_opened(lenet: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    set_batch(lenet, 16)
    lenet.open_file(tmp_path / "no such file.json")
    qtbot.waitUntil(lambda: batch_of(lenet) == 16 and not lenet.document.busy, timeout=WITHIN_MS)
    assert lenet.document.undo_stack.undoText() == "batch 16"


def test_an_edit_that_is_taken_back_before_it_is_built_leaves_nothing(lenet: MainWindow, qtbot: QtBot) -> None:
    before = lenet.document.work
    old = batch_of(lenet)
    set_batch(lenet, 16)
    set_batch(lenet, old)
    at_rest(lenet, qtbot)
    qtbot.wait(50)
    assert lenet.document.work is before


def test_a_limit_that_is_refused_does_not_end_an_edit_that_is_being_built(lenet: MainWindow, qtbot: QtBot) -> None:
    set_batch(lenet, 16)
    lenet.document.set_limit("cpu", None)
    at_rest(lenet, qtbot)
    assert batch_of(lenet) == 16


def test_presets_that_change_do_not_end_an_edit_that_is_being_built(lenet: MainWindow, qtbot: QtBot) -> None:
    set_batch(lenet, 16)
    lenet.document.price_anew()
    at_rest(lenet, qtbot)
    assert batch_of(lenet) == 16
    lenet.document.price_anew()
    at_rest(lenet, qtbot)
    assert lenet.document.undo_stack.count() == 1


def test_a_limit_on_its_way_is_not_given_to_the_next_file(
    window: MainWindow, toy_file: Path, chain_file: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    window.planning.plan_on_change = False
    copy = tmp_path / "copy.json"
    copy.write_bytes(toy_file.read_bytes())
    open_and_wait(window, toy_file, qtbot)
    device = window.document.setup.devices[0].name
    for limit_bytes in (5000, 4000):
        window.centre.timeline.limit_dragging.emit(device, limit_bytes)
    open_and_wait(window, copy, qtbot)
    qtbot.wait(200)
    assert window.document.undo_stack.count() == 0
    work = window.document.work
    assert work is not None
    assert work.problem.device(device).memory_limit_bytes not in (5000, 4000)


def test_a_limit_of_a_device_that_is_gone_is_let_go(lenet: MainWindow, qtbot: QtBot) -> None:
    lenet.centre.timeline.limit_dragging.emit("gpu", 10**9)
    lenet.document.remove_device("gpu")
    at_rest(lenet, qtbot)
    assert [d.name for d in lenet.document.setup.devices] == ["cpu"]
    lenet.centre.timeline.limit_dragging.emit("gpu", 2 * 10**9)
    lenet.centre.timeline.limit_dragged.emit("gpu", 3 * 10**9)
    assert lenet.centre.error.text == ""


def test_what_is_selected_of_one_plan_is_let_go_where_the_next_file_has_another(
    window: MainWindow, chain_file: Path, toy_file: Path, tmp_path: Path, plan_awaited: Wait, qtbot: QtBot
) -> None:
    for path in (chain_file, toy_file):
        open_and_wait(window, path, qtbot)
        plan_awaited()
        shown = window.document.shown
        assert shown is not None
        write_plan(shown.plan, tmp_path / f"{path.stem} plan.json")
    shown = window.document.shown
    assert shown is not None
    free = next(i for i, event in enumerate(shown.plan.events) if event.kind == "free")
    window.centre.timeline.select_event(free)
    assert window.links.model.current.kind is Kind.EVENT
    open_and_wait(window, tmp_path / "chain plan.json", qtbot)
    assert window.links.model.current == NOTHING


def test_what_only_the_edited_problem_has_can_be_selected_before_it_is_planned(
    lenet: MainWindow, plan_awaited: Wait, qtbot: QtBot
) -> None:
    lenet.document.edit_setup("inference", lambda setup: replace(setup, training=False))
    at_rest(lenet, qtbot)
    lenet.planning.plan()
    plan_awaited()
    lenet.document.edit_setup("training", lambda setup: replace(setup, training=True))
    at_rest(lenet, qtbot)
    work, shown = lenet.document.work, lenet.document.shown
    assert work is not None
    assert shown is not None
    new = next(t.name for t in work.problem.tensors if t.name not in shown.tensor_bytes)
    lenet.links.model.select_tensor(new)
    lenet.links.model.select_operator(work.problem.operators[-1].name)
    told = [label.text() for label in lenet.selection.findChildren(QLabel)]
    assert any("it is of the problem as it was before" in text for text in told)
