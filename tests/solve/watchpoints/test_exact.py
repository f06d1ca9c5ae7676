"""The whole method against exhaustive search on tiny problems: exact or rightly infeasible, never a bound above."""

import json

from exact_answers import exact_answer
from hypothesis import given, settings
from problems import problems

from xengine_gui.model.plan import Status
from xengine_gui.model.problem_file import read_problem
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import SolveContext, SolveOptions
from xengine_gui.solve.watchpoints.strategy import Optimal


def plan_exactly(problem):
    plan = Optimal().plan(problem, SolveContext(SolveOptions(gap_ratio=0.0, time_limit_s=20.0)))
    if plan.has_events:
        assert verify(plan).ok
    return plan


def test_every_tiny_instance_reaches_its_known_optimum_or_is_proved_infeasible(shared_folder):
    for path in sorted((shared_folder / "instances" / "tiny").glob("*.json")):
        known = json.loads(path.read_text(encoding="utf-8"))["known"]["serial_optimum_ns"]
        plan = plan_exactly(read_problem(path))
        wanted = (Status.INFEASIBLE, None) if known is None else (Status.OPTIMAL, known)
        assert (plan.status, plan.total_ns) == wanted, path.name
        assert known is None or plan.lower_bound_ns == known, path.name


@given(problem=problems(max_operators=5, max_devices=2))
@settings(deadline=None, max_examples=60)
def test_random_problems_are_solved_as_exhaustive_search_says(exact_search, problem):
    answer = exact_answer(exact_search, problem)
    if answer is None:
        return
    plan = plan_exactly(problem)
    known = answer["optimum_ns"]
    assert (plan.status, plan.total_ns) == ((Status.INFEASIBLE, None) if known is None else (Status.OPTIMAL, known))


def test_a_content_plan_ends_the_search_and_is_not_called_optimal(shared_folder):
    problem = read_problem(shared_folder / "instances" / "published" / "unet_p100_training.json")
    problem = problem.with_limit("gpu", 5_197_148_160)
    options = SolveOptions(gap_ratio=0.0, time_limit_s=60.0, content_ratio=0.03, content_after_s=0.0)
    plan = Optimal().plan(problem, SolveContext(options))
    assert plan.status is Status.FEASIBLE
    assert 0.0 < plan.gap_ratio <= 0.03
    assert verify(plan).ok
