"""Planning again after an edit: what is taken over from the last plan, and that nothing is lost by it."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from problems import problems
from problems_fixed import chain_problem, training_chain

from xengine_gui.model.plan import Status
from xengine_gui.model.problem_file import read_problem
from xengine_gui.schedule.clock import steps_of
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import SolveContext, SolveOptions
from xengine_gui.solve.watchpoints.points import WatchPoint
from xengine_gui.solve.watchpoints.start import kept_within, moments_from, steps_from
from xengine_gui.solve.watchpoints.strategy import Optimal


def planned(problem, **options):
    return Optimal().plan(problem, SolveContext(SolveOptions(**{"gap_ratio": 0.0, "time_limit_s": 20.0} | options)))


def test_a_plan_of_another_graph_is_not_taken_over():
    plan = planned(training_chain(4, 400))
    assert steps_from(training_chain(4, 300), plan) == steps_of(plan.problem, plan.events)
    assert steps_from(training_chain(5, 300), plan) is None
    assert steps_from(chain_problem(300), plan) is None


def test_a_smaller_limit_has_the_steps_repaired_and_all_moments_kept():
    steps = steps_of((plan := planned(training_chain(8, 500))).problem, plan.events)
    tight = training_chain(8, 300).indexed
    repaired = kept_within(tight, steps, lambda: False)
    assert repaired is not None
    assert replay_steps(tight, repaired).valid
    points = [WatchPoint(o, o) for o in (3, 8, 12)]
    assert moments_from(tight, steps, [tuple(p) for p in points]) == tuple(points)


def test_a_larger_limit_keeps_the_steps_and_the_moments_near_it():
    steps = steps_of((plan := planned(training_chain(8, 400))).problem, plan.events)
    levels = replay_steps(plan.problem.indexed, steps).levels(0)
    roomy = training_chain(8, 450).indexed
    assert kept_within(roomy, steps, lambda: False) == steps
    first = [next(i for i, s in enumerate(steps) if getattr(s, "operator", None) == o) for o in range(16)]
    kept = moments_from(roomy, steps, [(o, o) for o in range(16)])
    assert {p.stage for p in kept} == {o for o in range(16) if levels[first[o]] >= 360}
    assert moments_from(training_chain(8, 5000).indexed, steps, [(o, o) for o in range(16)]) == ()


def test_a_known_bound_that_a_plan_disproves_is_none():
    right, told = planned(training_chain(8, 500)), planned(training_chain(8, 500), known_bound_ns=10**9)
    assert (told.status, told.total_ns, told.lower_bound_ns) == (Status.OPTIMAL, right.total_ns, right.total_ns)


@given(problem=problems(max_operators=5, max_devices=2), data=st.data())
@settings(deadline=None, max_examples=30)
def test_after_any_edit_of_a_limit_the_plan_is_as_good_as_afresh(problem, data):
    last = planned(problem)
    assume(last.has_events)
    assume(any(d.memory_limit_bytes is not None for d in problem.devices))
    device = data.draw(st.sampled_from([d for d in problem.devices if d.memory_limit_bytes is not None]))
    limit = data.draw(st.integers(0, 2 * (device.memory_limit_bytes or 0) + 5) | st.none())
    edited = problem.with_limit(device.name, limit)
    afresh, again = planned(edited), planned(edited, incumbent=last)
    assert (again.status, again.total_ns) == (afresh.status, afresh.total_ns)
    assert not again.has_events or verify(again).ok


@pytest.mark.parametrize("factor", [1.0, 1.01, 1.3])
def test_a_larger_limit_gives_the_last_plan_at_once(shared_folder, factor):
    problem = read_problem(shared_folder / "instances" / "published" / "unet_p100_training.json")
    last = planned(problem.with_limit("gpu", 10**10), gap_ratio=0.01)
    heard = []
    context = SolveContext(SolveOptions(incumbent=last, time_limit_s=20.0, gap_ratio=0.05), heard.append)
    again = Optimal().plan(problem.with_limit("gpu", int(factor * 10**10)), context)
    plans = [event.plan for event in heard if hasattr(event, "plan")]
    assert plans[0].total_ns == last.total_ns
    assert again.total_ns <= last.total_ns
    assert again.status is Status.OPTIMAL
