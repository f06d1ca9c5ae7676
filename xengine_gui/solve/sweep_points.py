"""What a sweep comes to: points, curves, and what is remarkable about them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.peak import one_device_peak_bytes
from xengine_gui.solve.feasibility import alone_bytes

_LEAST_BEND = 0.05
"""A curve that bends less, as a share of its height, has no knee."""
Limits = tuple[int, ...]
"""A memory limit in bytes for each axis."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A device and the limits that it is given, the smallest first."""

    device: str
    limits_bytes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """What is known at some limits (one for each axis); `total_ns` on the serial clock, `None` without a plan.

    `is_final` is false for what neighbours tell before the limits themselves were planned.
    """

    limits_bytes: Limits
    status: Status
    total_ns: int | None = None
    lower_bound_ns: int | None = None
    plan: Plan | None = field(default=None, repr=False, compare=False)
    explanation: str = ""
    is_final: bool = True

    @property
    def limit_bytes(self) -> int:
        """The limit of the first axis."""
        return self.limits_bytes[0]

    @property
    def gap_ratio(self) -> float | None:
        """How far above the bound the total may be, as a share of it; `None` where nothing is proved."""
        if self.total_ns is None or self.lower_bound_ns is None:
            return None
        return max(0.0, (self.total_ns - self.lower_bound_ns) / self.total_ns) if self.total_ns else 0.0


@dataclass(frozen=True, slots=True)
class SweepCurve:
    """One strategy's points, in the order of the limits; `declined` says why it cannot plan such a problem."""

    strategy: str
    title: str
    points: tuple[SweepPoint, ...]
    declined: str = ""


@dataclass(frozen=True)
class Sweep:
    """A curve for each strategy over the same limits."""

    name: str
    axes: tuple[Axis, ...]
    curves: tuple[SweepCurve, ...]

    @cached_property
    def limits(self) -> tuple[Limits, ...]:
        """All limits, the last axis running fastest."""
        return tuple(product(*(axis.limits_bytes for axis in self.axes)))

    def bound_ns(self, limits: Limits) -> int | None:
        """The highest bound that any strategy has proved for these limits or for larger ones."""
        points = (p for curve in self.curves for p in curve.points if within(limits, p.limits_bytes))
        return max((p.lower_bound_ns for p in points if p.lower_bound_ns is not None), default=None)

    def best(self) -> tuple[SweepPoint, ...]:
        """At each limit the fastest plan of all strategies, with the highest bound."""
        return self._best_points

    @cached_property
    def _best_points(self) -> tuple[SweepPoint, ...]:
        return tuple(self._best(i, limits) for i, limits in enumerate(self.limits))

    def _best(self, i: int, limits: Limits) -> SweepPoint:
        points = [curve.points[i] for curve in self.curves]
        point = min(points, key=lambda p: (p.total_ns is None, p.total_ns or 0, p.status is not Status.INFEASIBLE))
        bound = self.bound_ns(limits)
        if point.total_ns is not None and bound is not None:
            bound = min(bound, point.total_ns)
        return replace(point, lower_bound_ns=None if point.status is Status.INFEASIBLE else bound)


def usual_range(problem: Problem, device: str) -> tuple[int, int]:
    """The limits in bytes between which it matters: what one operator alone takes, and what the whole graph takes."""
    index = [d.name for d in problem.devices].index(problem.device(device).name)
    low = alone_bytes(problem.with_limit(device, None).indexed, index)
    return low, max(low, one_device_peak_bytes(problem, device))


def evenly(low_bytes: int, high_bytes: int, count: int) -> tuple[int, ...]:
    """At most `count` different limits, evenly spaced from the lowest to the highest; a single one is the highest."""
    steps = count - 1
    if steps < 1:
        return (high_bytes,)
    return tuple(sorted({low_bytes + (high_bytes - low_bytes) * i // steps for i in range(steps + 1)}))


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


def within(limits: Limits, larger: Limits) -> bool:
    """Whether no limit is above the other; what keeps the one then keeps the other too."""
    return all(a <= b for a, b in zip(limits, larger, strict=True))
