"""The headline of the XEngine paper: two devices together are at least 22.5 % faster than Checkmate's best on either.

No plan of Checkmate on one device is below what `optimal` proves there, for its bound holds for every staged plan.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from xengine_gui import planner
from xengine_gui.cost import DeviceChoice
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.model.plan import Compute, Drop, Plan, Run, Status
from xengine_gui.model.problem import Problem
from xengine_gui.paths import sample_graphs
from xengine_gui.schedule.clock import steps_of
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.schedule.verify import verify
from xengine_gui.session import Session, read_session, restored_plan
from xengine_gui.solve.base import SolveOptions

GAIN_RATIO = 0.225
LENET, GOOGLENET = (sample_graphs() / f"{name}_cpu_and_gpu.xengine" for name in ("lenet", "googlenet"))


def alone(session: Session, device: DeviceChoice) -> Problem:
    """The session's problem with one of its devices only."""
    network = planner.open_file(session.file, batch=session.batch)
    assert isinstance(network, NetworkGraph)
    return planner.make_problem(network, [device], training=session.training, optimizer=session.optimizer)


def planned(problem: Problem, strategy: str, options: SolveOptions = SolveOptions()) -> Plan:  # noqa: B008 - frozen
    plan = planner.plan(problem, strategy, options)
    assert plan.status is Status.OPTIMAL
    assert verify(plan, problem).ok
    return plan


def gain_ratio(together: Plan, least_alone_ns: int) -> float:
    """How much less the plan takes than any on one device."""
    assert together.total_ns is not None
    return 1 - together.total_ns / least_alone_ns


def devices_of(plan: Plan) -> set[str]:
    """Where it computes."""
    return {event.device for event in plan.events if isinstance(event, Compute)}


def on_the_only_device(plan: Plan, problem: Problem) -> Plan:
    """A plan that uses one of several devices, of the problem with that device only."""
    steps = steps_of(plan.problem, plan.events)
    return finished_plan(problem, plan.strategy, [s._replace(device=0) for s in steps if isinstance(s, Run | Drop)])


def test_lenet_on_both_processors_of_an_edge_module() -> None:
    """Both devices alone have a plan, and Checkmate's own formulation is solved on each."""
    session = read_session(LENET)
    together = planned(session.problem(), "optimal")
    bounds = []
    for device in session.devices:
        problem = alone(session, device)
        checkmate, bound = planned(problem, "checkmate"), planned(problem, "optimal").lower_bound_ns
        assert checkmate.lower_bound_ns is not None
        assert bound is not None
        assert checkmate.total_ns is not None
        assert bound <= checkmate.total_ns
        bounds.append(min(bound, checkmate.lower_bound_ns))
    assert gain_ratio(together, min(bounds)) >= GAIN_RATIO
    assert devices_of(together) == {"cpu", "gpu"}


def test_googlenet_on_a_laptop() -> None:
    """The GPU's limit is the smallest on which it can train alone; the processor alone is slower with any memory."""
    session = read_session(GOOGLENET)
    processor, gpu = session.devices
    together = planned(session.problem(), "optimal", SolveOptions(session.gap_ratio, session.time_limit_s))
    without_limit = alone(session, replace(processor, memory_limit_bytes=2**40))
    processor_ns = sum(min(way.time_ns for way in row[0]) for row in without_limit.indexed.implementations)
    known = [plan for saved in session.plans if (plan := restored_plan(saved, session.problem())) is not None]
    (slower,) = (plan for plan in known if devices_of(plan) == {gpu.name})
    problem = alone(session, gpu)
    start = on_the_only_device(slower, problem)
    best = planned(problem, "optimal", SolveOptions(gap_ratio=0.0035, time_limit_s=100.0, incumbent=start))
    assert best.lower_bound_ns is not None
    assert gain_ratio(together, min(processor_ns, best.lower_bound_ns)) >= GAIN_RATIO
    assert gpu.memory_limit_bytes is not None
    too_small = problem.with_limit(gpu.name, gpu.memory_limit_bytes - 1)
    assert planner.plan(too_small, "optimal").status is Status.INFEASIBLE


@pytest.mark.parametrize("path", planner.sample_sessions(), ids=lambda path: path.stem)
def test_a_sample_session_opens_with_the_plan_that_it_promises(path: Path) -> None:
    session = read_session(path)
    problem = session.problem()
    plans = [restored_plan(saved, problem) for saved in session.plans]
    totals = [plan.total_ns for plan in plans if plan is not None and plan.total_ns is not None]
    assert len(totals) == len(plans) > 0
    best = plans[totals.index(min(totals))]
    assert best is not None
    assert best.status is Status.OPTIMAL
    assert best.lower_bound_ns is not None
    assert min(totals) - best.lower_bound_ns <= session.gap_ratio * min(totals)
