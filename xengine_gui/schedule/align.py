"""Two plans of one graph on one time axis: moments that belong together, and what only one of them does.

Every plan computes every operator first in base order, so these first computations tie two plans together; what lies
between two of them is stretched.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from xengine_gui.model.plan import Compute, Event, Free, Plan, Transfer
from xengine_gui.schedule.timeline import Int64Array

_Key = tuple[str, str, str, str]


@dataclass(frozen=True)
class TimeMap:
    """Moments of two plans that belong together, each list in ascending order."""

    one_ns: Int64Array
    other_ns: Int64Array

    def to_other(self, times_ns: Int64Array, *, as_ends: bool = False) -> Int64Array:
        """Where moments of the first plan are in the second.

        Where the second does something between two things that follow each other at once in the first, that moment is
        a stretch: its end is taken, or with `as_ends` (moments at which something ends) its beginning.
        """
        return _moved(times_ns, self.one_ns, self.other_ns, as_ends=as_ends)

    def to_one(self, times_ns: Int64Array) -> Int64Array:
        """Where moments of the second plan are in the first."""
        return _moved(times_ns, self.other_ns, self.one_ns, as_ends=False)


def time_map(one: Plan, other: Plan) -> TimeMap:
    """The moments at which both plans begin and end the same first computation, with the beginning and the end."""
    firsts = [{e.operator: e for e in plan.events if isinstance(e, Compute) and not e.again} for plan in (one, other)]
    shared = [name for name in firsts[0] if name in firsts[1]]
    ends = [max((e.end_ns for e in plan.events), default=0) for plan in (one, other)]
    columns = [
        [0, *(t for name in shared for t in (first[name].start_ns, first[name].end_ns)), end]
        for first, end in zip(firsts, ends, strict=True)
    ]
    # On the overlapped clock a later operator may begin before an earlier one: the map never runs backwards.
    one_ns, other_ns = (np.maximum.accumulate(np.array(column, dtype=np.int64)) for column in columns)
    return TimeMap(one_ns, other_ns)


@dataclass(frozen=True)
class OnlyIn:
    """Positions of the events (computations and transfers) that one plan has and the other has not."""

    one: tuple[int, ...]
    other: tuple[int, ...]


def only_in(one: Plan, other: Plan) -> OnlyIn:
    """What vanished from the first plan and what appeared in the second.

    Events are the same where they do the same in the same place and stage; frees are left out.
    """
    waiting: defaultdict[tuple[_Key, int], list[int]] = defaultdict(list)
    for i, stage, key in _keys(one):
        waiting[key, stage].append(i)
    appeared = []
    for i, stage, key in _keys(other):
        same = waiting.get((key, stage))
        if same:
            same.pop(0)
        else:
            appeared.append(i)
    vanished = sorted(i for rest in waiting.values() for i in rest)
    return OnlyIn(tuple(vanished), tuple(appeared))


def _keys(plan: Plan) -> list[tuple[int, int, _Key]]:
    """Position, stage and doing of each computation and transfer."""
    found: list[tuple[int, int, _Key]] = []
    stage = 0
    for i, event in enumerate(plan.events):
        if isinstance(event, Free):
            continue
        found.append((i, stage, _key(event)))
        stage += isinstance(event, Compute) and not event.again
    return found


def _key(event: Event) -> _Key:
    if isinstance(event, Transfer):
        return event.kind, event.tensor, event.source, event.destination
    if isinstance(event, Compute):
        return event.kind, event.operator, event.device, event.implementation or ""
    return event.kind, event.tensor, event.device, ""


def _moved(times_ns: Int64Array, here: Int64Array, there: Int64Array, *, as_ends: bool) -> Int64Array:
    # In whole numbers relative to the piece's start: floats lose nanoseconds after a day.
    times = np.clip(np.asarray(times_ns, dtype=np.int64), here[0], here[-1])
    piece = np.clip(np.searchsorted(here, times, "left" if as_ends else "right") - 1, 0, len(here) - 2)
    length = here[piece + 1] - here[piece]
    share = np.where(length > 0, (times - here[piece]) / np.maximum(length, 1), 0.0 if as_ends else 1.0)
    return np.asarray(there[piece] + np.rint(share * (there[piece + 1] - there[piece])), dtype=np.int64)
