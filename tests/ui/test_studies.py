"""Comparison and sweep through the window: run, stop, click, export, and what happens when the problem changes."""

import csv
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from problems_fixed import training_chain
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from xengine_gui.errors import SolverProcessError
from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import write_problem
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import SolveContext, SolveOptions
from xengine_gui.solve.compare import ComparedStrategy, RowState
from xengine_gui.solve.greedy.strategy import Greedy
from xengine_gui.solve.retain_all import RetainAll
from xengine_gui.solve.watchpoints.strategy import Optimal
from xengine_gui.solve.worker import SolverProcess
from xengine_gui.ui.long_job import LongJob
from xengine_gui.ui.main_window import MainWindow
from xengine_gui.ui.models.compare_model import CompareModel
from xengine_gui.ui.panels.compare import ComparePanel
from xengine_gui.ui.panels.sweep import SweepPanel
from xengine_gui.ui.studies import Studies
from xengine_gui.ui.sweep_drawing import SweepHit
from xengine_gui.ui.theme import apply_theme, current_theme

WITHIN_MS = 30_000
MIB = 2**20
COPY_NS = 120 * MIB * 10**9 // (12 * 10**9) + 10_000
"""One tensor of the toy over its link."""


class Stub:
    """A strategy of the process of the tests, or one that declines."""

    summary, proves = "For tests.", False

    def __init__(self, key: str, declines: str = "") -> None:
        self.key, self.title, self._declines = key, key.capitalize(), declines

    def supports(self, _problem: Problem) -> str:
        return self._declines

    def plan(self, problem: Problem, _context: SolveContext) -> Plan:
        return Plan(problem, self.key, Status.UNKNOWN)


STRATEGIES = (Optimal(), Greedy(), RetainAll(), Stub("picky", "it wants another graph"))


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch, kept_process: SolverProcess) -> None:
    """Few strategies, and one process for all windows, which takes a second or two to start."""
    use(monkeypatch, STRATEGIES)
    monkeypatch.setattr("xengine_gui.ui.comparing.SolverProcess", lambda: kept_process)
    monkeypatch.setattr("xengine_gui.solve.sweep_pool.SolverProcess", lambda: kept_process)


def use(monkeypatch: pytest.MonkeyPatch, every: tuple) -> None:
    monkeypatch.setattr("xengine_gui.solve.strategies.STRATEGIES", every)
    monkeypatch.setattr("xengine_gui.ui.studies.STRATEGIES", every)


@pytest.fixture
def opened(window: MainWindow, toy_file: Path, qtbot: QtBot) -> MainWindow:
    """An open window with a toy of two devices, for which nothing is planned by itself."""
    window.planning.plan_on_change = False
    window.planning.options = SolveOptions(gap_ratio=0.0)
    with qtbot.waitSignal(window.document.opened, timeout=WITHIN_MS):
        window.open_file(toy_file)
    return window


@pytest.fixture
def compare(opened: MainWindow) -> ComparePanel:
    """The panel of comparisons."""
    opened.actions_by_key["show_compare"].trigger()
    assert opened.studies.compare.isVisible()
    return opened.studies.compare


@pytest.fixture
def sweep(opened: MainWindow, qtbot: QtBot) -> SweepPanel:
    """The panel of sweeps."""
    opened.actions_by_key["show_sweep"].trigger()
    panel = opened.studies.sweep
    assert panel.isVisible()
    qtbot.waitUntil(lambda: panel.form.first.high.placeholderText() == "600 MiB", timeout=WITHIN_MS)
    return panel


def ran(window: MainWindow, qtbot: QtBot) -> None:
    jobs = window.studies.comparing.job, window.studies.sweeping.job
    qtbot.waitUntil(lambda: not any(job.running for job in jobs), timeout=WITHIN_MS)


def compared(window: MainWindow, panel: ComparePanel, qtbot: QtBot) -> None:
    qtbot.mouseClick(panel.run, Qt.MouseButton.LeftButton)
    assert panel.run.text() == "Stop"
    ran(window, qtbot)


def swept(window: MainWindow, panel: SweepPanel, qtbot: QtBot) -> None:
    qtbot.mouseClick(panel.run, Qt.MouseButton.LeftButton)
    ran(window, qtbot)


def shows(window: MainWindow, what: str | int, qtbot: QtBot) -> None:
    """Wait for a plan by a strategy, or of a total."""

    def shown() -> bool:
        plan = None if window.document.shown is None else window.document.shown.plan
        return plan is not None and what in (plan.strategy, plan.total_ns)

    qtbot.waitUntil(shown, timeout=WITHIN_MS)


def cheap(panel: ComparePanel) -> None:
    """Leave out the strategy that takes longest."""
    panel.model.setData(panel.model.index(0, 0), Qt.CheckState.Unchecked, Qt.ItemDataRole.CheckStateRole)


def click(panel: ComparePanel, place: int, qtbot: QtBot, *, also: bool = False) -> None:
    table = panel.table
    table.scrollTo(panel.model.index(place, 0))
    modifier = Qt.KeyboardModifier.ControlModifier if also else Qt.KeyboardModifier.NoModifier
    where = table.visualRect(panel.model.index(place, 1)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, modifier, where)


def cells(panel: ComparePanel, place: int) -> list[str]:
    return [panel.model.data(panel.model.index(place, i)) for i in range(panel.model.columnCount())]


# -- comparison


def test_the_empty_panels_say_what_to_do(window: MainWindow) -> None:
    panel = window.studies.compare
    assert "Open a network" in panel.state.text()
    assert not panel.run.isEnabled()
    assert not panel.export.isEnabled()
    assert [cells(panel, i)[0] for i in range(panel.model.rowCount())] == [s.title for s in STRATEGIES]
    assert "Open a network" in window.studies.sweep.view.message
    assert not window.studies.sweep.run.isEnabled()


def test_every_ticked_strategy_is_compared(window: MainWindow, compare: ComparePanel, qtbot: QtBot) -> None:
    assert "click a row" in compare.state.text()
    compared(window, compare, qtbot)
    heads = [compare.model.headerData(i, Qt.Orientation.Horizontal) for i in range(compare.model.columnCount())]
    wanted = "strategy,total,overhead,gap,recomputes,transfers,gpu peak,cpu peak,took,status"
    assert ",".join(heads) == wanted
    optimal, retain, picky = cells(compare, 0), cells(compare, 2), cells(compare, 3)
    assert optimal[1:8] == ["312.0 ms", "+11.0 %", "0.00 %", "1", "2", "360 MiB", "120 MiB"]
    assert retain[1:8] == ["544.5 ms", "+93.8 %", "42.70 %", "0", "5", "360 MiB", "480 MiB"]
    assert (optimal[-1], retain[-1], picky[-1]) == ("optimal", "feasible", "declined")
    assert picky[1] == "It wants another graph."
    assert compare.table.columnSpan(3, 1) == compare.model.columnCount() - 3
    assert compare.table.columnSpan(0, 1) == 1
    assert compare.run.text() == "Run"
    assert compare.export.isEnabled()
    assert "compare 4 strategies" in window.log.view.toPlainText()


def test_a_click_shows_a_plan_and_two_rows_tell_what_differs(
    window: MainWindow, compare: ComparePanel, qtbot: QtBot
) -> None:
    compared(window, compare, qtbot)
    click(compare, 2, qtbot)
    document = window.document
    shows(window, "retain-all", qtbot)
    assert not document.stale
    assert verify(document.shown.plan).ok
    assert window.status.total.text().startswith("total 544")
    assert document.undo_stack.count() == 0  # the limits are the same
    assert not compare.diff.isVisible()
    click(compare, 0, qtbot, also=True)
    qtbot.waitUntil(compare.diff.isVisible, timeout=WITHIN_MS)
    assert compare.diff.title.text() == "Retain all → Optimal (watch points)"
    assert "The second takes 232 ms less" in compare.diff.sentence.text()
    lines = [compare.diff.model.data(compare.diff.model.index(i, 0)) for i in range(compare.diff.model.rowCount())]
    assert lines[0] == "Operators elsewhere (4)"
    assert any("is recomputed once on gpu" in line for line in lines)
    assert compare.diff.model.data(compare.diff.model.index(0, 1)) == "-211 ms"
    shows(window, "optimal", qtbot)
    click(compare, 1, qtbot)
    assert not compare.diff.isVisible()


def test_only_ticked_strategies_run(window: MainWindow, compare: ComparePanel, qtbot: QtBot) -> None:
    for place in (0, 3):
        index = compare.model.index(place, 0)
        assert compare.model.setData(index, Qt.CheckState.Unchecked, Qt.ItemDataRole.CheckStateRole)
    compared(window, compare, qtbot)
    assert [cells(compare, i)[-1] for i in range(4)] == ["", "feasible", "feasible", ""]
    for place in (1, 2):
        compare.model.setData(compare.model.index(place, 0), Qt.CheckState.Unchecked, Qt.ItemDataRole.CheckStateRole)
    assert not compare.run.isEnabled()


def test_the_space_bar_ticks_all_rows_that_are_selected(
    window: MainWindow, compare: ComparePanel, qtbot: QtBot
) -> None:
    compare.table.setFocus()
    compare.table.selectAll()
    qtbot.keyClick(compare.table, Qt.Key.Key_Space)
    assert not compare.model.chosen
    assert not compare.run.isEnabled()
    compare.table.selectRow(1)
    qtbot.keyClick(compare.table, Qt.Key.Key_Space)
    assert compare.model.chosen == ("greedy",)


def test_the_row_that_is_planned_is_in_view(window: MainWindow, compare: ComparePanel, qtbot: QtBot) -> None:
    cheap(compare)
    compare.table.setFixedHeight(60)
    compare.table.scrollToBottom()
    assert compare.table.verticalScrollBar().value() > 0
    seen: list[int] = []
    compare.model.dataChanged.connect(lambda *_: seen.append(compare.table.verticalScrollBar().value()))
    compared(window, compare, qtbot)
    assert min(seen) <= compare.table.rowHeight(0)  # where the second row, which is the first that is ticked, is seen


def test_other_limits_make_it_old_and_a_click_brings_them_back(
    window: MainWindow, compare: ComparePanel, qtbot: QtBot
) -> None:
    cheap(compare)
    compared(window, compare, qtbot)
    before = window.document.work.problem
    window.document.set_limit("gpu", 500 * MIB)
    assert compare.note.text() == "for the problem as it was before"
    click(compare, 1, qtbot)
    qtbot.waitUntil(lambda: window.document.work.problem is before, timeout=WITHIN_MS)
    assert window.document.shown.plan.strategy == "greedy"
    assert not window.document.stale
    assert compare.note.text() == ""
    window.document.undo_stack.undo()
    assert window.document.work.problem.device("gpu").memory_limit_bytes == 500 * MIB


def test_another_graph_clears_it(window: MainWindow, compare: ComparePanel, chain_file: Path, qtbot: QtBot) -> None:
    cheap(compare)
    compared(window, compare, qtbot)
    assert compare.comparison is not None
    window.open_file(chain_file)
    qtbot.waitUntil(lambda: compare.comparison is None, timeout=WITHIN_MS)
    assert not compare.export.isEnabled()
    assert window.studies.sweep.form.first.device.currentText() == "cpu"


def test_stop_keeps_what_there_is(
    window: MainWindow, chain_file: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.planning.plan_on_change = False
    with qtbot.waitSignal(window.document.opened, timeout=WITHIN_MS):
        window.open_file(chain_file)
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parent.parent / "solve"), *sys.path])
    use(monkeypatch, (Stub("quick"), Stub("deaf"), Stub("polite")))
    studies = Studies(window.document, window.planning, window)
    process = SolverProcess(library="worker_strategies")
    studies.comparing.make_process = lambda: process
    model, job = studies.compare.model, studies.comparing.job
    turns = Turns()
    studies.comparing.run()
    qtbot.waitUntil(lambda: model.row(1).total_ns is not None, timeout=WITHIN_MS)
    assert model.row(1).status == "running"
    studies.compare.run.click()
    assert studies.compare.run.text() == "Stopping…"
    assert not studies.compare.run.isEnabled()
    qtbot.waitUntil(lambda: not job.running, timeout=WITHIN_MS)
    assert turns.count > 5  # the window went on living while a strategy that hears nothing was at work
    quick, deaf, polite = (model.row(i) for i in range(3))
    assert (quick.status, quick.total_ns, deaf.status, deaf.total_ns) == ("feasible", 60, "feasible", 60)
    assert polite.state is RowState.NOT_RUN
    studies.close()
    process.close()


class Turns:
    """Counts the turns of the event loop."""

    def __init__(self) -> None:
        self.count = 0
        self._timer = QTimer(interval=10)
        self._timer.timeout.connect(self._turn)
        self._timer.start()

    def _turn(self) -> None:
        self.count += 1


BEGINNINGS = {".csv": b"strategy,", ".json": b"{", ".png": b"\x89PNG", ".svg": b"<?xml"}


def test_a_comparison_is_exported(
    window: MainWindow, compare: ComparePanel, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compared(window, compare, qtbot)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_k: (str(tmp_path / "comparison"), ""))
    for suffix, beginning in BEGINNINGS.items():
        with qtbot.waitSignal(window.studies.told, timeout=WITHIN_MS):
            compare.export.asked.emit(suffix)
        assert (tmp_path / f"comparison{suffix}").read_bytes().startswith(beginning)
    rows = list(csv.DictReader((tmp_path / "comparison.csv").read_text().splitlines()))
    assert rows[0]["total_ns"] == "311991520"
    assert json.loads((tmp_path / "comparison.json").read_text())["strategies"][3]["status"] == "declined"
    assert window.log.view.toPlainText().count("was written to") == 4
    there = str(tmp_path / "nowhere" / "comparison.csv")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_k: (there, ""))
    with qtbot.waitSignal(window.studies.refused, timeout=WITHIN_MS):
        compare.export.asked.emit(".csv")
    assert "its folder does not exist" in window.centre.error.text


def test_the_models_are_sound(qtbot: QtBot) -> None:
    model = CompareModel(STRATEGIES)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    problem = training_chain(4, 400)
    plan = Greedy().plan(problem, SolveContext())
    model.begin(problem)
    model.put([ComparedStrategy("greedy", "Greedy", RowState.RUNNING, plan)])
    model.put([ComparedStrategy("optimal", "Optimal", RowState.FAILED, reason="It fell over.")])
    model.end()
    assert [model.row(i).status for i in range(2)] == ["failed", "not run"]
    model.clear()
    assert tester.model() is model
    panel = ComparePanel(STRATEGIES)
    qtbot.addWidget(panel)
    tester = QAbstractItemModelTester(panel.diff.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    assert panel.diff.model.rowCount() == 0


# -- sweep


def hit_of(panel: SweepPanel, strategy: str, limits: tuple[int, ...]) -> SweepHit:
    curve = next(c for c in panel.view.sweep.curves if c.strategy == strategy)
    point = next(p for p in curve.points if p.limits_bytes == limits)
    return SweepHit(curve.strategy, curve.title, point)


def press(panel: SweepPanel, hit: SweepHit, qtbot: QtBot) -> None:
    where = panel.view.place_of(hit)
    assert where is not None
    assert panel.view.rect().contains(where.toPoint())
    qtbot.mouseClick(panel.view, Qt.MouseButton.LeftButton, pos=where.toPoint())


def test_a_sweep_is_drawn_and_its_points_show_plans(window: MainWindow, sweep: SweepPanel, qtbot: QtBot) -> None:
    assert sweep.form.first.device.currentText() == "gpu"  # the tightest limit
    assert "Choose a device" in sweep.view.message
    sweep.form.choose(["optimal", "retain-all", "picky"])
    assert sweep.form.strategies.text() == "3 strategies"
    sweep.form.first.low.setText("240 MiB")
    sweep.form.points.setValue(4)
    swept(window, sweep, qtbot)
    found = sweep.view.sweep
    totals = {c.strategy: [p.total_ns for p in c.points] for c in found.curves}
    ms, copy = 10**6, COPY_NS
    assert totals["optimal"] == [821 * ms + 4 * copy, 291 * ms + 2 * copy, 291 * ms, 281 * ms]
    assert totals["retain-all"] == [942 * ms + 3 * copy, 492 * ms + 5 * copy, 402 * ms + 4 * copy, 281 * ms]
    assert totals["picky"] == [None] * 4
    assert "Smallest feasible 240 MiB, knee 360 MiB." in sweep.state.text()
    assert "Picky declined: It wants another graph." in sweep.state.text()
    window.planning.plan_on_change = True
    press(sweep, hit_of(sweep, "retain-all", (480 * MIB,)), qtbot)
    document = window.document
    qtbot.waitUntil(lambda: document.work.problem.device("gpu").memory_limit_bytes == 480 * MIB, timeout=WITHIN_MS)
    assert document.shown.plan.total_ns == 402_000_000 + 4 * COPY_NS
    assert not document.stale
    assert not window.planning.running  # the plan is there: nothing has to be planned anew
    assert document.undo_stack.undoText() == "limit of 480 MiB"
    assert window.left.devices.cards["gpu"].limit.size_bytes == 480 * MIB
    assert "before" not in sweep.state.text()  # the swept limit is another one, which changes nothing
    document.undo_stack.undo()
    assert document.work.problem.device("gpu").memory_limit_bytes == 360 * MIB


def test_two_devices_are_a_heat_map(window: MainWindow, sweep: SweepPanel, qtbot: QtBot) -> None:
    sweep.form.second.device.setCurrentText("cpu")
    assert sweep.form.points.value() == 6
    assert sweep.form.second.high.placeholderText() == "600 MiB"
    sweep.form.points.setValue(2)
    swept(window, sweep, qtbot)
    (curve,) = sweep.view.sweep.curves
    assert {p.limits_bytes: p.total_ns for p in curve.points} == {
        (0, 0): None,
        (0, 600 * MIB): 1_122_000_000,
        (600 * MIB, 0): 281_000_000,
        (600 * MIB, 600 * MIB): 281_000_000,
    }
    press(sweep, hit_of(sweep, "optimal", (0, 600 * MIB)), qtbot)
    document = window.document
    shows(window, 1_122_000_000, qtbot)
    assert [d.memory_limit_bytes for d in document.work.problem.devices] == [0, 600 * MIB]


def test_a_size_that_makes_no_sense_is_told_beside_it(window: MainWindow, sweep: SweepPanel, qtbot: QtBot) -> None:
    sweep.form.first.low.setText("12 Gb")
    qtbot.mouseClick(sweep.run, Qt.MouseButton.LeftButton)
    assert "bits" in sweep.state.text()
    assert sweep.form.first.low.property("invalid") is True
    assert not window.studies.sweeping.job.running
    sweep.form.first.low.setText("900 MiB")
    qtbot.mouseClick(sweep.run, Qt.MouseButton.LeftButton)
    ran(window, qtbot)
    sweep.form.first.high.setText("800 MiB")
    qtbot.mouseClick(sweep.run, Qt.MouseButton.LeftButton)
    assert "is more than the largest" in sweep.state.text()


def test_the_second_device_is_never_the_first(sweep: SweepPanel) -> None:
    second = sweep.form.second.device
    assert [second.itemText(i) for i in range(second.count())] == ["no other", "cpu"]
    second.setCurrentText("cpu")
    sweep.form.first.device.setCurrentText("cpu")
    assert [second.itemText(i) for i in range(second.count())] == ["no other", "gpu"]
    assert not sweep.form.has_second


def test_no_strategy_no_sweep(sweep: SweepPanel) -> None:
    sweep.form.choose([])
    assert sweep.form.strategies.text() == "no strategy"
    assert not sweep.run.isEnabled()


def test_keys_go_from_point_to_point(window: MainWindow, sweep: SweepPanel, qtbot: QtBot) -> None:
    sweep.form.first.low.setText("240 MiB")
    sweep.form.points.setValue(4)
    swept(window, sweep, qtbot)
    sweep.view.setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Return):
        qtbot.keyClick(sweep.view, key)
    shows(window, 311_991_520, qtbot)


def test_a_stopped_sweep_keeps_its_points(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    write_problem(training_chain(30, 900), tmp_path / "long.json")
    window.planning.plan_on_change = False
    window.planning.options = SolveOptions(gap_ratio=0.0)
    with qtbot.waitSignal(window.document.opened, timeout=WITHIN_MS):
        window.open_file(tmp_path / "long.json")
    panel, job = window.studies.sweep, window.studies.sweeping.job
    panel.form.points.setValue(60)
    panel.time.setCurrentText("no limit")
    window.studies.sweeping.run()
    assert not panel.form.isEnabled()
    # The largest limit is planned first and at once; the next one has hundreds of recomputes to weigh.
    qtbot.waitUntil(lambda: panel.view.sweep is not None and bool(done(panel)), timeout=WITHIN_MS)
    panel.run.click()
    qtbot.waitUntil(lambda: not job.running, timeout=WITHIN_MS)
    assert panel.form.isEnabled()
    assert 1 <= len(done(panel)) < 60
    assert done(panel)[-1].total_ns == 600
    assert panel.export.isEnabled()


def done(panel: SweepPanel) -> list:
    return [p for p in panel.view.sweep.curves[0].points if p.is_final]


def test_a_sweep_is_exported_and_follows_the_theme(
    window: MainWindow,
    sweep: SweepPanel,
    qtbot: QtBot,
    qapp: QApplication,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    sweep.form.points.setValue(2)
    sweep.form.choose(["retain-all"])
    swept(window, sweep, qtbot)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_k: (str(tmp_path / "sweep"), ""))
    for suffix, beginning in BEGINNINGS.items():
        with qtbot.waitSignal(window.studies.told, timeout=WITHIN_MS):
            sweep.export.asked.emit(suffix)
        assert (tmp_path / f"sweep{suffix}").read_bytes().startswith(beginning)
    try:
        for name in ("light", "dark"):
            apply_theme(qapp, name)  # type: ignore[arg-type]
            picture = sweep.grab().toImage()
            colours = {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}
            assert {current_theme().plot_line, current_theme().surface} <= colours
    finally:
        apply_theme(qapp, "light")


# -- work beside the window


def test_a_long_job_tells_its_news_in_order_and_ends_once(qtbot: QtBot) -> None:
    job, told = LongJob(), []
    job.news.connect(told.extend)
    go = threading.Event()

    def work(tell: Callable[[object], None], stop: threading.Event) -> str:
        for i in range(5):
            tell(i)
        go.wait(10)
        return "stopped" if stop.is_set() else "done"

    job.start(work)
    assert job.running
    qtbot.waitUntil(lambda: len(told) == 5, timeout=WITHIN_MS)
    job.stop()
    assert job.stopping
    with qtbot.waitSignal(job.finished, timeout=WITHIN_MS) as ended:
        go.set()
    assert ended.args == ["stopped"]
    assert told == [0, 1, 2, 3, 4]
    assert not job.running
    job.close()


@pytest.mark.parametrize(
    ("error", "words"), [(SolverProcessError("it died"), "it died"), (ZeroDivisionError("x"), "went wrong")]
)
def test_a_long_job_that_fails_is_one_sentence(qtbot: QtBot, error: Exception, words: str) -> None:
    def work(_tell: object, _stop: object) -> None:
        raise error

    job = LongJob()
    with qtbot.waitSignal(job.failed, timeout=WITHIN_MS) as failed:
        job.start(work)
    assert words in failed.args[0]
    job.close()


def test_nothing_is_told_of_an_abandoned_job(qtbot: QtBot) -> None:
    job, told = LongJob(), []
    job.news.connect(told.extend)
    job.finished.connect(told.append)
    ended = threading.Event()

    def work(tell: Callable[[object], None], stop: threading.Event) -> None:
        stop.wait(10)
        tell("late")
        ended.set()

    job.start(work)
    job.abandon()
    assert ended.wait(10)
    QTest.qWait(200)
    assert told == []
    job.close()
