"""Checkmate's LP rounded: valid plans, right bounds, the same plans at every call."""

import json
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from problems import problems
from problems_fixed import training_chain

from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import read_problem
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import SolveContext, SolveOptions
from xengine_gui.solve.formulations.building import matrix_of
from xengine_gui.solve.formulations.checkmate import checkmate_model
from xengine_gui.solve.formulations.one_device import on_one_device
from xengine_gui.solve.formulations.rounding import HeldLp, rounded_steps
from xengine_gui.solve.formulations.rounding_strategy import CheckmateRounding
from xengine_gui.solve.formulations.strategy import Checkmate
from xengine_gui.solve.working_set import single_operator_proof

EXACT = SolveOptions(gap_ratio=0.0, time_limit_s=100.0)


def plan_of(problem: Problem) -> Plan:
    plan = CheckmateRounding().plan(problem, SolveContext(EXACT))
    if plan.has_events:
        assert verify(plan, problem).ok, verify(plan, problem).broken
    return plan


@given(problem=problems(max_operators=6, max_devices=2))
@settings(deadline=None, max_examples=40)
def test_roundings_lie_between_the_bound_and_checkmate(problem: Problem) -> None:
    if CheckmateRounding().supports(problem):
        return
    plan, exact = plan_of(problem), Checkmate().plan(problem, SolveContext(EXACT))
    if plan.has_events:
        assert exact.has_events
        assert (exact.total_ns or 0) <= (plan.total_ns or 0)
    if plan.lower_bound_ns is not None and exact.total_ns is not None:
        assert plan.lower_bound_ns <= exact.total_ns


@given(problem=problems(max_operators=7, max_devices=1, limits=False))
@settings(deadline=None, max_examples=60)
def test_whatever_the_lp_holds_the_rounding_computes_everything(problem: Problem) -> None:
    one = on_one_device(problem.indexed, 0)
    assert one is not None
    for share in (0.0, 1.0):
        steps = rounded_steps(one, dict.fromkeys(one.holds, share), np.full(len(one.holds), 0.5))
        assert replay_steps(problem.indexed, steps).valid


@given(problem=problems(max_operators=5, max_devices=1))
@settings(deadline=None, max_examples=30)
def test_a_limit_is_lowered_in_every_row_that_knows_it_once(problem: Problem) -> None:
    """The LP with half of the limit spared is that of half the limit."""
    one = on_one_device(problem.indexed, 0)
    assert one is not None
    if single_operator_proof(problem.indexed) or not one.room_bytes or one.room_bytes % 2:
        return
    spared = HeldLp(one, matrix_of(checkmate_model(one))).solve(0.5, 100.0, lambda: False)
    half = replace(one, room_bytes=one.room_bytes // 2)
    other = HeldLp(half, matrix_of(checkmate_model(half))).solve(0.0, 100.0, lambda: False)
    assert spared.outcome is other.outcome
    assert spared.bound == pytest.approx(other.bound, abs=1e-4)


def test_nothing_held_computes_everything_again() -> None:
    """Without anything held stage t computes all that leads to operator t: the most that a rounding can cost."""
    one = on_one_device(training_chain(3).indexed, 0)
    assert one is not None
    held_none = rounded_steps(one, dict.fromkeys(one.holds, 0.0), np.full(len(one.holds), 0.5))
    held_all = rounded_steps(one, dict.fromkeys(one.holds, 1.0), np.full(len(one.holds), 0.5))
    totals = [replay_steps(one.indexed, steps).total_ns for steps in (held_none, held_all)]
    assert totals == [10 * (1 + 2 + 3 + 4 + 5 + 6), 10 * 6]


def test_vgg16_at_10_gb_is_rounded_to_within_half_a_percent(shared_folder: Path) -> None:
    path = shared_folder / "instances" / "published" / "vgg16_p100_training.json"
    published = json.loads(path.read_text(encoding="utf-8"))["known"]["published"][0]
    problem = read_problem(path).with_limit("gpu", published["limit_bytes"])
    plan = plan_of(problem)
    assert plan.status is Status.FEASIBLE
    assert (plan.lower_bound_ns or 0) <= published["best_ns"] <= (plan.total_ns or 0)
    assert 0.0 < (plan.gap_ratio or 0.0) < 0.005


def test_every_call_gives_the_same_plan() -> None:
    plan, again = (plan_of(training_chain(7, 500)) for _ in range(2))
    assert plan.has_events
    assert plan.events == again.events


def test_a_stop_ends_it_without_a_plan() -> None:
    stop = threading.Event()
    stop.set()
    plan = CheckmateRounding().plan(training_chain(6, 300), SolveContext(EXACT, stop=stop))
    assert plan.status is Status.UNKNOWN
    assert "not proved" in plan.explanation
