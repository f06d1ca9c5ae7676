"""Why nothing fits, in words and as figures for the window."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from xengine_gui.model.plan import Plan
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.solve.feasibility import SmallestLimit, WatchPoints, known_plan, limits_at_once, smallest_limits
from xengine_gui.solve.retain_all import RetainAll, retained_tries, what_is_missing
from xengine_gui.solve.working_set import TooLarge, single_operator_proof
from xengine_gui.units import format_names, format_size, format_size_exact

_AT_ONCE_S = 0.4
_MANY_OPERATORS = 2000


@dataclass(frozen=True, slots=True)
class Shortage:
    """What keeps a problem from being planned.

    `too_large` where an operator fits on no device even alone; `smallest` per limited device, with `too_large` only
    where it is found and proved at once. `proved` where it is
    proved that no plan keeps the limits. `plan` where there is no shortage: it keeps them, without recomputation if
    `retained`.
    """

    proved: bool
    too_large: TooLarge | None = None
    smallest: tuple[SmallestLimit, ...] = ()
    plan: Plan | None = None
    retained: bool = False

    def words(self, problem: Problem) -> str:
        """The shortage in sentences."""
        if self.plan is not None:
            return f"There is a plan within the limits{', without recomputation' * self.retained}."
        if self.too_large is not None:
            enough = _enough(problem, self.smallest)
            return " ".join(part for part in (self.too_large.sentence(problem), enough) if part)
        if not self.smallest and self.proved:
            return _without_limits(problem)
        if not self.smallest:
            return f"No plan was found; that none exists is not proved. {what_is_missing(problem)}".strip()
        closest = self.closest
        head = self._head(closest, problem)
        others = [_or_else(problem, s) for s in self.smallest if s is not closest and s.limit_bytes is not None]
        moment = "" if closest.moment is None else f"Then {closest.moment.sentence()}"
        return " ".join(part for part in (head, *others, moment) if part)

    @property
    def closest(self) -> SmallestLimit:
        """The device whose limit has to rise least, as a share of it."""

        def rise(small: SmallestLimit) -> float:
            if small.limit_bytes is None:
                return float("inf")
            return (small.limit_bytes - (small.given_bytes or 0)) / max(1, small.given_bytes or 0)

        return min(self.smallest, key=rise)

    def _head(self, small: SmallestLimit, problem: Problem) -> str:
        others = _as_they_are(problem, small.device)
        none = "No plan keeps" if self.proved else "No plan was found that keeps"
        if small.limit_bytes is None:
            no_limit = "no limit of it would do" if small.proved else "none was found whatever its limit"
            return f"{none} {small.device!r} within {format_size(small.given_bytes or 0)}; {no_limit}{others}."
        given, limit, lower = _told_apart(small)
        told = f"{none} {small.device!r} within {given}"
        if small.proved:
            return f"{told}: at least {limit} are needed{others} (proved)."
        bound = f"; that less than {lower} cannot do is proved" if small.lower_bytes else ""
        return f"{told}: {limit} would do{others}, the least known{bound}."


def shortage(
    problem: Problem,
    *,
    stop: threading.Event | None = None,
    time_s: float | None = 10.0,
    proved: bool = False,
    points: WatchPoints = (),
) -> Shortage:
    """What keeps a problem from being planned, as far as it can be found out in the time.

    `proved` tells that it has been proved to have no plan, `points` the moments that the proof watched.
    """
    too_large = single_operator_proof(problem.indexed)
    if too_large is not None:
        return Shortage(proved=True, too_large=too_large, smallest=_at_once(problem, stop, time_s))
    if not proved:
        tries = retained_tries(problem)
        if tries and tries[0].replay.valid:
            return Shortage(proved=False, plan=finished_plan(problem, RetainAll.key, tries[0].steps), retained=True)
    smallest = smallest_limits(problem, stop, time_s, infeasible=proved, points=points)
    proved = proved or any(s.given_bytes is not None and s.lower_bytes > s.given_bytes for s in smallest)
    return Shortage(proved, smallest=smallest, plan=None if proved else known_plan(problem, smallest))


def _at_once(problem: Problem, stop: threading.Event | None, time_s: float | None) -> tuple[SmallestLimit, ...]:
    """The smallest limits as far as they are proved in a moment."""
    if len(problem.operators) > _MANY_OPERATORS:
        return ()
    return limits_at_once(problem, stop, _AT_ONCE_S if time_s is None else min(_AT_ONCE_S, time_s))


def _enough(problem: Problem, found: Sequence[SmallestLimit]) -> str:
    """Which limits would do, where that is known."""
    parts = [
        f"{s.device!r} with {_to_type(s.limit_bytes or 0)} would do{_as_they_are(problem, s.device)}, and no less."
        for s in found
    ]
    return " Or ".join(parts)


def _without_limits(problem: Problem) -> str:
    """Why a problem without limits has no plan: a tensor that nothing brings to where it is read."""
    indexed, devices = problem.indexed, range(len(problem.devices))
    number = {tensor.name: i for i, tensor in enumerate(problem.tensors)}
    for operator, ways in zip(problem.operators, indexed.implementations, strict=True):
        for tensor in dict.fromkeys(operator.inputs):
            producer = indexed.producer[number[tensor]]
            made = [d for d in devices if indexed.implementations[producer][d]]
            read = [d for d in devices if ways[d]]
            if not set(_reached(problem, made, number[tensor])) & set(read):
                where, there = (format_names([repr(problem.devices[d].name) for d in ds]) for ds in (read, made))
                return (
                    f"No plan exists, whatever the limits: {operator.name!r} runs only on {where}, and no link or "
                    f"transfer brings its input {tensor!r} there from {there}."
                )
    return f"No plan exists; this is proved. {what_is_missing(problem)}".strip()


def _reached(problem: Problem, made: list[int], tensor: int) -> list[int]:
    """The devices that a tensor can be copied to, over as many links as it takes, from those that make it."""
    indexed, found = problem.indexed, list(made)
    for source in found:
        found += [
            d for d in range(indexed.device_count) if d not in found and indexed.copy_ns(source, d, tensor) is not None
        ]
    return found


def _as_they_are(problem: Problem, device: str) -> str:
    others = [d.name for d in problem.devices if d.name != device and d.memory_limit_bytes is not None]
    if not others:
        return ""
    return f" with {', '.join(map(repr, others))} as {'it is' if len(others) == 1 else 'they are'}"


def _or_else(problem: Problem, small: SmallestLimit) -> str:
    given, limit, lower = _told_apart(small)
    at_least = f", not less than {lower}" if small.lower_bytes else ""
    how = "proved" if small.proved else f"the least known{at_least}"
    others = _as_they_are(problem, small.device)
    return f"Or {small.device!r} with {limit} in place of {given}{others} ({how})."


def _told_apart(small: SmallestLimit) -> tuple[str, str, str]:
    """The limit that is given, the one that would do, and the bound: in short, or to the byte where that is the same.

    A limit that would do can be typed as it stands, so it is told to the byte at any rate.
    """
    sizes = small.given_bytes or 0, small.limit_bytes or 0, small.lower_bytes
    given, limit, lower = (format_size(size) for size in sizes)
    if given == limit or (limit == lower and not small.proved):
        given, limit, lower = (format_size_exact(size) for size in sizes)
        return given, limit, lower
    return given, _to_type(sizes[1]), lower


def _to_type(size_bytes: int) -> str:
    """A size in short and to the byte: one that is rounded down and typed would not do."""
    short = format_size(size_bytes)
    return short if size_bytes < 1024 else f"{short} ({format_size_exact(size_bytes)})"
