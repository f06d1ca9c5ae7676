"""By how much a memory limit would have to rise for a recompute to vanish, found by planning again.

Asked is the smallest limit of one device, the others as they are, at which some plan computes the operator only once
and takes no longer than the plan at hand. Whether a limit does is monotone, so it is found by bisection; each answer is
a verified plan (yes) or a proved bound (no). Levels are sums of sizes, hence multiples of what divides all of them, and
nothing between two multiples has to be asked.
"""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from xengine_gui.model.constraints import Constraint, Rule, constrained
from xengine_gui.model.plan import Compute, Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.explain import Explainer
from xengine_gui.solve.base import Bound, Finished, Incumbent, SolveEvent, SolveOptions
from xengine_gui.solve.judge import plan_judged
from xengine_gui.solve.strategies import strategy
from xengine_gui.solve.worker import SolverProcess
from xengine_gui.units import format_duration, format_size, format_size_both

_LEAST_PROBE_S = 3.0
_PROBES_IN_TIME = 8
_STRATEGY = "optimal"


@dataclass(frozen=True, slots=True)
class Vanishing:
    """The limit of `device` at which `operator` need not be recomputed, at no more than `target_ns` in all.

    `enough_bytes` is the least limit known to do (`None`: none is), `plan` a plan within it; less than `least_bytes`
    is proved not to do. `proved` where there is nothing between them, or no limit does. `limits_asked` is how many
    were planned.
    """

    operator: str
    device: str
    given_bytes: int
    target_ns: int
    enough_bytes: int | None
    least_bytes: int
    proved: bool
    plan: Plan | None
    limits_asked: int

    @property
    def rise_bytes(self) -> int | None:
        """How much more than now is enough."""
        return None if self.enough_bytes is None else max(0, self.enough_bytes - self.given_bytes)

    @property
    def sentence(self) -> str:
        """The answer."""
        rise, name, device = self.rise_bytes, self.operator, self.device
        if rise is None:
            if self.proved:
                return f"Whatever the limit of {device}, without recomputing {name} it would take longer (proved)."
            return f"No limit of {device} was found in the time at which {name} need not be recomputed."
        if not rise and self.plan is not None:
            total = format_duration(self.plan.total_ns or 0, fine=True)
            return (
                f"{name} need not be recomputed even within the limit of now: a plan that does something else instead "
                f"takes {total}."
            )
        limit = format_size(self.enough_bytes or 0)
        head = f"With {format_size_both(rise)} more on {device} (a limit of {limit}) {name} need not be recomputed, "
        head += "and all takes no longer than now"
        if self.proved:
            return f"{head}; with less it must be (proved)."
        least = self.least_bytes - self.given_bytes
        known = f"; that less than {format_size_both(least)} more does not do is proved" if least > 0 else ""
        return f"{head}; this is the least known{known}."


Ask = Callable[[Problem, SolveOptions, int], tuple[Plan | None, int]]
"""Plans until a plan takes no longer than a target or a bound is above it; gives the plan, if any, and the bound."""
Tell = Callable[[str], None]


def device_in_question(plan: Plan, event_index: int) -> str:
    """The device whose memory forced an event's recompute: where its result was freed before, or else where it runs."""
    event = plan.events[event_index]
    if not isinstance(event, Compute) or not event.again:
        raise ValueError(f"event {event_index} is no recomputation")
    stayed = Explainer(plan).why_recomputed(event_index).had_it_stayed
    return event.device if stayed is None else stayed.device


def limit_without(
    plan: Plan,
    operator: str,
    device: str,
    ask: Ask,
    *,
    stop: threading.Event | None = None,
    time_s: float = 120.0,
    tell: Tell = lambda _words: None,
) -> Vanishing:
    """The limit of `device` from which on `operator` need not be recomputed."""
    return _Bisection(plan, operator, device, ask, stop or threading.Event(), time_s, tell).run()


class _Bisection:
    def __init__(
        self, plan: Plan, operator: str, device: str, ask: Ask, stop: threading.Event, time_s: float, tell: Tell
    ) -> None:
        problem = plan.problem
        given = problem.device(device).memory_limit_bytes
        self._given = given if given is not None else plan.peak_bytes[device]
        self._problem = constrained(problem, [Constraint(Rule.COMPUTE_ONCE, operator)])
        self._operator, self._device, self._target_ns = operator, device, plan.total_ns or 0
        self._ask, self._stop, self._tell = ask, stop, tell
        self._until = time.monotonic() + time_s
        self._probe_s = max(_LEAST_PROBE_S, time_s / _PROBES_IN_TIME)
        self._step = _grain(problem)
        self._earlier = plan
        self._enough: int | None = None
        self._least = 0
        self._doubtful = 0
        self._plan: Plan | None = None
        self._asked = 0
        self._bounds: list[tuple[int, int]] = []

    def run(self) -> Vanishing:
        if self._probe(None) is False:
            return self._answer(proved=True)
        if self._enough is None:
            return self._answer(proved=False)
        if self._enough > self._given and not self._over():
            self._probe(self._given)
        while not self._over() and self._enough is not None and self._enough > self._given:
            low = max(self._least, self._doubtful)
            if self._enough - low <= 0:
                break
            self._probe(self._between(low, self._enough - self._step))
        return self._answer(proved=self._enough is not None and self._least >= self._enough)

    def _between(self, low: int, high: int) -> int:
        """A multiple of the grain about half-way from `low` (which may do) to `high`."""
        return max(low, low + (high - low) // 2 // self._step * self._step) if high > low else low

    def _probe(self, limit: int | None) -> bool | None:
        """Whether a limit does; `None` where the time did not suffice to tell."""
        self._asked += 1
        what = "any limit" if limit is None else format_size(limit)
        self._tell(f"planning with {what} on {self._device} ({self._asked})…")
        problem = self._problem.with_limit(self._device, limit)
        known = max((bound for at, bound in self._bounds if limit is not None and at >= limit), default=0)
        left = self._until - time.monotonic()
        options = SolveOptions(
            gap_ratio=0.0,
            time_limit_s=max(0.1, min(self._probe_s, left)),
            incumbent=self._plan or self._earlier,
            known_bound_ns=known,
        )
        plan, bound_ns = self._ask(problem, options, self._target_ns)
        if plan is not None:
            self._plan, self._enough = plan, plan.peak_bytes[self._device]
            return True
        if limit is not None:
            self._bounds.append((limit, bound_ns))
        if bound_ns > self._target_ns:
            if limit is not None:
                # Between two multiples of the grain nothing changes.
                self._least = max(self._least, (limit // self._step + 1) * self._step)
            return False
        if limit is not None:
            self._doubtful = max(self._doubtful, limit + self._step)
        return None

    def _over(self) -> bool:
        return self._stop.is_set() or time.monotonic() >= self._until

    def _answer(self, *, proved: bool) -> Vanishing:
        enough = self._enough
        if enough is not None and enough <= self._given:
            proved = True
        return Vanishing(
            self._operator, self._device, self._given, self._target_ns, enough, self._least, proved, self._plan,
            self._asked,
        )  # fmt: skip


def _grain(problem: Problem) -> int:
    """What divides the size of everything that takes memory."""
    sizes = [t.size_bytes for t in problem.tensors] + [p.size_bytes for p in problem.parameters]
    sizes += [way.workspace_bytes for o in problem.operators for ways in o.costs.values() for way in ways]
    return math.gcd(*sizes) or 1


def ask_here(stop: threading.Event | None = None) -> Ask:
    """Plans in this thread."""

    def ask(problem: Problem, options: SolveOptions, target_ns: int) -> tuple[Plan | None, int]:
        hearing = _Hearing(target_ns, stop)
        found = plan_judged(strategy(_STRATEGY), problem, options, emit=hearing.hear, stop=hearing.enough)
        return hearing.answer(found)

    return ask


def ask_in(process: SolverProcess, stop: threading.Event) -> Ask:
    """Plans in a solver process, which only this thread may use."""

    def ask(problem: Problem, options: SolveOptions, target_ns: int) -> tuple[Plan | None, int]:
        hearing = _Hearing(target_ns, stop)
        found: Plan | None = None
        for event in process.plan(problem, _STRATEGY, options, stop=hearing.enough):
            hearing.hear(event)
            if isinstance(event, Finished):
                found = event.plan
        return hearing.answer(found)

    return ask


class _Either(threading.Event):
    """Set when it is set itself, or another is."""

    def __init__(self, other: threading.Event | None) -> None:
        super().__init__()
        self._other = other

    def is_set(self) -> bool:
        return super().is_set() or (self._other is not None and self._other.is_set())


class _Hearing:
    """Listens to a run until the question is decided."""

    def __init__(self, target_ns: int, stop: threading.Event | None) -> None:
        self._target_ns = target_ns
        self.enough = _Either(stop)
        self._plan: Plan | None = None
        self._bound_ns = 0

    def hear(self, event: SolveEvent) -> None:
        match event:
            case Incumbent(plan, _):
                self._take(plan)
            case Bound(lower_bound_ns, _):
                self._bound_ns = max(self._bound_ns, lower_bound_ns)
        if self._plan is not None or self._bound_ns > self._target_ns:
            self.enough.set()

    def answer(self, found: Plan | None) -> tuple[Plan | None, int]:
        if found is not None:
            if found.has_events:
                self._take(found)
            if found.status is Status.INFEASIBLE:
                return None, self._target_ns + 1
        return self._plan, self._bound_ns

    def _take(self, plan: Plan) -> None:
        self._bound_ns = max(self._bound_ns, plan.lower_bound_ns or 0)
        if (plan.total_ns or 0) <= self._target_ns and (
            self._plan is None or (plan.total_ns or 0) < (self._plan.total_ns or 0)
        ):
            self._plan = plan


def within_limit(found: Vanishing, plan: Plan) -> Plan | None:
    """The plan of an answer as one of the problem of `plan` under the limit that was found; `None` without one."""
    if found.plan is None or found.enough_bytes is None:
        return None
    limit = max(found.enough_bytes, found.given_bytes)
    problem = plan.problem.with_limit(found.device, limit) if limit != found.given_bytes else plan.problem
    return replace(found.plan, problem=problem, lower_bound_ns=None, status=Status.FEASIBLE, explanation="")
