"""XEngine's program with real copies against exhaustive search and against the engine, on one to three devices."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from problems import problems
from problems_fixed import chain_problem

from xengine_gui.errors import InputError
from xengine_gui.model.device import Device, TransferTime
from xengine_gui.model.operator import Implementation
from xengine_gui.model.plan import Compute, Plan, Status, Transfer
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import read_problem
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import Log, SolveContext, SolveEvent, SolveOptions
from xengine_gui.solve.formulations import xengine_strategy as module
from xengine_gui.solve.formulations.many_devices import on_many_devices
from xengine_gui.solve.formulations.xengine_strategy import XEngine
from xengine_gui.solve.judge import planned
from xengine_gui.solve.watchpoints.strategy import Optimal

EXACT = SolveOptions(gap_ratio=0.0, time_limit_s=100.0)


def plan_of(problem: Problem, events: list[SolveEvent] | None = None) -> Plan:
    plan = XEngine().plan(problem, SolveContext(EXACT, (events if events is not None else []).append))
    if plan.has_events:
        assert verify(plan, problem).ok, verify(plan, problem).broken
    return plan


def test_every_tiny_instance_reaches_its_known_optimum(shared_folder: Path) -> None:
    proved = infeasible = 0
    for path in sorted((shared_folder / "instances" / "tiny").glob("*.json")):
        known = json.loads(path.read_text(encoding="utf-8"))["known"]["serial_optimum_ns"]
        plan = plan_of(read_problem(path))
        if known is None:
            assert not plan.has_events, path.name
            infeasible += plan.status is Status.INFEASIBLE
        else:
            assert (plan.status, plan.total_ns, plan.lower_bound_ns) == (Status.OPTIMAL, known, known), path.name
            proved += 1
    assert (proved, infeasible) == (48, 6)


@given(problem=problems(max_operators=4, max_devices=3))
@settings(deadline=None, max_examples=60)
def test_random_problems_are_solved_as_the_other_engine_solves_them(problem: Problem) -> None:
    plan, other = plan_of(problem), Optimal().plan(problem, SolveContext(EXACT))
    if other.status is Status.OPTIMAL and plan.has_events:
        assert (plan.lower_bound_ns or 0) <= (plan.total_ns or 0)
        assert (other.lower_bound_ns or 0) <= (plan.total_ns or 0)
    assert plan.has_events is other.has_events or not plan.has_events
    if plan.status is Status.OPTIMAL:
        assert (plan.lower_bound_ns or 0) <= (other.total_ns or 0)


def two_devices(limit_bytes: int) -> Problem:
    """A chain of four 100-byte tensors on `gpu`; `cpu` takes ten times as long, a copy 5 ns each way."""
    chain = chain_problem(limit_bytes)
    operators = tuple(replace(o, costs={**o.costs, "cpu": (Implementation(100),)}) for o in chain.operators)
    transfers = [TransferTime(t.name, a, b, 5) for t in chain.tensors for a, b in (("gpu", "cpu"), ("cpu", "gpu"))]
    # The last operator reads the first result too, which then is in the way on a small gpu.
    last = replace(operators[-1], inputs=("t2", "t0"))
    devices = (*chain.devices, Device("cpu", "cpu", None))
    return replace(chain, devices=devices, operators=(*operators[:-1], last), transfers=tuple(transfers))


def test_a_copy_takes_memory_at_the_reader() -> None:
    roomy = plan_of(two_devices(300))
    assert (roomy.total_ns, roomy.lower_bound_ns) == (40, 40)
    # t0, t2 and t3 are 300 bytes, so on 200 the last operator runs on the cpu: t0 and t2 are copied there, once each.
    small = plan_of(two_devices(200))
    assert (small.total_ns, small.lower_bound_ns) == (3 * 10 + 2 * 5 + 100, 140)
    assert [event.tensor for event in small.events if isinstance(event, Transfer)] == ["t0", "t2"]


def test_the_smaller_model_tells_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_MOMENTS", 0)
    monkeypatch.setattr(module, "QUICK_MOMENTS", 0)
    plan = plan_of(two_devices(200))
    assert (plan.status, plan.total_ns, plan.lower_bound_ns) == (Status.FEASIBLE, 140, None)


def test_a_slower_implementation_is_taken_where_the_faster_needs_too_much() -> None:
    chain = chain_problem(250)
    ways = (Implementation(10, 60, "fast"), Implementation(15, 50, "lean"), Implementation(20, 55, "neither"))
    operators = tuple(replace(o, costs={"gpu": ways}) for o in chain.operators)
    many = on_many_devices(replace(chain, operators=operators).indexed, every_moment=False)
    assert [[way.implementation for way in row] for row in many.ways] == [[0, 1], [1], [1], [1]]
    plan = plan_of(replace(chain, operators=operators))
    assert (plan.status, plan.total_ns) == (Status.OPTIMAL, 10 + 3 * 15)
    computes = [event for event in plan.events if isinstance(event, Compute)]
    assert [event.implementation for event in computes] == ["fast", "lean", "lean", "lean"]


def test_what_it_cannot_plan_is_declined_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_RUNS", 9)
    with pytest.raises(
        InputError, match="for 4 operators its model has 10 pairs of a stage and an operator, more than 9"
    ):
        planned(XEngine(), chain_problem(), SolveContext(EXACT))


def test_a_model_without_solution_proves_nothing() -> None:
    """Three tensors at a time do not fit, but only exhaustive search could say that no other kind of plan exists."""
    problem = chain_problem(200)
    last = replace(problem.operators[-1], inputs=("t0", "t2"))
    problem = replace(problem, operators=(*problem.operators[:-1], last)).with_limit("gpu", 300)
    held = replace(problem, operators=tuple(replace(o, recomputable=False) for o in problem.operators), keep=("t1",))
    events: list[SolveEvent] = []
    plan = plan_of(held, events)
    assert plan.status is Status.UNKNOWN
    assert "others may exist" in plan.explanation
    assert any(isinstance(event, Log) for event in events)
