"""Watch points: the moments at which memory is enforced, and the segments between them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class WatchPoint(NamedTuple):
    """A moment of every plan: while operator `operator` runs in stage `stage`.

    With `operator == stage` (and `device` -1) it is the operator's first computation. Else it is the operator's last
    recomputation on `device` within the stage, after the stage's earlier watch points; in a plan without such a run the
    moment comes at once after the watch point before it.
    """

    stage: int
    operator: int
    device: int = -1

    @property
    def is_first(self) -> bool:
        """Whether it watches a first computation."""
        return self.operator == self.stage


class Segment(NamedTuple):
    """The operators `first` to `last` (inclusive, empty where last < first) first computed in a segment."""

    first: int
    last: int

    @property
    def has_base(self) -> bool:
        """Whether any first computation lies in it."""
        return self.last >= self.first


def in_order(points: Iterable[WatchPoint]) -> tuple[WatchPoint, ...]:
    """Watch points by time, each once, with the start of the stage watched wherever a recomputation in it is.

    A watched recomputation must be told from one in an earlier stage, so the stage must begin with a watch point.
    """
    wanted = set(points)
    wanted |= {WatchPoint(p.stage - 1, p.stage - 1) for p in wanted if not p.is_first and p.stage > 0}
    return tuple(sorted(wanted, key=lambda p: (p.stage, p.is_first, p.operator, p.device)))


@dataclass(frozen=True)
class Segmentation:
    """K watch points in order, and the K + 1 segments into which they cut the base order."""

    operator_count: int
    points: tuple[WatchPoint, ...]

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The segments; segment k ends with watch point k (the last one with the last operator)."""
        found: list[Segment] = []
        first = 0
        for point in self.points:
            last = point.stage if point.is_first else point.stage - 1
            found.append(Segment(first, max(last, first - 1)))
            first = max(first, last + 1)
        return (*found, Segment(first, self.operator_count - 1))

    def barred(self, segment: int) -> Sequence[tuple[int, int]]:
        """Pairs (operator, device) that cannot run in a segment: their last recomputation of the stage was watched."""
        stage = self.segments[segment].first
        if segment == len(self.points) or self.points[segment].stage != stage:
            return []  # the segment goes on into later stages
        before = (point for point in self.points[:segment] if point.stage == stage and not point.is_first)
        return [(point.operator, point.device) for point in before]
