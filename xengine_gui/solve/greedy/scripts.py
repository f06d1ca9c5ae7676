"""Scripts without regard to memory: every operator once where a placement says, and what brings the data there."""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, product
from math import prod

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.plan import Move, Run
from xengine_gui.solve.greedy.actions import Action
from xengine_gui.solve.greedy.tables import Tables
from xengine_gui.solve.placement import single_device_placements, tolled_placement, unlimited_placement

_MOST_NESTED = 100
_TOLL_SHARES = (0.5, 0.7, 1.0, 1.4)
_MANY_OPERATORS = 3000
"""Above this fewer tolls are tried."""


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


def placements(tables: Tables, should_stop: Callable[[], bool] = lambda: False) -> Iterator[tuple[int, ...]]:
    """Placements worth a try, each once: the fastest ones when tight devices take a toll, and all on one device.

    The toll of an operator on a device is a price per byte of its results, for as long as they are retained or if they
    are there at the highest moment; and no operator stands where it could not run alone. After a stop no other is
    looked for.
    """
    seen: set[tuple[int, ...]] = set()
    for device in _tolled(tables):
        if device not in seen:
            seen.add(device)
            yield device
        if should_stop():
            return


def all_placements(tables: Tables, most: int) -> Iterator[tuple[int, ...]]:
    """Every placement there is, nothing where they are more than `most`."""
    able = [[d for d in tables.computing if times[d] is not None] for times in tables.run_ns]
    if prod(map(len, able)) <= most:
        yield from product(*able)


def _tolled(tables: Tables) -> Iterator[tuple[int, ...]]:
    indexed = tables.indexed
    yield tolled_placement(indexed, _tolls(tables, [0.0] * indexed.tensor_count, {}))
    unlimited = unlimited_placement(indexed)
    singles = list(single_device_placements(indexed))
    tight = [d for d in tables.computing if indexed.limit_bytes[d] is not None]
    if len(tables.computing) > 1 and tight:
        # A single device that cannot run everything alone may look faster than it is: its copies cannot be made.
        slower_ns = max(0, max(p.total_ns for p in singles) - unlimited.total_ns)
        for weights in retained_bytes(indexed):
            for share in _TOLL_SHARES if indexed.operator_count <= _MANY_OPERATORS else (1.0,):
                price = share * slower_ns / max(1.0, sum(weights))
                largest = max(tables.limit_bytes[d] for d in tight)
                tolls = {d: price * (1.0 if tables.limit_bytes[d] < largest or len(tight) == 1 else 0.0) for d in tight}
                yield tolled_placement(indexed, _tolls(tables, weights, tolls))
    yield unlimited.device
    yield from (p.device for p in singles)


def retained_bytes(indexed: IndexedProblem) -> tuple[list[float], list[float]]:
    """Per tensor its bytes times the share of the base order that it is retained for, and its bytes at the peak."""
    count = indexed.operator_count
    last = [max(readers, default=maker) for readers, maker in zip(indexed.consumers, indexed.producer, strict=True)]
    change = [0] * (count + 1)
    for size, maker, end in zip(indexed.tensor_bytes, indexed.producer, last, strict=True):
        change[maker] += size
        change[end + 1] -= size
    levels = list(accumulate(change))
    peak = max(range(count), key=levels.__getitem__, default=0)
    spans = list(zip(indexed.tensor_bytes, indexed.producer, last, strict=True))
    return (
        [size * (end - maker + 1) / count for size, maker, end in spans],
        [float(size if maker <= peak <= end else 0) for size, maker, end in spans],
    )


def _tolls(tables: Tables, weights: list[float], prices: dict[int, float]) -> list[list[int | None]]:
    tolls: list[list[int | None]] = []
    for operator, outputs in enumerate(tables.indexed.outputs):
        weight = sum(weights[t] for t in outputs)
        tolls.append(
            [
                int(prices.get(device, 0.0) * weight) if tables.operator_bytes(operator, device) <= limit else None
                for device, limit in enumerate(tables.limit_bytes)
            ]
        )
    return tolls
