"""Chen et al.: where the checkpoints stand, and no forward operator more than twice."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from problems import problems
from reversal_chains import state_chain

from xengine_gui.model.plan import Compute, Plan
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.checkpointing.chen import Kind, Segments
from xengine_gui.solve.checkpointing.chen_greedy import ChenGreedy, greedy_checkpoints
from xengine_gui.solve.checkpointing.chen_sqrt import ChenSqrt
from xengine_gui.solve.checkpointing.forward_part import forward_part
from xengine_gui.solve.checkpointing.layout import layout
from xengine_gui.solve.checkpointing.sweeps import run_order
from xengine_gui.solve.formulations.one_device import single_devices

both = pytest.mark.parametrize("chosen", [ChenSqrt(), ChenGreedy()], ids=lambda s: s.key)


def most_computations(plan: Plan) -> int:
    counts = Counter(event.operator for event in plan.events if isinstance(event, Compute))
    return max(counts.values(), default=0)


@both
@given(problem=problems(max_operators=9, max_devices=2))
@settings(deadline=None, max_examples=30)
def test_no_operator_is_computed_more_than_twice(chosen: ChenSqrt | ChenGreedy, problem: Problem) -> None:
    if not chosen.supports(problem):
        plan = chosen.plan(problem, SolveContext())
        assert verify(plan).ok if plan.has_events else plan.explanation.endswith(".")
        assert most_computations(plan) <= 2


@pytest.mark.parametrize("length", [4, 9, 25, 100])
def test_on_chains_memory_grows_with_the_root(length: int) -> None:
    plan = ChenSqrt().plan(state_chain(length), SolveContext())
    assert verify(plan).ok
    assert most_computations(plan) == 2
    # A segment's states and the other segments' checkpoints, each about the root, beside a step's three tensors.
    assert plan.peak_bytes["gpu"] <= 2 * length**0.5 + 4


def test_segments_between_checkpoints_are_computed_again_but_the_last() -> None:
    problem = state_chain(8)
    part = forward_part(problem, single_devices(problem)[0])
    order = run_order(part, Segments(part, (3, 6), Kind.CUT), ceiling_ns=1e9, should_stop=lambda: False)
    assert order is not None
    # x2 and x5 are retained, x6 to x8 are the last segment: B6 to B4 want x5, x4, x3, and B3 to B1 want x2, x1, x0.
    assert order == [*range(9), 9, 10, 11, 12, 3, 4, 13, 14, 15, 0, 1, 16, 17]
    assert replay_steps(problem.indexed, layout(part.one, order).steps).valid


def test_greedy_counts_bytes_from_checkpoint_to_checkpoint() -> None:
    made = [0, 2, 3, 7, 8, 9, 15]
    assert greedy_checkpoints(made, (1, 2, 3, 4, 5), 3) == (3,)
    assert greedy_checkpoints(made, (1, 2, 4, 5), 3) == (4,)
    assert greedy_checkpoints(made, (1, 2, 3, 4, 5), 0) == (1, 2, 3, 4, 5)
    assert greedy_checkpoints(made, (1, 2, 3, 4, 5), 100) == ()


def test_greedy_with_room_for_everything_retains_all() -> None:
    plan = ChenGreedy().plan(state_chain(12), SolveContext())
    assert most_computations(plan) == 1


def test_greedy_takes_the_fastest_plan_that_fits() -> None:
    totals = []
    for limit in range(30, 8, -1):
        plan = ChenGreedy().plan(state_chain(20, limit=limit), SolveContext())
        assert verify(plan).ok
        totals.append(plan.total_ns or 0)
    assert totals == sorted(totals)
    assert totals[0] == 62
    assert totals[-1] > 62


def test_a_graph_without_articulation_points_is_linearised() -> None:
    # Every forward operator reads the first tensor again, so two tensors cross everywhere but at the beginning.
    chain = state_chain(16)
    joined = (replace(o, inputs=(*o.inputs, "x0")) for o in chain.operators[2:17])
    dense = replace(chain, operators=(*chain.operators[:2], *joined, *chain.operators[17:]))
    part = forward_part(dense, single_devices(dense)[0])
    assert part.articulations == (1,)
    plan = ChenSqrt().plan(dense.with_limit("gpu", 14), SolveContext())
    assert verify(plan).ok
    assert any(isinstance(event, Compute) and event.again for event in plan.events)
