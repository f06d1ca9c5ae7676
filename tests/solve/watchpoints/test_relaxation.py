"""The relaxation bounds every plan: each valid plan is one of its points, and costs no less."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import problems_with_steps

from xengine_gui.model.plan import Step
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.solve.highs import Outcome
from xengine_gui.solve.watchpoints.box import Box
from xengine_gui.solve.watchpoints.cuts import path_cuts
from xengine_gui.solve.watchpoints.decode import UndecodableError, decode
from xengine_gui.solve.watchpoints.encode import encode
from xengine_gui.solve.watchpoints.highs import Limits, LinearProgram, solve_milp
from xengine_gui.solve.watchpoints.points import Segmentation, WatchPoint, in_order
from xengine_gui.solve.watchpoints.relaxation import Relaxation
from xengine_gui.solve.watchpoints.tables import Tables


@st.composite
def relaxations(draw: st.DrawFn) -> tuple[Relaxation, list[Step], Problem]:
    """A relaxation at random watch points of a problem, and a valid plan of the problem."""
    problem, steps = draw(problems_with_steps(max_operators=7).filter(lambda found: bool(found[0].operators)))
    count = len(problem.operators)
    points = []
    for _ in range(draw(st.integers(0, 5))):
        stage = draw(st.integers(0, count - 1))
        operator = draw(st.integers(0, stage))
        device = -1 if operator == stage else draw(st.integers(0, len(problem.devices) - 1))
        points.append(WatchPoint(stage, operator, device))
        earlier = [p for p in points if p.stage == stage and not p.is_first and p.before is None]
        if earlier and operator != stage and draw(st.booleans()):
            other = draw(st.sampled_from(earlier))
            if (other.operator, other.device) != (operator, device):
                points.append(WatchPoint(stage, operator, device, (other.operator, other.device)))
    return Relaxation.of(Tables.of(problem.indexed), Segmentation(count, in_order(points))), steps, problem


@given(relaxations())
@settings(deadline=None, max_examples=150)
def test_every_valid_plan_is_a_point_of_the_relaxation_and_costs_no_less(case):
    relaxation, steps, problem = case
    replay = replay_steps(problem.indexed, steps)
    assert replay.valid
    point = encode(relaxation, steps)
    activity = relaxation.matrix @ point
    assert np.all(activity >= relaxation.lower - 1e-6)
    assert np.all(activity <= relaxation.upper + 1e-6)
    assert relaxation.cost @ point * relaxation.tables.time_unit_ns <= replay.total_ns + 1e-3


@given(relaxations(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_any_dual_vector_proves_a_bound_that_no_plan_is_below(case, random):
    relaxation, steps, problem = case
    total_ns = replay_steps(problem.indexed, steps).total_ns
    guess = np.array([random.uniform(-3, 3) for _ in relaxation.lower])
    assert relaxation.dual_bound(guess)[0] * relaxation.tables.time_unit_ns <= total_ns + 1e-3
    solved = LinearProgram(relaxation).solve(Limits(10))
    assert solved.outcome is Outcome.SOLVED
    bound, reduced = relaxation.dual_bound(solved.row_dual)
    assert relaxation.tables.bound_ns(bound) <= total_ns
    assert abs(bound - relaxation.cost @ solved.point) <= 1e-4 * max(1.0, abs(bound))
    # Reduced costs tell what a column costs at least: the plan's own columns cannot push it above its total.
    used = encode(relaxation, steps) > 0.5
    assert np.all(bound + reduced[used] <= total_ns / relaxation.tables.time_unit_ns + 1e-4)


@given(relaxations(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=150)
def test_path_cuts_hold_for_every_valid_plan_and_are_violated_where_they_are_made(case, random):
    relaxation, steps, _ = case
    point = np.array([random.choice([0.0, 0.3, 0.5, 1.0]) for _ in range(relaxation.columns.count)])
    cuts = path_cuts(relaxation, point)
    if cuts is None:
        return
    matrix = cuts.matrix(relaxation.columns.count)
    assert np.all(matrix @ encode(relaxation, steps) >= cuts.lower - 1e-9)
    assert np.all(matrix @ point < cuts.lower)


@given(relaxations())
@settings(deadline=None, max_examples=60)
def test_a_decoded_optimum_keeps_every_rule_but_the_limits_and_costs_what_the_relaxation_says(case):
    relaxation, steps, problem = case
    count = relaxation.columns.count
    solved = solve_milp(relaxation, Box.whole(count), Limits(10))
    assert solved.outcome is Outcome.SOLVED
    assert solved.point is not None
    assert solved.value * relaxation.tables.time_unit_ns <= replay_steps(problem.indexed, steps).total_ns + 1e-3
    try:
        decoded = decode(relaxation, solved.point)
    except UndecodableError:
        assert len(problem.devices) > 2  # longer circles of copies are not cut off
        return
    replay = replay_steps(problem.indexed, decoded.steps)
    assert not replay.mistakes
    assert replay.total_ns <= solved.value * relaxation.tables.time_unit_ns + 1e-3


def test_a_watched_recomputation_brings_the_start_of_its_stage():
    assert in_order([WatchPoint(4, 2, 0), WatchPoint(4, 4), WatchPoint(1, 1)]) == (
        WatchPoint(1, 1),
        WatchPoint(3, 3),
        WatchPoint(4, 2, 0),
        WatchPoint(4, 4),
    )


def test_segments_hold_each_first_computation_once():
    segmentation = Segmentation(6, in_order([WatchPoint(2, 2), WatchPoint(4, 1, 0), WatchPoint(4, 4)]))
    covered = [o for segment in segmentation.segments for o in range(segment.first, segment.last + 1)]
    assert covered == list(range(6))
    assert segmentation.barred(3) == [(1, 0)]
    assert segmentation.barred(4) == []
