"""Constraints of the user: what they forbid, what they leave, and that nothing else changes."""

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from plans_fixed import four_operators
from problems import problems, problems_with_steps
from problems_fixed import training_chain

from xengine_gui import planner
from xengine_gui.errors import InputError
from xengine_gui.model.constraints import (
    Constraint,
    Rule,
    as_far_as_possible,
    constrained,
    constraint_from_json,
    constraint_to_json,
    with_added,
)
from xengine_gui.model.plan import Compute, Plan, Transfer
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import SolveOptions


def some_constraints(problem: Problem) -> st.SearchStrategy[list[Constraint]]:
    """Constraints that may or may not hold."""
    devices = st.sampled_from([d.name for d in problem.devices])
    operators = st.sampled_from([o.name for o in problem.operators])
    kinds = [
        st.builds(Constraint, st.just(Rule.COMPUTE_ONCE), operators),
        st.builds(Constraint, st.just(Rule.RUN_ON), operators, devices),
    ]
    if problem.tensors:
        tensors = st.sampled_from([t.name for t in problem.tensors])
        kinds.append(st.builds(Constraint, st.just(Rule.RETAIN), tensors, devices))
    return st.lists(st.one_of(kinds), min_size=1, max_size=3)


def keeps(plan: Plan, constraint: Constraint) -> bool:
    """Whether a plan does what a constraint demands, looked up in its events."""
    problem = plan.problem
    if constraint.rule is Rule.RETAIN:
        maker = next(o.name for o in problem.operators if constraint.name in o.outputs)
        runs = [e for e in plan.events if isinstance(e, Compute) and e.operator == maker]
        back = [e for e in plan.events if isinstance(e, Transfer) and e.tensor == constraint.name]
        return [e.device for e in runs] == [constraint.device] and all(e.destination != constraint.device for e in back)
    runs = [e for e in plan.events if isinstance(e, Compute) and e.operator == constraint.name]
    if constraint.rule is Rule.COMPUTE_ONCE:
        return len(runs) == 1
    return {e.device for e in runs} == {constraint.device}


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_the_valid_plans_of_the_constrained_problem_are_those_that_keep_the_constraints(data: st.DataObject) -> None:
    problem, steps = data.draw(problems_with_steps())
    assume(problem.operators)
    constraints = data.draw(some_constraints(problem))
    bound, idle = as_far_as_possible(problem, constraints)
    plan = finished_plan(problem, "random", steps)
    assume(verify(plan).ok)
    # Implementations are told by name, so the same events are judged against the other problem.
    held = [c for c in dict.fromkeys(constraints) if c not in idle]
    assert verify(replace(plan, problem=bound)).ok == all(keeps(plan, c) for c in held)


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_a_plan_of_the_constrained_problem_keeps_them_and_is_a_plan_without_them(data: st.DataObject) -> None:
    problem = data.draw(problems(connected=True))
    assume(problem.operators)
    constraints = data.draw(some_constraints(problem))
    bound, idle = as_far_as_possible(problem, constraints)
    plan = planner.plan(bound, "greedy", SolveOptions(time_limit_s=1.0))
    if plan.has_events:
        assert all(keeps(plan, c) for c in constraints if c not in idle)
        assert verify(replace(plan, problem=problem)).ok


def test_only_the_tensor_that_is_retained_may_not_be_brought_back() -> None:
    problem = four_operators()
    tensor, device = problem.tensors[0], problem.devices[0].name
    others = [d.name for d in problem.devices if d.name != device]
    bound = constrained(problem, [Constraint(Rule.RETAIN, tensor.name, device)])
    place = {d.name: i for i, d in enumerate(problem.devices)}
    for other in others:
        before = [problem.indexed.copy_ns(place[other], place[device], t) for t in range(len(problem.tensors))]
        after = [bound.indexed.copy_ns(place[other], place[device], t) for t in range(len(problem.tensors))]
        assert after == [None, *before[1:]]
        away = [problem.indexed.copy_ns(place[device], place[other], t) for t in range(len(problem.tensors))]
        assert away == [bound.indexed.copy_ns(place[device], place[other], t) for t in range(len(problem.tensors))]


def test_what_cannot_hold_is_told() -> None:
    problem = training_chain()
    unknown, nowhere = Constraint(Rule.COMPUTE_ONCE, "f99"), Constraint(Rule.RUN_ON, "f1", "tpu")
    bound, idle = as_far_as_possible(problem, [unknown, nowhere])
    assert bound is problem
    assert idle == {unknown: "there is no operator of this name", nowhere: "there is no device 'tpu'"}
    with pytest.raises(InputError, match="never recompute f99: there is no operator of this name"):
        constrained(problem, [unknown])


def test_a_recompute_that_is_forbidden_costs_what_the_plan_without_it_costs() -> None:
    problem = training_chain(6, 600)
    free = planner.plan(problem)
    assert free.total_ns is not None
    again = [e.operator for e in free.events if isinstance(e, Compute) and e.again]
    assert again
    total_ns = free.total_ns
    bound = constrained(problem, [Constraint(Rule.COMPUTE_ONCE, name) for name in again])
    other = planner.plan(bound)
    # What the tighter problem costs is never less, and the names that are forbidden are not among the recomputes.
    assert other.total_ns is None or other.total_ns >= total_ns
    assert not {e.operator for e in other.events if isinstance(e, Compute) and e.again} & set(again)


@pytest.mark.parametrize(
    "constraint",
    [Constraint(Rule.RETAIN, "t", "gpu"), Constraint(Rule.COMPUTE_ONCE, "o"), Constraint(Rule.RUN_ON, "o", "cpu")],
)
def test_rows_of_a_file_tell_the_constraint(constraint: Constraint) -> None:
    assert constraint_from_json(constraint_to_json(constraint)) == constraint


@pytest.mark.parametrize(
    "row",
    [3, {}, {"retain": "t"}, {"run_on": "o"}, {"compute_once": "o", "device": "gpu"}, {"retain": 3, "device": "gpu"},
     {"run_on": "o", "device": "gpu", "unless": "it rains"}, {"retain": "t", "run_on": "t", "device": "gpu"}],
)  # fmt: skip
def test_rows_that_say_something_else_are_not_guessed_at(row: object) -> None:
    assert constraint_from_json(row) is None  # type: ignore[arg-type]


def test_a_later_constraint_of_the_same_kind_takes_the_place_of_the_earlier() -> None:
    first, second = Constraint(Rule.RUN_ON, "o", "cpu"), Constraint(Rule.RUN_ON, "o", "gpu")
    once = Constraint(Rule.COMPUTE_ONCE, "o")
    assert with_added([first, once], second) == (once, second)
