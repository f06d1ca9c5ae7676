import os
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QThread, QTimer
from pytestqt.qtbot import QtBot

from xengine_gui.model.plan import Status
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import SolveOptions
from xengine_gui.ui.plan_runner import Outcome, PlanRunner, Progress
from xengine_gui.ui.shown_plan import ShownPlan

OPTIONS = SolveOptions(time_limit_s=30.0)
WITHIN_MS = 20_000
Chain = Callable[[int], Problem]


@pytest.fixture
def runner(qtbot: QtBot, runner_of_tests: Callable[[], PlanRunner]) -> Iterator[PlanRunner]:
    runner = runner_of_tests()
    yield runner
    runner.close()
    runner.deleteLater()


class Diary:
    """Writes down what a runner tells, in order."""

    def __init__(self, runner: PlanRunner) -> None:
        self.entries: list[tuple[str, object]] = []
        self.threads: set[QThread] = set()
        for name in ("started", "progressed", "logged", "incumbent_found", "finished", "failed"):
            getattr(runner, name).connect(lambda *values, name=name: self._write(name, values))

    def _write(self, name: str, values: tuple[object, ...]) -> None:
        self.threads.add(QThread.currentThread())
        self.entries.append((name, values[0] if values else None))

    def of(self, name: str) -> list:
        return [value for kind, value in self.entries if kind == name]


def run(runner: PlanRunner, key: str, problem: Problem, qtbot: QtBot) -> Outcome:
    with qtbot.waitSignal(runner.finished, timeout=WITHIN_MS) as blocker:
        runner.start(problem, key, OPTIONS)
    return blocker.args[0]


def test_a_run_is_told_in_order_and_in_the_windows_thread(runner: PlanRunner, qtbot: QtBot, chain: Chain) -> None:
    diary = Diary(runner)
    outcome = run(runner, "quick", chain(5), qtbot)
    kinds = [kind for kind, _ in diary.entries]
    assert kinds[0] == "started"
    assert kinds[-1] == "finished"
    assert kinds.count("finished") == 1
    assert diary.of("logged") == ["hello"]
    assert [p.total_ns for p in diary.of("progressed")][-1] == 50
    assert diary.of("incumbent_found")[0].plan.total_ns == 60
    assert outcome.shown is not None
    assert outcome.shown.timeline.end_ns == 50
    assert outcome.shown.summary.overhead_ratio == pytest.approx(0.0)
    assert diary.threads == {QThread.currentThread()}
    assert not runner.running


def test_the_best_total_never_rises_and_the_bound_never_falls(runner: PlanRunner, qtbot: QtBot, chain: Chain) -> None:
    diary = Diary(runner)
    runner.start(chain(4), "polite", OPTIONS)
    qtbot.waitUntil(lambda: len(diary.of("progressed")) > 10, timeout=WITHIN_MS)
    with qtbot.waitSignal(runner.finished, timeout=WITHIN_MS):
        runner.stop()
    points: list[Progress] = diary.of("progressed")
    totals = [p.total_ns for p in points if p.total_ns is not None]
    assert totals == sorted(totals, reverse=True)
    # Plans come fifty times a second; only some are shown, each better than the one before.
    shown: list[ShownPlan] = diary.of("incumbent_found")
    assert 0 < len(shown) < len(points)


def test_stop_keeps_the_plan_of_a_deaf_strategy(runner: PlanRunner, qtbot: QtBot, chain: Chain) -> None:
    diary = Diary(runner)
    runner.start(chain(4), "deaf", OPTIONS)
    qtbot.waitUntil(lambda: bool(diary.of("incumbent_found")), timeout=WITHIN_MS)
    with qtbot.waitSignal(runner.finished, timeout=WITHIN_MS) as blocker:
        runner.stop()
    outcome: Outcome = blocker.args[0]
    assert outcome.plan.total_ns == 40
    assert outcome.plan.status is Status.FEASIBLE
    assert "stopped" in outcome.plan.explanation


def test_a_new_run_supersedes_the_old_one_for_good(runner: PlanRunner, qtbot: QtBot, chain: Chain) -> None:
    diary = Diary(runner)
    runner.start(chain(4), "polite", OPTIONS)
    qtbot.waitUntil(lambda: bool(diary.of("incumbent_found")), timeout=WITHIN_MS)
    diary.entries.clear()
    for length in (5, 6, 7):
        runner.start(chain(length), "quick", OPTIONS)
    with qtbot.waitSignal(runner.finished, timeout=WITHIN_MS):
        pass
    qtbot.wait(200)
    assert {len(s.plan.problem.operators) for s in diary.of("incumbent_found")} <= {7}
    assert [len(o.plan.problem.operators) for o in diary.of("finished")] == [7]


def test_an_abandoned_run_is_silent(runner: PlanRunner, qtbot: QtBot, chain: Chain) -> None:
    diary = Diary(runner)
    runner.start(chain(4), "polite", OPTIONS)
    qtbot.waitUntil(lambda: bool(diary.of("incumbent_found")), timeout=WITHIN_MS)
    runner.abandon()
    told = len(diary.entries)
    qtbot.wait(300)
    assert len(diary.entries) == told
    assert run(runner, "quick", chain(3), qtbot).plan.total_ns == 30


def test_a_crash_is_told_with_the_plan_so_far(runner: PlanRunner, qtbot: QtBot, chain: Chain) -> None:
    diary = Diary(runner)
    with qtbot.waitSignal(runner.failed, timeout=WITHIN_MS) as blocker:
        runner.start(chain(3), "crash", OPTIONS)
    assert "signal 11" in blocker.args[0]
    assert diary.of("incumbent_found")[-1].plan.total_ns == 30
    assert not runner.running
    assert run(runner, "quick", chain(3), qtbot).plan.total_ns == 30


def test_an_unknown_strategy_is_a_sentence(runner: PlanRunner, qtbot: QtBot, chain: Chain) -> None:
    with qtbot.waitSignal(runner.failed, timeout=WITHIN_MS) as blocker:
        runner.start(chain(3), "nonsense", OPTIONS)
    assert blocker.args[0] == "there is no strategy 'nonsense'"


def test_the_window_is_not_held_up_while_planning(runner: PlanRunner, qtbot: QtBot, chain: Chain) -> None:
    ticks: list[float] = []
    timer = QTimer(interval=10)
    timer.timeout.connect(lambda: ticks.append(time.monotonic()))
    diary = Diary(runner)
    runner.start(chain(400), "polite", OPTIONS)
    qtbot.waitUntil(lambda: bool(diary.of("incumbent_found")), timeout=WITHIN_MS)
    timer.start()
    qtbot.wait(1500)
    timer.stop()
    runner.abandon()
    gaps = sorted(after - before for before, after in pairwise(ticks))
    # The usual tick is on time, whatever else the machine has to do.
    assert gaps[len(gaps) // 2] < 0.1


def test_close_in_the_middle_leaves_nothing_behind(
    qtbot: QtBot, runner_of_tests: Callable[[], PlanRunner], chain: Chain
) -> None:
    runner = runner_of_tests()
    diary = Diary(runner)
    runner.start(chain(4), "deaf", OPTIONS)
    qtbot.waitUntil(lambda: bool(diary.of("incumbent_found")), timeout=WITHIN_MS)
    pid = runner.process_id
    assert pid is not None
    began = time.monotonic()
    runner.close()
    assert time.monotonic() - began < 5
    assert not Path(f"/proc/{pid}").exists() or not _alive(pid)
    assert not any(t.name == "planning" and t.is_alive() for t in threading.enumerate())
    told = len(diary.entries)
    qtbot.wait(100)
    assert len(diary.entries) == told
    runner.close()
    runner.deleteLater()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
