"""Planning beside the window: a thread that owns the solver's process, and signals for what it says."""

import itertools
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QObject, QTimer, Signal

from xengine_gui.errors import PlannerError
from xengine_gui.language import tr
from xengine_gui.model.plan import Plan
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import Bound, Finished, Incumbent, Log, SolveEvent, SolveOptions, Started
from xengine_gui.solve.known import best_fitting, bound_from, with_known
from xengine_gui.solve.worker import SolverProcess
from xengine_gui.ui.shown_plan import ShownPlan, UnlimitedTotal

_DRAIN_MS = 40
_DRAIN_AT_ONCE_MS = 8
_SHOW_EVERY_S = 0.25
_QUICKLY_PLACED = 2000
_CLOSE_WITHIN_S = 4.0
_INSTANT_STOP_GRACE_S = 3.0


@dataclass(frozen=True, slots=True)
class Progress:
    """A point of the progress curves: the best total and the proved bound at a moment of the run."""

    elapsed_s: float
    total_ns: int | None
    lower_bound_ns: int | None


@dataclass(frozen=True, slots=True)
class Found:
    """A better plan of the run in progress, before anything that is shown of it has been made."""

    elapsed_s: float
    plan: Plan


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a run: the strategy's plan, and what is shown of it where it has events."""

    plan: Plan
    shown: ShownPlan | None


@dataclass(frozen=True, slots=True)
class _Failed:
    sentence: str


_News = Progress | Log | Found | ShownPlan | Outcome | _Failed


@dataclass
class _Run:
    number: int
    problem: Problem
    strategy: str
    options: SolveOptions
    known: Sequence[Plan] = ()
    stop: threading.Event = field(default_factory=threading.Event)
    is_wanted: bool = True
    is_told: bool = True
    """Somebody still listens: a run that was stopped tells its end, one that was given up tells nothing."""


class PlanRunner(QObject):
    """Runs one plan at a time and tells of it by signals, in the thread of the window.

    With `at_once` runs are short, and a plan counts as soon as it is there: the best of those that are known and fit is
    told before anything is looked for.

    A new `start` supersedes the run in progress; nothing of a superseded run is ever told. Plans that come in quick
    succession are thinned out, the last one of a run is always told.
    """

    started = Signal()
    progressed = Signal(object)
    """A `Progress`, whenever total or bound has changed."""
    logged = Signal(str, object)
    """A line and the seconds since the start."""
    found = Signal(object)
    """A `Found`: every plan that is better than those before, also where it is not shown."""
    incumbent_found = Signal(object)
    """A `ShownPlan`, better than any before in this run."""
    finished = Signal(object)
    """An `Outcome`; the run is over."""
    failed = Signal(str)
    """One sentence; the run is over."""

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        process: Callable[[], SolverProcess] = SolverProcess,
        drain_ms: int = _DRAIN_MS,
        at_once: bool = False,
    ) -> None:
        super().__init__(parent)
        self._at_once = at_once
        self._process = process()
        self._numbers = itertools.count(1)
        self._run: _Run | None = None
        self._requests: queue.SimpleQueue[_Run | None] = queue.SimpleQueue()
        self._news: deque[tuple[int, _News]] = deque()
        self._drain_timer = QTimer(self, interval=drain_ms)
        self._drain_timer.timeout.connect(self._drain)
        self._unlimited = UnlimitedTotal()
        self._thread = threading.Thread(target=self._work, name="planning", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether a plan is being looked for."""
        return self._run is not None

    @property
    def process_id(self) -> int | None:
        """The solver process, where there is one."""
        return self._process.pid

    def start(self, problem: Problem, strategy: str, options: SolveOptions, known: Sequence[Plan] = ()) -> None:
        """Plan `problem`; a run in progress is given up.

        `known` are earlier plans of the strategy: one that keeps the limits of now is the least that is told, and
        bounds that were proved for larger limits hold.
        """
        self.abandon()
        self._run = _Run(next(self._numbers), problem, strategy, options, tuple(known))
        self._requests.put(self._run)
        self._drain_timer.start()
        self.started.emit()

    def stop(self) -> None:
        """End the run within about half a second, with the best plan so far."""
        if self._run is not None:
            self._run.is_wanted = False
            self._run.stop.set()

    def abandon(self) -> None:
        """End the run and tell nothing more of it."""
        self.stop()
        if self._run is not None:
            self._run.is_told = False
        self._run = None
        self._drain_timer.stop()
        self._news.clear()

    def close(self) -> None:
        """End everything: the run, the thread and the solver's process."""
        self.abandon()
        self._requests.put(None)
        self._process.close()
        self._thread.join(_CLOSE_WITHIN_S)

    def _drain(self) -> None:
        """Tell what has come since the last time; of several plans only the last."""
        news = [self._news.popleft() for _ in range(len(self._news))]
        mine = [item for number, item in news if self._run is not None and number == self._run.number]
        shown = [i for i, item in enumerate(mine) if isinstance(item, ShownPlan)]
        for i, item in enumerate(mine):
            if isinstance(item, ShownPlan) and i != shown[-1]:
                continue
            self._tell(item)

    def _tell(self, item: _News) -> None:
        match item:
            case Progress():
                self.progressed.emit(item)
            case Log():
                self.logged.emit(item.message, item.elapsed_s)
            case Found():
                self.found.emit(item)
            case ShownPlan():
                self.incumbent_found.emit(item)
            case Outcome():
                self._end()
                self.finished.emit(item)
            case _Failed():
                self._end()
                self.failed.emit(item.sentence)

    def _end(self) -> None:
        self._run = None
        self._drain_timer.stop()

    # From here on everything runs in the planning thread.

    def _work(self) -> None:
        with closing(self._process):
            with suppress(PlannerError):  # told when a plan is asked for
                self._process.start()
            while (run := self._requests.get()) is not None:
                if not run.is_wanted and not self._requests.empty():
                    continue
                for item in _news_of(self._process, run, self._unlimited, at_once=self._at_once):
                    self._news.append((run.number, item))


def _news_of(process: SolverProcess, run: _Run, unlimited: UnlimitedTotal, *, at_once: bool) -> Iterator[_News]:
    try:
        options, known = _from_known(run)
        story = _Story(run, unlimited, known, options.gap_ratio, at_once=at_once)
        yield from story.first()
        yield from _translated(process.plan(run.problem, run.strategy, options, stop=run.stop), story)
    except PlannerError as error:
        yield _Failed(str(error))
    except Exception as error:  # noqa: BLE001 - a fault here must end the run in the window too
        yield _Failed(tr("planning failed: {name}: {error}", name=type(error).__name__, error=error))


def _from_known(run: _Run) -> tuple[SolveOptions, Plan | None]:
    """The options with what is known already, and the best earlier plan of the strategy that still is one."""
    options = run.options
    known = best_fitting(run.problem, run.known)
    given = () if options.incumbent is None else (options.incumbent,)
    best = best_fitting(run.problem, (*run.known, *given))
    bound_ns = max(options.known_bound_ns, bound_from(run.problem, (*run.known, *given)))
    return replace(options, incumbent=best or options.incumbent, known_bound_ns=bound_ns), known


def _translated(events: Iterator[SolveEvent], story: "_Story") -> Iterator[_News]:
    try:
        for event in events:
            if story.run.is_told:  # else only the process is seen to its end
                yield from story.news(event)
    except PlannerError:
        yield from story.last_plan()
        raise


class _Story:
    """What one run has said so far: it turns events into news and leaves out plans that come too fast to be seen."""

    def __init__(
        self, run: _Run, unlimited: UnlimitedTotal, known: Plan | None, gap_ratio: float, *, at_once: bool
    ) -> None:
        self.run, self._at_once = run, at_once
        self._known, self._gap_ratio = known, gap_ratio
        self._unlimited = unlimited
        self._total_ns: int | None = None
        self._lower_bound_ns: int | None = None
        self._last_shown = float("-inf")
        self._hidden: Plan | None = None
        self._shown: ShownPlan | None = None

    def first(self) -> Iterator[_News]:
        """The plan that is known already; nothing that is no better is shown after it."""
        if self._at_once and self._known is not None and self.run.is_told:
            yield self._shown_of(self._known)

    def news(self, event: SolveEvent) -> Iterator[_News]:
        match event:
            case Started():
                # Computed while the solver looks for its first plan, which is then shown the sooner.
                self._unlimited_total_ns()
            case Bound(lower_bound_ns, elapsed_s):
                yield self._progress(None, lower_bound_ns, elapsed_s)
            case Incumbent(plan, elapsed_s):
                yield self._progress(plan.total_ns, plan.lower_bound_ns, elapsed_s)
                yield Found(elapsed_s, plan)
                self._hidden = plan
                if time.monotonic() - self._last_shown >= _SHOW_EVERY_S:
                    yield from self.last_plan()
            case Finished(found, elapsed_s):
                plan = with_known(found, self._known, self._gap_ratio)
                yield self._progress(plan.total_ns, plan.lower_bound_ns, elapsed_s)
                yield Outcome(plan, self._ended(plan) if plan.has_events else None)
            case Log():
                yield event

    def last_plan(self) -> Iterator[_News]:
        """The last plan that was left out."""
        plan, self._hidden = self._hidden, None
        if plan is None:
            return
        known = self._shown is not None and self._shown.plan is self._known
        if not known or (plan.total_ns or 0) < (self._shown.plan.total_ns or 0):  # type: ignore[union-attr]
            yield self._shown_of(plan)
            self._last_shown = time.monotonic()

    def _shown_of(self, plan: Plan) -> ShownPlan:
        small = len(self.run.problem.operators) <= _QUICKLY_PLACED and not self._at_once
        self._shown = ShownPlan.of(plan, self._unlimited_total_ns(), with_makespan=small).ready()
        return self._shown

    def _ended(self, plan: Plan) -> ShownPlan:
        """What is shown of the last plan; the same as before where only more is known of the same events."""
        last, unlimited_ns = self._shown, self._unlimited.of(plan.problem)
        same = last is not None and last.plan.total_ns == plan.total_ns and last.plan.events == plan.events
        if last is None or not same or (last.summary.makespan_ns is None and not self._at_once):
            return ShownPlan.of(plan, unlimited_ns).ready()
        return last.as_plan(plan, unlimited_ns)

    def _unlimited_total_ns(self) -> int | None:
        """The total, only looked up on a large graph, where computing it would hold up the first plan."""
        if len(self.run.problem.operators) > _QUICKLY_PLACED:
            return self._unlimited.known(self.run.problem)
        return self._unlimited.of(self.run.problem)

    def _progress(self, total_ns: int | None, lower_bound_ns: int | None, elapsed_s: float) -> Progress:
        totals = [total for total in (self._total_ns, total_ns) if total is not None]
        bounds = [bound for bound in (self._lower_bound_ns, lower_bound_ns) if bound is not None]
        self._total_ns = min(totals, default=None)
        self._lower_bound_ns = max(bounds, default=None)
        return Progress(elapsed_s, self._total_ns, self._lower_bound_ns)


def instant_runner(parent: QObject | None = None) -> PlanRunner:
    """A runner for plans at once, with a process of its own so that it never waits for a long search."""

    def process() -> SolverProcess:
        # One that is killed since it did not hear a stop in time would be missed longer than the run would take.
        return SolverProcess(library="xengine_gui.solve.instant", stop_grace_s=_INSTANT_STOP_GRACE_S)

    return PlanRunner(parent, process=process, drain_ms=_DRAIN_AT_ONCE_MS, at_once=True)
