"""What the tests of the window share: settings of their own, small problems, a solver process that misbehaves."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from problems_fixed import chain_problem
from PySide6.QtCore import QCoreApplication, QEvent
from pytestqt.qtbot import QtBot

from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import write_problem
from xengine_gui.paths import sample_graphs
from xengine_gui.solve.worker import SolverProcess
from xengine_gui.ui.main_window import MainWindow
from xengine_gui.ui.plan_runner import PlanRunner

PLANNED_WITHIN_MS = 30_000
STRATEGIES_OF_TESTS = Path(__file__).parent.parent / "solve"


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of the test's own; what the user has is left alone."""
    folder = tmp_path / "state"
    monkeypatch.setattr("xengine_gui.paths.state_folder", lambda: folder)
    monkeypatch.setattr("xengine_gui.paths.config_folder", lambda: tmp_path / "config")
    return folder


@pytest.fixture(name="chain")
def make_chain() -> Callable[..., Problem]:
    """Makes chains of operators."""
    return _chain


def _chain(length: int, limit_bytes: int | None = None) -> Problem:
    """Operators that read one another's results, 10 ns and 4 bytes each."""
    return chain_problem(4 * length if limit_bytes is None else limit_bytes, length, device="cpu", size_bytes=4)


@pytest.fixture
def chain_file(tmp_path: Path) -> Path:
    """A problem file that is planned at once."""
    path = tmp_path / "chain.json"
    write_problem(_chain(6), path)
    return path


@pytest.fixture
def toy_file() -> Path:
    """A bundled problem of two devices."""
    return sample_graphs() / "two_devices.json"


@pytest.fixture
def network_file() -> Path:
    """A bundled small network."""
    return sample_graphs() / "lenet.onnx"


@pytest.fixture
def runner_of_tests(monkeypatch: pytest.MonkeyPatch) -> Callable[[], PlanRunner]:
    """Makes runners whose strategies are those of the tests, good and bad."""
    monkeypatch.setattr(sys, "path", [str(STRATEGIES_OF_TESTS), *sys.path])
    return lambda: PlanRunner(process=lambda: SolverProcess(library="worker_strategies"))


class _KeptProcess(SolverProcess):
    """A solver process that outlives the windows of the tests, since it takes a second or two to start."""

    def close(self) -> None:
        """Only stop."""
        self.stop()


@pytest.fixture(scope="session")
def kept_process() -> Iterator[SolverProcess]:
    """One solver process for all windows that treat it well."""
    process = _KeptProcess()
    yield process
    SolverProcess.close(process)


@pytest.fixture
def window(qtbot: QtBot, kept_process: SolverProcess) -> Iterator[MainWindow]:
    """An open window."""
    window = MainWindow(runner=PlanRunner(process=lambda: kept_process))
    window.resize(1280, 800)
    window.show()
    yield window
    window.close()
    window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def plan_awaited(window: MainWindow, qtbot: QtBot) -> Callable[[], None]:
    """Waits until nothing is being planned and the plan that is shown is of now."""

    def planned() -> bool:
        at_rest = not window.planning.running and not window.document.busy
        return at_rest and window.document.shown is not None and not window.document.stale

    return lambda: qtbot.waitUntil(planned, timeout=PLANNED_WITHIN_MS)
