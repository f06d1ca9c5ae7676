"""Laying out an order: frees as early as can be, and the implementation that fits."""

from reversal_chains import state_chain

from xengine_gui.model.device import Device
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.plan import Drop, Run
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Tensor
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.solve.checkpointing.layout import layout
from xengine_gui.solve.formulations.one_device import single_devices


def test_a_tensor_that_is_made_again_before_it_is_read_goes_after_its_last_use() -> None:
    problem = state_chain(2)  # F0 F1 F2 loss B2 B1, and F0 again before B1, so x0 need not wait for it
    steps = layout(single_devices(problem)[0], [0, 1, 2, 3, 4, 0, 5]).steps
    x0 = problem.indexed.outputs[0][0]
    assert steps[:3] == [Run(0, 0), Run(0, 1), Drop(0, x0)]
    assert steps.count(Drop(0, x0)) == 2
    replay = replay_steps(problem.indexed, steps)
    assert replay.valid
    assert replay.total_ns == 9
    assert replay.peak_bytes == (3,)


def two_ways(limit: int) -> Problem:
    ways = (Implementation(5, 4, "fast"), Implementation(7, 1, "lean"))
    operators = (
        Operator("a", "x", Phase.FORWARD, (), ("t0",), costs={"gpu": ways}),
        Operator("b", "x", Phase.FORWARD, ("t0",), ("t1",), costs={"gpu": ways}),
    )
    return Problem("ways", (Device("gpu", "", limit),), operators, (Tensor("t0", 2), Tensor("t1", 2)))


def test_each_run_takes_the_fastest_implementation_that_fits_at_that_moment() -> None:
    problem = two_ways(7)
    laid = layout(single_devices(problem)[0], [0, 1])
    assert laid.over_bytes == 0
    assert [step.implementation for step in laid.steps if isinstance(step, Run)] == [0, 1]


def test_what_passes_the_limit_is_told_with_its_operator() -> None:
    problem = two_ways(4)
    laid = layout(single_devices(problem)[0], [0, 1])
    assert (laid.over_bytes, laid.operator) == (1, 1)
