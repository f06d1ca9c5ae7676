"""What all checkpointing strategies promise: valid plans or a sentence, on anything."""

import threading
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from problems import problems
from reversal_chains import result_chain, state_chain

from xengine_gui import planner
from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import read_problem
from xengine_gui.schedule.peak import one_device_peak_bytes
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import Incumbent, SolveContext, SolveEvent, Strategy
from xengine_gui.solve.checkpointing.chen_greedy import ChenGreedy
from xengine_gui.solve.checkpointing.chen_sqrt import ChenSqrt
from xengine_gui.solve.checkpointing.retain_last import RetainLast
from xengine_gui.solve.checkpointing.revolve import Revolve
from xengine_gui.solve.rotor.strategy import Rotor

Judge = Callable[[Plan], Mapping[str, Any]]
CHECKPOINTING: tuple[Strategy, ...] = (RetainLast(), ChenSqrt(), ChenGreedy(), Revolve(), Rotor())

every_method = pytest.mark.parametrize("chosen", CHECKPOINTING, ids=lambda s: s.key)


def plan_or_reason(chosen: Strategy, problem: Problem) -> Plan | None:
    """A plan that keeps every rule, `None` where a sentence says why there is none."""
    if chosen.supports(problem):
        return None
    plan = chosen.plan(problem, SolveContext())
    assert plan.strategy == chosen.key
    assert plan.lower_bound_ns is None
    if plan.has_events:
        assert plan.status is Status.FEASIBLE
        assert not verify(plan, problem).broken
        return plan
    assert plan.explanation.endswith(".")
    return None


@every_method
@given(problem=problems(max_operators=9, max_devices=2))
@settings(deadline=None, max_examples=40)
def test_any_problem_gets_a_valid_plan_or_a_reason(chosen: Strategy, problem: Problem) -> None:
    plan_or_reason(chosen, problem)


@every_method
@given(problem=problems(max_operators=8, max_devices=2, limits=False, connected=True))
@settings(deadline=None, max_examples=40)
def test_without_limits_there_is_always_a_plan(chosen: Strategy, problem: Problem) -> None:
    plan = plan_or_reason(chosen, problem)
    assert plan is not None or chosen.key == "rotor"


@cache
def sample(path: Path, percent: int) -> Problem:
    """A bundled network for both default devices; each limit a share of what activations take, beside the weights."""
    network = planner.open_file(path)
    problem = network if isinstance(network, Problem) else planner.make_problem(network, planner.DEFAULT_DEVICES)
    weights = sum(parameter.size_bytes for parameter in problem.parameters)
    for device in problem.devices:
        peak = one_device_peak_bytes(problem, device.name)
        problem = problem.with_limit(device.name, weights + (peak - weights) * percent // 100)
    return problem


# Each network at one limit, those that take little time at three.
NETWORK_LIMITS = [(path, 60) for path in planner.sample_networks()]
NETWORK_LIMITS += [
    (path, percent)
    for path in planner.sample_networks()
    for percent in (100, 35)
    if path.stem in {"lenet", "resnet18", "unet", "vgg16"}
]


@pytest.mark.parametrize(("path", "percent"), NETWORK_LIMITS, ids=[f"{p.stem}-{n}" for p, n in NETWORK_LIMITS])
def test_bundled_networks_at_three_limits(path: Path, percent: int, judge: Judge) -> None:
    plans = {s.key: plan_or_reason(s, sample(path, percent)) for s in CHECKPOINTING}
    found = {key: plan for key, plan in plans.items() if plan is not None}
    slowest = max(found.values(), key=lambda plan: len(plan.events), default=None)
    assert slowest is None or judge(slowest)["ok"]
    if percent == 100:
        assert found.keys() == plans.keys()
        fastest = min(plan.total_ns or 0 for plan in found.values())
        assert all(found[key].total_ns == fastest for key in ("retain-last", "chen-greedy", "rotor"))


@every_method
def test_tiny_instances_are_never_beaten(chosen: Strategy, shared_folder: Path, judge: Judge) -> None:
    judged = 0
    for path in sorted((shared_folder / "instances" / "tiny").glob("*.json")):
        problem = read_problem(path)
        plan = plan_or_reason(chosen, problem)
        known = planner.read_json(path)["known"].get("serial_optimum_ns")
        if plan is not None and known is not None:
            judged += 1
            assert judge(plan)["ok"]
            assert (plan.total_ns or 0) >= known
    assert judged > 10


@pytest.mark.parametrize("length", [2, 3, 4])
@pytest.mark.parametrize("key", ["retain-last", "revolve", "rotor"])
def test_the_published_chains_at_their_tightest(key: str, length: int, shared_folder: Path) -> None:
    problem = read_problem(shared_folder / "instances" / "tiny" / f"chain_{length}_limit_3.json")
    chosen = next(s for s in CHECKPOINTING if s.key == key)
    plan = plan_or_reason(chosen, problem)
    assert plan is not None
    assert plan.total_ns == 1000 * (length + 1) * (length + 2) // 2


@pytest.mark.parametrize("length", range(1, 9))
def test_chains_at_their_tightest_limit_take_a_triangle_of_evaluations(length: int) -> None:
    for chosen in (RetainLast(), Revolve(), Rotor()):
        problem = result_chain(length, limit=3)
        if not chosen.supports(problem):
            plan = plan_or_reason(chosen, problem)
            assert plan is not None
            assert plan.total_ns == (length + 1) * (length + 2) // 2


@every_method
def test_a_stop_is_heeded_and_keeps_what_there_is(chosen: Strategy) -> None:
    stop = threading.Event()

    def hear(event: SolveEvent) -> None:
        if isinstance(event, Incumbent):
            stop.set()

    plan = chosen.plan(state_chain(80), SolveContext(emit=hear, stop=stop))
    assert stop.is_set()
    assert verify(plan).ok
    stopped = chosen.plan(state_chain(80), SolveContext(stop=stop))
    assert stopped.status is Status.UNKNOWN
    assert "stopped" in stopped.explanation


@every_method
def test_a_limit_below_one_operator_s_needs_is_infeasible_by_proof(chosen: Strategy) -> None:
    plan = chosen.plan(state_chain(5, limit=2), SolveContext())
    assert plan.status is Status.INFEASIBLE
    assert "fits on no device" in plan.explanation


def test_what_no_plan_of_a_method_fits_is_told_in_bytes() -> None:
    plan = ChenSqrt().plan(state_chain(20, limit=6), SolveContext())
    assert plan.status is Status.UNKNOWN
    assert "none fits: the closest misses 3 B on 'gpu' while" in plan.explanation
