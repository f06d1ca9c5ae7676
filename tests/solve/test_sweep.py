"""Totals over limits: never rising, as good as planning each limit alone, and the same whoever plans."""

import csv
import io
import json
import threading
import time
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from problems import problems
from problems_fixed import chain_problem, training_chain

from xengine_gui import planner
from xengine_gui.errors import InputError, SolverProcessError
from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.verify import verify
from xengine_gui.solve import strategies, sweep_pool
from xengine_gui.solve.base import SolveContext, SolveOptions
from xengine_gui.solve.sweep import sweep as whole_sweep
from xengine_gui.solve.sweep_file import sweep_to_csv, sweep_to_json
from xengine_gui.solve.sweep_points import Axis, Sweep, SweepCurve, SweepPoint, evenly, knee, smallest_feasible
from xengine_gui.solve.watchpoints.strategy import Optimal

EXACTLY = SolveOptions(gap_ratio=0.0, time_limit_s=20.0)


def sweep(problem, device, limits, key="optimal", options=EXACTLY, **more):
    """The points of one strategy over one device's limits."""
    (curve,) = whole_sweep(problem, [Axis(device, tuple(limits))], [key], options, **more).curves
    return curve.points


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

    original = sweep_pool.plan_one
    monkeypatch.setattr(sweep_pool, "plan_one", note)
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
    there = sweep(problem, "gpu", limits, options=EXACTLY, workers=2, on_result=lambda _key, point: heard.append(point))
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

    monkeypatch.setattr(sweep_pool.importlib, "import_module", absent)
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
        on_result=lambda _key, _point: stop.set(),
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


class Failing(Wrong):
    """A strategy that fails where memory is short."""

    key = "failing"

    def plan(self, problem, context):
        if problem.devices[0].memory_limit_bytes < 500:
            raise SolverProcessError("it fell over")
        return Optimal().plan(problem, context)


def test_a_point_that_fails_does_not_take_the_others_along(monkeypatch):
    monkeypatch.setattr(strategies, "STRATEGIES", (Failing(),))
    low, high = sweep(training_chain(), "gpu", [300, 900], "failing", workers=0)
    assert (low.status, low.explanation, low.is_final) == (Status.UNKNOWN, "It fell over.", True)
    assert high.total_ns == 120


class Declining(Wrong):
    """A strategy that does not plan such problems."""

    key = "declining"

    def supports(self, _problem):
        return "it wants two devices"


def test_a_strategy_that_declines_says_why(monkeypatch):
    monkeypatch.setattr(strategies, "STRATEGIES", (Declining(), Optimal()))
    found = whole_sweep(training_chain(), [Axis("gpu", (300, 900))], ["declining", "optimal"], EXACTLY, workers=0)
    declined, planned = found.curves
    assert declined.declined == "It wants two devices."
    assert [(p.total_ns, p.is_final, p.explanation) for p in declined.points] == [(None, True, declined.declined)] * 2
    assert [p.total_ns for p in found.best()] == [p.total_ns for p in planned.points]


def test_bad_input_is_told():
    problem = chain_problem()
    with pytest.raises(InputError, match="no device 'tpu'"):
        sweep(problem, "tpu", [1])
    with pytest.raises(InputError, match="no strategy"):
        sweep(problem, "gpu", [1], "magic")
    with pytest.raises(InputError, match="no memory limit"):
        sweep(problem, "gpu", [-1])
    with pytest.raises(InputError, match="'gpu' is given twice"):
        whole_sweep(problem, [Axis("gpu", (1,)), Axis("gpu", (1,))])
    with pytest.raises(InputError, match="not of 0"):
        whole_sweep(problem, [])
    with pytest.raises(InputError, match=r"the smallest limit, 800 B, is more than the largest, 300 B"):
        planner.sweep_axis(problem, "gpu", 800, 300)
    assert sweep(problem, "gpu", []) == ()


def test_limits_are_spaced_evenly():
    assert evenly(0, 100, 5) == (0, 25, 50, 75, 100)
    assert evenly(7, 8, 12) == (7, 8)
    assert evenly(3, 9, 1) == (9,)
    chain = training_chain()
    assert planner.sweep_axis(chain, "gpu", count=2) == Axis("gpu", (300, 700))
    assert planner.sweep_axis(chain, "gpu", 100, count=3) == Axis("gpu", (100, 400, 700))


def points_of(*totals):
    return [SweepPoint((100 * i,), Status.FEASIBLE, total) for i, total in enumerate(totals)]


def test_the_knee_is_where_the_curve_bends():
    assert knee(points_of(None, 1000, 500, 120, 110, 105, 100)).total_ns == 120
    assert knee(points_of(100, 100, 100)) is None  # memory changes nothing
    assert knee(points_of(300, 200, 100)) is None  # a straight line has no bend
    assert knee(points_of(200, 100)) is None
    assert smallest_feasible(points_of(None, None)) is None


def test_files_hold_exact_integers_and_the_marks():
    limits = tuple(range(200, 900, 100))
    found = whole_sweep(training_chain(), [Axis("gpu", limits)], ["optimal", "greedy"], EXACTLY, workers=0)
    data = json.loads(sweep_to_json(found))
    assert data["smallest_feasible_bytes"] == 300
    assert [d["strategy"] for d in data["strategies"]] == ["optimal", "greedy"]
    totals = [p.total_ns for curve in found.curves for p in curve.points]
    assert [row["total_ns"] for row in data["points"]] == totals
    assert data["points"][0]["explanation"]
    rows = list(csv.DictReader(io.StringIO(sweep_to_csv(found))))
    assert list(rows[0])[:4] == ["strategy", "limit_bytes gpu", "total_ns", "lower_bound_ns"]
    assert [row["total_ns"] for row in rows] == ["" if t is None else str(t) for t in totals]
    assert [row["limit_bytes gpu"] for row in rows] == [str(limit) for limit in limits] * 2
    assert [row["mark"] for row in rows if row["strategy"] == "optimal"][:2] == ["", "smallest feasible"]


def test_a_cell_that_a_spreadsheet_would_run_is_plain_text():
    curve = SweepCurve("=1+1", "=1+1", (SweepPoint((5,), Status.FEASIBLE, 7),))
    head, row = csv.reader(io.StringIO(sweep_to_csv(Sweep("=x", (Axis("@sum", (5,)),), (curve,)))))
    assert row[0] == "'=1+1"
    assert not [cell for cell in [*head, *row] if cell.startswith(("=", "+", "-", "@"))]


# -- several strategies


def test_each_strategy_tells_what_it_tells_alone():
    problem, limits = training_chain(), tuple(range(300, 900, 100))
    keys = ["greedy", "retain-all", "optimal"]
    found = whole_sweep(problem, [Axis("gpu", limits)], keys, EXACTLY, workers=0)
    assert [curve.strategy for curve in found.curves] == keys
    for curve in found.curves:
        check(problem, curve.points)
        alone = sweep(problem, "gpu", limits, curve.strategy, workers=0)
        assert [p.total_ns for p in curve.points] == [p.total_ns for p in alone]
    greedy, retain, optimal = (curve.points for curve in found.curves)
    assert [p.total_ns for p in retain] == [None, None, None, None, 120, 120]
    assert all(a.total_ns >= b.total_ns for a, b in zip(greedy, optimal, strict=True))
    assert [p.total_ns for p in found.best()] == [p.total_ns for p in optimal]
    assert [p.lower_bound_ns for p in found.best()] == [p.lower_bound_ns for p in optimal]
    assert all(p.lower_bound_ns is None for p in greedy)


def test_what_one_strategy_proves_impossible_no_other_tries(monkeypatch):
    tried = []
    original = sweep_pool.plan_one

    def note(problem, key, options, stop):
        tried.append((key, problem.devices[0].memory_limit_bytes))
        return original(problem, key, options, stop)

    monkeypatch.setattr(sweep_pool, "plan_one", note)
    axis = Axis("gpu", (100, 200, 300))
    found = whole_sweep(training_chain(), [axis], ["greedy", "optimal"], EXACTLY, workers=0)
    assert not [limit for key, limit in tried if key == "greedy" and limit < 300]
    assert [p.status for p in found.curves[0].points[:2]] == [Status.INFEASIBLE] * 2
    assert found.best()[0].explanation


# -- two devices


def toy() -> Problem:
    path = next(p for p in planner.sample_problems() if p.stem == "two_devices")
    problem = planner.open_file(path)
    assert isinstance(problem, Problem)
    return problem


MIB = 2**20


def test_a_map_over_two_devices_tells_what_planning_each_pair_alone_does():
    problem, sizes = toy(), (240 * MIB, 360 * MIB, 480 * MIB)
    axes = [Axis("gpu", sizes), Axis("cpu", (0, *sizes[1:]))]
    found = whole_sweep(problem, axes, ["optimal"], EXACTLY, workers=0)
    (curve,) = found.curves
    assert found.limits == tuple(product(axes[0].limits_bytes, axes[1].limits_bytes))
    known = {p.limits_bytes: p.total_ns for p in curve.points}
    for gpu, cpu in found.limits:
        alone = Optimal().plan(problem.with_limit("gpu", gpu).with_limit("cpu", cpu), SolveContext(EXACTLY))
        assert known[gpu, cpu] == alone.total_ns
    assert known[240 * MIB, 0] is None  # no operator of the backward pass fits anywhere
    assert known[360 * MIB, 0] == 331_000_000  # three layers are recomputed
    for (gpu, cpu), total in known.items():
        more = [t for (g, c), t in known.items() if g >= gpu and c >= cpu]
        assert total is None or all(t is not None and t <= total for t in more)
    for point in curve.points:
        if point.plan is not None:
            assert verify(point.plan).ok
            assert [d.memory_limit_bytes for d in point.plan.problem.devices] == list(point.limits_bytes)
    rows = list(csv.DictReader(io.StringIO(sweep_to_csv(found))))
    assert [(row["limit_bytes gpu"], row["limit_bytes cpu"]) for row in rows] == [
        (str(gpu), str(cpu)) for gpu, cpu in found.limits
    ]
    assert "smallest_feasible_bytes" not in json.loads(sweep_to_json(found))


@given(problem=problems(max_operators=4, max_devices=2).filter(lambda p: len(p.devices) == 2))
@settings(deadline=None, max_examples=10)
def test_totals_never_rise_with_either_limit(problem):
    axes = [Axis(d.name, (0, 20, 40)) for d in problem.devices]
    found = whole_sweep(problem, axes, ["greedy", "optimal"], EXACTLY, workers=0)
    for points in (*(curve.points for curve in found.curves), found.best()):
        known = {p.limits_bytes: p for p in points}
        for (a, b), (c, d) in product(known, known):
            if a <= c and b <= d and known[a, b].total_ns is not None:
                assert known[c, d].total_ns <= known[a, b].total_ns


@pytest.mark.timeout(60)
def test_a_sweep_at_work_in_processes_stops_within_a_second():
    stop, ended = threading.Event(), []
    problem = training_chain(40, 600)
    options = SolveOptions(gap_ratio=0.0, time_limit_s=None)

    def work():
        ended.append(whole_sweep(problem, [Axis("gpu", tuple(range(400, 2000, 50)))], options=options, workers=1,
                                 on_result=lambda _key, _point: begun.set(), stop=stop))  # fmt: skip

    begun = threading.Event()
    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(40)
    time.sleep(0.3)
    stop.set()
    thread.join(5)
    assert not thread.is_alive()
    assert any(not p.is_final for p in ended[0].curves[0].points)
