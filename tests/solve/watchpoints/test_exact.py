"""The whole method against exhaustive search on tiny problems: exact or rightly infeasible, never a bound above."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from problems import problems

from xengine_gui.model.plan import Status
from xengine_gui.model.problem_file import problem_to_json, read_problem
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import SolveContext, SolveOptions
from xengine_gui.solve.watchpoints.strategy import Optimal

STAGED_ONLY = 2
"""Of the 55 tiny instances at most so many may stay undecided."""


@pytest.fixture(scope="module")
def exact_search(shared_folder: Path) -> ModuleType:
    """The brute-force search beside the instances."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(shared_folder / "tools"))
        spec = importlib.util.spec_from_file_location("exact_search", shared_folder / "tools" / "exact_search.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def plan_exactly(problem):
    plan = Optimal().plan(problem, SolveContext(SolveOptions(gap_ratio=0.0, time_limit_s=20.0)))
    if plan.has_events:
        assert verify(plan).ok
    return plan


def test_tiny_instances_reach_their_known_optimum(shared_folder):
    undecided = []
    for path in sorted((shared_folder / "instances" / "tiny").glob("*.json")):
        known = json.loads(path.read_text(encoding="utf-8"))["known"]["serial_optimum_ns"]
        plan = plan_exactly(read_problem(path))
        if known is None:
            assert not plan.has_events, path.name
        else:
            assert plan.status is not Status.INFEASIBLE, path.name
            assert plan.lower_bound_ns <= known, path.name
            assert not plan.has_events or plan.total_ns >= known, path.name
        if (plan.status is Status.INFEASIBLE) != (known is None) or plan.total_ns != known:
            undecided.append(path.name)
    assert len(undecided) <= STAGED_ONLY, undecided


@given(problem=problems(max_operators=5, max_devices=2))
@settings(deadline=None, max_examples=60)
def test_random_problems_are_solved_as_exhaustive_search_says(exact_search, problem):
    data = json.loads(json.dumps(problem_to_json(problem)))
    for operator in data["operators"]:
        operator["inputs"] = list(dict.fromkeys(operator["inputs"]))  # the search counts a repeated input twice
    used = {parameter for operator in data["operators"] for parameter in operator["parameters"]}
    data["parameters"] = [p for p in data["parameters"] if p["name"] in used]  # it finds room for unused ones too
    answer = exact_search.search(data, max_states=200_000)
    if not answer["complete"]:
        return
    plan = plan_exactly(problem)
    if answer["optimum_ns"] is None:
        assert not plan.has_events
    else:
        assert plan.status is not Status.INFEASIBLE
        assert plan.lower_bound_ns <= answer["optimum_ns"]
        assert not plan.has_events or plan.total_ns >= answer["optimum_ns"]
        if plan.status is Status.OPTIMAL:
            assert plan.total_ns == answer["optimum_ns"]
