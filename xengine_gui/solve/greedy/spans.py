"""When each tensor is held on each device, over slots that actions can be put into, and the memory that this takes.

Per key (see `actions`) the slots where it is made and read are kept sorted; between a making and its last read it takes
memory. Every small step is logged, so that a row of them can be taken back.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from xengine_gui.model.indexed import IndexedProblem

_MOST_IN_64_BITS = 1 << 62


class Spans:
    """Makings and reads of keys; `level[device]` is the memory over slots, `raised` where it rose since `begin`."""

    def __init__(self, indexed: IndexedProblem) -> None:
        self.indexed = indexed
        self.count = indexed.tensor_count
        self.bytes_type = _bytes_type(indexed)
        self.clear(0)

    def clear(self, end: int) -> None:
        """Forget everything; the last slot is `end`."""
        devices = self.indexed.device_count
        self.end = end
        self.made: dict[int, list[int]] = {}
        self.read: dict[int, list[int]] = {}
        self.keys_on: list[set[int]] = [set() for _ in range(devices)]
        self.level: npt.NDArray[Any] = np.zeros((devices, end + 1), self.bytes_type)
        self.log: list[tuple[Callable[..., object], tuple[object, ...]]] = []
        self.raised: list[tuple[int, int, int]] = []

    def meet(self, key: int) -> None:
        """Get ready for a key."""
        if key not in self.made:
            self.made[key], self.read[key] = [], []
            self.keys_on[key // self.count].add(key)

    def measure(self) -> None:
        """Compute the memory of all spans from nothing."""
        change = np.zeros((self.indexed.device_count, self.end + 2), self.bytes_type)
        for key, made in self.made.items():
            device, tensor = divmod(key, self.count)
            size = self.indexed.tensor_bytes[tensor]
            for slot, following in zip(made, [*made[1:], self.end + 1], strict=True):
                change[device, slot] += size
                change[device, self.last_read(key, slot, following) + 1] -= size
        self.level = np.cumsum(change[:, :-1], axis=1)

    # -- questions

    def last_read(self, key: int, made: int, before: int) -> int:
        """The last slot that reads a key in the stretch from where it is made; that slot itself where nothing does."""
        reads = self.read[key]
        position = bisect_left(reads, before) - 1
        return reads[position] if position >= 0 and reads[position] > made else made

    def maker(self, key: int, slot: int) -> int:
        """The slot that makes a key for a reader at a slot."""
        made = self.made[key]
        return made[bisect_left(made, slot) - 1]

    def readers(self, key: int, slot: int) -> list[int]:
        """The slots that read what is made of a key at a slot, or is there of it then."""
        made, reads = self.made[key], self.read[key]
        place = bisect_right(made, slot)
        following = made[place] if place < len(made) else self.end + 1
        return reads[bisect_right(reads, slot) : bisect_left(reads, following)]

    def has_room(self, key: int, begin: int, end: int) -> bool:
        """Whether a key fits on its device beside all that is there in these slots."""
        device, tensor = divmod(key, self.count)
        limit = self.indexed.limit_bytes[device]
        if limit is None or begin >= end:
            return True
        return int(self.level[device, begin:end].max()) + self.indexed.tensor_bytes[tensor] <= limit

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

    # -- small steps

    def begin(self) -> None:
        """Start a change that may be taken back."""
        self.log.clear()
        self.raised.clear()

    def undo(self) -> None:
        """Take back everything since `begin`."""
        log, self.log = self.log, []
        for back, arguments in reversed(log):
            back(*arguments)
        self.raised.clear()

    def add_read(self, key: int, slot: int) -> None:
        """Something at a slot reads a key that has been made before."""
        self._change_read(key, slot, 1)
        self.log.append((self._change_read, (key, slot, -1)))

    def remove_read(self, key: int, slot: int) -> None:
        """The opposite of `add_read`."""
        self._change_read(key, slot, -1)
        self.log.append((self._change_read, (key, slot, 1)))

    def add_made(self, key: int, slot: int) -> None:
        """A key is made at a slot: reads after it no longer need an earlier one."""
        self.meet(key)
        self._change_made(key, slot, 1)
        self.log.append((self._change_made, (key, slot, -1)))

    def remove_made(self, key: int, slot: int) -> None:
        """The opposite of `add_made`."""
        self._change_made(key, slot, -1)
        self.log.append((self._change_made, (key, slot, 1)))

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
        if position == len(reads) or reads[position] >= following:
            self._shift(key, slot, slot + 1, sign)
        elif place:  # what reads it later is served from here or from before: only the stretch between is held or not
            begin = made[place - 1]
            last = reads[position - 1] if position and reads[position - 1] > begin else begin
            self._shift(key, last + 1, slot, -sign)
        else:
            self._shift(key, slot, self.last_read(key, slot, following) + 1, sign)
        if sign > 0:
            made.insert(place, slot)

    def _shift(self, key: int, begin: int, end: int, sign: int) -> None:
        if begin < end:
            device, tensor = divmod(key, self.count)
            self.level[device, begin:end] += sign * self.indexed.tensor_bytes[tensor]
            if sign > 0:
                self.raised.append((device, begin, end))


def _bytes_type(indexed: IndexedProblem) -> type[np.int64] | type[object]:
    """What holds every level that can be: 64 bits, or Python's integers where tensors of many EiB need more."""
    workspaces = (way.workspace_bytes for ways in indexed.implementations for rows in ways for way in rows)
    most = sum(indexed.tensor_bytes) + sum(indexed.parameter_bytes) + max(workspaces, default=0)
    return np.int64 if most < _MOST_IN_64_BITS else object
