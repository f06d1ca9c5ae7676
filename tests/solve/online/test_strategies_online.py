"""The strategies `dtr` and `delta`: plans that keep the rules, reasons where there are none, and what they tell."""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from problems import problems
from problems_fixed import chain_problem, training_chain
from transformer_graphs import transformer

from xengine_gui.errors import InputError
from xengine_gui.model.device import Device
from xengine_gui.model.operator import Implementation
from xengine_gui.model.plan import Compute, Plan, Status, Transfer
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import read_problem
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import Incumbent, Log, SolveContext, SolveEvent, SolveOptions, Strategy
from xengine_gui.solve.judge import planned
from xengine_gui.solve.online import neighbourhood, simulator
from xengine_gui.solve.online.delta import Delta
from xengine_gui.solve.online.dtr import DynamicTensorRematerialization
from xengine_gui.solve.online.heuristics import HEURISTICS

Judge = Callable[[Plan], Mapping[str, Any]]
BOTH: tuple[Strategy, ...] = (DynamicTensorRematerialization(), Delta())
each = pytest.mark.parametrize("chosen", BOTH, ids=lambda s: s.key)


def plan_of(chosen: Strategy, problem: Problem, events: list[SolveEvent] | None = None) -> Plan:
    plan = chosen.plan(problem, SolveContext(SolveOptions(), (events if events is not None else []).append))
    if plan.has_events:
        assert verify(plan, problem).ok, verify(plan, problem).broken
        assert plan.lower_bound_ns is None
    else:
        assert plan.explanation.endswith(".")
    return plan


@each
def test_every_tiny_instance_has_a_plan_or_a_reason_and_none_is_below_the_optimum(
    chosen: Strategy, shared_folder: Path, judge: Judge
) -> None:
    found = 0
    for path in sorted((shared_folder / "instances" / "tiny").glob("*.json")):
        problem = read_problem(path)
        known = json.loads(path.read_text(encoding="utf-8"))["known"]["serial_optimum_ns"]
        if chosen.supports(problem):
            continue
        plan = plan_of(chosen, problem)
        if known is None:
            assert not plan.has_events, path.name
        elif plan.has_events:
            assert judge(plan)["ok"], (path.name, judge(plan)["broken"])
            assert (plan.total_ns or 0) >= known, path.name
            found += 1
        if len(problem.devices) == 1 and path.name.startswith("chain"):
            assert plan.total_ns == known, path.name
    assert found >= 40


@each
@given(problem=problems(max_operators=7))
@settings(deadline=None, max_examples=60)
def test_random_problems_have_a_plan_or_a_reason(chosen: Strategy, problem: Problem) -> None:
    if chosen.supports(problem):
        with pytest.raises(InputError, match="no device alone can run every operator"):
            planned(chosen, problem, SolveContext())
        return
    plan_of(chosen, problem)


@each
@given(problem=problems(max_operators=7, limits=False, connected=True))
@settings(deadline=None, max_examples=30)
def test_without_limits_it_is_the_fastest_single_device(chosen: Strategy, problem: Problem) -> None:
    plan = plan_of(chosen, problem)
    single = [
        sum(min(row.time_ns for row in ways[device]) for ways in problem.indexed.implementations)
        for device in range(len(problem.devices))
    ]
    assert plan.total_ns == min(single)
    assert not [event for event in plan.events if isinstance(event, Transfer)]


def test_each_heuristic_is_told_and_the_winner_explains_the_plan() -> None:
    events: list[SolveEvent] = []
    plan = plan_of(DynamicTensorRematerialization(), training_chain(100, 2000), events)
    logs = [event.message for event in events if isinstance(event, Log)]
    for heuristic in HEURISTICS:
        assert any(f"by {heuristic.key}:" in line for line in logs)
    totals = [event.plan.total_ns for event in events if isinstance(event, Incumbent)]
    assert totals == sorted(totals, reverse=True)
    assert totals[-1] == plan.total_ns
    assert any(f"by {heuristic.key}." in plan.explanation for heuristic in HEURISTICS)


def test_swapping_is_told_with_its_host_and_recomputing_alone_with_its_reason() -> None:
    chain = training_chain(8, 500)
    assert "no other device has links there and back" in plan_of(Delta(), chain).explanation
    problem = transformer(4, 0.4)
    assert "to swap to" in plan_of(Delta(), problem).explanation


@each
def test_the_implementation_of_least_workspace_is_taken_where_the_fastest_leaves_no_room(chosen: Strategy) -> None:
    ways = (Implementation(10, 100, "fast"), Implementation(30, 0, "lean"))
    chain = chain_problem(200)
    lean = replace(chain, operators=tuple(replace(o, costs={"gpu": ways}) for o in chain.operators))
    plan = plan_of(chosen, lean)
    assert {event.implementation for event in plan.events if isinstance(event, Compute)} <= {"lean", "fast"}
    assert plan.total_ns == 10 + 3 * 30


@each
def test_a_failure_is_no_proof(chosen: Strategy) -> None:
    plan = plan_of(chosen, training_chain(4, 250))
    assert plan.status is Status.INFEASIBLE  # one operator alone needs three tensors
    chain = training_chain(4, 300)
    first = replace(chain.operators[0], recomputable=False)
    held = replace(chain, operators=(first, *chain.operators[1:]))  # its result takes a third of the room for good
    assert plan_of(chosen, held).status is Status.UNKNOWN
    assert "not proved" in plan_of(chosen, held).explanation


@each
def test_a_slower_device_is_taken_where_the_faster_is_too_small(chosen: Strategy) -> None:
    chain = training_chain(6, 250)
    slow = {"gpu": (Implementation(10),), "cpu": (Implementation(70),)}
    two = replace(
        chain,
        devices=(*chain.devices, Device("cpu", "cpu", 400)),
        operators=tuple(replace(o, costs=slow) for o in chain.operators),
    )
    plan = plan_of(chosen, two)
    assert {event.device for event in plan.events if isinstance(event, Compute)} == {"cpu"}


@each
def test_a_stop_ends_it_at_once(chosen: Strategy) -> None:
    problem = transformer(12, 0.3)
    stop = threading.Event()
    stop.set()
    plan = chosen.plan(problem, SolveContext(SolveOptions(), stop=stop))
    assert plan.status is Status.UNKNOWN
    assert "stopped" in plan.explanation


@each
def test_a_stop_in_the_middle_is_heard_within_few_operators(chosen: Strategy) -> None:
    problem = transformer(12, 0.3)
    asked = 0

    class LateStop(SolveContext):
        def should_stop(self) -> bool:
            nonlocal asked
            asked += 1
            return asked > 10

    plan = chosen.plan(problem, LateStop(SolveOptions(time_limit_s=None)))
    assert "stopped" in plan.explanation
    # Asked before each try and once every 16 operators, of which there are hundreds.
    assert 10 < asked < 20


def test_where_all_that_was_evicted_is_too_much_to_look_at_delta_looks_at_single_operators(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(simulator, "_MOST_LOOKS", 1000)
    monkeypatch.setattr(neighbourhood, "_HEED_EVERY", 100)
    plan = plan_of(Delta(), transformer(4, 0.3))
    assert "by the costs of single operators" in plan.explanation
