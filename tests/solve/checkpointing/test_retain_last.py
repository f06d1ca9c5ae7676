"""Retain-last: windows from Checkmate's baseline, which holds one tensor, to everything."""

import pytest
from reversal_chains import result_chain, state_chain

from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.checkpointing.forward_part import forward_part
from xengine_gui.solve.checkpointing.retain_last import RetainLast, Window
from xengine_gui.solve.checkpointing.sweeps import run_order
from xengine_gui.solve.formulations.one_device import single_devices


@pytest.mark.parametrize("length", [1, 2, 5, 12])
def test_a_window_of_nothing_computes_everything_again_for_each_step(length: int) -> None:
    problem = state_chain(length)
    part = forward_part(problem, single_devices(problem)[0])
    order = run_order(part, Window(part, 0), ceiling_ns=1e9, should_stop=lambda: False)
    assert order is not None
    # x0 to x(l-1) are each made from the beginning when their step is reversed.
    assert sum(operator <= length for operator in order) == length + 1 + length * (length + 1) // 2


@pytest.mark.parametrize("window", range(1, 8))
def test_a_window_is_used_up_before_the_next_sweep(window: int) -> None:
    length = 21
    problem = state_chain(length)
    part = forward_part(problem, single_devices(problem)[0])
    order = run_order(part, Window(part, window), ceiling_ns=1e9, should_stop=lambda: False)
    assert order is not None
    # A sweep to state x_i runs i + 1 operators and serves `window` states; the last ones the loss reads first.
    swept = [i + 1 for i in range(length - window, -1, -window)]
    assert sum(operator <= length for operator in order) == length + 1 + sum(swept)


@pytest.mark.parametrize("length", range(2, 9))
def test_the_tightest_limit_is_quadratic_where_a_step_reads_its_own_result(length: int) -> None:
    plan = RetainLast().plan(result_chain(length, limit=3), SolveContext())
    assert verify(plan).ok
    assert plan.total_ns == (length + 1) * (length + 2) // 2


def test_less_memory_is_never_faster_on_a_chain() -> None:
    totals = [RetainLast().plan(state_chain(20, limit=limit), SolveContext()).total_ns for limit in range(24, 3, -1)]
    assert all(total is not None for total in totals)
    assert totals == sorted(totals, key=lambda total: total or 0)
    assert totals[0] == 60 + 2
