"""Revolve: on chains exactly the binomial numbers of forward steps, with exactly as many checkpoints."""

from math import comb

import pytest
from reversal_chains import recording_chain, result_chain, state_chain

from xengine_gui.model.plan import Compute
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.checkpointing.forward_part import forward_part
from xengine_gui.solve.checkpointing.layout import layout
from xengine_gui.solve.checkpointing.revolve import Reversal, Revolve
from xengine_gui.solve.checkpointing.sweeps import run_order
from xengine_gui.solve.formulations.one_device import single_devices


def extra(steps: int, checkpoints: int) -> int:
    """t(l, c) by the formula of Griewank and Walther, with r the least for which (c + r choose c) is at least l."""
    r = 0
    while comb(checkpoints + r, checkpoints) < steps:
        r += 1
    return r * steps - (comb(checkpoints + r, checkpoints + 1) if r else 0)


def reversed_with(problem: Problem, slots: int) -> tuple[list[int], int]:
    """The order of operators for so many checkpoints, and its peak."""
    part = forward_part(problem, single_devices(problem)[0])
    retention = Reversal(part, (0, *part.boundaries, part.turn), slots, hold_last=True)
    order = run_order(part, retention, ceiling_ns=float("inf"), should_stop=lambda: False)
    assert order is not None
    replay = replay_steps(problem.indexed, layout(part.one, order).steps)
    assert replay.valid
    return order, replay.peak_bytes[0]


def test_the_formula_has_the_published_values() -> None:
    assert extra(10, 3) == 15
    assert extra(100, 10) == 222


@pytest.mark.parametrize("slots", range(1, 13))
def test_extra_forward_steps_on_recording_chains(slots: int) -> None:
    for length in range(1, 61):
        problem = recording_chain(length)
        order, peak_bytes = reversed_with(problem, slots)
        assert len(order) - len(problem.operators) == extra(length, slots)
        # Beside the checkpoints, x0 among them, the state that a step reads and the one that it makes.
        assert peak_bytes <= slots + 2


@pytest.mark.parametrize("slots", range(1, 13))
def test_forward_steps_where_the_backward_reads_the_state(slots: int) -> None:
    # The first state is made by a step too, and no backward wants the last step's record: l + 1 steps, of which the
    # last is run once and the others t(l + 1, c) times.
    for length in range(1, 40):
        problem = state_chain(length)
        order, _ = reversed_with(problem, slots)
        assert sum(operator <= length for operator in order) == extra(length + 1, slots) + 1


@pytest.mark.parametrize(("length", "limit"), [(10, 5), (20, 6), (40, 8), (100, 12)])
def test_a_limit_gives_as_many_checkpoints_as_fit(length: int, limit: int) -> None:
    plan = Revolve().plan(recording_chain(length, limit=limit), SolveContext())
    assert verify(plan).ok
    again = sum(isinstance(event, Compute) and event.again for event in plan.events)
    # Two bytes are for the step that runs; a plan with more checkpoints may fit where they are not held together.
    assert extra(length, limit) <= again <= extra(length, limit - 2)


@pytest.mark.parametrize("length", range(2, 9))
def test_with_no_checkpoint_beside_the_input_it_is_quadratic(length: int) -> None:
    plan = Revolve().plan(result_chain(length, limit=3), SolveContext())
    assert verify(plan).ok
    assert plan.total_ns == (length + 1) * (length + 2) // 2
