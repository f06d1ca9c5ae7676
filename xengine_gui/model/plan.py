"""The plan: what happens when, what it costs, and how good it is proved to be."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple

from xengine_gui.model.problem import Problem


class Run(NamedTuple):
    """A step: an operator runs on a device by one of its implementations (all as positions in the problem)."""

    device: int
    operator: int
    implementation: int = 0


class Move(NamedTuple):
    """A step: a tensor is copied from one device to another (as positions in the problem)."""

    source: int
    destination: int
    tensor: int


class Drop(NamedTuple):
    """A step: a tensor is freed on a device (as positions in the problem)."""

    device: int
    tensor: int


Step = Run | Move | Drop
"""What strategies put in order; a clock turns steps into events with times."""


@dataclass(frozen=True, slots=True)
class Compute:
    """An operator runs on a device; `again` tells a recompute from the first computation."""

    operator: str
    device: str
    start_ns: int
    end_ns: int
    again: bool = False
    implementation: str | None = None

    @property
    def kind(self) -> str:
        """The word of the plan file: compute or recompute."""
        return "recompute" if self.again else "compute"


@dataclass(frozen=True, slots=True)
class Transfer:
    """A tensor is copied from device to device."""

    tensor: str
    source: str
    destination: str
    start_ns: int
    end_ns: int
    kind: ClassVar[str] = "transfer"


@dataclass(frozen=True, slots=True)
class Free:
    """A tensor is released on a device."""

    tensor: str
    device: str
    start_ns: int
    kind: ClassVar[str] = "free"

    @property
    def end_ns(self) -> int:
        """A free takes no time."""
        return self.start_ns


Event = Compute | Transfer | Free


class Status(StrEnum):
    """What is known of a plan: `optimal` and `infeasible` only with a proof."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"


class Clock(StrEnum):
    """How times are laid out: one event at a time, or devices and links side by side."""

    SERIAL = "serial"
    OVERLAPPED = "overlapped"


@dataclass(frozen=True)
class Plan:
    """Events listed by start, with the totals that they replay to.

    `lower_bound_ns` is a proved bound on the serial total of any staged plan, or `None`. Where there is no plan
    (`infeasible`, `unknown`) there are no events, `total_ns` is `None`, and `explanation` says why. `watch_points` are
    the moments at which memory mattered to the proof, as its strategy writes them: a search that starts from this plan
    begins with them. Files do not hold them.
    """

    problem: Problem
    strategy: str
    status: Status
    events: tuple[Event, ...] = ()
    total_ns: int | None = None
    lower_bound_ns: int | None = None
    peak_bytes: Mapping[str, int] = field(default_factory=dict)
    clock: Clock = Clock.SERIAL
    runtime_s: float = 0.0
    explanation: str = ""
    watch_points: tuple[tuple[Any, ...], ...] = field(default=(), compare=False, repr=False)

    @property
    def has_events(self) -> bool:
        """Whether there is something to run (an empty problem has an empty plan, so events alone do not tell)."""
        return self.status in (Status.OPTIMAL, Status.FEASIBLE)

    @property
    def gap_ratio(self) -> float | None:
        """(total - bound) / total of the serial clock, 0 for an empty total, `None` where nothing is proved."""
        if self.total_ns is None or self.lower_bound_ns is None or self.clock is not Clock.SERIAL:
            return None
        return max(0.0, (self.total_ns - self.lower_bound_ns) / self.total_ns) if self.total_ns else 0.0
