"""Scripts without regard to memory: every operator once where a placement says, and what brings the data there."""

from collections.abc import Iterator, Sequence

from xengine_gui.model.plan import Move, Run
from xengine_gui.solve.greedy.actions import Action
from xengine_gui.solve.greedy.tables import Tables
from xengine_gui.solve.placement import single_device_placements, unlimited_placement

_MOST_NESTED = 100


class _Script:
    def __init__(self, tables: Tables) -> None:
        self.tables, self.indexed = tables, tables.indexed
        self.actions: list[Action] = []
        self.places: list[set[int]] = [set() for _ in range(tables.indexed.tensor_count)]

    def run(self, operator: int, device: int, depth: int = 0) -> bool:
        """Run an operator on a device with its inputs brought there; false where that is impossible."""
        if not all(self.supply(tensor, device, depth) for tensor in self.indexed.inputs[operator]):
            return False
        self.actions.append(Run(device, operator, self.tables.ways[operator][device][0]))
        for tensor in self.indexed.outputs[operator]:
            self.places[tensor].add(device)
        return True

    def supply(self, tensor: int, device: int, depth: int) -> bool:
        """Have a tensor on a device by a transfer, through a third device, or by computing it there too."""
        places = self.places[tensor]
        if device in places:
            return True
        direct = [(ns, a) for a in places if (ns := self.indexed.copy_ns(a, device, tensor)) is not None]
        if direct:
            self._move(min(direct)[1], device, tensor)
            return True
        for through in range(self.indexed.device_count):
            first = [(ns, a) for a in places if (ns := self.indexed.copy_ns(a, through, tensor)) is not None]
            if first and through != device and self.indexed.copy_ns(through, device, tensor) is not None:
                self._move(min(first)[1], through, tensor)
                self._move(through, device, tensor)
                return True
        operator = self.indexed.producer[tensor]
        may = self.indexed.recomputable[operator] and self.tables.ways[operator][device] and depth < _MOST_NESTED
        return bool(may) and self.run(operator, device, depth + 1)

    def _move(self, source: int, destination: int, tensor: int) -> None:
        self.actions.append(Move(source, destination, tensor))
        self.places[tensor].add(destination)


def script_of(tables: Tables, placement: Sequence[int]) -> list[Action] | None:
    """Every operator once where the placement says, each tensor brought before its first reader elsewhere.

    `None` where a tensor cannot be brought to a reader at all.
    """
    script = _Script(tables)
    for operator, device in enumerate(placement):
        if not script.run(operator, device):
            return None
    return script.actions


def placements(tables: Tables) -> Iterator[tuple[int, ...]]:
    """Placements worth a try, each once: the unlimited one, and everything on one device."""
    seen: set[tuple[int, ...]] = set()
    for placement in (unlimited_placement(tables.indexed), *single_device_placements(tables.indexed)):
        if placement.device not in seen:
            seen.add(placement.device)
            yield placement.device
