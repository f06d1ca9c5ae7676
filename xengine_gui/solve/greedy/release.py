"""Which tensor is best let go when a device is full, and how it comes back."""

from bisect import insort
from dataclasses import dataclass
from math import inf

from xengine_gui.model.plan import Move
from xengine_gui.solve.greedy.memory import Memory

CLOSURE_OPERATORS = 60
"""A recomputation of more operators than this is not looked at to its end."""
DEAR_RATIO = 4
"""What is added for a recomputation that was not looked at to its end."""
FRESH_ENOUGH = 24
"""After so many arrivals on a device the ranking of its tensors is made anew."""


class NoRoomError(Exception):
    """Nothing more can be let go on a device."""


@dataclass(frozen=True, slots=True)
class Knobs:
    """How a try chooses: value = bytes · distance^`distance_power` / cost of bringing back^`cost_power`.

    `frugal` takes the implementation of least workspace wherever the fastest one does not fit without letting go.
    """

    distance_power: float = 1.0
    cost_power: float = 1.0
    frugal: bool = False


@dataclass(frozen=True, slots=True)
class Return:
    """How a tensor would come back: at what cost, read from which keys, after what move to another device."""

    cost_ns: float
    sources: tuple[int, ...] = ()
    move_to: int | None = None


class Release:
    """Frees memory on full devices by the value of letting go.

    The value follows DTR (Kirisame et al., "Dynamic Tensor Rematerialization", 2021) with the time since the last use
    replaced by the distance to the next one, which is known here.
    """

    def __init__(self, memory: Memory, knobs: Knobs) -> None:
        self.memory, self.knobs = memory, knobs
        self.tables = memory.tables
        self.ranking: list[list[tuple[float, int]]] = [[] for _ in memory.devices]

    def make_room(self, device: int, need_bytes: int) -> None:
        """Let go tensors until so many bytes are free on a device, or raise `NoRoomError`."""
        memory = self.memory
        if memory.room(device) >= need_bytes:
            return
        if len(memory.arrived[device]) > FRESH_ENOUGH or not self.ranking[device]:
            self._rank(device)
        made_anew = False
        while memory.room(device) < need_bytes:
            tensor = self._next(device)
            if tensor is not None:
                self._let_go(device, tensor)
            elif made_anew:
                raise NoRoomError
            else:
                self._rank(device)
                made_anew = True

    def _rank(self, device: int) -> None:
        memory = self.memory
        memory.arrived[device].clear()
        values = ((self.value(device, t), t) for t in memory.resident[device])
        self.ranking[device] = sorted(pair for pair in values if pair[0] > 0)

    def _next(self, device: int) -> int | None:
        """The tensor of the highest value; the ranking is a little old, so what it says is looked at again."""
        memory, ranking = self.memory, self.ranking[device]
        for tensor in memory.arrived[device]:
            value = self.value(device, tensor)
            if value > 0:
                insort(ranking, (value, tensor))
        memory.arrived[device].clear()
        while ranking:
            old, tensor = ranking.pop()
            if tensor not in memory.resident[device]:
                continue
            value = self.value(device, tensor)
            if value >= 0.8 * old or (value > 0 and (not ranking or value >= ranking[-1][0])):
                return tensor
            if value > 0:
                insort(ranking, (value, tensor))
        return None

    def value(self, device: int, tensor: int) -> float:
        """How good it is to let a tensor go, 0 where it must stay."""
        memory = self.memory
        key = device * memory.count + tensor
        size = memory.indexed.tensor_bytes[tensor]
        if key in memory.pinned or not size:
            return 0.0
        position = memory.next_need(key)
        if position is None:
            again_ns = self.tables.run_ns_least[memory.indexed.producer[tensor]]
            return size / (again_ns + 1) if memory.worth_holding(tensor) else inf
        back = self.way_back(device, tensor, position)
        if back is None:
            return 0.0
        distance: float = max(position - memory.now, 0.5)
        return size * float(distance**self.knobs.distance_power / (back.cost_ns + 1.0) ** self.knobs.cost_power)

    def _let_go(self, device: int, tensor: int) -> None:
        memory = self.memory
        position = memory.next_need(device * memory.count + tensor)
        if position is not None:
            back = self.way_back(device, tensor, position)
            if back is None:
                raise NoRoomError
            if back.move_to is not None:
                memory.steps.append(Move(device, back.move_to, tensor))
                memory.put(back.move_to, tensor)
                memory.need(back.move_to * memory.count + tensor, position)
            for source in back.sources:
                memory.need(source, position)
        memory.drop(device, tensor)

    # -- how tensors come back

    def way_back(self, device: int, tensor: int, position: int) -> Return | None:
        """The cheapest way of having a tensor again at a position once it was let go, `None` where there is none.

        At the end any device will do, so what was moved elsewhere need not come back.
        """
        memory, indexed = self.memory, self.memory.indexed
        best: Return | None = None
        for other in memory.devices:
            back_ns = 0 if position == memory.end else indexed.copy_ns(other, device, tensor)
            if other == device or back_ns is None:
                continue
            if tensor in memory.resident[other]:
                way = Return(back_ns, (other * memory.count + tensor,))
            else:
                out = indexed.copy_ns(device, other, tensor)
                if out is None or not self.has_spare_room(other, indexed.tensor_bytes[tensor]):
                    continue
                way = Return(out + back_ns, (), other)
            if best is None or way.cost_ns < best.cost_ns:
                best = way
        again = self.recomputation(device, tensor, inf if best is None else best.cost_ns)
        return again if again is not None and (best is None or again.cost_ns < best.cost_ns) else best

    def has_spare_room(self, device: int, size_bytes: int) -> bool:
        """Whether a device has room for a tensor beside the largest operator that it will run."""
        return self.memory.room(device) - self.memory.reserve[device] >= size_bytes

    def recomputation(self, device: int, tensor: int, ceiling_ns: float = inf) -> Return | None:
        """What recomputing a tensor on a device takes, given what is there; `None`: it cannot be, or is too dear."""
        memory, indexed = self.memory, self.memory.indexed
        resident, bring_ns = memory.resident[device], self.tables.bring_ns
        cost: float = 0
        seen: set[int] = set()
        sources: list[int] = []
        open_operators = [indexed.producer[tensor]]
        while open_operators:
            operator = open_operators.pop()
            if operator in seen:
                continue
            seen.add(operator)
            time_ns = bring_ns[operator][device]
            if time_ns is None or not indexed.recomputable[operator]:
                return None
            cost += time_ns
            if cost >= ceiling_ns:
                return None
            if len(seen) > CLOSURE_OPERATORS:
                return Return(DEAR_RATIO * cost, tuple(sources))
            for source in indexed.inputs[operator]:
                if source in resident:
                    sources.append(device * memory.count + source)
                    continue
                copy = self.copy_from(device, source)
                if copy is None:
                    open_operators.append(indexed.producer[source])
                    continue
                maker = indexed.producer[source]
                again_ns = bring_ns[maker][device] if indexed.recomputable[maker] else None
                if again_ns is None or copy[0] <= again_ns:
                    cost += copy[0]
                    sources.append(copy[1] * memory.count + source)
                else:
                    open_operators.append(maker)
        return Return(cost, tuple(sources))

    def copy_from(self, device: int, tensor: int) -> tuple[int, int] | None:
        """The cheapest copy to a device from where a tensor is: time and source device."""
        memory = self.memory
        best: tuple[int, int] | None = None
        for other in memory.devices:
            if other != device and tensor in memory.resident[other]:
                time_ns = memory.indexed.copy_ns(other, device, tensor)
                if time_ns is not None and (best is None or time_ns < best[0]):
                    best = time_ns, other
        return best
