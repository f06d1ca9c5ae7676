"""A problem too large for the method gets the heuristic's plan and a bound, and is told so."""

import pytest
from problems_fixed import training_chain

from xengine_gui.model.plan import Status
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import Log, SolveContext, SolveOptions
from xengine_gui.solve.feasibility import smallest_limits
from xengine_gui.solve.watchpoints import settings
from xengine_gui.solve.watchpoints.strategy import Optimal


@pytest.fixture(autouse=True)
def _no_memory_for_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "MOST_MODEL_BYTES", 1000)


def test_the_plan_and_the_bound_that_there_are_come_back_and_the_log_says_why() -> None:
    heard: list[object] = []
    problem = training_chain(8, 300)
    plan = Optimal().plan(problem, SolveContext(SolveOptions(gap_ratio=0.0, time_limit_s=20.0), heard.append))
    assert plan.status is Status.FEASIBLE
    assert verify(plan).ok
    assert plan.lower_bound_ns == 160  # each of 16 operators once, 10 ns each
    logs = [event.message for event in heard if isinstance(event, Log)]
    assert any("more than the 1000 B allowed" in line for line in logs)


def test_smallest_limits_are_found_without_a_model() -> None:
    (small,) = smallest_limits(training_chain(30, 250))
    assert (small.limit_bytes, small.proved) == (300, True)
