"""Starting from an earlier plan of the same graph: its steps, repaired where they have to be, and its moments."""

from collections.abc import Callable, Sequence
from typing import Any

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.plan import Plan, Run, Step
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.clock import steps_of
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.solve.greedy import repair_steps
from xengine_gui.solve.watchpoints.points import WatchPoint, in_order

_NEAR_LIMIT = 0.8
"""Where limits have grown a moment still matters from this share of a limit on."""


def steps_from(problem: Problem, earlier: Plan) -> list[Step] | None:
    """The steps of an earlier plan, whether or not they keep the limits; `None` where they are not of this graph."""
    if not earlier.has_events or [o.name for o in earlier.problem.operators] != [o.name for o in problem.operators]:
        return None
    try:
        steps = steps_of(problem, earlier.events)
    except KeyError:
        return None
    return None if replay_steps(problem.indexed, steps).mistakes else steps


def kept_within(indexed: IndexedProblem, steps: Sequence[Step], should_stop: Callable[[], bool]) -> list[Step] | None:
    """The steps themselves where they keep the limits, else repaired, `None` where that fails."""
    if replay_steps(indexed, steps).fits:
        return list(steps)
    return repair_steps(indexed, steps, should_stop, effort=0)


def moments_from(
    indexed: IndexedProblem, steps: Sequence[Step], points: Sequence[tuple[Any, ...]]
) -> tuple[WatchPoint, ...]:
    """Earlier watch points as far as they matter still.

    Where a limit is smaller than the steps' peak all that mattered matter again; else those at which the steps come
    near a limit of today.
    """
    replay = replay_steps(indexed, steps)
    if not replay.fits:
        return in_order(WatchPoint(*p) for p in points)
    levels = [(replay.levels(device), limit) for device, limit in enumerate(indexed.limit_bytes) if limit is not None]
    first: dict[int, int] = {}
    runs: dict[tuple[int, int], list[int]] = {}
    for i, step in enumerate(steps):
        if isinstance(step, Run):
            first.setdefault(step.operator, i)
            runs.setdefault((step.operator, step.device), []).append(i)
    found = []
    for point in (WatchPoint(*p) for p in points):
        at = first.get(point.stage) if point.is_first else _last_before(first, runs, point)
        if at is not None and any(level[at] >= _NEAR_LIMIT * limit for level, limit in levels):
            found.append(point)
    return in_order(found)


def _last_before(first: dict[int, int], runs: dict[tuple[int, int], list[int]], point: WatchPoint) -> int | None:
    if point.stage not in first:
        return None
    before = [i for i in runs.get((point.operator, point.device), ()) if i < first[point.stage]]
    return before[-1] if before else None
