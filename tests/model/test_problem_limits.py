"""A problem with another limit, or other links, is the problem that would have been made with it."""

import pickle
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from problems import problems

from xengine_gui.errors import InputError
from xengine_gui.model.device import Device, Link
from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.problem import Problem


@settings(deadline=None, max_examples=40)
@given(problems(), st.none() | st.integers(0, 10**12))
def test_another_limit_changes_nothing_else(problem: Problem, limit: int | None) -> None:
    name = problem.devices[0].name
    assume(problem.indexed is not None)  # what was worked out for the old limits must not be taken over
    changed = problem.with_limit(name, limit)
    devices = (replace(problem.devices[0], memory_limit_bytes=limit), *problem.devices[1:])
    made = replace(problem, devices=devices)
    assert changed == made
    assert changed.notes == problem.notes
    assert changed.operators is problem.operators
    assert changed.indexed == made.indexed


@pytest.mark.parametrize("limit", [-1, 2**200])
def test_a_limit_that_is_no_size_is_refused(limit: int) -> None:
    from problems_fixed import chain_problem  # noqa: PLC0415

    with pytest.raises(InputError, match="memory_limit_bytes"):
        chain_problem(100).with_limit("gpu", limit)


def test_other_links_take_the_place_of_those_that_are_there() -> None:
    problem = Problem("x", (Device("a"), Device("b")), (), (), links=(Link("a", "b", 1), Link("a", "b", 2)))
    assert problem.with_links((Link("a", "tpu", 5),)) is problem
    assert problem.with_links((Link("b", "a", 3),)).links == (Link("a", "b", 1), Link("b", "a", 3))
    assert problem.with_links((Link("a", "b", 4),)).links == (Link("a", "b", 4),)


@settings(deadline=None, max_examples=30)
@given(problem=problems())
def test_what_is_worked_out_follows_a_limit_and_stays_here(problem: Problem) -> None:
    assert problem.indexed == IndexedProblem.of(problem)
    device = problem.devices[0].name
    twin = problem.with_limit(device, 12_345)
    assert twin.indexed == IndexedProblem.of(twin)
    there = pickle.loads(pickle.dumps(problem))  # noqa: S301 - it is our own
    assert there == problem
    assert "indexed" not in vars(there)
