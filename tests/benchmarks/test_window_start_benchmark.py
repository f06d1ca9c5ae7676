"""How long the window takes to start, to open a large plan, and to show the first selection in it.

Times are reported, not asserted; run with `-n 0 --benchmark-only` for the table. What is asserted is what no machine
changes: that nothing heavy is loaded before the window is painted.
"""

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from problems_fixed import training_chain
from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop
from pytest_benchmark.fixture import BenchmarkFixture
from pytestqt.qtbot import QtBot

from xengine_gui.model.plan import Compute, Event, Free, Plan, Status
from xengine_gui.model.plan_file import write_plan
from xengine_gui.ui.application import make_application
from xengine_gui.ui.checking import checked
from xengine_gui.ui.main_window import MainWindow
from xengine_gui.ui.selection import Kind, Selection
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.work import Setup, open_work

ROOT = Path(__file__).parents[2]
HEAVY = ("highspy", "networkx", "numpy.ma", "onnx", "onnxruntime", "ortools", "pyomo", "pyqtgraph", "scipy", "torch")
PROGRAM = """
import time
began = time.perf_counter()
import json
import sys

if __name__ == "__main__":
    from xengine_gui.ui.garbage import lasting_objects

    with lasting_objects():
        from xengine_gui.ui.application import make_application
        from xengine_gui.ui.main_window import MainWindow

    imported = time.perf_counter()
    with lasting_objects():
        app = make_application()
        window = MainWindow()
        window.show()
    app.processEvents()
    painted = time.perf_counter()
    loaded = [name for name in sys.argv[1:] if name in sys.modules]
    cpu = time.process_time()
    print(json.dumps({"import_s": imported - began, "window_s": painted - imported, "cpu_s": cpu, "loaded": loaded}))
    window.close()
"""


def start_once(folder: Path) -> dict[str, Any]:
    """A window in a process of its own, from nothing to its first painting."""
    program = folder / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    environment = os.environ | {
        "XDG_STATE_HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        "QT_QPA_PLATFORM": "offscreen",
    }
    done = subprocess.run(
        [sys.executable, str(program), *HEAVY], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_start_to_the_first_painting(tmp_path: Path, benchmark: BenchmarkFixture) -> None:
    rounds = 5 if benchmark.enabled else 1
    found = benchmark.pedantic(start_once, (tmp_path,), rounds=rounds)
    assert found["loaded"] == []
    benchmark.extra_info.update(found)


def large_plan(events: int) -> Plan:
    """A chain and its backward, everything retained until its last use: half of the events compute, half free."""
    length = events // 4
    problem = training_chain(length)
    rows: list[Event] = [Compute(f"f{i}", "gpu", 10 * i, 10 * i + 10) for i in range(length)]
    for k, i in enumerate(reversed(range(length))):
        start_ns = 10 * (length + k)
        rows.append(Compute(f"b{i}", "gpu", start_ns, start_ns + 10))
        rows.append(Free(f"f{i}", "gpu", start_ns + 10))
        if i + 1 < length:
            rows.append(Free(f"b{i + 1}", "gpu", start_ns + 10))
    return Plan(problem, "by hand", Status.FEASIBLE, tuple(rows), 20 * length)


@pytest.fixture(scope="module", params=[4_000, 100_000], ids="{:.0e}".format)
def plan_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if request.param > 4_000 and not request.config.getoption("benchmark_only"):
        pytest.skip("takes some seconds; with --benchmark-only it does not matter")
    path = tmp_path_factory.mktemp("plans") / "plan.json"
    write_plan(large_plan(request.param), path)
    return path


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    monkeypatch.setattr("xengine_gui.paths.state_folder", lambda: tmp_path / "state")
    monkeypatch.setattr("xengine_gui.paths.config_folder", lambda: tmp_path / "config")
    # As it runs: with Python's own thresholds a look through a million objects is part of every figure.
    thresholds, interval_s = gc.get_threshold(), sys.getswitchinterval()
    make_application()
    window = MainWindow()
    window.resize(1600, 900)
    window.show()
    yield window
    window.close()
    window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.set_threshold(*thresholds)
    sys.setswitchinterval(interval_s)


def wait_until(is_so: Callable[[], bool]) -> None:
    """Let the window work until something holds."""
    give_up = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < give_up
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 50)


def is_at_rest(window: MainWindow) -> bool:
    """Whether all of the last plan is worked out, also what comes after it is shown."""
    shown, traces = window.document.shown, window.links.traces
    is_made = shown is None or (shown.summary.makespan_ns is not None and traces is not None and traces.is_made)
    return is_made and not window.document.busy


def open_and_paint(window: MainWindow, path: Path) -> None:
    """Open a plan, and wait until its timeline is painted."""
    timeline = window.centre.timeline
    before = timeline.timeline()
    window.open_file(path)
    wait_until(lambda: timeline.timeline() is not before and timeline.index() is not None)
    timeline.viewport().repaint()


def open_and_judge(window: MainWindow, path: Path) -> None:
    """Open a plan, and wait until it is painted and judged."""
    before = window.document.shown
    open_and_paint(window, path)
    wait_until(lambda: window.document.shown is not before)


@pytest.mark.parametrize("until", [open_and_paint, open_and_judge], ids=["painted", "judged"])
def test_open_a_plan(
    window: MainWindow, plan_file: Path, until: Callable[[MainWindow, Path], None], benchmark: BenchmarkFixture
) -> None:
    def before() -> tuple[tuple[MainWindow, Path], dict[str, object]]:
        wait_until(lambda: is_at_rest(window))
        return (window, plan_file), {}

    benchmark.pedantic(until, setup=before, rounds=3 if benchmark.enabled else 1)
    wait_until(lambda: is_at_rest(window))
    assert window.document.shown is not None


def test_read_a_plan(plan_file: Path, benchmark: BenchmarkFixture) -> None:
    benchmark.pedantic(open_work, (plan_file, Setup(())), rounds=3 if benchmark.enabled else 1)


def test_judge_a_plan_and_prepare_it(plan_file: Path, benchmark: BenchmarkFixture) -> None:
    _, plan = open_work(plan_file, Setup(()))
    assert plan is not None
    shown = benchmark.pedantic(checked, (plan_file, plan), rounds=3 if benchmark.enabled else 1)
    assert isinstance(shown, ShownPlan)


@pytest.mark.parametrize("kind", [Kind.EVENT, Kind.OPERATOR, Kind.TENSOR], ids=lambda kind: kind.name.lower())
def test_first_selection(window: MainWindow, plan_file: Path, kind: Kind, benchmark: BenchmarkFixture) -> None:
    open_and_judge(window, plan_file)
    wait_until(lambda: is_at_rest(window))
    wanted = Selection(kind, "" if kind is Kind.EVENT else "f100", event=120 if kind is Kind.EVENT else -1)
    benchmark.pedantic(window.links.model.select, (wanted,), rounds=1)
    assert window.links.model.current == wanted
