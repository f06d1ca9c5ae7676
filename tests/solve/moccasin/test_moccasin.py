"""MOCCASIN against exhaustive search, the engine and known optima; and without OR-Tools."""

import importlib.util
import json
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import onnx
import pytest
from exact_answers import exact_answer
from hypothesis import assume, given, settings
from problems import problems
from problems_fixed import chain_problem, training_chain
from reversal_chains import result_chain

from xengine_gui import planner
from xengine_gui.errors import InputError
from xengine_gui.model.device import Device
from xengine_gui.model.operator import Implementation
from xengine_gui.model.plan import Compute, Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import parse_problem, problem_to_json, read_problem
from xengine_gui.schedule.peak import one_device_peak_bytes
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import Bound, Incumbent, SolveContext, SolveEvent, SolveOptions
from xengine_gui.solve.judge import planned
from xengine_gui.solve.moccasin import cpsat
from xengine_gui.solve.moccasin import strategy as module
from xengine_gui.solve.moccasin.strategy import Moccasin
from xengine_gui.solve.watchpoints.strategy import Optimal

EXACT = SolveOptions(gap_ratio=0.0, time_limit_s=60.0)
LIGHT = Path(onnx.__file__).parent / "backend/test/data/light"
VGG16 = planner.sample_networks()[0].parent / "vgg16.onnx"


def plan_of(problem: Problem, events: list[SolveEvent] | None = None, *, computations: int | None = None) -> Plan:
    context = SolveContext(EXACT, (events if events is not None else []).append)
    plan = Moccasin(computations).plan(problem, context)
    if plan.has_events:
        assert verify(plan, problem).ok, verify(plan, problem).broken
    return plan


def most_computations(plan: Plan) -> int:
    names = [event.operator for event in plan.events if isinstance(event, Compute)]
    return max(map(names.count, names), default=0)


def test_tiny_instances_on_one_device_reach_their_known_optimum(shared_folder: Path) -> None:
    proved = 0
    for path in sorted((shared_folder / "instances" / "tiny").glob("*.json")):
        problem = read_problem(path)
        known = json.loads(path.read_text(encoding="utf-8"))["known"]["serial_optimum_ns"]
        if Moccasin().supports(problem) or (len(problem.devices) > 1 and "xengine" not in path.name):
            continue
        plan = plan_of(problem)
        if len(problem.devices) > 1:
            assert plan.total_ns is None or (known is not None and plan.total_ns >= known), path.name
            assert plan.lower_bound_ns is None, path.name
        elif known is None:
            assert not plan.has_events, path.name
        else:
            assert (plan.status, plan.total_ns, plan.lower_bound_ns) == (Status.OPTIMAL, known, known), path.name
            proved += 1
    assert proved == 18


@pytest.mark.parametrize("length", [5, 6])
def test_a_chain_under_three_tensors_takes_a_triangular_number_of_computations(length: int) -> None:
    plan = plan_of(result_chain(length, limit=3), computations=2 * length + 1)
    assert sum(isinstance(event, Compute) for event in plan.events) == (length + 1) * (length + 2) // 2
    assert plan.status is Status.OPTIMAL


@given(problem=problems(max_operators=5, max_devices=1))
@settings(deadline=None, max_examples=40)
def test_random_problems_are_solved_as_exhaustive_search_says(exact_search, problem):
    answer = exact_answer(exact_search, problem)
    assume(answer is not None)
    plan, known = plan_of(problem), answer["optimum_ns"]
    if known is None:
        assert not plan.has_events
    elif plan.has_events:
        # Outside the stages an operator may be computed twice between two first computations.
        assert plan.status is Status.OPTIMAL
        assert plan.total_ns == plan.lower_bound_ns
        assert (plan.total_ns or 0) >= known
        optimal = Optimal().plan(problem, SolveContext(EXACT))
        assert plan.total_ns == optimal.total_ns


@given(problem=problems(max_operators=6, max_devices=2))
@settings(deadline=None, max_examples=25)
def test_fewer_computations_never_help_and_bounds_hold_for_more(problem: Problem) -> None:
    assume(not Moccasin().supports(problem))
    free, twice = plan_of(problem), plan_of(problem, computations=2)
    assert most_computations(twice) <= 2
    if twice.has_events:
        assert (free.total_ns or 0) <= (twice.total_ns or 0)
    if free.has_events and twice.lower_bound_ns is not None:
        assert twice.lower_bound_ns <= (free.total_ns or 0)


@pytest.mark.parametrize(
    ("path", "percent"),
    [(VGG16, 80), (LIGHT / "light_vgg19.onnx", 90), (LIGHT / "light_bvlc_alexnet.onnx", 97)],
    ids=["vgg16", "vgg19", "alexnet"],
)
def test_it_agrees_with_the_engine_on_training_networks(path: Path, percent: int) -> None:
    network = planner.open_file(path, batch=32)
    problem = planner.make_problem(network, [planner.DeviceChoice("gpu", "p100")])
    problem = problem.with_limit("gpu", one_device_peak_bytes(problem) * percent // 100)
    optimal = planner.plan(problem)
    stop = threading.Event()
    good: list[Incumbent] = []

    def hear(event: SolveEvent) -> None:
        if isinstance(event, Incumbent) and event.plan.total_ns <= optimal.total_ns * 1.001:
            good.append(event)
            stop.set()  # the rest of the time goes into a proof that is not asked for here

    plan = planner.plan(problem, "moccasin", SolveOptions(time_limit_s=100.0), emit=hear, stop=stop)
    assert good
    assert any(isinstance(event, Compute) and event.again for event in plan.events)
    assert plan.total_ns >= optimal.lower_bound_ns
    assert plan.lower_bound_ns <= optimal.total_ns


def test_incumbents_and_bounds_are_told_on_the_way() -> None:
    events: list[SolveEvent] = []
    plan = plan_of(training_chain(6, 400), events)
    totals = [event.plan.total_ns for event in events if isinstance(event, Incumbent)]
    assert totals[-1] == plan.total_ns
    assert {Bound, Incumbent} <= {type(event) for event in events}


def test_a_restricted_proof_is_told_as_such() -> None:
    plan = plan_of(training_chain(14, 600), computations=2)
    assert (plan.status, plan.explanation) == (
        Status.FEASIBLE,
        "No plan that computes every operator at most twice is faster; others may be.",
    )


def test_a_device_left_undecided_leaves_nothing_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = training_chain(6, 400)
    # The slower device has no need to compute anything again.
    costs = {"gpu": (Implementation(10),), "roomy": (Implementation(12),)}
    problem = replace(
        chain,
        devices=(*chain.devices, Device("roomy", "gpu", None)),
        operators=tuple(replace(o, costs=costs) for o in chain.operators),
    )
    assert plan_of(problem).explanation == "No plan on a single device is faster; others may be."
    solve, ends = cpsat.solve, iter([None, None])
    monkeypatch.setattr(
        cpsat, "solve", lambda *args, **more: solve(*args, **more) if next(ends, 0) is None else cpsat.Ending.STOPPED
    )
    assert plan_of(problem).explanation == ""


def test_a_stop_is_heard_at_any_time(shared_folder: Path) -> None:
    path = shared_folder / "instances" / "published" / "mobilenet_v2_p100_training.json"
    for after_s in (0.0, 0.2, 1.5):
        stop = threading.Event()
        timer = threading.Timer(after_s, stop.set)
        timer.start()
        context = SolveContext(SolveOptions(time_limit_s=None), stop=stop)
        plan = Moccasin().plan(read_problem(path).with_limit("gpu", 6 * 2**30), context)
        timer.join()
        assert plan.has_events or "not proved" in plan.explanation


def test_without_ortools_it_is_listed_and_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == "ortools" else there(name))
    with pytest.raises(InputError, match=r"OR-Tools is not installed; pip install 'xengine-gui\[moccasin\]' brings it"):
        planned(Moccasin(), chain_problem(), SolveContext(EXACT))


def test_what_it_cannot_plan_is_declined_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_RUNS", 9)
    with pytest.raises(InputError, match="for 4 operators its model has 10 moments, more than 9"):
        planned(Moccasin(), chain_problem(), SolveContext(EXACT))


def test_ortools_is_loaded_only_to_plan() -> None:
    code = (
        "import sys, xengine_gui.solve.strategies as s; from problems_fixed import chain_problem; "
        "[x.supports(chain_problem()) for x in s.STRATEGIES]; print('ortools' in sys.modules)"
    )
    tests = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.append({tests!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"


def test_sizes_and_times_beyond_64_bits_are_planned() -> None:
    huge = training_chain(4, 4 * 2**90 + 1)
    data = json.loads(json.dumps(problem_to_json(huge)))
    for tensor in data["tensors"]:
        tensor["bytes"] = 2**90 + 1
    for operator in data["operators"]:
        operator["costs"]["gpu"][0]["time_ns"] = 2**80 + 1
    problem = parse_problem(data, "huge").with_limit("gpu", 4 * (2**90 + 1))
    plan = plan_of(problem)
    assert plan.total_ns == Optimal().plan(problem, SolveContext(EXACT)).total_ns
