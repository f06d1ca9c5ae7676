"""Totals over limits: never rising, as good as planning each limit alone, and the same whoever plans."""

import json
import threading
from dataclasses import replace

import pytest
from hypothesis import given, settings
from problems import problems
from problems_fixed import chain_problem, training_chain

from xengine_gui.errors import InputError, SolverProcessError
from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.verify import verify
from xengine_gui.solve import strategies
from xengine_gui.solve import sweep as module
from xengine_gui.solve.base import SolveContext, SolveOptions
from xengine_gui.solve.sweep import SweepPoint, knee, smallest_feasible, sweep
from xengine_gui.solve.sweep_file import sweep_to_csv, sweep_to_json
from xengine_gui.solve.watchpoints.strategy import Optimal

EXACTLY = SolveOptions(gap_ratio=0.0, time_limit_s=20.0)


def check(problem, points, device="gpu"):
    totals = [p.total_ns for p in points]
    planned = [t for t in totals if t is not None]
    assert planned == sorted(planned, reverse=True)
    assert totals == [None] * (len(totals) - len(planned)) + planned
    for point in points:
        if point.plan is None:
            continue
        assert verify(point.plan, problem.with_limit(device, point.limit_bytes)).ok
        assert point.plan.total_ns == point.total_ns
        assert point.lower_bound_ns is None or point.lower_bound_ns <= point.total_ns


def test_a_sweep_tells_what_planning_each_limit_alone_does():
    problem, limits = training_chain(), list(range(200, 900, 100))
    points = sweep(problem, "gpu", limits, options=EXACTLY, workers=0)
    check(problem, points)
    alone = [Optimal().plan(problem.with_limit("gpu", limit), SolveContext(EXACTLY)) for limit in limits]
    assert [p.total_ns for p in points] == [plan.total_ns for plan in alone]
    assert [p.limit_bytes for p in points] == limits
    assert points[0].status is Status.INFEASIBLE
    assert points[0].explanation
    assert smallest_feasible(points).limit_bytes == 300
    assert points[-1].total_ns == 120  # nothing is computed twice


@given(problem=problems(max_operators=5, max_devices=2))
@settings(deadline=None, max_examples=20)
def test_totals_never_rise_whatever_the_problem(problem):
    name, limits = problem.devices[0].name, list(range(0, 60, 7))
    for key in ("optimal", "greedy", "retain-all"):
        check(problem, sweep(problem, name, limits, key, EXACTLY, workers=0), name)


def test_limits_that_neighbours_answer_are_not_planned(monkeypatch):
    planned = []

    def note(problem, key, options, stop):
        planned.append(problem.devices[0].memory_limit_bytes)
        return original(problem, key, options, stop)

    original = module.plan_one
    monkeypatch.setattr(module, "plan_one", note)
    points = sweep(training_chain(), "gpu", range(100, 3000, 50), options=EXACTLY, workers=0)
    assert all(point.is_final for point in points)
    # From 700 bytes on everything is retained, below 300 nothing fits: one limit of each kind is enough.
    assert len([limit for limit in planned if limit >= 700]) == 1
    assert len([limit for limit in planned if limit < 300]) <= 4
    assert len(planned) < 20


@pytest.mark.timeout(60)
def test_processes_tell_the_same_as_this_thread():
    problem, limits = training_chain(), range(200, 900, 100)
    heard = []
    there = sweep(problem, "gpu", limits, options=EXACTLY, workers=2, on_result=heard.append)
    here = sweep(problem, "gpu", limits, options=EXACTLY, workers=0)
    assert [p.total_ns for p in there] == [p.total_ns for p in here]
    assert {p.limit_bytes: p for p in heard} == {p.limit_bytes: p for p in there}


@pytest.mark.filterwarnings("default")
def test_a_dask_scheduler_tells_the_same():
    distributed = pytest.importorskip("distributed")
    problem, limits = training_chain(4), range(200, 700, 100)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster:
        there = sweep(problem, "gpu", limits, options=EXACTLY, scheduler_address=cluster.scheduler_address)
    here = sweep(problem, "gpu", limits, options=EXACTLY, workers=0)
    assert [p.total_ns for p in there] == [p.total_ns for p in here]


def test_no_scheduler_is_a_sentence(monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(module.importlib, "import_module", absent)
    with pytest.raises(InputError, match="needs the extra"):
        sweep(training_chain(), "gpu", [300], scheduler_address="tcp://127.0.0.1:1")


def test_stopped_at_once_nothing_is_planned():
    stop = threading.Event()
    stop.set()
    points = sweep(training_chain(), "gpu", [300, 400], workers=0, stop=stop)
    assert [(p.status, p.total_ns, p.is_final) for p in points] == [(Status.UNKNOWN, None, False)] * 2


def test_stopped_on_the_way_the_rest_is_what_neighbours_tell():
    stop = threading.Event()
    points = sweep(
        training_chain(), "gpu", range(300, 1200, 100), options=EXACTLY, workers=0, stop=stop,
        on_result=lambda _point: stop.set(),
    )  # fmt: skip
    check(training_chain(), points)
    assert points[-1].total_ns == 120
    assert points[0].total_ns is None


class Wrong:
    """A strategy whose plan breaks the limit."""

    key, title, summary, proves = "wrong", "Wrong", "Computes nothing.", False

    def supports(self, _problem: Problem) -> str:
        return ""

    def plan(self, problem: Problem, _context: object) -> Plan:
        free = Optimal().plan(problem.without_limits(), SolveContext())
        return replace(free, problem=problem)


def test_a_plan_that_breaks_a_rule_is_never_a_point(monkeypatch):
    monkeypatch.setattr(strategies, "STRATEGIES", (Wrong(),))
    low, high = sweep(training_chain(), "gpu", [300, 900], "wrong", workers=0)
    assert (low.total_ns, high.total_ns) == (None, 120)
    assert "breaks a rule" in low.explanation


class Dying:
    """A future of a worker that died."""

    def result(self):
        raise module.concurrent.futures.BrokenExecutor


def test_a_worker_that_dies_is_a_sentence():
    with pytest.raises(SolverProcessError, match="worker process"):
        module._result(Dying())


def test_bad_input_is_told():
    problem = chain_problem()
    with pytest.raises(InputError, match="no device 'tpu'"):
        sweep(problem, "tpu", [1])
    with pytest.raises(InputError, match="no strategy"):
        sweep(problem, "gpu", [1], "magic")
    with pytest.raises(InputError, match="no memory limit"):
        sweep(problem, "gpu", [-1])
    assert sweep(problem, "gpu", []) == ()


def points_of(*totals):
    return [SweepPoint(100 * i, Status.FEASIBLE, total) for i, total in enumerate(totals)]


def test_the_knee_is_where_the_curve_bends():
    assert knee(points_of(None, 1000, 500, 120, 110, 105, 100)).total_ns == 120
    assert knee(points_of(100, 100, 100)) is None  # memory changes nothing
    assert knee(points_of(300, 200, 100)) is None  # a straight line has no bend
    assert knee(points_of(200, 100)) is None
    assert smallest_feasible(points_of(None, None)) is None


def test_files_hold_exact_integers_and_the_marks():
    points = sweep(training_chain(), "gpu", range(200, 900, 100), options=EXACTLY, workers=0)
    data = json.loads(sweep_to_json("training chain", "gpu", "optimal", points))
    assert data["smallest_feasible_bytes"] == 300
    assert [row["total_ns"] for row in data["points"]] == [p.total_ns for p in points]
    lines = sweep_to_csv("gpu", points).splitlines()
    assert lines[0] == "limit_bytes,total_ns,lower_bound_ns,gap,status,peak_bytes,mark"
    assert lines[1] == "200,,,,infeasible,,"
    assert lines[2].startswith("300,")
    assert lines[2].endswith("smallest feasible")
    assert len(lines) == 8
