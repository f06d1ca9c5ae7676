"""How much more memory does away with a recompute, against what trying every limit says."""

import threading

import pytest
from problems_fixed import training_chain

from xengine_gui import planner
from xengine_gui.model.constraints import Constraint, Rule, constrained
from xengine_gui.model.plan import Compute, Plan
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import SolveOptions
from xengine_gui.solve.vanishing import ask_here, device_in_question, limit_without, within_limit

EXACT = SolveOptions(gap_ratio=0.0)


def first_recompute(plan: Plan) -> tuple[int, str]:
    return next((i, e.operator) for i, e in enumerate(plan.events) if isinstance(e, Compute) and e.again)


def by_trying(problem: Problem, operator: str, target_ns: int) -> int:
    """The first limit in steps of a hundred bytes at which a plan without the recompute is as quick."""
    for limit in range(300, 2000, 100):
        bound = constrained(problem.with_limit("gpu", limit), [Constraint(Rule.COMPUTE_ONCE, operator)])
        plan = planner.plan(bound, options=EXACT)
        if plan.total_ns is not None and plan.total_ns <= target_ns:
            return limit
    raise AssertionError


@pytest.mark.parametrize("limit", [400, 500, 600])
def test_the_limit_is_the_one_that_trying_finds_and_it_is_proved(limit: int) -> None:
    problem = training_chain(6, limit)
    plan = planner.plan(problem, options=EXACT)
    index, operator = first_recompute(plan)
    assert device_in_question(plan, index) == "gpu"
    found = limit_without(plan, operator, "gpu", ask_here())
    assert found.enough_bytes == by_trying(problem, operator, plan.total_ns or 0)
    assert found.proved
    assert found.least_bytes == (found.enough_bytes if found.rise_bytes else 0)
    assert found.rise_bytes == max(0, found.enough_bytes - limit)
    better = within_limit(found, plan)
    assert better is not None
    assert verify(better).ok
    assert operator not in {e.operator for e in better.events if isinstance(e, Compute) and e.again}
    assert (better.total_ns or 0) <= (plan.total_ns or 0)


def test_the_sentence_tells_the_rise_and_whether_it_is_proved() -> None:
    plan = planner.plan(training_chain(6, 400), options=EXACT)
    _, operator = first_recompute(plan)
    found = limit_without(plan, operator, "gpu", ask_here())
    assert found.rise_bytes
    assert f"With {found.rise_bytes} bytes more on gpu" in found.sentence
    assert found.sentence.endswith("with less it must be (proved).")


def test_a_stop_ends_it_with_what_is_known_and_claims_nothing() -> None:
    plan = planner.plan(training_chain(6, 400), options=EXACT)
    _, operator = first_recompute(plan)
    stop = threading.Event()
    told: list[str] = []

    def tell(words: str) -> None:
        told.append(words)
        if len(told) == 2:
            stop.set()

    found = limit_without(plan, operator, "gpu", ask_here(stop), stop=stop, tell=tell)
    assert found.limits_asked == len(told) == 2
    assert found.enough_bytes is not None
    assert found.proved == (found.least_bytes >= found.enough_bytes)


def test_what_is_no_recompute_has_no_such_limit() -> None:
    plan = planner.plan(training_chain(4))
    with pytest.raises(ValueError, match="event 0 is no recomputation"):
        device_in_question(plan, 0)
