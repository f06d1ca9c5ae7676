"""Ways of lowering a draft's memory at one moment, and healing a draft with them."""

from bisect import insort
from collections.abc import Callable, Iterator
from math import inf

from xengine_gui.model.plan import Move, Run
from xengine_gui.solve.greedy.actions import Action
from xengine_gui.solve.greedy.bringing import Bringing, Gap, gap_at
from xengine_gui.solve.greedy.draft import CrowdedError, Draft, Remedy
from xengine_gui.solve.greedy.relocation import relocate, relocation

_LOOKS_PER_GAP = 10
"""How many times longer finding the way back of a tensor takes than finding out whether it is held."""
_MOST_RANKINGS = 64
_WORSE_THAN_THOUGHT = 1.0
"""A remedy that has become dearer than this many times the next one since they were ranked waits behind it."""


def gap_remedy(draft: Draft, gap: Gap, ceiling_ns: float) -> tuple[Remedy, list[Action]] | None:
    """Let a tensor go in a gap: make it again or copy it back before the gap ends, or move it out and in."""
    device, tensor = divmod(gap.key, draft.count)
    way = Bringing(draft, gap.end).plan(gap.key, ceiling_ns)
    cost, actions = (inf, []) if way is None else way
    kind, where = "bring", device
    for other in range(draft.indexed.device_count):
        if other == device or (out := draft.indexed.copy_ns(device, other, tensor)) is None:
            continue
        back = 0 if gap.end == draft.end else draft.indexed.copy_ns(other, device, tensor)
        if back is None or out + back >= min(cost, ceiling_ns):
            continue
        if draft.has_room(other * draft.count + tensor, gap.begin + 1, gap.end + 1):
            cost, kind, where = out + back, "out" if gap.end < draft.end else "keep", other
            actions = [Move(other, device, tensor)] if gap.end < draft.end else []
    if cost >= ceiling_ns:
        return None
    if draft.bias:
        cost *= (draft.end / (gap.end - gap.begin)) ** draft.bias
    return Remedy(cost, draft.indexed.tensor_bytes[tensor], kind, (gap.key, where)), actions


def let_go(draft: Draft, gap: Gap, remedy: Remedy, actions: list[Action]) -> None:
    """Carry out a remedy of a gap."""
    device, tensor = divmod(gap.key, draft.count)
    if remedy.kind in ("out", "keep"):
        draft.put(draft.empty_after(gap.begin), Move(device, remedy.what[1], tensor))
    if remedy.kind == "keep":
        draft.keep_on(tensor, remedy.what[1])
    begin = draft.empty_before(gap.end, len(actions))
    for offset, action in enumerate(actions):
        draft.put(begin + offset, action)


def _remedies(draft: Draft, device: int, slot: int) -> Iterator[Remedy]:
    sizes, made, read = draft.indexed.tensor_bytes, draft.made, draft.read
    around = [k for k in draft.keys_on[device] if read[k] and read[k][-1] > slot and made[k] and made[k][0] < slot]
    draft.looks += len(draft.keys_on[device]) // 8 + len(around)
    for key in around:
        if sizes[key % draft.count] and (gap := gap_at(draft, key, slot)) is not None:
            draft.looks += _LOOKS_PER_GAP
            found = gap_remedy(draft, gap, inf)
            if found is not None:
                yield found[0]
    run = draft.at[slot]
    if isinstance(run, Run):
        yield from _run_remedies(draft, run, slot)


def _ranking(draft: Draft, device: int, slot: int) -> list[Remedy]:
    """Remedies of a moment, the cheapest per byte last; what is known is used again until the draft has changed."""
    ranking = draft.rankings.get((device, slot))
    if ranking is None:
        if len(draft.rankings) >= _MOST_RANKINGS:
            draft.rankings.clear()
        ranking = sorted(_remedies(draft, device, slot), key=lambda r: -r.cost_ns / r.freed_bytes)
        draft.rankings[device, slot] = ranking
    return ranking


def _run_remedies(draft: Draft, run: Run, slot: int) -> Iterator[Remedy]:
    """Another implementation or another device for what runs at the moment."""
    rows = draft.indexed.implementations[run.operator][run.device]
    now = rows[run.implementation]
    for index, row in enumerate(rows):
        if row.workspace_bytes < now.workspace_bytes:
            freed = now.workspace_bytes - row.workspace_bytes
            yield Remedy(row.time_ns - now.time_ns, freed, "switch", (slot, index))
    for device in draft.tables.computing:
        found = relocation(draft, slot, device) if device != run.device else None
        if found is not None:
            yield Remedy(found[0], max(1, found[1]), "device", (slot, device))


def mend(draft: Draft, over_bytes: int, device: int, slot: int, ceiling_ns: float) -> float | None:
    """Bring the memory at a moment below the limit at the least cost per byte; the cost, `None` where it cannot be."""
    ranking = _ranking(draft, device, slot)
    if not ranking or ranking[-1].cost_ns * over_bytes >= ceiling_ns * ranking[-1].freed_bytes:
        return None
    ranked = sorted(ranking, key=lambda r: -r.ratio(over_bytes))
    largest = max(r.freed_bytes for r in ranked)
    limit, before, over = draft.tables.limit_bytes[device], draft.total_ns, over_bytes
    while over > 0:
        if not ranked or draft.total_ns - before >= ceiling_ns:
            return None
        if not _try(draft, ranked, slot, over, ceiling_ns - (draft.total_ns - before)):
            continue
        over = int(draft.level[device, slot]) - limit
        if 0 < over < largest:
            ranked.sort(key=lambda r: -r.ratio(over))
    return draft.total_ns - before


def _try(draft: Draft, ranked: list[Remedy], slot: int, over_bytes: int, ceiling_ns: float) -> bool:
    """Carry out the best remedy, unless it has become dearer than the next since they were ranked."""
    remedy = ranked.pop()
    if remedy.kind == "switch":
        run = draft.at[slot]
        draft.exchange(slot, run._replace(implementation=remedy.what[1]) if isinstance(run, Run) else run)
    elif remedy.kind == "device":
        if relocation(draft, slot, remedy.what[1]) is None:  # what was done since may have taken its inputs' way
            return False
        relocate(draft, slot, remedy.what[1])
    else:
        gap = gap_at(draft, remedy.what[0], slot)
        draft.looks += _LOOKS_PER_GAP
        found = gap_remedy(draft, gap, ceiling_ns) if gap else None
        if gap is None or found is None:
            return False
        if ranked and found[0].ratio(over_bytes) > _WORSE_THAN_THOUGHT * ranked[-1].ratio(over_bytes):
            insort(ranked, found[0], key=lambda r: -r.ratio(over_bytes))
            if found[0].cost_ns > remedy.cost_ns:
                return False
            ranked.remove(found[0])
        let_go(draft, gap, *found)
    return True


def heal(draft: Draft, ceiling_ns: float, most: int) -> bool:
    """Mend the worst excess of what was raised again and again; false where it costs too much or cannot be."""
    before = draft.total_ns
    for _ in range(most):
        worst = draft.worst()
        if worst is None:
            return True
        if mend(draft, *worst, before + ceiling_ns - draft.total_ns) is None:
            return False
    return draft.worst() is None


def heal_everywhere(draft: Draft, should_stop: Callable[[], bool], most_looks: float = inf) -> bool:
    """Mend the worst excess of the whole draft until there is none; false where it is stuck or takes too long."""
    ceiling = draft.looks + most_looks
    for _ in range(3 * len(draft.made) + 50):
        draft.begin()
        draft.rankings.clear()
        worst = draft.worst(everywhere=True)
        if worst is None:
            return True
        if should_stop() or draft.looks > ceiling:
            return False
        draft.looks += _LOOKS_PER_GAP
        try:
            if mend(draft, *worst, inf) is None:
                return False
        except CrowdedError:
            draft.renumber()
    return False
