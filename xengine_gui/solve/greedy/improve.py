"""Making a valid draft cheaper."""

from collections.abc import Callable
from math import inf

from xengine_gui.solve.greedy.actions import action_ns
from xengine_gui.solve.greedy.draft import CrowdedError, Draft
from xengine_gui.solve.greedy.mending import heal

_PASSES = 6
_ENOUGH_GAIN = 0.9995
"""A pass that leaves more than this share of the total was the last of its kind."""


def _extra_slots(draft: Draft) -> list[int]:
    """Slots of all that is not a first computation, the longest first."""
    times = [
        (action_ns(draft.indexed, action), slot)
        for slot, action in enumerate(draft.at)
        if action is not None and not draft.first[slot]
    ]
    return [slot for _, slot in sorted(times, reverse=True)]


def retain_more(draft: Draft, should_stop: Callable[[], bool], *, mends: int) -> bool:
    """Take out each transfer and recomputation whose result can be retained instead; whether anything was gained.

    With `mends`, other tensors are let go for it at so many moments where that costs less than it gains.
    """
    gained = False
    draft.rankings.clear()
    for slot in _extra_slots(draft):
        if should_stop():
            break
        if draft.at[slot] is None:
            continue
        before = draft.total_ns
        draft.begin()
        draft.looks += 2
        try:
            done = draft.take(slot) and heal(draft, before - draft.total_ns, mends) and draft.total_ns < before
        except CrowdedError:
            draft.undo()
            draft.renumber()
            return True
        if done:
            gained = True
            draft.rankings.clear()
        else:
            draft.undo()
    return gained


def improve_draft(draft: Draft, should_stop: Callable[[], bool], *, mends: int, most_looks: float = inf) -> None:
    """Improve a valid draft until nothing is gained or so much was looked at; `mends` 0 gives nothing in exchange."""
    ceiling = draft.looks + most_looks
    for allowed in (0, 1, 4, 12):
        if allowed > mends:
            break
        for _ in range(_PASSES):
            before = draft.total_ns
            gained = retain_more(draft, lambda: draft.looks > ceiling or should_stop(), mends=allowed)
            if draft.looks > ceiling or should_stop() or not gained or draft.total_ns > _ENOUGH_GAIN * before:
                break
