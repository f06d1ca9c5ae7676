"""What a strategy says is judged before anybody hears it."""

from dataclasses import replace

import pytest
from problems_fixed import chain_problem

from xengine_gui.model.plan import Drop, Plan, Run, Status, Step
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.solve.base import Bound, Finished, Incumbent, Log
from xengine_gui.solve.judge import Judge

PROBLEM = chain_problem()
GOOD: tuple[Step, ...] = (Run(0, 0), Run(0, 1), Drop(0, 0), Run(0, 2), Drop(0, 1), Run(0, 3))
FAST = finished_plan(PROBLEM, "test", GOOD)
SLOW = finished_plan(PROBLEM, "test", (*GOOD, Run(0, 3)))
BROKEN = replace(FAST, events=FAST.events[1:])


@pytest.fixture
def judge() -> Judge:
    return Judge(PROBLEM, "test")


def test_only_better_plans_are_news(judge: Judge) -> None:
    assert judge.heard(Incumbent(SLOW, 1.0)) == Incumbent(SLOW, 1.0)
    assert judge.heard(Incumbent(SLOW, 2.0)) is None
    assert judge.heard(Incumbent(FAST, 3.0)) == Incumbent(FAST, 3.0)
    assert judge.heard(Incumbent(SLOW, 4.0)) is None
    assert judge.best is FAST


def test_only_higher_bounds_are_news(judge: Judge) -> None:
    assert judge.heard(Bound(7, 1.0)) == Bound(7, 1.0)
    assert judge.heard(Bound(7, 2.0)) is None
    assert judge.heard(Bound(6, 3.0)) is None
    assert judge.heard(Bound(8, 4.0)) == Bound(8, 4.0)
    assert judge.lower_bound_ns == 8


def test_a_broken_plan_is_a_line_of_the_log_and_its_bound_is_not_believed(judge: Judge) -> None:
    news = judge.heard(Incumbent(replace(BROKEN, lower_bound_ns=39), 1.0))
    assert isinstance(news, Log)
    assert "a plan was left out, since it breaks a rule: " in news.message
    assert judge.best is None
    assert judge.lower_bound_ns is None


def test_the_end_is_the_plan_of_the_strategy_where_it_is_good(judge: Judge) -> None:
    judge.heard(Incumbent(SLOW, 1.0))
    assert judge.last(FAST) is FAST
    unknown = Plan(PROBLEM, "test", Status.UNKNOWN, explanation="no time")
    assert Judge(PROBLEM, "test").last(unknown) is unknown


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (BROKEN, "the plan of test breaks a rule (operator 'o0' is never computed)"),
        (SLOW, "test handed back a slower plan than it had found"),
        (
            Plan(PROBLEM, "test", Status.INFEASIBLE),
            "test handed back no plan (infeasible) although it had found one",
        ),
    ],
)
def test_the_best_incumbent_takes_the_place_of_a_worse_end(judge: Judge, found: Plan, why: str) -> None:
    judge.heard(Incumbent(FAST, 1.0))
    judge.heard(Bound(39, 2.0))
    last = judge.last(replace(found, runtime_s=3.0))
    assert last.events == FAST.events
    assert last.status is Status.FEASIBLE
    assert (last.lower_bound_ns, last.runtime_s) == (39, 3.0)
    assert last.explanation == f"{why}; this is the best plan so far"


def test_a_broken_end_without_an_incumbent_is_no_plan(judge: Judge) -> None:
    judge.heard(Bound(39, 2.0))
    last = judge.last(BROKEN)
    assert (last.status, last.events, last.total_ns, last.lower_bound_ns) == (Status.UNKNOWN, (), None, 39)


def test_other_events_pass(judge: Judge) -> None:
    for event in (Log("a line", 1.0), Finished(FAST, 2.0)):
        assert judge.heard(event) is event
