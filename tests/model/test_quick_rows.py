"""Rows read at once are the rows that are read field by field, and whatever is wrong with them is told all the same."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import problems
from problems_fixed import training_chain

from xengine_gui.errors import InputError
from xengine_gui.model import plan_file, problem_file
from xengine_gui.model.plan import Compute, Free, Plan, Status, Transfer
from xengine_gui.model.problem import Problem
from xengine_gui.model.quick_rows import quick_events, quick_operators, quick_tensors

EVENTS = (
    Compute("f0", "gpu", 0, 10),
    Compute("f0", "gpu", 10, 20, again=True, implementation="slow"),
    Transfer("f0", "gpu", "cpu", 20, 30),
    Free("f0", "gpu", 30),
)
WRONG: tuple[Any, ...] = (None, "", [], {}, {"a": 1}, True, 1.0, -1, 2**200, "\ud800", "other", ["x"], 0)


def plan_json() -> dict[str, Any]:
    return plan_file.plan_to_json(Plan(training_chain(3), "by hand", Status.FEASIBLE, EVENTS, 30))


def outcome(data: Any) -> object:
    try:
        return plan_file.parse_plan(data, "file")
    except InputError as error:
        return error.mistakes


@settings(max_examples=60, deadline=None)
@given(problems())
def test_a_problem_is_read_as_it_was_written(problem: Problem) -> None:
    data: Any = problem_file.problem_to_json(problem)
    assert quick_tensors(data["tensors"]) == problem.tensors
    assert quick_operators(data["operators"]) == problem.operators


def test_events_are_read_as_they_were_written() -> None:
    assert quick_events(plan_json()["events"]) == EVENTS


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_broken_field_is_told_as_if_all_were_read_field_by_field(draw: st.DataObject) -> None:
    data = plan_json()
    rows = draw.draw(st.sampled_from([data["events"], data["problem"]["tensors"], data["problem"]["operators"]]))
    row = draw.draw(st.sampled_from(rows))
    places = [row] + ([row["costs"], row["costs"]["gpu"][0]] if "costs" in row else [])
    place = draw.draw(st.sampled_from(places))
    key = draw.draw(st.sampled_from(sorted(place)))
    if draw.draw(st.booleans()):
        place[key] = copy.deepcopy(draw.draw(st.sampled_from(WRONG)))
    else:
        del place[key]
    found = outcome(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan_file, "quick_events", lambda _rows: None)
        patch.setattr(problem_file, "quick_tensors", lambda _rows: None)
        patch.setattr(problem_file, "quick_operators", lambda _rows: None)
        assert found == outcome(data)
