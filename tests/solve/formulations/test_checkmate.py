"""Checkmate's formulation against known optima, exhaustive search's instances and the published total of VGG-16."""

import json
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from problems import problems
from problems_fixed import chain_problem

from xengine_gui.errors import InputError
from xengine_gui.model.device import Device
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import read_problem
from xengine_gui.model.tensor import Tensor
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import Bound, Incumbent, SolveContext, SolveEvent, SolveOptions, Strategy
from xengine_gui.solve.formulations import strategy as module
from xengine_gui.solve.formulations.one_device import on_one_device
from xengine_gui.solve.formulations.strategy import Checkmate
from xengine_gui.solve.formulations.xengine_strategy import XEngine
from xengine_gui.solve.judge import planned
from xengine_gui.solve.placement import unlimited_placement
from xengine_gui.solve.watchpoints.strategy import Optimal

EXACT = SolveOptions(gap_ratio=0.0, time_limit_s=100.0)


def plan_of(problem: Problem, events: list[SolveEvent] | None = None) -> Plan:
    plan = Checkmate().plan(problem, SolveContext(EXACT, (events if events is not None else []).append))
    if plan.has_events:
        assert verify(plan, problem).ok, verify(plan, problem).broken
    return plan


def test_one_device_instances_reach_their_known_optimum(shared_folder: Path) -> None:
    proved = 0
    for path in sorted((shared_folder / "instances" / "tiny").glob("*.json")):
        problem = read_problem(path)
        if len(problem.devices) > 1 or Checkmate().supports(problem):
            continue
        known = json.loads(path.read_text(encoding="utf-8"))["known"]["serial_optimum_ns"]
        plan = plan_of(problem)
        if known is None:
            assert not plan.has_events, path.name
        elif plan.lower_bound_ns is not None:
            assert (plan.status, plan.total_ns, plan.lower_bound_ns) == (Status.OPTIMAL, known, known), path.name
            proved += 1
        else:
            assert not plan.has_events or plan.total_ns >= known, path.name
    assert proved == 16


def test_the_published_optimum_of_vgg16_is_proved(shared_folder: Path) -> None:
    """At 8 GB, the hardest of the three limits: 10 and 9 GB are rows of the benchmarks."""
    path = shared_folder / "instances" / "published" / "vgg16_p100_training.json"
    published = json.loads(path.read_text(encoding="utf-8"))["known"]["published"][2]
    assert published["limit_gb"] == 8
    events: list[SolveEvent] = []
    plan = plan_of(read_problem(path).with_limit("gpu", published["limit_bytes"]), events)
    assert (plan.status, plan.total_ns, plan.lower_bound_ns) == (
        Status.OPTIMAL,
        published["best_ns"],
        published["bound_ns"],
    )
    assert {Bound, Incumbent} <= {type(event) for event in events}


def forwards_loss_and_backwards(count: int, room: int) -> Problem:
    """Forwards f0, f1, ..., a loss, and as many backwards; each takes 1 ns and makes 1 byte, of which `room` fit."""
    inputs = {f"f{i}": [f"f{i - 1}"] if i else [] for i in range(count)}
    inputs |= {"loss": [f"f{count - 1}"]}
    inputs |= {f"b{i}": [f"f{i}", f"b{i + 1}" if i + 1 < count else "loss"] for i in reversed(range(count))}
    costs = {"gpu": (Implementation(1),)}
    return Problem(
        name="chain",
        devices=(Device("gpu", "gpu", room),),
        operators=tuple(
            Operator(name, "x", Phase.FORWARD, tuple(read), (name,), costs=costs) for name, read in inputs.items()
        ),
        tensors=tuple(Tensor(name, 1) for name in inputs),
    )


@pytest.mark.parametrize("strategy", [Checkmate(), XEngine()], ids=lambda s: s.key)
@pytest.mark.parametrize("count", [2, 3, 4, 5, 6])
def test_on_room_for_three_tensors_a_chain_takes_the_closed_form(strategy: Strategy, count: int) -> None:
    plan = strategy.plan(forwards_loss_and_backwards(count, 3), SolveContext(EXACT))
    assert verify(plan).ok
    assert plan.total_ns == plan.lower_bound_ns == (count + 1) * (count + 2) // 2


@given(problem=problems(max_operators=5, max_devices=1))
@settings(deadline=None, max_examples=40)
def test_random_problems_are_solved_as_the_other_engine_solves_them(problem: Problem) -> None:
    plan = plan_of(problem)
    other = Optimal().plan(problem, SolveContext(EXACT))
    if plan.has_events:
        assert other.status is not Status.INFEASIBLE
        assert (other.lower_bound_ns or 0) <= (plan.total_ns or 0)
    if plan.status is Status.OPTIMAL and other.has_events:
        assert (plan.lower_bound_ns or 0) <= (other.total_ns or 0)


@given(problem=problems(max_operators=5, limits=False, connected=True))
@settings(deadline=None, max_examples=20)
def test_without_limits_the_best_single_device_is_found(problem: Problem) -> None:
    plan = plan_of(problem)
    assert (plan.status is Status.OPTIMAL) is (plan.lower_bound_ns is not None)
    single = [
        sum(min(row.time_ns for row in ways[device]) for ways in problem.indexed.implementations)
        for device in range(len(problem.devices))
    ]
    assert plan.total_ns == min(single)
    assert unlimited_placement(problem.indexed).total_ns <= min(single)


def test_several_devices_are_never_told_a_bound_or_infeasible() -> None:
    one = chain_problem(150)
    costs = [{"gpu": o.costs["gpu"], "other": o.costs["gpu"]} for o in one.operators]
    two = replace(
        one,
        devices=(*one.devices, Device("other", "gpu", 150)),
        operators=tuple(replace(o, costs=c) for o, c in zip(one.operators, costs, strict=True)),
    )
    roomy = plan_of(two.with_limit("other", 200))
    assert (roomy.status, roomy.total_ns, roomy.lower_bound_ns) == (Status.FEASIBLE, 40, None)
    assert {event.device for event in roomy.events} == {"other"}


def test_a_stop_ends_it_without_a_plan() -> None:
    stop = threading.Event()
    stop.set()
    plan = Checkmate().plan(chain_problem(200), SolveContext(EXACT, stop=stop))
    assert plan.status is Status.UNKNOWN
    assert "not proved" in plan.explanation


def test_what_it_cannot_plan_is_declined_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_RUNS", 9)
    with pytest.raises(InputError, match="for 4 operators its model has 10 run variables, more than 9"):
        planned(Checkmate(), chain_problem(), SolveContext(EXACT))


@given(problem=problems(max_devices=1))
@settings(deadline=None, max_examples=40)
def test_the_size_of_the_model_is_known_before_it_is_made(problem: Problem) -> None:
    one = on_one_device(problem.indexed, 0)
    assert one is not None
    assert one.run_count == len(one.runs)


def test_pyomo_is_loaded_only_to_plan() -> None:
    code = "import sys, xengine_gui.solve.strategies; print('pyomo' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
