"""Strategies side by side: each alone, judged, and no one's fault another's."""

import csv
import io
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from problems import problems
from problems_fixed import chain_problem, training_chain

from xengine_gui import planner
from xengine_gui.errors import InputError
from xengine_gui.model.device import Device
from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.verify import verify
from xengine_gui.solve import strategies
from xengine_gui.solve.base import SolveContext, SolveOptions
from xengine_gui.solve.compare import ComparedStrategy, Comparison, RowState, compare, sentence
from xengine_gui.solve.compare_file import comparison_to_csv, comparison_to_json
from xengine_gui.solve.greedy.strategy import Greedy
from xengine_gui.solve.retain_all import RetainAll
from xengine_gui.solve.watchpoints.strategy import Optimal
from xengine_gui.solve.worker import SolverProcess

OPTIONS = SolveOptions(gap_ratio=0.0, time_limit_s=10.0)


class Stub:
    """A strategy that does as it is told."""

    title, summary, proves = "Stub", "Does as it is told.", False

    def __init__(self, key: str, declines: str = "") -> None:
        self.key, self._declines = key, declines

    def supports(self, _problem: Problem) -> str:
        return self._declines

    def plan(self, _problem: Problem, _context: SolveContext) -> Plan:
        raise ZeroDivisionError("by design")


class Claiming(Stub):
    """Claims what is not so."""

    def plan(self, problem: Problem, _context: SolveContext) -> Plan:
        if self.key == "infeasible":
            return Plan(problem, self.key, Status.INFEASIBLE, explanation="no")
        plan = RetainAll().plan(problem.without_limits(), SolveContext())
        return replace(plan, problem=problem, strategy=self.key, lower_bound_ns=plan.total_ns)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    every = (Optimal(), Greedy(), RetainAll(), Stub("raises"), Stub("declines", "it wants a chain"))
    monkeypatch.setattr(strategies, "STRATEGIES", (*every, Claiming("infeasible"), Claiming("wrong")))


pytestmark = pytest.mark.usefixtures("known")


def test_rows_stand_in_the_order_asked_for_with_exact_figures():
    problem = training_chain(6, 400)
    heard = []
    comparison = compare(problem, ["retain-all", "optimal", "greedy"], OPTIONS, on_row=heard.append)
    assert [row.key for row in comparison.rows] == ["retain-all", "optimal", "greedy"]
    retain, optimal, greedy = comparison.rows
    assert (retain.status, retain.total_ns, comparison.gap_ratio(retain)) == ("unknown", None, None)
    assert retain.reason.endswith(".")
    alone = planner.plan(problem, "optimal", OPTIONS)
    assert optimal.total_ns == alone.total_ns
    assert optimal.status == "optimal"
    assert optimal.summary.recompute_count == (alone.total_ns - 120) // 10
    assert greedy.lower_bound_ns is None
    assert comparison.lower_bound_ns == optimal.lower_bound_ns
    assert comparison.gap_ratio(greedy) == (greedy.total_ns - optimal.lower_bound_ns) / greedy.total_ns
    assert comparison.best.key == min((optimal, greedy), key=lambda row: row.total_ns).key
    assert not comparison.contradictions()
    told = [(row.key, row.state) for row in heard]
    assert told[0] == ("retain-all", RowState.RUNNING)
    assert [key for key, state in told if state is RowState.DONE] == ["retain-all", "optimal", "greedy"]
    better = [row.total_ns for row in heard if row.key == "optimal" and row.total_ns is not None]
    assert better == sorted(better, reverse=True)


def test_one_that_declines_or_fails_is_a_row_with_a_reason():
    comparison = compare(training_chain(), ["declines", "raises", "retain-all"], OPTIONS)
    declined, failed, planned = comparison.rows
    assert (declined.status, declined.reason) == ("declined", "It wants a chain.")
    assert (failed.status, failed.reason) == ("failed", "ZeroDivisionError: by design.")
    assert planned.total_ns == 120


def test_a_plan_that_breaks_a_limit_is_never_a_figure():
    comparison = compare(training_chain(6, 400), ["wrong"], OPTIONS)
    assert comparison.rows[0].total_ns is None
    assert "breaks a rule" in comparison.rows[0].reason


def test_a_false_proof_is_told():
    comparison = compare(training_chain(), ["optimal", "infeasible"], OPTIONS)
    assert comparison.contradictions() == ("Stub claims that there is no plan, yet Optimal (watch points) has one.",)
    row = comparison.rows[0]
    high = replace(row, title="High", plan=replace(row.plan, lower_bound_ns=121))
    words = Comparison(comparison.problem, (row, high)).contradictions()
    assert words == ("High claims that no plan is below 121 ns, yet the plan of Optimal (watch points) takes 120 ns.",)


def test_after_a_stop_the_rest_is_not_run():
    stop = threading.Event()
    comparison = compare(
        training_chain(), ["retain-all", "greedy", "optimal"], OPTIONS, stop=stop, on_row=lambda _row: stop.set()
    )
    assert [row.state for row in comparison.rows] == [RowState.DONE, RowState.NOT_RUN, RowState.NOT_RUN]
    assert "stopped" in comparison.rows[1].reason


def test_an_unknown_strategy_is_told_before_anything_runs():
    with pytest.raises(InputError, match="no strategy 'magic'"):
        compare(training_chain(), ["optimal", "magic"], on_row=lambda _row: pytest.fail("nothing may run"))


def test_the_door_takes_all_and_knows_the_overhead():
    comparison = planner.compare(training_chain(4, 400), options=OPTIONS)
    assert [row.key for row in comparison.rows] == [s.key for s in strategies.STRATEGIES]
    assert comparison.unlimited_total_ns == 80
    optimal = comparison.rows[0]
    assert optimal.summary.overhead_ratio == pytest.approx(optimal.total_ns / 80 - 1)


@given(problem=problems(max_operators=5, max_devices=2))
@settings(deadline=None, max_examples=25)
def test_every_plan_is_verified_and_none_is_below_the_bound(problem):
    comparison = planner.compare(problem, ["optimal", "greedy", "retain-all"], OPTIONS)
    assert not comparison.contradictions()
    for row in comparison.rows:
        if row.plan.has_events:
            assert verify(row.plan, problem).ok
            assert row.summary.total_ns == row.plan.total_ns
            assert comparison.gap_ratio(row) is None or 0 <= comparison.gap_ratio(row) <= 1
        else:
            assert row.reason.endswith(".")


# -- in a process of its own


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Iterator[SolverProcess]:
    """A solver process that knows the strategies of the tests, as this one does."""
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parent), *sys.path])
    keys = ("quick", "polite", "crash", "deaf", "raises")
    monkeypatch.setattr(strategies, "STRATEGIES", tuple(Stub(key) for key in keys))
    process = SolverProcess(library="worker_strategies")
    yield process
    process.close()


@pytest.mark.timeout(60)
def test_a_strategy_that_dies_or_does_not_hear_takes_no_other_along(process):
    stop = threading.Event()

    def stop_the_deaf(row: ComparedStrategy) -> None:
        if row.key == "deaf" and row.total_ns is not None:
            stop.set()

    keys = ["crash", "quick", "raises", "deaf", "polite"]
    comparison = compare(chain_problem(), keys, OPTIONS, process=process, on_row=stop_the_deaf, stop=stop)
    crash, quick, raises, deaf, polite = comparison.rows
    assert (crash.status, crash.total_ns) == ("failed", 40)
    assert f"signal {signal.SIGSEGV.value}" in crash.reason
    assert (quick.status, quick.total_ns, quick.lower_bound_ns) == ("feasible", 40, 1)
    assert "ZeroDivisionError: by design" in raises.reason
    assert (deaf.status, deaf.total_ns) == ("feasible", 40)
    assert polite.state is RowState.NOT_RUN
    assert process.pid != os.getpid()


# -- files


def test_files_hold_exact_integers():
    comparison = planner.compare(training_chain(4, 400), ["optimal", "declines"], OPTIONS)
    data = json.loads(comparison_to_json(comparison))
    optimal, declined = data["strategies"]
    assert data["limit_bytes"] == {"gpu": 400}
    assert (optimal["total_ns"], data["unlimited_total_ns"]) == (comparison.rows[0].total_ns, 80)
    assert (declined["total_ns"], declined["status"], declined["reason"]) == (None, "declined", "It wants a chain.")
    rows = list(csv.DictReader(io.StringIO(comparison_to_csv(comparison))))
    assert rows[0]["total_ns"] == str(comparison.rows[0].total_ns)
    assert rows[0]["peak_bytes gpu"] == "400"
    assert (rows[1]["total_ns"], rows[1]["peak_bytes gpu"]) == ("", "")


def test_a_cell_that_a_spreadsheet_would_run_is_plain_text():
    problem = Problem("=x", (Device("=cmd|' /C calc'!A0", "gpu"),), (), ())
    row = ComparedStrategy("+key", "@title", RowState.DECLINED, reason="-1 is no size.")
    cells = [c for line in csv.reader(io.StringIO(comparison_to_csv(Comparison(problem, (row,))))) for c in line]
    assert {"'+key", "'@title", "'-1 is no size."} <= set(cells)
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]


def test_sentences():
    assert sentence("it wants a chain") == "It wants a chain."
    assert sentence("DTR on 'gpu'.") == "DTR on 'gpu'."
    assert sentence("'gpu' is full") == "'gpu' is full."
    assert sentence(" ") == ""
