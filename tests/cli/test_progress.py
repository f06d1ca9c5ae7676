"""Planning on the command line ends when it is told to, with the best plan so far."""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from problems_fixed import chain_problem

from xengine_gui.cli import progress
from xengine_gui.cli.progress import plan_with_progress
from xengine_gui.model.plan import Plan, Run, Status
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.solve import strategies
from xengine_gui.solve.base import SolveContext, SolveOptions

STEPS = [Run(0, o) for o in range(4)]
ENDLESS = SolveOptions(time_limit_s=None)


class Waiting:
    """Finds a plan at once where it has one, then works until the stop, or as a deaf solver until it is let go."""

    key, title, summary, proves = "waiting", "Waiting", "Works until the stop.", True

    def __init__(self, *, finds: bool = True, deaf: threading.Event | None = None) -> None:
        self.finds, self.deaf = finds, deaf
        self.after_incumbent: Callable[[], object] = lambda: None

    def supports(self, _problem: Problem) -> str:
        return ""

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        found = Plan(problem, self.key, Status.UNKNOWN)
        if self.finds:
            found = finished_plan(problem, self.key, STEPS, lower_bound_ns=30)
            context.bound(30)
            context.log("a line")
            context.incumbent(found)
        self.after_incumbent()
        if self.deaf is not None:
            self.deaf.wait()
        while not context.should_stop():
            context.stop.wait(0.01)
        return found


@pytest.fixture
def deaf() -> Iterator[threading.Event]:
    """Set at the end, so that a deaf solver's thread goes."""
    event = threading.Event()
    yield event
    event.set()
    for thread in threading.enumerate():
        if thread.name == "planning":
            thread.join()


@pytest.fixture
def _ctrl_c() -> Iterator[None]:
    """Ctrl-C is heard, even where the tests were started in the background of a script, which turns it off."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_ctrl_c")
def test_ctrl_c_takes_the_best_plan_so_far(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    waiting = Waiting()

    def interrupt() -> None:
        time.sleep(0.2)  # until the main thread waits: before that Ctrl-C ends the command, as anywhere
        signal.raise_signal(signal.SIGINT)

    waiting.after_incumbent = interrupt
    monkeypatch.setattr(strategies, "STRATEGIES", (waiting,))
    plan = plan_with_progress(chain_problem(), "waiting", ENDLESS)
    assert plan.total_ns == 40
    assert "press Ctrl-C again" in capsys.readouterr().err


@pytest.mark.parametrize("finds", [True, False])
def test_a_deaf_solver_is_left_behind(monkeypatch: pytest.MonkeyPatch, deaf: threading.Event, *, finds: bool) -> None:
    monkeypatch.setattr(progress, "TIME_GRACE_S", 0.0)
    monkeypatch.setattr(strategies, "STRATEGIES", (Waiting(finds=finds, deaf=deaf),))
    plan = plan_with_progress(chain_problem(), "waiting", SolveOptions(time_limit_s=0.3))
    assert plan.has_events is finds
    assert plan.lower_bound_ns == (30 if finds else None)
    assert "did not hear the stop" in plan.explanation


def test_an_error_comes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = Waiting()

    def fail() -> None:
        raise ZeroDivisionError("oh")

    waiting.after_incumbent = fail
    monkeypatch.setattr(strategies, "STRATEGIES", (waiting,))
    with pytest.raises(ZeroDivisionError):
        plan_with_progress(chain_problem(), "waiting", ENDLESS)


def test_a_terminal_sees_how_far_it_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(strategies, "STRATEGIES", (Waiting(),))
    plan_with_progress(chain_problem(), "waiting", SolveOptions(time_limit_s=0.3))
    told = capsys.readouterr().err
    assert "a line" in told
    assert "of 0.3 s  no plan yet, lower bound 30 ns" in told


@pytest.mark.parametrize("told", [False, True])
def test_who_asks_hears_every_few_seconds_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, told: bool
) -> None:
    monkeypatch.setattr(progress, "_SILENT_S", 0.1)
    monkeypatch.setattr(strategies, "STRATEGIES", (Waiting(),))
    plan_with_progress(chain_problem(), "waiting", SolveOptions(time_limit_s=0.8), told=told)
    lines = capsys.readouterr().err.splitlines()
    assert bool(lines) is told
    assert not told or lines[-1].endswith("of 0.8 s  best 40 ns, lower bound 30 ns, gap 25.00 %")
