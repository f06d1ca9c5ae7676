"""The figures of a plan are sums over its events."""

import pytest

from xengine_gui.model.device import Device, Link
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.plan import Clock, Drop, Move, Run
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Tensor
from xengine_gui.schedule.finish import finished_plan, on_clock
from xengine_gui.schedule.summary import summarise

PROBLEM = Problem(
    name="pair",
    devices=(Device("gpu", "gpu", 30), Device("cpu", "cpu")),
    operators=(
        Operator("a", "Conv", Phase.FORWARD, (), ("a",), costs={"gpu": (Implementation(10),)}),
        Operator("b", "Conv", Phase.FORWARD, ("a",), ("b",), costs={"gpu": (Implementation(20),)}),
    ),
    tensors=(Tensor("a", 10), Tensor("b", 10)),
    links=(Link("gpu", "cpu", 10**9),),
)


@pytest.mark.parametrize("clock", Clock)
def test_the_figures_do_not_depend_on_the_clock(clock: Clock) -> None:
    steps = [Run(0, 0), Move(0, 1, 0), Run(0, 1), Drop(0, 0), Run(0, 0)]
    plan = finished_plan(PROBLEM, "test", steps, lower_bound_ns=40)
    figures = summarise(on_clock(plan, clock), unlimited_total_ns=40, with_makespan=True)
    assert figures.total_ns == 50
    assert figures.makespan_ns == 40
    assert figures.gap_ratio == pytest.approx(0.2)
    assert figures.overhead_ratio == pytest.approx(0.25)
    assert figures.busy_ns == {"gpu": 40, "cpu": 0}
    assert (figures.compute_count, figures.recompute_count, figures.recompute_ns) == (2, 1, 10)
    assert (figures.transfer_count, figures.transfer_ns, figures.transfer_bytes) == (1, 10, 10)
    assert (figures.free_count, figures.peak_bytes, figures.limit_bytes) == (
        1,
        {"gpu": 20, "cpu": 10},
        {"gpu": 30, "cpu": None},
    )


def test_without_a_bound_there_is_no_gap() -> None:
    figures = summarise(finished_plan(PROBLEM, "test", [Run(0, 0), Run(0, 1)]))
    assert figures.gap_ratio is None
    assert figures.overhead_ratio is None
