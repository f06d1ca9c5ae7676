"""Two plans on one time axis."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import problems_with_steps
from problems_fixed import training_chain

from xengine_gui import planner
from xengine_gui.model.plan import Clock, Compute, Free, Step
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.align import only_in, time_map
from xengine_gui.schedule.diff import diff
from xengine_gui.schedule.finish import finished_plan, on_clock


def test_first_computations_stand_one_above_the_other() -> None:
    one, other = planner.plan(training_chain(6, 400)), planner.plan(training_chain(6, 600))
    times = time_map(one, other)
    firsts = [
        {e.operator: (e.start_ns, e.end_ns) for e in plan.events if isinstance(e, Compute) and not e.again}
        for plan in (one, other)
    ]
    for name, (start_ns, end_ns) in firsts[0].items():
        assert times.to_other(np.array([start_ns])).tolist() == [firsts[1][name][0]]
        assert times.to_other(np.array([end_ns]), as_ends=True).tolist() == [firsts[1][name][1]]
    assert times.to_other(np.array([0, one.total_ns or 0])).tolist() == [0, other.total_ns]


def test_what_vanished_and_appeared_is_what_the_difference_counts() -> None:
    one, other = planner.plan(training_chain(6, 400)), planner.plan(training_chain(6, 600))
    only, difference = only_in(one, other), diff(one, other)
    more = [e.operator for e in (other.events[i] for i in only.other) if isinstance(e, Compute)]
    less = [e.operator for e in (one.events[i] for i in only.one) if isinstance(e, Compute)]
    for change in difference.recomputed:
        assert more.count(change.operator) - less.count(change.operator) == change.more
    assert only_in(one, one).one == only_in(one, one).other == ()


@settings(deadline=None, max_examples=50)
@given(problems_with_steps(), st.sampled_from(Clock))
def test_the_map_of_any_plan_to_itself_moves_nothing_and_never_runs_backwards(
    given_: tuple[Problem, list[Step]], clock: Clock
) -> None:
    plan = on_clock(finished_plan(given_[0], "random", given_[1]), clock)
    end = max((e.end_ns for e in plan.events), default=0)
    times = time_map(plan, plan)
    moments = np.arange(0, end + 1, max(1, end // 50))
    moved = times.to_other(moments)
    assert (np.diff(moved) >= 0).all()
    assert moved.tolist() == moments.tolist()
    assert only_in(plan, plan).one == ()
    assert not any(isinstance(plan.events[i], Free) for i in only_in(plan, plan).other)
