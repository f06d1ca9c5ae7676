"""Sessions through the window: saved, opened, restored after a crash, reloaded."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from xengine_gui.model.plan import Clock
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import write_problem
from xengine_gui.paths import sample_graphs
from xengine_gui.schedule.verify import verify
from xengine_gui.session import Session, read_session, write_session
from xengine_gui.solve.worker import SolverProcess
from xengine_gui.ui.main_window import MainWindow
from xengine_gui.ui.plan_runner import PlanRunner
from xengine_gui.ui.session_store import SessionStore
from xengine_gui.ui.theme import apply_theme, chosen_theme
from xengine_gui.ui.window_layout import PanelLayout

WITHIN_MS = 20_000
Wait = Callable[[], None]
MakeWindow = Callable[[], MainWindow]


@pytest.fixture(name="another")
def make_another(qtbot: QtBot, kept_process: SolverProcess) -> object:
    """Makes more windows, as the next start does."""
    made: list[MainWindow] = []

    def make() -> MainWindow:
        window = MainWindow(runner=PlanRunner(process=lambda: kept_process))
        window.resize(1280, 800)
        window.show()
        made.append(window)
        return window

    yield make
    for window in made:
        window.close()
        window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def planned(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(
        lambda: (
            not window.planning.running
            and not window.document.busy
            and window.document.shown is not None
            and not window.document.stale
        ),
        timeout=WITHIN_MS,
    )


def save_as(window: MainWindow, path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    with qtbot.waitSignal(window.sessions.said, timeout=WITHIN_MS):
        window.actions_by_key["save_session_as"].trigger()


def button_of(bar: object) -> QPushButton:
    return next(b for b in bar.findChildren(QPushButton) if not b.isHidden())  # type: ignore[attr-defined]


def crash(window: MainWindow, qtbot: QtBot) -> None:
    """What is left of a window when its process dies: what was kept, and a lock that nobody holds."""
    window.sessions.autosave()
    qtbot.waitUntil(lambda: not window.sessions._autosaver.busy, timeout=WITHIN_MS)
    window.sessions._store.close()
    window.sessions._store.path = None


def test_a_session_comes_back_as_it_was_left(
    window: MainWindow, another: MakeWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    window.open_file(sample_graphs() / "lenet.onnx")
    planned(window, qtbot)
    window.document.set_limit("gpu", 2**30)
    planned(window, qtbot)
    shown = window.document.shown
    assert shown is not None
    window.submenus.clock_chosen.emit(Clock.OVERLAPPED.value)
    qtbot.waitUntil(lambda: window.clock_view.shown is not shown, timeout=WITHIN_MS)
    end_ns = shown.timeline.end_ns
    window.centre.timeline.zoom_to(end_ns // 4, end_ns // 2)
    view = window.centre.timeline.view_range()
    window.submenus.gap_chosen.emit(0.05)
    panels = PanelLayout("both", "tensors", ("links", "legend"))
    window.panel_layout = panels
    save_as(window, tmp_path / "work", monkeypatch, qtbot)
    path = tmp_path / "work.xengine"
    assert window.windowTitle().startswith("work.xengine")
    assert not window.isWindowModified()
    assert str(path) in window.settings.recent
    session = read_session(path)
    assert session.file == sample_graphs() / "lenet.onnx"
    assert {d.name: d.memory_limit_bytes for d in session.devices}["gpu"] == 2**30
    assert len(session.plans) == 1

    second = another()
    runs: list[object] = []
    second.planning.runner.started.connect(lambda *_: runs.append(1))
    second.open_file(path)
    qtbot.waitUntil(lambda: second.centre.timeline.view_range() == view, timeout=WITHIN_MS)
    again = second.document.shown
    assert again is not None
    assert verify(again.plan).ok
    assert again.plan.events == shown.plan.events
    assert (again.plan.status, again.plan.lower_bound_ns) == (shown.plan.status, shown.plan.lower_bound_ns)
    assert second.clock_view.clock is Clock.OVERLAPPED
    assert second.panel_layout == panels
    assert second.walk.graph.isVisible()
    assert second.links.tensors.isVisible()
    assert not second.left.legend.isVisible()
    assert second.left.constraints.isVisible()
    assert second.planning.options.gap_ratio == 0.05
    assert second.left.devices.cards["gpu"].limit.size_bytes == 2**30
    assert second.windowTitle().startswith("work.xengine")
    assert not second.isWindowModified()
    assert not runs
    second.document.set_limit("gpu", 2**31)
    assert second.isWindowModified()
    with qtbot.waitSignal(second.sessions.said, timeout=WITHIN_MS):
        second.actions_by_key["save_session"].trigger()
    assert not second.isWindowModified()
    assert {d.name: d.memory_limit_bytes for d in read_session(path).devices}["gpu"] == 2**31


def test_limits_of_a_problem_file_come_back(
    window: MainWindow,
    another: MakeWindow,
    toy_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    window.open_file(toy_file)
    planned(window, qtbot)
    window.document.set_limit("gpu", None)
    planned(window, qtbot)
    save_as(window, tmp_path / "toy.xengine", monkeypatch, qtbot)
    second = another()
    second.open_file(tmp_path / "toy.xengine")
    planned(second, qtbot)
    assert second.document.work is not None
    assert second.document.work.problem.device("gpu").memory_limit_bytes is None


def test_a_theme_of_a_session_is_put_on_and_not_remembered(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    before = chosen_theme()
    path = tmp_path / "dark.xengine"
    session = Session(sample_graphs() / "chain.json")
    write_session(replace(session, view=replace(session.view, theme="dark")), path)
    try:
        with qtbot.waitSignal(window.document.opened, timeout=WITHIN_MS):
            window.open_file(path)
        assert chosen_theme() == "dark"
        assert window.settings.theme != "dark"
    finally:
        apply_theme(app, before)


def test_keys_of_a_later_version_are_kept(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    path = tmp_path / "s.xengine"
    constraints = ({"pin": "a"},)
    write_session(Session(sample_graphs() / "chain.json", unknown={"later": [1]}, constraints=constraints), path)
    window.open_file(path)
    planned(window, qtbot)
    save_as(window, tmp_path / "t.xengine", monkeypatch, qtbot)
    assert read_session(tmp_path / "t.xengine").unknown == {"later": [1]}
    assert read_session(tmp_path / "t.xengine").constraints == constraints


def test_a_plan_that_fits_no_more_is_not_shown_and_a_new_one_is_found(
    window: MainWindow, chain: Callable[..., Problem], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    write_problem(chain(6), tmp_path / "chain.json")
    window.open_file(tmp_path / "chain.json")
    planned(window, qtbot)
    save_as(window, tmp_path / "s.xengine", monkeypatch, qtbot)
    write_problem(chain(7), tmp_path / "chain.json")
    window.open_file(tmp_path / "s.xengine")
    qtbot.waitUntil(lambda: "not shown" in window.centre.error.text, timeout=WITHIN_MS)
    planned(window, qtbot)
    assert window.document.shown is not None
    assert window.document.shown.plan.total_ns == 70


def test_a_broken_session_is_told_and_nothing_changes(
    window: MainWindow, chain_file: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    window.open_file(chain_file)
    planned(window, qtbot)
    (tmp_path / "bad.xengine").write_text('{"format": "xengine-session", "version": 9, "file": "x"}')
    with qtbot.waitSignal(window.document.open_failed, timeout=WITHIN_MS):
        window.open_file(tmp_path / "bad.xengine")
    assert "version must be 1" in window.centre.error.text
    assert window.windowTitle().startswith("chain.json")
    (tmp_path / "gone.xengine").write_text('{"format": "xengine-session", "version": 1, "file": "gone.onnx"}')
    with qtbot.waitSignal(window.document.open_failed, timeout=WITHIN_MS):
        window.open_file(tmp_path / "gone.xengine")
    assert f"{tmp_path / 'gone.onnx'}: there is no such file" in window.centre.error.text


def test_work_is_offered_again_after_a_crash(
    window: MainWindow, another: MakeWindow, toy_file: Path, own_settings: Path, qtbot: QtBot
) -> None:
    window.open_file(toy_file)
    planned(window, qtbot)
    window.document.set_limit("gpu", 2**33)
    planned(window, qtbot)
    plan = window.document.shown
    crash(window, qtbot)
    second = another()
    bar = second.session_bars.restore
    qtbot.waitUntil(lambda: bool(bar.text), timeout=WITHIN_MS)
    assert bar.text.startswith("The window ended before your work on two_devices.json was saved, today at ")
    qtbot.mouseClick(button_of(bar), Qt.MouseButton.LeftButton)
    planned(second, qtbot)
    assert bar.text == ""
    assert second.document.work is not None
    assert plan is not None
    assert second.document.work.problem.device("gpu").memory_limit_bytes == 2**33
    assert second.document.shown is not None
    assert second.document.shown.plan.events == plan.plan.events
    assert second.windowTitle().startswith("two_devices.json")
    assert second.isWindowModified()
    qtbot.waitUntil(lambda: len(list((own_settings / "sessions").glob("*.xengine"))) == 1, timeout=WITHIN_MS)
    assert str(toy_file) in second.settings.recent
    # It is in no file yet: closed now, it is offered once more.
    second.close()
    third = another()
    qtbot.waitUntil(lambda: bool(third.session_bars.restore.text), timeout=WITHIN_MS)
    assert third.session_bars.restore.text.startswith("The window was closed before your work on two_devices.json")


def test_work_of_a_window_that_lives_or_that_is_saved_is_not_offered(
    window: MainWindow, another: MakeWindow, chain_file: Path, own_settings: Path, qtbot: QtBot
) -> None:
    window.open_file(chain_file)
    planned(window, qtbot)
    window.sessions.autosave()
    folder = own_settings / "sessions"
    qtbot.waitUntil(lambda: len(list(folder.glob("*.xengine"))) == 1, timeout=WITHIN_MS)
    second = another()
    assert second.sessions.leftovers() == []
    window.close()
    assert list(folder.glob("*.xengine")) == []
    assert second.sessions.leftovers() == []


def test_work_of_a_process_that_was_killed_is_found(own_settings: Path, tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from xengine_gui import paths\n"
        f"paths.state_folder = lambda: Path({str(own_settings)!r})\n"
        "from xengine_gui.session import Session\n"
        "from xengine_gui.ui.session_store import SessionStore\n"
        "store = SessionStore()\n"
        f"store.write(Session(Path({str(tmp_path / 'n.onnx')!r})), None)\n"
        "assert store.path.exists()\n"
        "os._exit(9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env=os.environ.copy(), check=False)
    assert done.returncode == 9
    store = SessionStore()
    (leftover,) = store.leftovers()
    assert leftover.crashed
    assert leftover.session.file == tmp_path / "n.onnx"
    (own_settings / "sessions" / "broken.xengine").write_text("{")
    assert len(store.leftovers()) == 1
    assert not (own_settings / "sessions" / "broken.xengine").exists()
    leftover.forget()
    assert store.leftovers() == []
    store.close()


def test_a_changed_file_is_offered_and_read_again(
    window: MainWindow, chain: Callable[..., Problem], tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "chain.json"
    write_problem(chain(6), path)
    window.open_file(path)
    planned(window, qtbot)
    window.document.set_limit("cpu", 2**20)
    planned(window, qtbot)
    os.utime(path, (1, 1))
    bar = window.session_bars.reload
    write_problem(chain(8), path)
    qtbot.waitUntil(lambda: bar.text == "chain.json has changed on disk.", timeout=WITHIN_MS)
    assert window.document.shown is not None
    assert window.document.shown.plan.total_ns == 60
    qtbot.mouseClick(button_of(bar), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(
        lambda: window.document.shown is not None and window.document.shown.plan.total_ns == 80, timeout=WITHIN_MS
    )
    assert bar.text == ""
    assert window.document.work is not None
    assert window.document.work.problem.devices[0].memory_limit_bytes == 2**20
    # It was replaced by another file; that one is watched as well.
    write_problem(chain(9), path)
    qtbot.waitUntil(lambda: bool(bar.text), timeout=WITHIN_MS)


def test_nothing_is_kept_that_is_not_new(
    window: MainWindow, chain_file: Path, own_settings: Path, qtbot: QtBot
) -> None:
    window.open_file(chain_file)
    planned(window, qtbot)
    window.sessions.autosave()
    qtbot.waitUntil(lambda: not window.sessions._autosaver.busy, timeout=WITHIN_MS)
    (path,) = (own_settings / "sessions").glob("*.xengine")
    assert json.loads(path.read_text())["format"] == "xengine-session"
    path.unlink()
    window.sessions.autosave()
    assert not window.sessions._autosaver.busy
    assert not path.exists()


def test_a_session_from_before_panels_were_kept_opens_with_the_usual_ones(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "old.xengine"
    row = {"format": "xengine-session", "version": 1, "file": "sample:lenet.onnx", "view": {"clock": "serial"}}
    path.write_text(json.dumps(row), encoding="utf-8")
    usual = window.panel_layout
    window.open_file(path)
    planned(window, qtbot)
    assert window.panel_layout == usual == PanelLayout("timeline", "summary", ())
    path.write_text(json.dumps({**row, "view": {"centre": "hologram", "below": "x", "folded": ["y"]}}))
    window.sessions.open(path)
    planned(window, qtbot)
    assert window.panel_layout == usual


def test_the_next_window_has_the_panels_of_the_last(window: MainWindow, another: MakeWindow, qtbot: QtBot) -> None:
    qtbot.mouseClick(window.left.sections["links"].title, Qt.MouseButton.LeftButton)
    window.below.show_panel(window.log)
    window.walk.take_view("graph")
    panels = window.panel_layout
    window.close()
    assert another().panel_layout == panels == PanelLayout("graph", "log", ("links",))
