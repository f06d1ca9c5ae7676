"""What is where while steps are taken, and what is freed when room is wanted."""

from bisect import bisect_left

from xengine_gui.model.plan import Drop, Step
from xengine_gui.solve.frugal.places import bits, mask_of
from xengine_gui.solve.frugal.routes import Action, Routes

Snapshot = tuple[int, int, tuple[int, ...]]


class Store:
    """The steps so far and what they leave where; `stage` is the operator of the base order that is worked for.

    `fixed` are the places of tensors that have been computed and must not be computed again.
    """

    def __init__(self, routes: Routes, *, offloads: bool) -> None:
        self.routes, self.offloads = routes, offloads
        self.indexed = indexed = routes.indexed
        self.count, self.devices = indexed.tensor_count, range(indexed.device_count)
        self.size = indexed.tensor_bytes * indexed.device_count
        self.on_device = [(1 << self.count) - 1 << d * self.count for d in self.devices]
        self.here = self.fixed = self.stage = 0
        self.used = [0] * indexed.device_count
        self.taken: list[Step] = []
        self._reach, self._weight = _reach(routes), _weights(routes)

    def has(self, place: int) -> bool:
        """Whether a tensor is on a device."""
        return bool(self.here >> place & 1)

    def making(self, place: int) -> Action | None:
        """What brings a tensor to a device now: a copy from another where it is, else the way laid out for it."""
        device, tensor = divmod(place, self.count)
        for other in self.devices:
            linked = other != device and self.indexed.copy_ns(other, device, tensor) is not None
            if linked and self.has(other * self.count + tensor):
                return self.routes.copy(other, device, tensor)
        action = self.routes.making(place)
        again = action is not None and not action.is_copy and self.fixed >> place & 1
        return None if again else action

    def take(self, action: Action, locked: int, pending: int) -> bool:
        """Take an action whose inputs are there, freeing for it what is not locked; false where that is too little."""
        locked |= mask_of((*action.inputs, *action.outputs))
        fresh = [place for place in action.outputs if not self.has(place)]
        extra = sum(self.size[p] for p in fresh) + action.workspace_bytes
        if not self._make_room(action.device, extra, locked, pending):
            return False
        self.taken.append(action.step)
        self.here |= mask_of(fresh)
        self.used[action.device] += sum(self.size[p] for p in fresh)
        return True

    def end_stage(self) -> None:
        """The operator of the stage has been computed: what depends on nothing later is freed."""
        if not self.indexed.recomputable[self.stage]:
            self.fixed |= mask_of([d * self.count + t for d in self.devices for t in self.indexed.outputs[self.stage]])
        for place in bits(self.here):
            if self._reach[place % self.count] <= self.stage:
                self._drop(place)
        self.stage += 1

    def snapshot(self) -> Snapshot:
        """The state, to come back to."""
        return len(self.taken), self.here, tuple(self.used)

    def restore(self, shot: Snapshot) -> None:
        """Go back to an earlier state of the same stage."""
        length, self.here, used = shot
        self.used = list(used)
        del self.taken[length:]

    def _make_room(self, device: int, extra_bytes: int, locked: int, pending: int) -> bool:
        """Free what is wanted least until so many bytes fit."""
        room = self.routes.room_bytes[device]
        if self.used[device] + extra_bytes <= room:
            return True
        free = bits(self.here & self.on_device[device] & ~locked)
        for place in sorted(free, key=lambda p: self._wanted(p, pending)):
            if self._let_go(place) and self.used[device] + extra_bytes <= room:
                return True
        return False

    def _wanted(self, place: int, pending: int) -> tuple[int, float]:
        """How much a place is wanted: by nothing, by a later stage (the nearer the more), or by what is made now."""
        tensor = place % self.count
        if self._reach[tensor] < self.stage:
            return 0, 0.0
        if pending >> place & 1:
            return 2, self._weight[tensor] / max(1, self.size[place]) ** 0.5
        consumers = self.indexed.consumers[tensor]
        after = bisect_left(consumers, self.stage)
        return 1, -float(consumers[after] if after < len(consumers) else self._reach[tensor])

    def _let_go(self, place: int) -> bool:
        """Free a place; a tensor that cannot be made again is copied elsewhere first, others if that is the way."""
        device, tensor = divmod(place, self.count)
        alone = not any(d != device and self.has(d * self.count + tensor) for d in self.devices)
        if alone and self._reach[tensor] >= self.stage:
            fixed = bool(self.fixed >> place & 1)
            if (fixed or self.offloads) and not self._offload(device, tensor) and fixed:
                return False
        self._drop(place)
        return True

    def _offload(self, device: int, tensor: int) -> bool:
        """Copy a tensor to a device that has room, from where it can be copied back."""
        copy_ns = self.indexed.copy_ns
        for other in self.devices:
            ways = copy_ns(device, other, tensor), copy_ns(other, device, tensor)
            fits = self.used[other] + self.size[tensor] <= self.routes.room_bytes[other]
            if other != device and fits and None not in ways:
                self.taken.append(self.routes.copy(device, other, tensor).step)
                self.here |= 1 << other * self.count + tensor
                self.used[other] += self.size[tensor]
                return True
        return False

    def _drop(self, place: int) -> None:
        device, tensor = divmod(place, self.count)
        self.here &= ~(1 << place)
        self.used[device] -= self.size[place]
        self.taken.append(Drop(device, tensor))


def _reach(routes: Routes) -> list[int]:
    """Per tensor the last operator that depends on it, T for what is kept."""
    indexed = routes.indexed
    count = indexed.operator_count
    reach = [count if t in indexed.keep else -1 for t in range(indexed.tensor_count)]
    for operator in reversed(range(count)):
        last = max([operator, *(reach[t] for t in indexed.outputs[operator])])
        for tensor in indexed.inputs[operator]:
            reach[tensor] = max(reach[tensor], last)
    return reach


def _weights(routes: Routes) -> list[int]:
    """Per tensor how many operators it takes to make it from nothing."""
    indexed = routes.indexed
    ancestors: list[int] = []
    for operator, inputs in enumerate(indexed.inputs):
        mask = 1 << operator
        for tensor in inputs:
            mask |= ancestors[indexed.producer[tensor]]
        ancestors.append(mask)
    return [ancestors[producer].bit_count() for producer in indexed.producer]
