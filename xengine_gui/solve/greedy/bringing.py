"""How a tensor is brought to a moment of a draft, and when it is held there without being used."""

from bisect import bisect_left, bisect_right
from math import inf
from typing import NamedTuple

from xengine_gui.model.plan import Move, Run
from xengine_gui.solve.greedy.actions import Action
from xengine_gui.solve.greedy.draft import Draft

_DEEPEST = 8
"""So many operators may be nested in what brings back one tensor."""


class Gap(NamedTuple):
    """A stretch in which a tensor is held and not used: from the slot of one use to that of the next read."""

    key: int
    begin: int
    end: int


def gap_at(draft: Draft, key: int, slot: int) -> Gap | None:
    """The gap of a key around a slot, `None` where it is not there or used then."""
    made, reads = draft.made[key], draft.read[key]
    place = bisect_right(made, slot)
    if not place or made[place - 1] == slot:
        return None
    position = bisect_left(reads, slot)
    if position == len(reads) or reads[position] == slot or (place < len(made) and reads[position] >= made[place]):
        return None
    begin = made[place - 1]
    return Gap(key, max(begin, reads[position - 1]) if position else begin, reads[position])


class Bringing:
    """The cheapest actions that have a key there just before a slot, given what the draft holds then."""

    def __init__(self, draft: Draft, slot: int) -> None:
        self.draft, self.slot = draft, slot
        self.indexed, self.tables, self.count = draft.indexed, draft.tables, draft.count
        self.planned: set[int] = set()

    def plan(self, key: int, ceiling_ns: float = inf) -> tuple[float, list[Action]] | None:
        """Cost and actions in order, `None` where there is no way below the ceiling."""
        return self._make(key, ceiling_ns, 0)

    def _make(self, key: int, ceiling_ns: float, depth: int) -> tuple[float, list[Action]] | None:
        device, tensor = divmod(key, self.count)
        best: tuple[float, list[Action]] | None = None
        for source in range(self.indexed.device_count):
            if (
                source == device
                or (time_ns := self.indexed.copy_ns(source, device, tensor)) is None
                or time_ns >= ceiling_ns
            ):
                continue
            if self.is_there(source * self.count + tensor):
                best, ceiling_ns = (time_ns, [Move(source, device, tensor)]), time_ns
        return self._run(device, tensor, ceiling_ns, depth) or best

    def _run(self, device: int, tensor: int, ceiling_ns: float, depth: int) -> tuple[float, list[Action]] | None:
        operator = self.indexed.producer[tensor]
        time_ns = self.tables.run_ns[operator][device]
        if time_ns is None or time_ns >= ceiling_ns or depth > _DEEPEST or not self.indexed.recomputable[operator]:
            return None
        if any(not self.draft.homes[device].get(p) for p in self.indexed.parameters[operator]):
            return None
        cost: float = time_ns
        actions: list[Action] = []
        for source in self.indexed.inputs[operator]:
            key = device * self.count + source
            if key in self.planned or self.is_there(key):
                continue
            way = self._make(key, ceiling_ns - cost, depth + 1)
            if way is None:
                return None
            cost += way[0]
            actions += [action for action in way[1] if action not in actions]
        return cost, [*actions, Run(device, operator, self.tables.ways[operator][device][0])]

    def is_there(self, key: int) -> bool:
        """Whether a key is held at the slot, or there is room to hold it on from its last use."""
        draft = self.draft
        made = draft.made.get(key)
        if not made:
            return False
        place = bisect_left(made, self.slot)
        if not place:
            return False
        following = made[place] if place < len(made) else draft.end + 1
        if draft.last_read(key, made[place - 1], following) >= self.slot:
            return True
        last = draft.last_read(key, made[place - 1], self.slot)
        return draft.has_room(key, last + 1, self.slot + 1)
