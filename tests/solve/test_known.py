"""What plans and bounds are worth under other limits."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from problems import problems_with_steps
from problems_fixed import training_chain

from xengine_gui import planner
from xengine_gui.model.constraints import Constraint, Rule, constrained
from xengine_gui.model.plan import Status, Step
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Parameter
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import SolveOptions
from xengine_gui.solve.instant import Instant
from xengine_gui.solve.judge import plan_judged
from xengine_gui.solve.known import STILL_BEST, best_fitting, bound_from, is_looser, with_known


def test_the_quickest_plan_that_keeps_the_limits_is_taken_as_one_of_the_new_problem() -> None:
    plans = [planner.plan(training_chain(6, limit)) for limit in (400, 500, 600, 2000)]
    assert [p.total_ns for p in plans] == sorted((p.total_ns or 0 for p in plans), reverse=True)
    problem = training_chain(6, 550)
    best = best_fitting(problem, plans)
    assert best is not None
    assert best.problem is problem
    assert best.events is plans[1].events
    assert best.explanation == STILL_BEST
    assert best.lower_bound_ns is None
    assert verify(best).ok
    assert best_fitting(training_chain(6, 300), plans) is None
    assert best_fitting(training_chain(5, 2000), plans) is None


def test_a_plan_that_breaks_a_constraint_does_not_fit() -> None:
    problem = training_chain(6, 500)
    plan = planner.plan(problem)
    again = next(e.operator for e in plan.events if e.kind == "recompute")  # type: ignore[union-attr]
    bound = constrained(problem, [Constraint(Rule.COMPUTE_ONCE, again)])
    assert best_fitting(bound, [plan]) is None
    assert best_fitting(problem, [plan]) is plan


def test_bounds_hold_where_limits_are_no_larger_and_nowhere_else() -> None:
    problem = training_chain(6, 500)
    plan = replace(planner.plan(problem), lower_bound_ns=137)
    assert bound_from(problem.with_limit("gpu", 400), [plan]) == 137
    assert bound_from(problem.with_limit("gpu", 500), [plan]) == 137
    assert bound_from(problem.with_limit("gpu", 501), [plan]) == 0
    assert bound_from(problem.with_limit("gpu", None), [plan]) == 0
    assert not is_looser(training_chain(6, 500), problem)  # equal, but who knows
    assert not is_looser(replace(problem, parameters=(*problem.parameters, Parameter("weight", 8))), problem)


def test_the_better_of_found_and_known_is_told_with_the_bound_of_the_run() -> None:
    problem = training_chain(6, 600)
    known = best_fitting(problem, [planner.plan(training_chain(6, 500))])
    assert known is not None
    total_ns = known.total_ns or 0
    worse = replace(known, total_ns=total_ns + 10, lower_bound_ns=total_ns)
    told = with_known(worse, known, 0.001)
    assert (told.total_ns, told.lower_bound_ns, told.status) == (total_ns, total_ns, Status.OPTIMAL)
    better = replace(known, total_ns=total_ns - 10)
    assert with_known(better, known, 0.001) is better
    assert with_known(worse, None, 0.001) is worse
    nonsense = with_known(replace(worse, lower_bound_ns=total_ns + 1), known, 0.001)
    assert nonsense.lower_bound_ns is None


@settings(deadline=None, max_examples=40)
@given(problems_with_steps(), st.integers(0, 3))
def test_a_plan_at_once_is_valid_and_never_worse_than_one_that_is_kept(
    given_: tuple[Problem, list[Step]], room: int
) -> None:
    problem, steps = given_
    earlier = finished_plan(problem, "random", steps)
    valid = verify(earlier).ok
    wider = replace(
        problem,
        devices=tuple(
            replace(d, memory_limit_bytes=None if d.memory_limit_bytes is None else d.memory_limit_bytes + room)
            for d in problem.devices
        ),
    )
    plan = plan_judged(Instant(), wider, SolveOptions(time_limit_s=5.0, incumbent=earlier))
    if plan.has_events:
        assert verify(plan).ok
    if valid:
        assert plan.has_events
        assert (plan.total_ns or 0) <= (earlier.total_ns or 0)
