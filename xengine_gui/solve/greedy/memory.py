"""What is where while a heuristic walks through a script, and which tensor is best let go."""

from heapq import heappop, heappush

from xengine_gui.model.plan import Drop, Run, Step
from xengine_gui.solve.greedy.actions import Action, creations_of, reads_of
from xengine_gui.solve.greedy.tables import Tables


class Memory:
    """Residency of all devices with known future needs.

    `needs[key]` is a heap of moments, `2 * position + 1` for a read in the script (or a read that a recomputation will
    make) and `2 * position` for the script creating it anew: before that the key is of no use.
    """

    def __init__(self, tables: Tables, script: list[Action], kept: dict[int, int]) -> None:
        indexed = tables.indexed
        self.tables, self.indexed = tables, indexed
        self.count = indexed.tensor_count
        self.devices = range(indexed.device_count)
        self.clock = 0
        self.end = len(script)
        self.steps: list[Step] = []
        self.resident: list[dict[int, None]] = [{} for _ in self.devices]
        self.level = [0 for _ in self.devices]
        self.peak = [0 for _ in self.devices]
        self.homes: list[set[int]] = [set() for _ in self.devices]
        self.computed = bytearray(indexed.operator_count)
        self.pinned: dict[int, int] = {}
        self.needs: dict[int, list[int]] = {}
        self.due: list[list[int]] = [[] for _ in range(len(script) + 1)]
        self.arrived: list[list[int]] = [[] for _ in self.devices]
        self.reserve = [0 for _ in self.devices]
        self._learn(script, kept)
        self.once = self._last_dependents()

    def _learn(self, script: list[Action], kept: dict[int, int]) -> None:
        for position, action in enumerate(script):
            for key in creations_of(self.indexed, action):
                self.needs.setdefault(key, []).append(2 * position)
            for key in reads_of(self.indexed, action):
                self.needs.setdefault(key, []).append(2 * position + 1)
                self.due[position].append(key)
            if isinstance(action, Run):
                size = self.tables.operator_bytes(action.operator, action.device)
                self.reserve[action.device] = max(self.reserve[action.device], size)
        for tensor, device in kept.items():
            self.needs.setdefault(device * self.count + tensor, []).append(2 * len(script) + 1)

    def _last_dependents(self) -> dict[int, int]:
        """Per tensor that must not be computed again the last position that reads it or what is computed from it."""
        indexed = self.indexed
        if all(indexed.recomputable):
            return {}
        reach = [-1] * self.count
        for key, heap in self.needs.items():
            tensor = key % self.count
            reach[tensor] = max(reach[tensor], max((moment >> 1 for moment in heap if moment & 1), default=-1))
        for operator in reversed(range(indexed.operator_count)):
            if indexed.recomputable[operator]:
                last = max((reach[t] for t in indexed.outputs[operator]), default=-1)
                for tensor in indexed.inputs[operator]:
                    reach[tensor] = max(reach[tensor], last)
        return {t: reach[t] for t in range(self.count) if not indexed.recomputable[indexed.producer[t]]}

    @property
    def now(self) -> int:
        """The position in the script."""
        return self.clock >> 1

    # -- needs

    def next_need(self, key: int) -> int | None:
        """The position of the next read that a key which is there now would serve, `None` where it is useless."""
        heap = self.needs.get(key)
        if not heap:
            return None
        while heap and heap[0] <= self.clock:
            heappop(heap)
        return heap[0] >> 1 if heap and heap[0] & 1 else None

    def next_need_after_now(self, key: int) -> int | None:
        """The position of the first read after the present one, even if the script makes it anew before."""
        later = [moment for moment in self.needs.get(key, ()) if moment > self.clock + 1 and moment & 1]
        return min(later) >> 1 if later else None

    def need(self, key: int, position: int) -> None:
        """Something will read a key at a position."""
        heappush(self.needs.setdefault(key, []), 2 * position + 1)
        self.due[position].append(key)

    # -- residency

    def is_here(self, key: int) -> bool:
        """Whether a tensor is on a device."""
        device, tensor = divmod(key, self.count)
        return tensor in self.resident[device]

    def room(self, device: int) -> int:
        """Bytes free on a device."""
        return self.tables.limit_bytes[device] - self.level[device]

    def put(self, device: int, tensor: int) -> None:
        """A tensor takes memory on a device."""
        if tensor not in self.resident[device]:
            self.resident[device][tensor] = None
            self.level[device] += self.indexed.tensor_bytes[tensor]
            self.arrived[device].append(tensor)

    def drop(self, device: int, tensor: int) -> None:
        """A tensor is freed on a device."""
        del self.resident[device][tensor]
        self.level[device] -= self.indexed.tensor_bytes[tensor]
        self.steps.append(Drop(device, tensor))

    def drop_if_useless(self, key: int) -> None:
        """Free a key that nothing will read."""
        device, tensor = divmod(key, self.count)
        if tensor not in self.resident[device] or key in self.pinned or self.next_need(key) is not None:
            return
        if not self.worth_holding(tensor):
            self.drop(device, tensor)

    def worth_holding(self, tensor: int) -> bool:
        """Whether a tensor that nothing reads may be wanted still: it exists once, and others are computed from it."""
        return tensor in self.once and self.once[tensor] > self.now

    def pin(self, key: int) -> None:
        """Hold a key against every release until it is unpinned."""
        self.pinned[key] = self.pinned.get(key, 0) + 1

    def unpin(self, key: int) -> None:
        """Take back one pin."""
        left = self.pinned[key] - 1
        if left:
            self.pinned[key] = left
        else:
            del self.pinned[key]
