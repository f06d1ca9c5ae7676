"""A plan that can be changed at any moment, with the memory of all devices always at hand."""

from collections.abc import Sequence
from typing import NamedTuple

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
from xengine_gui.solve.greedy.spans import Spans
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


class Draft(Spans):
    """Actions in slots with empty ones between them, so that something can be put before any of them.

    `first` marks first computations, `homes` counts per device the runs that use a parameter, `left` has operators with
    devices that they have left, `looks` counts how often the search has looked at a tensor (its measure of work), and
    `rankings` holds what it knows about moments as long as the draft stays as it is. With a `bias` remedies count as
    cheaper the longer they last.
    """

    def __init__(self, tables: Tables, steps: Sequence[Step]) -> None:
        super().__init__(tables.indexed)
        self.tables = tables
        self.kept = kept_devices(self.indexed, steps)
        self.left: set[tuple[int, int]] = set()
        self.looks = 0
        self.bias = 0.0
        self._fill(actions_of(finished_steps(self.indexed, actions_of(steps), self.kept)))

    def _fill(self, actions: list[Action]) -> None:
        stride = max(2, min(_SLOTS_PER_ACTION, _MOST_SLOTS // max(1, len(actions))))
        self.clear(stride * (len(actions) + 1))
        self.at: list[Action | None] = [None] * (self.end + 1)
        self.first = bytearray(self.end + 1)
        self.homes: list[dict[int, int]] = [{} for _ in range(self.indexed.device_count)]
        self.total_ns = 0
        self.rankings: dict[tuple[int, int], list[Remedy]] = {}
        first = first_runs(actions)
        for position, action in enumerate(actions):
            slot = stride * (position + 1)
            self.at[slot] = action
            self.first[slot] = position in first
            self.total_ns += action_ns(self.indexed, action)
            for key in reads_of(self.indexed, action):
                self.read[key].append(slot)
            for key in creations_of(self.indexed, action):
                self.meet(key)
                self.made[key].append(slot)
        for tensor, device in self.kept.items():
            self.read[device * self.count + tensor].append(self.end)
        self.measure()
        self._settle(stride, actions)

    def _settle(self, stride: int, actions: list[Action]) -> None:
        """Add what runs take beside tensors to a memory that has the tensors."""
        for position, run in enumerate(actions):
            if not isinstance(run, Run):
                continue
            for parameter in self.indexed.parameters[run.operator]:
                homes = self.homes[run.device]
                homes[parameter] = homes.get(parameter, 0) + 1
            if workspace := self.workspace(run):
                self.level[run.device, stride * (position + 1)] += workspace
        for device, homes in enumerate(self.homes):
            self.level[device] += sum(self.indexed.parameter_bytes[p] for p in homes)

    def renumber(self) -> None:
        """Give every action a new slot with empty ones around it."""
        self._fill([action for action in self.at if action is not None])

    def steps(self) -> list[Step]:
        """The plan."""
        return finished_steps(self.indexed, [action for action in self.at if action is not None], self.kept)

    # -- actions

    def workspace(self, run: Run) -> int:
        """Bytes that a run takes only while it runs."""
        return self.indexed.implementations[run.operator][run.device][run.implementation].workspace_bytes

    def _load(self, run: Run, slot: int, sign: int) -> None:
        """What a run takes beside tensors: workspace while it runs, and all the time what parameters it brings."""
        device, homes = run.device, self.homes[run.device]
        self.level[device, slot] += sign * self.workspace(run)
        for parameter in self.indexed.parameters[run.operator]:
            before = homes.get(parameter, 0)
            homes[parameter] = before + sign
            if not before or not homes[parameter]:
                self.level[device] += sign * self.indexed.parameter_bytes[parameter]
                self.raised.append((device, 0, self.end + 1))
        self.raised.append((device, slot, slot + 1))

    def _exchange(self, slot: int, action: Action | None) -> None:
        before = self.at[slot]
        if before is not None:
            self.total_ns -= action_ns(self.indexed, before)
            if isinstance(before, Run):
                self._load(before, slot, -1)
        self.at[slot] = action
        if action is not None:
            self.total_ns += action_ns(self.indexed, action)
            if isinstance(action, Run):
                self._load(action, slot, 1)

    def exchange(self, slot: int, action: Action | None) -> None:
        """Have an action (or none) at a slot, whatever it reads and makes."""
        self.log.append((self._exchange, (slot, self.at[slot])))
        self._exchange(slot, action)

    def put(self, slot: int, action: Action) -> None:
        """Put an action into an empty slot."""
        self.exchange(slot, action)
        for key in reads_of(self.indexed, action):
            self.add_read(key, slot)
        for key in creations_of(self.indexed, action):
            self.add_made(key, slot)

    def take(self, slot: int) -> bool:
        """Take an action out, with what was done only for it; false (and to be taken back) where something needs it."""
        makers = self._take_one(slot)
        if makers is None:
            return False
        while makers:
            maker = makers.pop()
            if not self.first[maker] and not self.is_useful(maker):
                makers += self._take_one(maker) or ()
        return True

    def _take_one(self, slot: int) -> list[int] | None:
        """Take one action out: the slots that made what it read, or `None` where something needs it."""
        action = self.at[slot]
        if action is None:
            return []
        made = creations_of(self.indexed, action)
        if any(self.made[key][0] == slot and self.readers(key, slot) for key in made):
            return None
        for key in made:
            self.remove_made(key, slot)
        self.exchange(slot, None)
        makers = []
        for key in reads_of(self.indexed, action):
            self.remove_read(key, slot)
            makers.append(self.maker(key, slot))
        return makers

    def is_useful(self, slot: int) -> bool:
        """Whether anything reads what is made at a slot."""
        action = self.at[slot]
        return action is None or any(self.readers(key, slot) for key in creations_of(self.indexed, action))

    def hand_over(self, slot: int, other: int) -> None:
        """The first computation of an operator is another slot's from now on."""
        self.log.append((self._swap_first, (slot, other)))
        self._swap_first(slot, other)

    def _swap_first(self, slot: int, other: int) -> None:
        self.first[slot], self.first[other] = self.first[other], self.first[slot]

    def keep_on(self, tensor: int, device: int) -> None:
        """A tensor that must be there at the end is there on another device, where it has been made."""
        self.log.append((self.kept.__setitem__, (tensor, self.kept[tensor])))
        self.remove_read(self.kept[tensor] * self.count + tensor, self.end)
        self.kept[tensor] = device
        self.add_read(device * self.count + tensor, self.end)

    # -- empty slots

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
