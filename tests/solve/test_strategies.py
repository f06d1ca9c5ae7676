"""What every strategy in the list promises, on the teaching toys at three limits."""

import re
import threading
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from xengine_gui import planner
from xengine_gui.errors import InputError
from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import read_problem
from xengine_gui.schedule.peak import one_device_peak_bytes
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import Bound, Finished, Incumbent, SolveEvent, SolveOptions, Started, Strategy
from xengine_gui.solve.strategies import STRATEGIES, strategy

Judge = Callable[[Plan], Mapping[str, Any]]
OPTIONS = SolveOptions(time_limit_s=3.0)
TOYS = planner.sample_problems()

every_strategy = pytest.mark.parametrize("chosen", STRATEGIES, ids=lambda s: s.key)
every_toy = pytest.mark.parametrize("path", TOYS, ids=lambda p: p.stem)
every_share = pytest.mark.parametrize("percent", [None, 70, 30])


def limited(path: Path, percent: int | None) -> Problem:
    """A toy as it is, or with its last device at a share of what everything takes there."""
    problem = read_problem(path)
    if percent is None:
        return problem
    peak = one_device_peak_bytes(problem)
    assert peak
    return problem.with_limit(problem.devices[-1].name, peak * percent // 100)


@cache
def planned(key: str, path: Path, percent: int | None) -> tuple[Plan, tuple[SolveEvent, ...]]:
    events: list[SolveEvent] = []
    return planner.plan(limited(path, percent), key, OPTIONS, emit=events.append), tuple(events)


@every_strategy
def test_a_strategy_introduces_itself(chosen: Strategy) -> None:
    assert strategy(chosen.key) is chosen
    assert sum(other.key == chosen.key or other.title == chosen.title for other in STRATEGIES) == 1
    assert chosen.key == chosen.key.lower()
    assert chosen.summary.endswith(".")


@every_strategy
def test_a_strategy_tells_its_source(chosen: Strategy) -> None:
    """By paper and year, but for the plain one and the second form of another."""
    assert chosen.key in ("retain-all", "xengine-paper") or re.search(r"\(.*\b(19|20)\d\d\b", chosen.summary)


def test_the_readme_lists_every_strategy_and_whether_it_proves_a_bound() -> None:
    readme = Path(__file__).parents[2].joinpath("README.md").read_text(encoding="utf-8")
    table = readme.partition("\n## Strategies\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w-]+)` \|.*\| (yes|no) \|[^|]*\|$", table, flags=re.MULTILINE)
    assert sorted(rows) == sorted((s.key, "yes" if s.proves else "no") for s in STRATEGIES)


@every_strategy
@every_toy
@every_share
def test_a_plan_or_a_reason(chosen: Strategy, path: Path, percent: int | None, judge: Judge) -> None:
    plan, _ = planned(chosen.key, path, percent)
    assert plan.strategy == chosen.key
    if plan.has_events:
        assert verify(plan, limited(path, percent)).ok
        assert judge(plan)["ok"], judge(plan)["broken"]
        assert (plan.total_ns or 0) >= (plan.lower_bound_ns or 0)
    else:
        assert plan.explanation.endswith(".")
    if plan.lower_bound_ns is not None or plan.status is Status.OPTIMAL:
        assert chosen.proves


@every_strategy
@every_toy
@every_share
def test_events_begin_and_end_and_only_get_better(chosen: Strategy, path: Path, percent: int | None) -> None:
    plan, events = planned(chosen.key, path, percent)
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Finished)
    assert events[-1].plan is plan
    totals = [event.plan.total_ns or 0 for event in events if isinstance(event, Incumbent)]
    bounds = [event.lower_bound_ns for event in events if isinstance(event, Bound)]
    assert totals == sorted(set(totals), reverse=True)
    assert bounds == sorted(set(bounds))
    assert bool(totals) is plan.has_events


@every_toy
@every_share
def test_no_bound_is_above_any_strategy_s_plan(path: Path, percent: int | None) -> None:
    plans = [planned(chosen.key, path, percent)[0] for chosen in STRATEGIES]
    totals = [plan.total_ns for plan in plans if plan.total_ns is not None]
    bounds = [plan.lower_bound_ns for plan in plans if plan.lower_bound_ns is not None]
    assert max(bounds, default=0) <= min(totals, default=float("inf"))
    if totals:
        assert all(plan.status is not Status.INFEASIBLE for plan in plans)


@every_strategy
def test_a_stop_before_the_start_ends_it(chosen: Strategy) -> None:
    stop = threading.Event()
    stop.set()
    plan = planner.plan(limited(TOYS[0], 70), chosen.key, SolveOptions(time_limit_s=None), stop=stop)
    assert plan.has_events or plan.explanation


def test_an_unknown_strategy_is_told_with_those_there_are() -> None:
    with pytest.raises(InputError, match="there is no strategy 'best'; `xengine strategies` tells them all"):
        strategy("best")
