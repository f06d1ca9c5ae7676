"""The smallest memory limit of each device that would do, with the others as they are.

From above by plans: the greedy strategy at limits in between, then the optimal engine, which stops at its first plan.
From below by proofs: what single operators take, the least limit of relaxations (`watchpoints/limit_model.py`), and
limits that the engine proves infeasible. Where both meet, the smallest limit is proved. Tiny problems are settled by
trying everything (`exhaustive.py`).
"""

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.plan import Plan, Status, Step
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.clock import steps_of
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.solve.base import SolveContext, SolveOptions
from xengine_gui.solve.binding import BindingMoment, binding_moment
from xengine_gui.solve.exhaustive import exhaustive_limit
from xengine_gui.solve.frugal import frugal_steps
from xengine_gui.solve.greedy import greedy_steps
from xengine_gui.solve.working_set import working_sets

STRATEGY_KEY = "smallest-limit"
WatchPoints = Sequence[tuple[Any, ...]]
"""Moments to watch from the beginning (each a `WatchPoint` of `watchpoints/points.py`)."""

_ANY_PLAN = 1.0
"""A gap at which the engine is content with its first plan."""
_EXHAUSTIVE_SHARE = 0.2
_FRUGAL_SHARE = 0.4
_MOST_TRIES = 8
_TRYING_SHARE = 0.3
_CLOSE_ENOUGH = 0.002
"""Plans are not looked for between limits that are this close, unless a proof is in reach."""
_BOUND_SHARE = 0.2
_ENGINE_SHARE = 0.3
"""The parts of the time left that one bound by a MILP, and the engine at one limit, may take."""


@dataclass(frozen=True, slots=True)
class SmallestLimit:
    """The smallest limit of a device known to do, with the other devices as they are.

    `lower_bytes` is proved: no plan does with less. `proved` where both are the same. `limit_bytes` is `None` where no
    plan is known whatever the device's limit; that none exists is `proved` then, or not. `plan` is a plan within
    `limit_bytes`, `moment` the one at which it takes all of them.
    """

    device: str
    limit_bytes: int | None
    proved: bool
    lower_bytes: int
    given_bytes: int | None
    moment: BindingMoment | None = None
    plan: Plan | None = field(default=None, repr=False, compare=False)


def smallest_limits(
    problem: Problem,
    stop: threading.Event | None = None,
    time_s: float | None = 10.0,
    *,
    infeasible: bool = False,
    points: WatchPoints = (),
) -> tuple[SmallestLimit, ...]:
    """The smallest limit of each device that has one; the time is shared among them.

    `infeasible` tells that the problem as it is has been proved to have no plan; `points` are the moments that proved
    it.
    """
    return tuple(hunt.smallest(infeasible=infeasible) for hunt in _hunts(problem, stop, time_s, points))


def limits_at_once(problem: Problem, stop: threading.Event | None, time_s: float) -> tuple[SmallestLimit, ...]:
    """The smallest limits, proved, of the devices where one operator alone is what binds and a plan is soon found."""
    found = [hunt.at_once() for hunt in _hunts(problem, stop, time_s, ())]
    return tuple(small for small in found if small is not None)


def _hunts(
    problem: Problem, stop: threading.Event | None, time_s: float | None, points: WatchPoints
) -> Iterator["_Hunt"]:
    """One hunt per limited device, each with its share of the time that is left when it begins."""
    limited = [d for d, device in enumerate(problem.devices) if device.memory_limit_bytes is not None]
    asked, end = stop or threading.Event(), time.monotonic() + (math.inf if time_s is None else time_s)
    for done, device in enumerate(limited):
        now = time.monotonic()
        share = (end - now) / (len(limited) - done)
        yield _Hunt(problem, device, asked, now + share, points)


@dataclass
class _Hunt:
    """The search for the smallest limit of one device: `lower` is proved, `upper` is the peak of `steps`."""

    problem: Problem
    device: int
    stop: threading.Event
    end: float
    points: WatchPoints
    lower: int = 0
    upper: int | None = None
    steps: Sequence[Step] | None = None
    divisor: int = field(init=False)

    def __post_init__(self) -> None:
        self.divisor = level_divisor_bytes(self.problem.indexed, self.device)

    @property
    def name(self) -> str:
        return self.problem.devices[self.device].name

    @property
    def given(self) -> int | None:
        return self.problem.devices[self.device].memory_limit_bytes

    def smallest(self, *, infeasible: bool) -> SmallestLimit:
        """Close in from both sides until they meet or time is up."""
        self._raise(alone_bytes(self.problem.indexed, self.device))
        if infeasible and self.given is not None:
            self._raise(self.given + 1)
        impossible = self.steps is None if self._try_everything() else not self._first_plan()
        if not impossible and (self.upper is None or self.lower < self.upper):
            self._try_between()
            self._close_in()
        return self._found() or SmallestLimit(self.name, None, impossible, self.lower, self.given)

    def at_once(self) -> SmallestLimit | None:
        """The smallest limit where it is what one operator takes, and a plan for it is found."""
        self._raise(alone_bytes(self.problem.indexed, self.device))
        return self._found() if self._at_the_bound(1.0) else None

    def _found(self) -> SmallestLimit | None:
        if self.steps is None or self.upper is None:
            return None
        limited = self.problem.with_limit(self.name, self.upper)
        return SmallestLimit(
            device=self.name,
            limit_bytes=self.upper,
            proved=self.lower >= self.upper,
            lower_bytes=min(self.lower, self.upper),
            given_bytes=self.given,
            moment=binding_moment(limited, self.steps, self.device),
            plan=finished_plan(limited, STRATEGY_KEY, self.steps),
        )

    # -- what is known

    def _raise(self, lower_bytes: int) -> None:
        """Levels are multiples of a divisor, so bounds are rounded up to one."""
        self.lower = max(self.lower, -(-lower_bytes // self.divisor) * self.divisor)

    def _offer(self, steps: Sequence[Step]) -> None:
        peak = replay_steps(self.problem.indexed, steps).peak_bytes[self.device]
        if self.upper is None or peak < self.upper:
            self.steps, self.upper = steps, peak

    def _over(self) -> bool:
        return self.stop.is_set() or time.monotonic() >= self.end

    def _within(self, seconds: float) -> Callable[[], bool]:
        end = time.monotonic() + seconds
        return lambda: self._over() or time.monotonic() >= end

    @property
    def _left_s(self) -> float:
        return max(0.0, self.end - time.monotonic())

    def _try_everything(self) -> bool:
        """Tiny problems are settled by trying everything."""
        free = self.problem.with_limit(self.name, None)
        found = exhaustive_limit(free.indexed, self.device, self._within(_EXHAUSTIVE_SHARE * min(self._left_s, 10.0)))
        if found is None:
            return False
        if found.limit_bytes is not None:
            self._offer(found.steps)
            self._raise(found.limit_bytes)
        return True

    # -- from above

    def _first_plan(self) -> bool:
        """Look for a plan, the sooner the less memory; false where it is proved that there is none."""
        if self._at_the_bound(_FRUGAL_SHARE):
            return True
        free = self.problem.with_limit(self.name, None)
        return self._try(free.indexed, self._over) or self._engine(None)

    def _try(self, indexed: IndexedProblem, should_stop: Callable[[], bool]) -> bool:
        """Whether a plan within limits is found at once."""
        steps = greedy_steps(indexed, should_stop, effort=0)
        if steps is None or not replay_steps(indexed, steps).valid:
            return False
        self._offer(steps)
        return True

    def _at_the_bound(self, share: float) -> bool:
        """Where one operator alone is what binds, a plan that is sparing enough settles it at once."""
        indexed = self.problem.with_limit(self.name, self.lower).indexed
        steps = frugal_steps(indexed, self._within(share * min(self._left_s, 60.0)))
        if steps is None:
            return False
        self._offer(steps)
        return True

    def _try_between(self) -> None:
        """Try for plans at limits in between."""
        should_stop = self._within(_TRYING_SHARE * min(self._left_s, 60.0))
        below = self.lower + self.divisor
        for _ in range(_MOST_TRIES):
            if self.upper is None or should_stop() or self.upper - below <= _CLOSE_ENOUGH * self.upper:
                return
            limit = self._middle(below, self.upper)
            if limit >= self.upper:
                return
            if not self._try(self.problem.with_limit(self.name, limit).indexed, should_stop):
                below = limit + self.divisor

    def _middle(self, lower: int, upper: int) -> int:
        return max(lower, (lower + upper) // 2 // self.divisor * self.divisor)

    # -- from both sides

    def _close_in(self) -> None:
        """Ask the engine at the limit that a relaxation needs, at the last one below a plan, or in the middle.

        Where it neither finds a plan nor proves that there is none, only larger limits are asked for from then on.
        """
        below, stalled = self.lower, False
        while self.upper is not None and max(self.lower, below) < self.upper and not self._over():
            before = self.lower
            level = self._bound()
            below, most = max(below, self.lower), self.upper - self.divisor
            undecided = below > self.lower and self.upper - below <= _CLOSE_ENOUGH * self.upper
            if below > most or undecided or self._over():
                return
            limit = self._middle(below, most) if stalled else min(max(level, below), most)
            decided = self._decide(limit)
            stalled = not decided or (self.lower == before and not stalled)
            below = below if decided else limit + self.divisor

    def _bound(self) -> int:
        """Raise the lower bound by the watch points so far; what the relaxation's best point needs."""
        from xengine_gui.solve.watchpoints.columns import estimated_bytes  # noqa: PLC0415 - loaded on first use
        from xengine_gui.solve.watchpoints.highs import Limits  # noqa: PLC0415
        from xengine_gui.solve.watchpoints.limit_model import least_limit  # noqa: PLC0415
        from xengine_gui.solve.watchpoints.points import Segmentation, WatchPoint  # noqa: PLC0415
        from xengine_gui.solve.watchpoints.relaxation import Relaxation  # noqa: PLC0415
        from xengine_gui.solve.watchpoints.settings import MOST_MODEL_BYTES  # noqa: PLC0415
        from xengine_gui.solve.watchpoints.tables import Tables  # noqa: PLC0415

        if not self.points or self.upper is None:
            return self.lower
        indexed = self.problem.with_limit(self.name, self.upper).indexed
        segmentation = Segmentation(indexed.operator_count, tuple(WatchPoint(*point) for point in self.points))
        tables = Tables.of(indexed)
        if estimated_bytes(tables, segmentation) > MOST_MODEL_BYTES:
            return self.lower
        relaxation = Relaxation.of(tables, segmentation)
        limits = Limits(_BOUND_SHARE * self._left_s, should_stop=self._over)
        least = least_limit(relaxation, self.device, limits, integral=True)
        self._raise(min(least.lower_bytes, self.upper))
        return self.lower if least.level_bytes is None else least.level_bytes

    def _decide(self, limit: int) -> bool:
        """Have the engine find a plan within a limit or prove that there is none; false where it does neither."""
        before = self.upper
        if self._engine(limit):
            return self.upper != before
        self._raise(limit + 1)
        return True

    def _engine(self, limit: int | None) -> bool:
        """Run the engine until its first plan at a limit; false where it proves that there is none."""
        from xengine_gui.solve.watchpoints.points import WatchPoint  # noqa: PLC0415 - solvers are loaded on first use
        from xengine_gui.solve.watchpoints.search import Search  # noqa: PLC0415

        share = 1.0 if self.steps is None else _ENGINE_SHARE
        options = SolveOptions(gap_ratio=_ANY_PLAN, time_limit_s=share * self._left_s if self.end < math.inf else None)
        search = Search(self.problem.with_limit(self.name, limit), SolveContext(options, stop=self.stop), STRATEGY_KEY)
        search.points = tuple(WatchPoint(*point) for point in self.points)
        search.run()
        self.points = search.points
        if search.best_steps is not None:
            self._offer(search.best_steps)
        return not search.infeasible


def level_divisor_bytes(indexed: IndexedProblem, device: int) -> int:
    """The common divisor of everything that can be on a device: every level is a multiple of it."""
    workspace = [row.workspace_bytes for ways in indexed.implementations for row in ways[device]]
    return math.gcd(*indexed.tensor_bytes, *indexed.parameter_bytes, *workspace) or 1


def alone_bytes(indexed: IndexedProblem, device: int) -> int:
    """What a device needs for the largest operator that fits on no other one, alone with its tensors."""
    least = 0
    for sets in working_sets(indexed):
        if all(needs.missing_bytes for needs in sets if needs.device != device):
            here = [n.tensor_bytes + n.workspace_bytes + n.parameter_bytes for n in sets if n.device == device]
            least = max(least, min(here, default=0))
    return least


def known_plan(problem: Problem, smallest: Sequence[SmallestLimit]) -> Plan | None:
    """A plan of the problem itself that came up while smaller limits were looked for."""
    for small in smallest:
        if small.plan is not None and small.given_bytes is not None and small.plan.has_events:
            steps = steps_of(problem, small.plan.events)
            if replay_steps(problem.indexed, steps).valid:
                return replace(finished_plan(problem, STRATEGY_KEY, steps), status=Status.FEASIBLE)
    return None
