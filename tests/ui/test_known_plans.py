"""Plans that are remembered: among them is the best for every limit that was met before."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from problems_fixed import training_chain

from xengine_gui.model.device import Link
from xengine_gui.model.plan import Plan, Status
from xengine_gui.ui.known_plans import KnownPlans

PROBLEM = training_chain(3)
PLAN = Plan(PROBLEM, "test", Status.FEASIBLE, total_ns=0, peak_bytes={"gpu": 0})


def plan(total_ns: int, peak_bytes: int) -> Plan:
    return replace(PLAN, total_ns=total_ns, peak_bytes={"gpu": peak_bytes})


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), max_size=60), st.integers(1, 30))
def test_the_best_that_fits_is_among_them_however_many_were_met(met: list[tuple[int, int]], limit: int) -> None:
    known = KnownPlans()
    for total_ns, peak_bytes in met:
        known.add(plan(total_ns, peak_bytes))
    kept = [p.total_ns for p in known.plans if p.peak_bytes["gpu"] <= limit]
    assert min(kept, default=None) == min((t for t, peak in met if peak <= limit), default=None)
    assert len(known.plans) == len({id(p) for p in known.plans})


def test_plans_of_two_graphs_are_never_compared_and_all_can_be_forgotten() -> None:
    known = KnownPlans()
    mine, other = plan(5, 5), replace(plan(1, 1), problem=training_chain(3))
    known.add(mine)
    known.add(other)
    assert {id(p) for p in known.plans} == {id(mine), id(other)}
    known.clear()
    assert known.plans == ()


def test_a_plan_is_not_forgotten_for_one_over_another_link() -> None:
    devices = (*PROBLEM.devices, replace(PROBLEM.devices[0], name="cpu"))
    slow, fast = (replace(PROBLEM, devices=devices, links=(Link("gpu", "cpu", speed),)) for speed in (10**6, 10**12))
    known = KnownPlans()
    mine = replace(plan(9, 5), problem=slow)
    known.add(mine)
    for peak_bytes in range(5, 45):  # more than the latest that are kept
        known.add(replace(plan(1, peak_bytes), problem=fast))
    assert any(p is mine for p in known.plans)
