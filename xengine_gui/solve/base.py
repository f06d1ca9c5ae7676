"""What every strategy promises: a problem in, events on the way, a plan out, and a stop when asked."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from xengine_gui.model.plan import Plan
from xengine_gui.model.problem import Problem
from xengine_gui.solve.objective import Objective


@dataclass(frozen=True, slots=True)
class SolveOptions:
    """How good a plan must be, and how long a strategy may look for it.

    `gap_ratio` is the proved distance at which it may stop; `time_limit_s` counts from the call (`None`: no limit);
    `incumbent` is an earlier plan of the same graph to start from, where a strategy can; it need not keep the limits.
    `known_bound_ns` is a lower bound proved before, as at a larger limit. After `content_after_s` seconds a plan within
    `content_ratio` of its bound is good enough (`None`: it never is). `objective` is what is minimised, and
    `deadline_ns` the most that the serial total may be; few strategies know other values than these.
    """

    gap_ratio: float = 0.001
    time_limit_s: float | None = 60.0
    incumbent: Plan | None = None
    known_bound_ns: int = 0
    content_ratio: float | None = None
    content_after_s: float = 10.0
    objective: Objective = Objective.TIME
    deadline_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Started:
    """A strategy begins."""

    strategy: str
    elapsed_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Incumbent:
    """A better valid plan than any before."""

    plan: Plan
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class Bound:
    """A higher proved lower bound."""

    lower_bound_ns: int
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class Log:
    """A line for the log."""

    message: str
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class Finished:
    """The end: the strategy's plan, whatever its status."""

    plan: Plan
    elapsed_s: float


SolveEvent = Started | Incumbent | Bound | Log | Finished


@dataclass
class SolveContext:
    """What a strategy talks to while it works: a clock, a stop flag, and somebody who listens.

    `emit` is called in the strategy's own thread. `should_stop()` is true once stop was asked for or time is up;
    strategies ask it at least every tenth of a second where they can, and hand back the best plan so far.
    """

    options: SolveOptions = field(default_factory=SolveOptions)
    emit: Callable[[SolveEvent], None] = field(default=lambda _event: None)
    stop: threading.Event = field(default_factory=threading.Event)
    began: float = field(default_factory=time.monotonic)
    best_ns: int | None = field(default=None, init=False)
    bound_ns: int = field(default=0, init=False)

    @property
    def elapsed_s(self) -> float:
        """Seconds since the call."""
        return time.monotonic() - self.began

    @property
    def remaining_s(self) -> float:
        """Seconds left, infinite without a limit."""
        limit = self.options.time_limit_s
        return float("inf") if limit is None else max(0.0, limit - self.elapsed_s)

    def should_stop(self) -> bool:
        """Whether to hand back what there is."""
        return self.stop.is_set() or self.remaining_s <= 0 or self._is_content()

    def _is_content(self) -> bool:
        ratio = self.options.content_ratio
        if ratio is None or self.best_ns is None or self.elapsed_s < self.options.content_after_s:
            return False
        return self.best_ns - self.bound_ns <= ratio * self.best_ns

    def log(self, message: str) -> None:
        """Tell the listener a line."""
        self.emit(Log(message, self.elapsed_s))

    def bound(self, lower_bound_ns: int) -> None:
        """Tell the listener a higher bound."""
        self.bound_ns = max(self.bound_ns, lower_bound_ns)
        self.emit(Bound(lower_bound_ns, self.elapsed_s))

    def incumbent(self, plan: Plan) -> None:
        """Tell the listener a better plan."""
        if plan.total_ns is not None and (self.best_ns is None or plan.total_ns < self.best_ns):
            self.best_ns = plan.total_ns
        self.emit(Incumbent(plan, self.elapsed_s))


class Strategy(Protocol):
    """Anything that turns a problem into a plan.

    `key` names it on the command line, `title` in the window, `summary` says in a sentence what it does and where it
    comes from; `proves` tells whether it gives a lower bound.
    """

    key: str
    title: str
    summary: str
    proves: bool

    def supports(self, problem: Problem) -> str:
        """Why it cannot plan this problem, in one sentence; empty where it can."""
        ...

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        """Plan the problem. The plan is verified by the caller; a strategy never raises for an infeasible problem."""
        ...
