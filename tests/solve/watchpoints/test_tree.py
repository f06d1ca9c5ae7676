"""Branch and bound against HiGHS on the same relaxations: the same optimum, and nothing proved that is not so."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from problems import problems

from xengine_gui.model.problem_file import read_problem
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.greedy import greedy_steps
from xengine_gui.solve.highs import Outcome
from xengine_gui.solve.watchpoints.box import Box
from xengine_gui.solve.watchpoints.encode import encode
from xengine_gui.solve.watchpoints.highs import Limits, solve_milp
from xengine_gui.solve.watchpoints.knowledge import Knowledge
from xengine_gui.solve.watchpoints.neighbourhood import Neighbourhoods, around, column_operators
from xengine_gui.solve.watchpoints.node_program import NodeProgram
from xengine_gui.solve.watchpoints.points import Segmentation, WatchPoint, in_order
from xengine_gui.solve.watchpoints.race import solve_by_both
from xengine_gui.solve.watchpoints.relaxation import Relaxation
from xengine_gui.solve.watchpoints.search import Search
from xengine_gui.solve.watchpoints.tables import Tables
from xengine_gui.solve.watchpoints.tighten import tighten
from xengine_gui.solve.watchpoints.tree import Tree, TreeOrders

EXACT = 1e-6


@st.composite
def tight_relaxations(draw):
    """A relaxation of a random problem that may or may not have a point, with a few watched first computations."""
    problem = draw(problems(max_operators=7).filter(lambda found: bool(found.operators)))
    stages = draw(st.lists(st.integers(0, len(problem.operators) - 1), max_size=4))
    points = in_order([WatchPoint(stage, stage) for stage in stages])
    relaxation = Relaxation.of(Tables.of(problem.indexed), Segmentation(len(problem.operators), points))
    assume(len(relaxation.cost))
    return problem, relaxation


def orders(cutoff=math.inf, told=None):
    listen = told.append if told is not None else lambda _bound: None
    return TreeOrders(cutoff=lambda: cutoff, gap_ratio=0.0, should_stop=lambda: False, on_bound=listen)


def optimum(relaxation):
    """What HiGHS says, `None` where there is no point."""
    solved = solve_milp(relaxation, Box.whole(len(relaxation.cost)), Limits(10))
    assert solved.outcome in {Outcome.SOLVED, Outcome.INFEASIBLE}
    return None if solved.point is None else solved.value


@given(tight_relaxations())
@settings(deadline=None, max_examples=120)
def test_the_tree_finds_the_optimum_that_highs_finds(case):
    _, relaxation = case
    known, told = optimum(relaxation), []
    found = Tree(relaxation, orders(told=told)).run()
    if known is None:
        assert found.outcome is Outcome.INFEASIBLE
        return
    assert found.outcome is Outcome.SOLVED
    assert found.value == pytest.approx(known, rel=EXACT)
    assert found.bound <= known * (1 + EXACT) + EXACT
    assert told == sorted(told)
    assert np.all(relaxation.matrix @ found.point >= relaxation.lower - EXACT)
    assert np.all(relaxation.matrix @ found.point <= relaxation.upper + EXACT)


@given(tight_relaxations())
@settings(deadline=None, max_examples=30)
def test_lps_that_are_never_solved_leave_the_search_open(case):
    _, relaxation = case
    known, solve = optimum(relaxation), NodeProgram.solve
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NodeProgram, "solve", lambda *args: replace(solve(*args), finished=False))
        found = Tree(relaxation, orders()).run()
    assert found.point is None
    assert found.outcome is Outcome.STOPPED or known is None
    assert known is None or found.bound <= known * (1 + EXACT) + EXACT


@given(tight_relaxations(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=40)
def test_any_duals_prove_a_bound_also_those_that_are_no_numbers(case, random):
    _, relaxation = case
    known = optimum(relaxation)
    duals = np.array([random.choice([math.nan, math.inf, -math.inf, random.uniform(-9, 9)]) for _ in relaxation.lower])
    bound, _ = relaxation.dual_bound(duals)
    assert math.isfinite(bound)
    assert known is None or bound <= known + EXACT


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("published/vgg16_p100_training", {"gpu": 8_274_477_056}),
        ("derived/vgg19_gpu30", {}),
        ("derived/squeezenet_gpu40", {}),
    ],
)
def test_networks_that_take_many_nodes_end_at_the_optimum_too(shared_folder, name, limits):
    problem = read_problem(shared_folder / "instances" / f"{name}.json")
    for device, limit_bytes in limits.items():
        problem = problem.with_limit(device, limit_bytes)
    search = Search(problem, SolveContext(), "test")
    search.run()
    relaxation = Relaxation.of(search.tables, Segmentation(len(problem.operators), search.points))
    tree = Tree(relaxation, orders())
    found = tree.run()
    assert tree.node_count > 5
    assert found.value == pytest.approx(optimum(relaxation), rel=EXACT)
    assert found.bound == pytest.approx(found.value, rel=EXACT)


@given(tight_relaxations(), st.floats(0.5, 1.5))
@settings(deadline=None, max_examples=80)
def test_a_cutoff_hides_what_is_not_below_it_and_nothing_else(case, share):
    _, relaxation = case
    known = optimum(relaxation)
    if not known or abs(share - 1) < 1e-3:
        return
    for found in (
        Tree(relaxation, orders(cutoff=share * known)).run(),
        _by_both(case, orders(cutoff=share * known)),
    ):
        if found is None:
            continue
        if share < 1:
            assert found.outcome is Outcome.INFEASIBLE
            assert found.bound <= share * known * (1 + EXACT)
        else:
            assert found.value == pytest.approx(known, rel=EXACT)


def _by_both(case, wanted):
    problem, relaxation = case
    tightened = tighten(Knowledge(problem, SolveContext(), "test"), relaxation)
    return None if tightened is None else solve_by_both(tightened, wanted)


@given(tight_relaxations(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=80)
def test_the_bound_of_a_box_holds_for_every_point_in_it_and_an_empty_box_has_none(case, random):
    _, relaxation = case
    program, box, basis = NodeProgram(relaxation, lambda: False), Box.whole(len(relaxation.cost)), None
    for _ in range(4):
        box = box.with_fixed(random.randrange(len(relaxation.cost)), random.choice([0.0, 1.0]))
        lp = program.solve(box, basis, random.choice([None, 1, 5]))
        inside = solve_milp(relaxation, box, Limits(10))
        if lp.is_empty:
            assert inside.outcome is Outcome.INFEASIBLE
            return
        assert lp.bound <= inside.value * (1 + EXACT) + EXACT
        cutoff = lp.bound + random.random() * abs(lp.bound)
        fixed = box.below(cutoff, lp.bound, lp.reduced)
        if inside.value < cutoff:  # what a solution below the cutoff uses stays allowed
            assert np.all(fixed.lower <= inside.point)
            assert np.all(inside.point <= fixed.upper)
        basis = lp.basis


@given(tight_relaxations())
@settings(deadline=None, max_examples=40)
def test_around_a_known_point_only_what_is_free_changes(case):
    _, relaxation = case
    known = solve_milp(relaxation, Box.whole(len(relaxation.cost)), Limits(10)).point
    if known is None:
        return
    neighbourhoods = Neighbourhoods()
    guess = np.full(len(known), 0.5)
    first = neighbourhoods.free_columns(relaxation, guess, known)
    assert first.all()  # the guess differs from the known point everywhere
    free = neighbourhoods.free_columns(relaxation, guess, known)
    found = around(relaxation, known, free, Limits(10, cutoff=math.inf))
    assert found.value == pytest.approx(float(relaxation.cost @ known), rel=EXACT, abs=EXACT)
    assert np.all(found.point[~free] == known[~free])


def test_columns_are_about_what_runs_or_made_the_tensor(shared_folder):
    problem = read_problem(shared_folder / "instances" / "published" / "unet_p100_training.json")
    problem = problem.with_limit("gpu", 6_270_889_984)
    count = len(problem.operators)
    relaxation = Relaxation.of(Tables.of(problem.indexed), Segmentation(count, in_order([WatchPoint(90, 90)])))
    operators = column_operators(relaxation)
    assert set(operators) <= set(range(-1, count))
    # Each operator runs at least once in any plan, so its columns carry at least one run.
    steps = greedy_steps(problem.indexed, lambda: False, effort=0)
    used = encode(relaxation, steps) > 0.5
    assert set(range(count)) <= set(operators[used])
