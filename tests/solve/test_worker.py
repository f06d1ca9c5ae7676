import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from problems_fixed import chain_problem

from xengine_gui.errors import InputError, SolverProcessError
from xengine_gui.model.plan import Status
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import Bound, Finished, Incumbent, Log, SolveOptions, Started
from xengine_gui.solve.worker import SolverProcess

OPTIONS = SolveOptions(time_limit_s=30.0)


def chain(length: int) -> Problem:
    return chain_problem(4 * length, length, device="cpu", size_bytes=4)


@pytest.fixture(scope="module")
def process() -> Iterator[SolverProcess]:
    sys.path.insert(0, str(Path(__file__).parent))
    process = SolverProcess(library="worker_strategies")
    process.start()
    yield process
    process.close()
    sys.path.remove(str(Path(__file__).parent))


def last_plan(process: SolverProcess, key: str, problem: Problem, **kwargs):
    events = list(process.plan(problem, key, kwargs.pop("options", OPTIONS), **kwargs))
    assert isinstance(events[-1], Finished)
    return events[-1].plan


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[:1]


def test_events_come_in_order_and_name_the_same_problem(process: SolverProcess) -> None:
    problem = chain(5)
    events = list(process.plan(problem, "quick", OPTIONS))
    assert [type(e) for e in events] == [Started, Log, Incumbent, Bound, Finished]
    assert isinstance(events[-1], Finished)
    assert events[-1].plan.total_ns == 50
    assert events[-1].plan.problem is problem
    assert isinstance(events[2], Incumbent)
    assert events[2].plan.total_ns == 60


def test_the_child_is_kept_from_plan_to_plan(process: SolverProcess) -> None:
    last_plan(process, "quick", chain(2))
    pid = process.pid
    last_plan(process, "quick", chain(3))
    assert process.pid == pid


def test_stop_is_answered_with_the_plan_of_the_strategy(process: SolverProcess) -> None:
    plans = 0
    for event in process.plan(chain(4), "polite", OPTIONS):
        plans += isinstance(event, Incumbent)
        if plans == 3:
            process.stop()
    assert isinstance(event, Finished)
    assert event.plan.total_ns == 40
    assert "stopped" in event.plan.explanation


def test_a_deaf_strategy_is_killed_and_its_incumbent_kept(process: SolverProcess) -> None:
    events = process.plan(chain(4), "deaf", OPTIONS)
    incumbent = next(e for e in events if isinstance(e, Incumbent))
    pid = process.pid
    process.stop()
    asked = time.monotonic()
    (finished,) = list(events)
    assert time.monotonic() - asked < 5
    assert isinstance(finished, Finished)
    assert finished.plan.events == incumbent.plan.events
    assert finished.plan.status is Status.FEASIBLE
    assert finished.plan.lower_bound_ns == 2
    assert "stopped" in finished.plan.explanation
    assert pid is not None
    assert not alive(pid)
    assert last_plan(process, "quick", chain(3)).total_ns == 30


def test_a_stop_before_any_plan_is_unknown(process: SolverProcess) -> None:
    stop = threading.Event()
    stop.set()
    plan = last_plan(process, "deaf-at-once", chain(3), stop=stop)
    assert plan.status is Status.UNKNOWN
    assert plan.explanation == "stopped before a plan was found"


def test_a_strategy_that_overruns_its_time_is_killed(process: SolverProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xengine_gui.solve.worker.TIME_LIMIT_GRACE_S", 2.0)
    plan = last_plan(process, "deaf", chain(3), options=SolveOptions(time_limit_s=0.5))
    assert plan.total_ns == 30
    assert "the time limit of 0.5 s was reached" in plan.explanation


def test_a_crash_is_one_sentence_and_the_next_plan_works(process: SolverProcess) -> None:
    incumbents = []
    with pytest.raises(SolverProcessError, match=r"died \(signal 11\); the plan so far is kept, plan again to retry"):
        incumbents += [e for e in process.plan(chain(3), "crash", OPTIONS) if isinstance(e, Incumbent)]
    assert last_plan(process, "quick", chain(3)).total_ns == 30


def test_a_child_killed_from_outside_is_told(process: SolverProcess) -> None:
    events = process.plan(chain(4), "deaf", OPTIONS)
    next(e for e in events if isinstance(e, Incumbent))
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    with pytest.raises(SolverProcessError, match="signal 9"):
        list(events)
    assert last_plan(process, "quick", chain(3)).total_ns == 30


def test_a_child_killed_while_idle_is_replaced(process: SolverProcess) -> None:
    last_plan(process, "quick", chain(2))
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while alive(process.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert last_plan(process, "quick", chain(3)).total_ns == 30


def test_a_dead_child_that_still_looks_alive_is_replaced(
    process: SolverProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    last_plan(process, "quick", chain(2))
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    child = process._child
    assert child is not None
    # So long as one of its threads is still ending, the system does not tell that it is dead.
    monkeypatch.setattr(child.process, "is_alive", lambda: True)
    assert last_plan(process, "quick", chain(3)).total_ns == 30


def test_a_strategy_that_raises_is_told_without_a_traceback(process: SolverProcess) -> None:
    events = process.plan(chain(3), "raises", OPTIONS)
    log = next(e for e in events if isinstance(e, Log))
    assert "worker_strategies.py" in log.message
    with pytest.raises(SolverProcessError, match=r"^the strategy raises failed: ZeroDivisionError: by design$"):
        list(events)
    pid = process.pid
    with pytest.raises(InputError, match="too small; too large"):
        list(process.plan(chain(3), "refuses", OPTIONS))
    with pytest.raises(InputError, match="there is no strategy 'nonsense'"):
        list(process.plan(chain(3), "nonsense", OPTIONS))
    assert process.pid == pid


def test_plans_that_break_a_rule_are_never_handed_on(process: SolverProcess) -> None:
    events = list(process.plan(chain(4), "wrong", OPTIONS))
    plans = [e.plan for e in events if isinstance(e, Incumbent | Finished)]
    assert [p.total_ns for p in plans] == [40, 40]
    assert "breaks a rule" in plans[-1].explanation
    assert any("breaks a rule" in e.message for e in events if isinstance(e, Log))


def test_a_reader_that_walks_away_leaves_no_work_behind(process: SolverProcess) -> None:
    events = process.plan(chain(4), "deaf", OPTIONS)
    next(e for e in events if isinstance(e, Incumbent))
    pid = process.pid
    events.close()  # type: ignore[attr-defined]
    assert pid is not None
    assert not alive(pid)


def test_close_from_another_thread_ends_a_plan(process: SolverProcess) -> None:
    own = SolverProcess(library="worker_strategies")
    events = own.plan(chain(4), "deaf", OPTIONS)
    next(e for e in events if isinstance(e, Incumbent))
    pid = own.pid
    threading.Timer(0.05, own.close).start()
    with pytest.raises(SolverProcessError, match="closed"):
        list(events)
    assert pid is not None
    assert not alive(pid)
    assert own.pid is None
    with pytest.raises(SolverProcessError, match="closed"):
        list(own.plan(chain(2), "quick", OPTIONS))


def test_the_child_dies_with_its_parent(process: SolverProcess) -> None:
    program = (
        "import sys, time; sys.path.insert(0, sys.argv[1])\n"
        "from xengine_gui.solve.worker import SolverProcess\n"
        "if __name__ == '__main__':\n"
        "    process = SolverProcess(library='worker_strategies'); process.start()\n"
        "    print(process.pid, flush=True); time.sleep(60)\n"
    )
    script = [sys.executable, "-c", program, str(Path(__file__).parent)]
    with subprocess.Popen(script, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 20
    while alive(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(child)
