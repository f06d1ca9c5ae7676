"""Watch points: the moments at which memory is enforced, and the segments between them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class WatchPoint(NamedTuple):
    """A moment of every plan: while operator `operator` runs in stage `stage`.

    With `operator == stage` (and `device` -1) it is the operator's first computation. Else it is the operator's last
    recomputation on `device` within the stage, after the stage's earlier watch points; with `before`, another
    (operator, device) that is watched in the same stage, it is the last one before that moment. A plan without such a
    run has the moment at once after the watch point before it, or at once before the one that `before` names.
    """

    stage: int
    operator: int
    device: int = -1
    before: tuple[int, int] | None = None

    @property
    def is_first(self) -> bool:
        """Whether it watches a first computation."""
        return self.operator == self.stage

    @property
    def anchor(self) -> "WatchPoint":
        """The watch point that it stands in front of, or itself."""
        return self if self.before is None else WatchPoint(self.stage, *self.before)


class Segment(NamedTuple):
    """The operators `first` to `last` (inclusive, empty where last < first) first computed in a segment."""

    first: int
    last: int


def in_order(points: Iterable[WatchPoint]) -> tuple[WatchPoint, ...]:
    """Watch points by time, each once, with the start of the stage watched wherever a recomputation in it is.

    A watched recomputation must be told from one in an earlier stage, so the stage must begin with a watch point.
    """
    wanted = set(points)
    wanted |= {point.anchor for point in wanted}
    wanted |= {WatchPoint(p.stage - 1, p.stage - 1) for p in wanted if not p.is_first and p.stage > 0}
    return tuple(sorted(wanted, key=_place))


def _place(point: WatchPoint) -> tuple[int, bool, int, int, bool, int, int]:
    anchor = point.anchor
    own = point.operator, point.device
    return (point.stage, point.is_first, anchor.operator, anchor.device, point.before is None, *own)


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
        barred = []
        for index, point in enumerate(self.points[:segment]):
            ends = point.before is None or segment <= self.points.index(point.anchor)
            if point.stage == stage and not point.is_first and index < segment and ends:
                barred.append((point.operator, point.device))
        return barred
