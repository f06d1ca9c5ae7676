"""The live view of a run: every better plan on the way can be looked at while the run goes on."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from pytestqt.qtbot import QtBot

from xengine_gui.solve.worker import SolverProcess
from xengine_gui.ui.main_window import MainWindow
from xengine_gui.ui.plan_runner import PlanRunner

WITHIN_MS = 20_000


@pytest.fixture
def running(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, chain_file: Path) -> Iterator[MainWindow]:
    """A window whose search finds a better plan every few hundredths of a second, until it is stopped."""
    here = Path(__file__).parent
    monkeypatch.setattr(sys, "path", [str(here), str(here.parent / "solve"), *sys.path])
    window = MainWindow(runner=PlanRunner(process=lambda: SolverProcess(library="live_strategies")))
    window.show()
    window.open_file(chain_file)
    qtbot.waitUntil(lambda: len(window.progress.found) >= 3, timeout=WITHIN_MS)
    yield window
    window.close()
    window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def shown_ns(window: MainWindow) -> int:
    shown = window.document.shown
    return 0 if shown is None else shown.plan.total_ns or 0


def test_a_plan_on_the_way_is_looked_at_while_the_run_goes_on(running: MainWindow, qtbot: QtBot) -> None:
    window = running
    first = window.progress.found[0]
    window.progress.plot.plan_clicked.emit(0)  # what a click on its dot tells
    qtbot.waitUntil(lambda: shown_ns(window) == first.plan.total_ns, timeout=WITHIN_MS)
    assert f"at {first.elapsed_s:.2f} s" in window.progress.looking.text()
    seen = len(window.progress.found)
    qtbot.waitUntil(lambda: len(window.progress.found) > seen + 2, timeout=WITHIN_MS)
    assert window.planning.running
    assert shown_ns(window) == first.plan.total_ns
    qtbot.mouseClick(window.progress.live, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: shown_ns(window) < (first.plan.total_ns or 0), timeout=WITHIN_MS)
    assert window.progress.live.isHidden()
    before = shown_ns(window)
    qtbot.waitUntil(lambda: shown_ns(window) < before, timeout=WITHIN_MS)


def test_the_end_of_a_run_waits_for_who_looks_at_an_earlier_plan(running: MainWindow, qtbot: QtBot) -> None:
    window = running
    qtbot.mouseClick(window.progress.earlier, Qt.MouseButton.LeftButton)
    looked_at = window.planning.looked_at
    assert looked_at is window.progress.found[-2]
    qtbot.waitUntil(lambda: shown_ns(window) == looked_at.plan.total_ns, timeout=WITHIN_MS)
    window.planning.stop()
    qtbot.waitUntil(lambda: not window.planning.running, timeout=WITHIN_MS)
    assert shown_ns(window) == looked_at.plan.total_ns
    while window.planning.looked_at is not None:
        qtbot.mouseClick(window.progress.later, Qt.MouseButton.LeftButton)
    assert shown_ns(window) == 60


def test_the_dots_stand_where_plans_were_found(running: MainWindow, qtbot: QtBot) -> None:
    window = running
    window.planning.stop()
    qtbot.waitUntil(lambda: not window.planning.running, timeout=WITHIN_MS)
    window.progress.show_looked_at(None)
    dots = window.progress.plot._plans.data
    found = window.progress.found
    assert list(dots["x"]) == [f.elapsed_s for f in found]
    assert [round(y * 1e9) for y in dots["y"]] == [f.plan.total_ns for f in found]


def test_a_search_that_an_edit_ended_goes_on_where_the_edit_is_undone(running: MainWindow, qtbot: QtBot) -> None:
    window = running
    work = window.document.work
    assert work is not None
    device = work.problem.devices[0]
    window.document.set_limit(device.name, (device.memory_limit_bytes or 0) + 2**20)
    qtbot.waitUntil(lambda: window.document.work is not work and window.planning.runner.running, timeout=WITHIN_MS)
    window.document.undo_stack.undo()
    assert window.document.work is work
    shown = window.document.shown
    assert shown is not None
    assert shown.plan.problem is work.problem
    before = shown_ns(window)
    qtbot.waitUntil(lambda: shown_ns(window) < before, timeout=WITHIN_MS)


def test_what_was_planned_to_the_end_is_not_planned_anew(running: MainWindow, qtbot: QtBot) -> None:
    window = running
    work = window.document.work
    assert work is not None
    window.planning.stop()
    qtbot.waitUntil(lambda: not window.planning.running, timeout=WITHIN_MS)
    device = work.problem.devices[0]
    window.document.set_limit(device.name, (device.memory_limit_bytes or 0) + 2**20)
    qtbot.waitUntil(lambda: window.document.work is not work and window.planning.runner.running, timeout=WITHIN_MS)
    window.document.undo_stack.undo()
    assert window.document.work is work
    assert not window.planning.running
    assert shown_ns(window) == 60
