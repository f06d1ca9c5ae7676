"""A plan that can be changed at any moment, with the memory of all devices always at hand.

Actions stand in slots with empty slots between them, so that something can be put before any of them. Per key (see
`actions`) the slots where it is made and read are kept sorted; between a making and its last read it takes memory. A
change is a row of small steps that are logged, so that it can be taken back.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from xengine_gui.model.plan import Run, Step
from xengine_gui.solve.greedy.actions import (
    Action,
    action_ns,
    actions_of,
    creations_of,
    finished_steps,
    first_runs,
    kept_devices,
    reads_of,
)
from xengine_gui.solve.greedy.tables import Tables

_SLOTS_PER_ACTION = 16
_MOST_SLOTS = 120_000


class Remedy(NamedTuple):
    """One way of lowering the memory at a moment: its cost, the bytes it frees then, what to do."""

    cost_ns: float
    freed_bytes: int
    kind: str
    what: tuple[int, int]

    def ratio(self, over_bytes: int) -> float:
        """Cost per byte that is of use."""
        return self.cost_ns / min(self.freed_bytes, over_bytes)


class CrowdedError(Exception):
    """There is no empty slot left where one is wanted."""


class Draft:
    """Actions in slots; `level[device]` is the memory over slots.

    `left` has operators and devices that they have left, `looks` counts how often the search has looked at a tensor (its
    measure of work), `rankings` holds what it knows about moments as long as the draft stays as it is.
    """

    def __init__(self, tables: Tables, steps: Sequence[Step]) -> None:
        self.tables, self.indexed = tables, tables.indexed
        self.count = tables.indexed.tensor_count
        self.kept = kept_devices(self.indexed, steps)
        self.left: set[tuple[int, int]] = set()
        self.looks = 0
        self._fill(actions_of(finished_steps(self.indexed, actions_of(steps), self.kept)))

    def _fill(self, actions: list[Action]) -> None:
        stride = max(2, min(_SLOTS_PER_ACTION, _MOST_SLOTS // max(1, len(actions))))
        self.end = stride * (len(actions) + 1)
        self.at: list[Action | None] = [None] * (self.end + 1)
        self.first = bytearray(self.end + 1)
        self.made: dict[int, list[int]] = {}
        self.read: dict[int, list[int]] = {}
        self.keys_on: list[set[int]] = [set() for _ in range(self.indexed.device_count)]
        self.total_ns = 0
        first = first_runs(actions)
        for position, action in enumerate(actions):
            slot = stride * (position + 1)
            self.at[slot] = action
            self.first[slot] = position in first
            self.total_ns += action_ns(self.indexed, action)
            for key in reads_of(self.indexed, action):
                self.read[key].append(slot)
            for key in creations_of(self.indexed, action):
                self._meet(key)
                self.made[key].append(slot)
        for tensor, device in self.kept.items():
            self.read[device * self.count + tensor].append(self.end)
        self._measure(actions)
        self.rankings: dict[tuple[int, int], list[Remedy]] = {}
        self.log: list[tuple[int, int, int]] = []
        self.raised: list[tuple[int, int, int]] = []

    def _meet(self, key: int) -> None:
        if key not in self.made:
            self.made[key], self.read[key] = [], []
            self.keys_on[key // self.count].add(key)

    def _measure(self, actions: list[Action]) -> None:
        indexed = self.indexed
        self.homes: list[dict[int, int]] = [{} for _ in range(indexed.device_count)]
        change = np.zeros((indexed.device_count, self.end + 2), np.int64)
        for action in actions:
            if isinstance(action, Run):
                for parameter in indexed.parameters[action.operator]:
                    homes = self.homes[action.device]
                    homes[parameter] = homes.get(parameter, 0) + 1
        for device, homes in enumerate(self.homes):
            change[device, 0] = sum(indexed.parameter_bytes[p] for p in homes)
        for key, made in self.made.items():
            device, tensor = divmod(key, self.count)
            size = indexed.tensor_bytes[tensor]
            for slot, following in zip(made, [*made[1:], self.end + 1], strict=True):
                change[device, slot] += size
                change[device, self.last_read(key, slot, following) + 1] -= size
        self.level = np.cumsum(change[:, :-1], axis=1)
        for slot, action in enumerate(self.at):
            if isinstance(action, Run):
                self.level[action.device, slot] += self.workspace(action)

    def workspace(self, run: Run) -> int:
        """Bytes that a run takes only while it runs."""
        return self.indexed.implementations[run.operator][run.device][run.implementation].workspace_bytes

    def last_read(self, key: int, made: int, before: int) -> int:
        """The last slot that reads a key in the stretch from where it is made; that slot itself where nothing does."""
        reads = self.read[key]
        position = bisect_left(reads, before) - 1
        return reads[position] if position >= 0 and reads[position] > made else made

    def renumber(self) -> None:
        """Give every action a new slot with empty ones around it."""
        self._fill([action for action in self.at if action is not None])

    def steps(self) -> list[Step]:
        """The plan."""
        return finished_steps(self.indexed, [action for action in self.at if action is not None], self.kept)

    # -- small steps, each logged

    def add_read(self, key: int, slot: int) -> None:
        """Something at a slot reads a key that has been made before."""
        self._change_read(key, slot, 1)
        self.log.append((0, key, slot))

    def remove_read(self, key: int, slot: int) -> None:
        """The opposite of `add_read`."""
        self._change_read(key, slot, -1)
        self.log.append((1, key, slot))

    def add_made(self, key: int, slot: int) -> None:
        """A key is made at a slot: reads after it no longer need an earlier one."""
        self._meet(key)
        self._change_made(key, slot, 1)
        self.log.append((2, key, slot))

    def remove_made(self, key: int, slot: int) -> None:
        """The opposite of `add_made`."""
        self._change_made(key, slot, -1)
        self.log.append((3, key, slot))

    def _change_read(self, key: int, slot: int, sign: int) -> None:
        made, reads = self.made[key], self.read[key]
        if sign < 0:
            del reads[bisect_left(reads, slot)]
        place = bisect_left(made, slot)
        following = made[place] if place < len(made) else self.end + 1
        position = bisect_left(reads, slot)
        if position == len(reads) or reads[position] >= following:
            begin = made[place - 1]
            last = reads[position - 1] if position and reads[position - 1] > begin else begin
            self._shift(key, last + 1, slot + 1, sign)
        if sign > 0:
            insort(reads, slot)

    def _change_made(self, key: int, slot: int, sign: int) -> None:
        made, reads = self.made[key], self.read[key]
        if sign < 0:
            del made[bisect_left(made, slot)]
        place = bisect_left(made, slot)
        following = made[place] if place < len(made) else self.end + 1
        position = bisect_right(reads, slot)
        if position < len(reads) and reads[position] < following:
            if place:  # reads after the slot: the stretch before it is held or not
                begin = made[place - 1]
                last = reads[position - 1] if position and reads[position - 1] > begin else begin
                self._shift(key, last + 1, slot, -sign)
            else:
                self._shift(key, slot, self.last_read(key, slot, following) + 1, sign)
        else:
            self._shift(key, slot, slot + 1, sign)
        if sign > 0:
            made.insert(place, slot)

    def _shift(self, key: int, begin: int, end: int, sign: int) -> None:
        if begin < end:
            device, tensor = divmod(key, self.count)
            self.level[device, begin:end] += sign * self.indexed.tensor_bytes[tensor]
            if sign > 0:
                self.raised.append((device, begin, end))

    def has_room(self, key: int, begin: int, end: int) -> bool:
        """Whether a key fits on its device beside all that is there in these slots."""
        device, tensor = divmod(key, self.count)
        limit = self.indexed.limit_bytes[device]
        if limit is None or begin >= end:
            return True
        return int(self.level[device, begin:end].max()) + self.indexed.tensor_bytes[tensor] <= limit

    def _load(self, run: Run, slot: int, sign: int) -> None:
        """What a run takes beside tensors: workspace while it runs, its parameters from the first run to need them on."""
        device, homes = run.device, self.homes[run.device]
        self.level[device, slot] += sign * self.workspace(run)
        for parameter in self.indexed.parameters[run.operator]:
            before = homes.get(parameter, 0)
            homes[parameter] = before + sign
            if not before or not homes[parameter]:
                self.level[device] += sign * self.indexed.parameter_bytes[parameter]
                self.raised.append((device, 0, self.end + 1))
        self.raised.append((device, slot, slot + 1))

    # -- actions

    def put(self, slot: int, action: Action) -> None:
        """Put an action into an empty slot."""
        self.at[slot] = action
        self.total_ns += action_ns(self.indexed, action)
        self.log.append((4, slot, 0))
        for key in reads_of(self.indexed, action):
            self.add_read(key, slot)
        for key in creations_of(self.indexed, action):
            self.add_made(key, slot)
        if isinstance(action, Run):
            self._load(action, slot, 1)

    def take(self, slot: int) -> bool:
        """Take an action out, with what was done only for it; false (and to be taken back) where something needs it."""
        action = self.at[slot]
        if action is None:
            return True
        made = creations_of(self.indexed, action)
        if any(self.made[key][0] == slot and self.served(key, slot) for key in made):
            return False
        for key in made:
            self.remove_made(key, slot)
        self.at[slot] = None
        self.total_ns -= action_ns(self.indexed, action)
        self.removed.append(action)
        self.log.append((5, slot, len(self.removed) - 1))
        if isinstance(action, Run):
            self._load(action, slot, -1)
        for key in reads_of(self.indexed, action):
            self.remove_read(key, slot)
            maker = self.maker(key, slot)
            if not self.first[maker] and not self.is_useful(maker):
                self.take(maker)
        return True

    def maker(self, key: int, slot: int) -> int:
        """The slot that makes a key for a reader at a slot."""
        made = self.made[key]
        return made[bisect_left(made, slot) - 1]

    def served(self, key: int, slot: int) -> bool:
        """Whether anything reads a key that is made at a slot."""
        made, reads = self.made[key], self.read[key]
        place = bisect_right(made, slot)
        following = made[place] if place < len(made) else self.end + 1
        position = bisect_right(reads, slot)
        return position < len(reads) and reads[position] < following

    def is_useful(self, slot: int) -> bool:
        """Whether anything reads what is made at a slot."""
        action = self.at[slot]
        return action is None or any(self.served(key, slot) for key in creations_of(self.indexed, action))

    def empty_before(self, slot: int, wanted: int) -> int:
        """The first of so many empty slots in a row before a slot, with some left on both sides where there are."""
        begin = slot
        while begin > 1 and self.at[begin - 1] is None:
            begin -= 1
        if slot - begin < wanted:
            raise CrowdedError
        return slot - wanted - (slot - begin - wanted) // 2

    def empty_after(self, slot: int) -> int:
        """An empty slot after a slot, with some left on both sides where there are."""
        end = slot + 1
        while end < self.end and self.at[end] is None:
            end += 1
        if end == slot + 1:
            raise CrowdedError
        return slot + (end - slot) // 2

    def switch(self, slot: int, implementation: int) -> None:
        """Run what stands at a slot by another implementation."""
        run = self.at[slot]
        if not isinstance(run, Run):
            return
        self.log.append((6, slot, run.implementation))
        self._switch(slot, run, implementation)

    def _switch(self, slot: int, run: Run, implementation: int) -> None:
        other = run._replace(implementation=implementation)
        self.at[slot] = other
        self.total_ns += action_ns(self.indexed, other) - action_ns(self.indexed, run)
        self.level[run.device, slot] += self.workspace(other) - self.workspace(run)
        self.raised.append((run.device, slot, slot + 1))

    def hand_over(self, slot: int, other: int) -> None:
        """The first computation of an operator is another slot's from now on."""
        self.log.append((7, slot, other))
        self.first[slot], self.first[other] = self.first[other], self.first[slot]

    def keep_on(self, tensor: int, device: int) -> None:
        """A tensor that must be there at the end is there on another device, where it has been made."""
        self.log.append((8, tensor, self.kept[tensor]))
        self.remove_read(self.kept[tensor] * self.count + tensor, self.end)
        self.kept[tensor] = device
        self.add_read(device * self.count + tensor, self.end)

    # -- trials

    def begin(self) -> None:
        """Start a change that may be taken back."""
        self.log.clear()
        self.raised.clear()
        self.removed: list[Action] = []

    def undo(self) -> None:
        """Take back everything since `begin`."""
        log, self.log = self.log, []
        for kind, first, second in reversed(log):
            if kind < 2:
                self._change_read(first, second, 1 if kind else -1)
            elif kind < 4:
                self._change_made(first, second, 1 if kind == 3 else -1)
            else:
                self._swap_back(kind, first, second)
        self.raised.clear()

    def _swap_back(self, kind: int, slot: int, removed: int) -> None:
        if kind == 8:
            self.kept[slot] = removed
            return
        if kind == 7:
            self.first[slot], self.first[removed] = self.first[removed], self.first[slot]
            return
        if kind == 6:
            run = self.at[slot]
            if isinstance(run, Run):
                self._switch(slot, run, removed)
            return
        action = self.at[slot] if kind == 4 else self.removed[removed]
        if action is None:
            return
        sign = -1 if kind == 4 else 1
        self.at[slot] = None if kind == 4 else action
        self.total_ns += sign * action_ns(self.indexed, action)
        if isinstance(action, Run):
            self._load(action, slot, sign)

    def worst(self, *, everywhere: bool = False) -> tuple[int, int, int] | None:
        """The highest excess among what was raised since `begin` (or anywhere): bytes, device, slot."""
        devices = range(self.indexed.device_count)
        ranges = [(d, 0, self.end + 1) for d in devices] if everywhere else self.raised
        found: tuple[int, int, int] | None = None
        for device, begin, end in ranges:
            limit = self.indexed.limit_bytes[device]
            if limit is None:
                continue
            slot = begin + int(self.level[device, begin:end].argmax())
            over = int(self.level[device, slot]) - limit
            if over > 0 and (found is None or over > found[0]):
                found = over, device, slot
        return found
