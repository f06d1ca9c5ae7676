"""The engine on problems with everything at once: exact, or rightly infeasible, as trying all says.

`XENGINE_WHOLE_PROBLEMS` is how many of them are tried; with some hundreds it takes a while.
"""

import os

import pytest
from whole_problems import TooManyStatesError, least_total_ns, whole_problem

from xengine_gui.model.plan import Status
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import problem_to_json
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import SolveContext, SolveOptions
from xengine_gui.solve.feasibility import smallest_limits
from xengine_gui.solve.watchpoints.strategy import Optimal

COUNT = int(os.environ.get("XENGINE_WHOLE_PROBLEMS", "40"))
NUMBERS = range(COUNT)
MOST_STATES = 60_000
FEATURES = {
    "parameters": lambda p: bool(p.parameters),
    "workspace": lambda p: any(w.workspace_bytes for o in p.operators for ways in o.costs.values() for w in ways),
    "several outputs": lambda p: any(len(o.outputs) > 1 for o in p.operators),
    "several implementations": lambda p: any(len(ways) > 1 for o in p.operators for ways in o.costs.values()),
    "operators that must not be recomputed": lambda p: any(not o.recomputable for o in p.operators),
    "a device that cannot compute": lambda p: any(all(d.name not in o.costs for o in p.operators) for d in p.devices),
    "three devices": lambda p: len(p.devices) == 3,
    "a missing link": lambda p: len(p.links) < len(p.devices) * (len(p.devices) - 1),
    "times of single transfers": lambda p: bool(p.transfers),
    "keep": lambda p: bool(p.keep),
    "an unlimited device": lambda p: any(d.memory_limit_bytes is None for d in p.devices),
    "a limited device": lambda p: any(d.memory_limit_bytes is not None for d in p.devices),
}


@pytest.mark.parametrize("feature", FEATURES)
def test_the_problems_have_everything(feature):
    assert sum(FEATURES[feature](whole_problem(number)) for number in range(40)) >= 5


def test_some_have_a_plan_and_some_have_none():
    known = [tried(whole_problem(number), most_states=5_000) for number in range(40)]
    assert known.count(None) >= 4
    assert sum(isinstance(total, int) for total in known) >= 15


def tried(problem: Problem, most_states: int = MOST_STATES) -> int | str | None:
    try:
        return least_total_ns(problem.indexed, most_states)
    except TooManyStatesError:
        return "unknown"


def plan_exactly(problem: Problem):
    plan = Optimal().plan(problem, SolveContext(SolveOptions(gap_ratio=0.0, time_limit_s=60.0)))
    assert not plan.has_events or verify(plan).ok
    return plan


@pytest.mark.parametrize("number", NUMBERS)
def test_the_plan_is_what_trying_all_says(number):
    problem = whole_problem(number)
    known = tried(problem)
    if known == "unknown":
        pytest.skip("too many states to try")
    plan = plan_exactly(problem)
    assert (plan.status, plan.total_ns) == ((Status.INFEASIBLE, None) if known is None else (Status.OPTIMAL, known))


@pytest.mark.parametrize("number", range(0, COUNT, 4))
def test_a_problem_without_a_plan_has_one_at_the_smallest_limit_and_none_below(number):
    problem = whole_problem(number)
    for small in smallest_limits(problem, time_s=3.0):
        if small.limit_bytes is None or small.limit_bytes == 0:
            continue
        assert tried(problem.with_limit(small.device, small.limit_bytes), most_states=8_000) is not None
        if small.proved:
            below = problem.with_limit(small.device, small.limit_bytes - 1)
            assert tried(below, most_states=8_000) in (None, "unknown")


@pytest.mark.skipif(COUNT <= 40, reason="only where more are asked for")
@pytest.mark.parametrize("number", NUMBERS)
def test_the_search_beside_the_instances_says_the_same(exact_search, number):
    problem = whole_problem(number)
    answer = exact_search.search(problem_to_json(problem), max_states=MOST_STATES)
    known = tried(problem)
    if answer["complete"] and known != "unknown":
        assert answer["optimum_ns"] == known
