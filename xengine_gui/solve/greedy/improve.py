"""Making a valid draft cheaper."""

from collections.abc import Callable

from xengine_gui.solve.greedy.actions import action_ns
from xengine_gui.solve.greedy.draft import CrowdedError, Draft
from xengine_gui.solve.greedy.mending import heal


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
    for slot in _extra_slots(draft):
        if should_stop():
            break
        if draft.at[slot] is None:
            continue
        before = draft.total_ns
        draft.begin()
        try:
            done = draft.take(slot) and heal(draft, before - draft.total_ns, mends) and draft.total_ns < before
        except CrowdedError:
            draft.undo()
            draft.renumber()
            return True
        if done:
            gained = True
        else:
            draft.undo()
    return gained


def improve_draft(draft: Draft, should_stop: Callable[[], bool], *, effort: int) -> None:
    """Improve a valid draft; with effort 0 only by what needs nothing in exchange."""
    for mends in (0, 1, 4, 12)[: 1 if effort == 0 else 4]:
        for _ in range(6):
            before = draft.total_ns
            gained = retain_more(draft, should_stop, mends=mends)
            if should_stop() or not gained or draft.total_ns > 0.9995 * before:
                break
