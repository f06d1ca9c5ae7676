"""Totals over a range of limits of one device.

A plan for a limit is a plan for every larger one, and a bound at a limit bounds every smaller one. So totals never
rise with the limit, a new limit starts from the plans of its neighbours, and where the neighbours leave no gap nothing
has to be planned at all. Limits are planned from the outside in: the largest, the smallest, then the middle of the
widest stretch that is still open.
"""

import concurrent.futures
import importlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.synchronize import Event as ProcessEvent

from xengine_gui.errors import InputError, SolverProcessError
from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import SolveOptions
from xengine_gui.solve.judge import plan_judged
from xengine_gui.solve.strategies import strategy

_POLL_S = 0.1
_LEAST_BEND = 0.05
"""A curve that bends less, as a share of its height, has no knee."""
Future = concurrent.futures.Future[Plan]


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """What is known at one limit; `total_ns` on the serial clock, `None` without a plan.

    `is_final` is false for what neighbours tell before the limit itself was planned.
    """

    limit_bytes: int
    status: Status
    total_ns: int | None = None
    lower_bound_ns: int | None = None
    plan: Plan | None = field(default=None, repr=False, compare=False)
    explanation: str = ""
    is_final: bool = True

    @property
    def gap_ratio(self) -> float | None:
        """How far above the bound the total may be, as a share of it; `None` where nothing is proved."""
        return None if self.plan is None else self.plan.gap_ratio


def sweep(
    problem: Problem,
    device: str,
    limits: Sequence[int],
    strategy_key: str = "optimal",
    options: SolveOptions = SolveOptions(),  # noqa: B008 - frozen
    *,
    workers: int | None = None,
    scheduler_address: str | None = None,
    on_result: Callable[[SweepPoint], None] | None = None,
    stop: threading.Event | None = None,
) -> tuple[SweepPoint, ...]:
    """Plan a problem at each limit of `device`, the smallest first in what is handed back.

    `options` hold for each limit alone. `workers` processes plan side by side (`None`: one per core, 0: in this
    thread); or those of the Dask scheduler at `scheduler_address`, which needs the extra `dask`. `on_result` hears, in
    this thread, of every point that becomes final, and again when a neighbour betters it. After `stop` the rest is
    left as its neighbours tell it. Every plan has passed `verify`.
    """
    problem.device(device)
    strategy(strategy_key)
    wanted = sorted(set(limits))
    if not wanted:
        return ()
    if wanted[0] < 0:
        raise InputError("", f"{wanted[0]:,} bytes is no memory limit")
    state = _Sweep(problem, device, wanted, strategy_key, options)
    asked = stop or threading.Event()
    with _executor(workers, len(wanted), scheduler_address, asked) as pool:
        _run(state, pool, on_result or (lambda _point: None), asked)
    return state.points()


def smallest_feasible(points: Sequence[SweepPoint]) -> SweepPoint | None:
    """The point with the smallest limit that has a plan."""
    return min((p for p in points if p.total_ns is not None), key=lambda p: p.limit_bytes, default=None)


def knee(points: Sequence[SweepPoint]) -> SweepPoint | None:
    """Where more memory stops to pay off: the point farthest below the line from the first plan to the last.

    Both axes are scaled to the range that they cover (Satopää et al., "Finding a 'Kneedle' in a Haystack", 2011).
    `None` for fewer than three plans, and where memory changes nothing.
    """
    feasible = sorted((p for p in points if p.total_ns is not None), key=lambda p: p.limit_bytes)
    if len(feasible) < 3:
        return None
    first, last = feasible[0], feasible[-1]
    height = (first.total_ns or 0) - (last.total_ns or 0)
    width = last.limit_bytes - first.limit_bytes
    if height <= 0:
        return None

    def below_line(point: SweepPoint) -> float:
        across = (point.limit_bytes - first.limit_bytes) / width
        return 1 - across - ((point.total_ns or 0) - (last.total_ns or 0)) / height

    best = max(feasible, key=below_line)
    return best if below_line(best) > _LEAST_BEND else None


@dataclass
class _Sweep:
    """What is known so far: per limit the plans that came of it and the bounds."""

    problem: Problem
    device: str
    limits: list[int]
    strategy_key: str
    options: SolveOptions
    found: dict[int, Plan] = field(default_factory=dict)
    begun: set[int] = field(default_factory=set)

    def points(self) -> tuple[SweepPoint, ...]:
        return tuple(self.point(limit) for limit in self.limits)

    def point(self, limit: int) -> SweepPoint:
        """What a limit's own plan and its neighbours say of it."""
        own, plan, bound = self.found.get(limit), self.plan_within(limit), self.bound_ns(limit)
        done = own is not None or self.is_settled(limit)
        if plan is None:
            words = own.explanation if own is not None else self._without(limit)
            if self.is_infeasible(limit):
                return SweepPoint(limit, Status.INFEASIBLE, explanation=words)
            return SweepPoint(limit, Status.UNKNOWN, lower_bound_ns=bound, explanation=words, is_final=done)
        total = plan.total_ns or 0
        lower_bound_ns = None if bound is None else min(bound, total)
        closed = lower_bound_ns is not None and total - lower_bound_ns <= self.options.gap_ratio * total
        status = Status.OPTIMAL if closed else Status.FEASIBLE
        limited = self.problem.with_limit(self.device, limit)
        plan = replace(plan, problem=limited, status=status, lower_bound_ns=lower_bound_ns)
        return SweepPoint(limit, status, total, lower_bound_ns, plan, plan.explanation, done)

    def _without(self, limit: int) -> str:
        infeasible = min((k for k, p in self.found.items() if p.status is Status.INFEASIBLE and k > limit), default=0)
        return self.found[infeasible].explanation if infeasible else "not planned"

    # -- what neighbours tell

    def plan_within(self, limit: int) -> Plan | None:
        """The fastest of all plans that keep a limit."""
        plans = (p for p in self.found.values() if p.has_events and p.peak_bytes[self.device] <= limit)
        return min(plans, key=lambda p: p.total_ns or 0, default=None)

    def bound_ns(self, limit: int) -> int | None:
        """The highest bound of this limit and of larger ones, which bounds it too."""
        bounds = [p.lower_bound_ns for k, p in self.found.items() if k >= limit and p.lower_bound_ns is not None]
        return max(bounds, default=None)

    def is_infeasible(self, limit: int) -> bool:
        return any(k >= limit and p.status is Status.INFEASIBLE for k, p in self.found.items())

    def is_settled(self, limit: int) -> bool:
        """Whether nothing is left to plan at a limit."""
        if limit in self.found or self.is_infeasible(limit):
            return True
        plan, bound = self.plan_within(limit), self.bound_ns(limit)
        if plan is None or bound is None:
            return False
        return (plan.total_ns or 0) - bound <= self.options.gap_ratio * (plan.total_ns or 0)

    # -- what to plan next

    def next_limit(self) -> int | None:
        """The middle of the widest stretch without a limit that was begun or is settled; the outermost first."""
        open_ = [i for i, k in enumerate(self.limits) if k not in self.begun and not self.is_settled(k)]
        if not open_:
            return None
        if open_[-1] == len(self.limits) - 1:
            return self.limits[-1]
        if open_[0] == 0:
            return self.limits[0]
        stretches: list[list[int]] = []
        for i in open_:
            if stretches and stretches[-1][-1] == i - 1:
                stretches[-1].append(i)
            else:
                stretches.append([i])
        widest = max(stretches, key=len)
        return self.limits[widest[len(widest) // 2]]

    def task(self, limit: int) -> tuple[Problem, str, SolveOptions]:
        """What a worker is sent: the problem, and the best start that the neighbours offer."""
        self.begun.add(limit)
        larger = min((k for k, p in self.found.items() if k > limit and p.has_events), default=None)
        start = self.plan_within(limit) or (self.found[larger] if larger is not None else self.options.incumbent)
        known = max(self.bound_ns(limit) or 0, self.options.known_bound_ns)
        options = replace(self.options, incumbent=start, known_bound_ns=known)
        return self.problem.with_limit(self.device, limit), self.strategy_key, options

    def take(self, limit: int, plan: Plan) -> None:
        """Remember a worker's plan; the problem's text is not kept twice."""
        self.found[limit] = replace(plan, problem=self.problem.with_limit(self.device, limit))


def _run(state: _Sweep, pool: "_Pool", on_result: Callable[[SweepPoint], None], stop: threading.Event) -> None:
    running: dict[Future, int] = {}
    told: dict[int, SweepPoint] = {}
    while True:
        while not stop.is_set() and len(running) < pool.capacity and (limit := state.next_limit()) is not None:
            running[pool.submit(state.task(limit))] = limit
        if not running:
            break
        done, _ = concurrent.futures.wait(running, _POLL_S, concurrent.futures.FIRST_COMPLETED)
        for future in done:
            limit = running.pop(future)
            if not future.cancelled():
                state.take(limit, _result(future))
        if stop.is_set():
            for future in running:
                future.cancel()
        if done:
            _tell(state, told, on_result)
    _tell(state, told, on_result)


def _result(future: Future) -> Plan:
    try:
        return future.result()
    except concurrent.futures.BrokenExecutor as error:
        raise SolverProcessError("a worker process of the sweep died; sweep again to retry") from error


def _tell(state: _Sweep, told: dict[int, SweepPoint], on_result: Callable[[SweepPoint], None]) -> None:
    for point in state.points():
        if point.is_final and told.get(point.limit_bytes) != point:
            told[point.limit_bytes] = point
            on_result(point)


# -- who plans


def plan_one(problem: Problem, strategy_key: str, options: SolveOptions, stop: threading.Event) -> Plan:
    """Plan one limit; what breaks a rule is no plan."""
    return plan_judged(strategy(strategy_key), problem, options, stop=stop)


_worker_stop = threading.Event()
"""In a worker process: set once the sweep is to end."""


def _begin_worker(stop: ProcessEvent) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer

    def pass_on() -> None:
        stop.wait()
        _worker_stop.set()

    threading.Thread(target=pass_on, daemon=True).start()


def _work(problem: Problem, strategy_key: str, options: SolveOptions) -> Plan:
    return plan_one(problem, strategy_key, options, _worker_stop)


@dataclass
class _Pool:
    """How many tasks may run at a time, and how one is handed over."""

    capacity: int
    submit: Callable[[tuple[Problem, str, SolveOptions]], Future]


@contextmanager
def _executor(workers: int | None, tasks: int, scheduler_address: str | None, stop: threading.Event) -> Iterator[_Pool]:
    if scheduler_address is not None:
        with _dask(scheduler_address) as pool:
            yield pool
        return
    count = min(tasks, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    count = count if workers is None else min(workers, tasks)
    if count == 0:
        yield _Pool(1, lambda task: _done(plan_one(*task, stop)))
        return
    context = multiprocessing.get_context("spawn")
    child_stop = context.Event()
    processes = concurrent.futures.ProcessPoolExecutor(count, context, _begin_worker, (child_stop,))
    with processes, _passed_on(stop, child_stop):
        yield _Pool(count, lambda task: processes.submit(_work, *task))


@contextmanager
def _passed_on(stop: threading.Event, child_stop: ProcessEvent) -> Iterator[None]:
    """Workers hear of a stop while this lasts, and of its end."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_POLL_S):
            if stop.is_set():
                break
        child_stop.set()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _done(plan: Plan) -> Future:
    future: Future = concurrent.futures.Future()
    future.set_result(plan)
    return future


@contextmanager
def _dask(address: str) -> Iterator[_Pool]:
    """Tasks that run when the sweep is stopped are left to end by their own time limit."""
    try:
        distributed = importlib.import_module("distributed")
    except ImportError:
        raise InputError("", "a Dask scheduler needs the extra: pip install 'xengine-gui[dask]'") from None
    try:
        client = distributed.Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError("", f"there is no Dask scheduler at {address}: {error}") from None
    with client:
        cores = sum(client.nthreads().values())
        executor = client.get_executor(pure=False)
        yield _Pool(max(1, cores), lambda task: executor.submit(_work, *task))
        executor.shutdown(wait=False)
