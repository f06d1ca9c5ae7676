"""Totals over a range of limits of one device, or of two, for one strategy or several.

A plan for some limits is a plan for all larger ones, and a bound at some limits bounds all smaller ones. So totals
never rise with a limit, new limits start from the plans of their neighbours, and where the neighbours leave no gap
nothing has to be planned at all. Plans are never passed from one strategy to another; what one proves holds for all.

Limits are planned from the outside in: the largest, the smallest, then always one that is farthest from all that are
known, so that every plan tells as much as it can about those that are left.
"""

import concurrent.futures
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from xengine_gui.errors import InputError
from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.solve import strategies as library
from xengine_gui.solve.base import SolveOptions, Strategy
from xengine_gui.solve.compare import sentence
from xengine_gui.solve.sweep_points import Axis, Limits, Sweep, SweepCurve, SweepPoint, within
from xengine_gui.solve.sweep_pool import Future, Pool, Task, opened

_POLL_S = 0.1
_MOST_AXES = 2
OnResult = Callable[[str, SweepPoint], None]


def sweep(
    problem: Problem,
    axes: Sequence[Axis],
    strategies: Sequence[str] = ("optimal",),
    options: SolveOptions = SolveOptions(),  # noqa: B008 - frozen
    *,
    workers: int | None = None,
    scheduler_address: str | None = None,
    on_result: OnResult | None = None,
    stop: threading.Event | None = None,
) -> Sweep:
    """Plan a problem at each limit of one device, or at each pair of limits of two, with each strategy.

    `options` hold for each plan alone. `workers` processes plan side by side (`None`: one per core, 0: in this
    thread); or those of the Dask scheduler at `scheduler_address`, which needs the extra `dask`. `on_result` hears, in
    this thread, of every point that becomes final, with its strategy, and again when a neighbour betters it. After
    `stop` the rest is left as its neighbours tell it. Every plan has passed `verify`.
    """
    chosen = [library.strategy(key) for key in dict.fromkeys(strategies)]
    wanted = _checked(problem, axes)
    search = _Search(problem, wanted, chosen, options)
    asked = stop or threading.Event()
    tasks = len(search.limits) * len(chosen)
    with opened(workers, tasks, scheduler_address, asked) as pool:
        search.run(pool, on_result or (lambda _key, _point: None), asked)
    return search.sweep()


def _checked(problem: Problem, axes: Sequence[Axis]) -> tuple[Axis, ...]:
    if not 1 <= len(axes) <= _MOST_AXES:
        raise InputError("", f"a sweep is over the limits of one device or of two, not of {len(axes)}")
    if len({axis.device for axis in axes}) < len(axes):
        raise InputError("", f"the two devices of a sweep must differ; {axes[0].device!r} is given twice")
    for axis in axes:
        problem.device(axis.device)
        least = min(axis.limits_bytes, default=0)
        if least < 0:
            raise InputError("", f"{least:,} bytes is no memory limit")
    return tuple(Axis(axis.device, tuple(sorted(set(axis.limits_bytes)))) for axis in axes)


class _Search:
    """A sweep in progress."""

    def __init__(
        self, problem: Problem, axes: Sequence[Axis], strategies: Sequence[Strategy], options: SolveOptions
    ) -> None:
        self.axes = tuple(axes)
        self.limits: tuple[Limits, ...] = tuple(product(*(axis.limits_bytes for axis in axes)))
        self._name = problem.name
        self._limited = {limits: _with_limits(problem, self.axes, limits) for limits in self.limits}
        self._proofs = _Proofs()
        self._curves = [
            _Curve(strategy, self._limited, self.limits, self._positions(), options, self._proofs)
            for strategy in strategies
        ]

    def sweep(self) -> Sweep:
        """What is known."""
        return Sweep(self._name, self.axes, tuple(curve.curve() for curve in self._curves))

    def run(self, pool: Pool, on_result: OnResult, stop: threading.Event) -> None:
        """Plan until nothing is left or `stop` is set."""
        running: dict[Future, tuple[_Curve, Limits]] = {}
        told: dict[tuple[str, Limits], SweepPoint] = {}
        self._tell(told, on_result)
        while True:
            while not stop.is_set() and len(running) < pool.capacity and (task := self._next()) is not None:
                curve, limits = task
                running[pool.submit(curve.task(limits))] = task
            if not running:
                break
            done, _ = concurrent.futures.wait(running, _POLL_S, concurrent.futures.FIRST_COMPLETED)
            for future in done:
                curve, limits = running.pop(future)
                if not future.cancelled():
                    curve.take(limits, future)
            if stop.is_set():
                for future in running:
                    future.cancel()
            if done:
                self._tell(told, on_result)
        self._tell(told, on_result)

    def _next(self) -> "tuple[_Curve, Limits] | None":
        """Those that prove something come first: what they prove the others need not find out."""
        for curve in sorted(self._curves, key=lambda curve: not curve.strategy.proves):
            limits = curve.next_limits()
            if limits is not None:
                return curve, limits
        return None

    def _positions(self) -> np.ndarray:
        """The places of all limits on the axes, one row each."""
        return np.array(list(product(*(range(len(axis.limits_bytes)) for axis in self.axes))), dtype=np.int64)

    def _tell(self, told: dict[tuple[str, Limits], SweepPoint], on_result: OnResult) -> None:
        for curve in self._curves:
            for point in curve.points():
                place = curve.strategy.key, point.limits_bytes
                if point.is_final and told.get(place) != point:
                    told[place] = point
                    on_result(curve.strategy.key, point)


@dataclass
class _Proofs:
    """Limits that are proved to be too small, by any strategy, with what it said."""

    too_small: dict[Limits, str] = field(default_factory=dict)

    def why(self, limits: Limits) -> str | None:
        """Why these limits have no plan, where that is proved."""
        found = [known for known in self.too_small if within(limits, known)]
        return self.too_small[limits if limits in found else min(found)] if found else None


@dataclass
class _Curve:
    """What is known for one strategy: per limits the plan that came of it."""

    strategy: Strategy
    limited: dict[Limits, Problem]
    limits: tuple[Limits, ...]
    positions: np.ndarray
    options: SolveOptions
    proofs: _Proofs
    found: dict[Limits, Plan] = field(default_factory=dict)
    begun: set[Limits] = field(default_factory=set)
    declined: str = field(init=False, default="")

    def __post_init__(self) -> None:
        if self.limits:
            self.declined = sentence(self.strategy.supports(self.limited[self.limits[-1]]))

    def curve(self) -> SweepCurve:
        """The curve as it is now."""
        return SweepCurve(self.strategy.key, self.strategy.title, self.points(), self.declined)

    def points(self) -> tuple[SweepPoint, ...]:
        return tuple(self.point(limits) for limits in self.limits)

    def point(self, limits: Limits) -> SweepPoint:
        """What a point's own plan and its neighbours say of it."""
        if self.declined:
            return SweepPoint(limits, Status.UNKNOWN, explanation=self.declined)
        own, plan, bound = self.found.get(limits), self.best_fitting(limits), self.bound_ns(limits)
        done = own is not None or self.is_settled(limits)
        if plan is None:
            impossible = self.proofs.why(limits)
            if impossible is not None:
                return SweepPoint(limits, Status.INFEASIBLE, explanation=impossible)
            words = own.explanation if own is not None else "Not planned."
            return SweepPoint(limits, Status.UNKNOWN, lower_bound_ns=bound, explanation=words, is_final=done)
        total = plan.total_ns or 0
        lower_bound_ns = None if bound is None else min(bound, total)
        closed = lower_bound_ns is not None and total - lower_bound_ns <= self.options.gap_ratio * total
        status = Status.OPTIMAL if closed else Status.FEASIBLE
        plan = replace(plan, problem=self.limited[limits], status=status, lower_bound_ns=lower_bound_ns)
        return SweepPoint(limits, status, total, lower_bound_ns, plan, plan.explanation, done)

    # -- what neighbours tell

    def best_fitting(self, limits: Limits) -> Plan | None:
        """The fastest of all plans that keep the limits, those of other devices being the same for all."""
        devices = [d.name for d in self.limited[limits].devices]
        most = {d.name: d.memory_limit_bytes for d in self.limited[limits].devices}
        fitting = (
            plan
            for plan in self.found.values()
            if plan.has_events and all(_fits(plan.peak_bytes.get(name, 0), most[name]) for name in devices)
        )
        return min(fitting, key=lambda plan: plan.total_ns or 0, default=None)

    def bound_ns(self, limits: Limits) -> int | None:
        """The highest bound of these limits and of larger ones, which bounds them too."""
        bounds = [p.lower_bound_ns for k, p in self.found.items() if within(limits, k) and p.lower_bound_ns is not None]
        return max(bounds, default=None)

    def is_settled(self, limits: Limits) -> bool:
        """Whether nothing is left to plan."""
        if self.declined or limits in self.found or self.proofs.why(limits) is not None:
            return True
        plan, bound = self.best_fitting(limits), self.bound_ns(limits)
        if plan is None or bound is None:
            return False
        return (plan.total_ns or 0) - bound <= self.options.gap_ratio * (plan.total_ns or 0)

    # -- what to plan next

    def next_limits(self) -> Limits | None:
        """The largest limits, then the smallest, then those farthest from all that are begun or settled."""
        if self.declined or not self.limits:
            return None
        is_open = np.array([k not in self.begun and not self.is_settled(k) for k in self.limits])
        if not is_open.any():
            return None
        for corner in (-1, 0):
            if is_open[corner]:
                return self.limits[corner]
        here, known = self.positions[is_open], self.positions[~is_open]
        away = np.abs(here[:, None, :] - known[None, :, :]).max(axis=2).min(axis=1)
        farthest = int(np.flatnonzero(away == away.max())[-1])
        return self.limits[int(np.flatnonzero(is_open)[farthest])]

    def task(self, limits: Limits) -> Task:
        """What a worker is sent: the problem, and the best start that the neighbours offer."""
        self.begun.add(limits)
        larger = (p for k, p in sorted(self.found.items()) if within(limits, k) and p.has_events)
        start = self.best_fitting(limits) or next(larger, self.options.incumbent)
        known = max(self.bound_ns(limits) or 0, self.options.known_bound_ns)
        options = replace(self.options, incumbent=start, known_bound_ns=known)
        return self.limited[limits], self.strategy.key, options

    def take(self, limits: Limits, future: Future) -> None:
        """Remember a worker's plan; one that failed is remembered as no plan, with what it said."""
        problem = self.limited[limits]
        try:
            plan = future.result()
        except Exception as error:  # noqa: BLE001 - one point that fails must not take the others along
            words = sentence(str(error) or type(error).__name__)
            plan = Plan(problem, self.strategy.key, Status.UNKNOWN, explanation=words)
        self.found[limits] = replace(plan, problem=problem)
        if plan.status is Status.INFEASIBLE:
            self.proofs.too_small[limits] = plan.explanation


def _with_limits(problem: Problem, axes: Sequence[Axis], limits: Limits) -> Problem:
    given = dict(zip((axis.device for axis in axes), limits, strict=True))
    devices = (replace(d, memory_limit_bytes=given.get(d.name, d.memory_limit_bytes)) for d in problem.devices)
    return replace(problem, devices=tuple(devices))


def _fits(peak_bytes: int, limit_bytes: int | None) -> bool:
    return limit_bytes is None or peak_bytes <= limit_bytes
