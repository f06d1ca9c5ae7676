"""First plans: one that pages by Belady's rule, and one of the strategy greedy with the objective in place of times."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.plan import Drop, Move, Run, Step
from xengine_gui.solve.greedy.portfolio import greedy_steps
from xengine_gui.solve.poet.paging import Paging

_EFFORT = 1


def first_steps(paging: Paging, should_stop: Callable[[], bool]) -> Iterator[list[Step]]:
    """Plans to begin with; some may break the limits."""
    paged = belady_steps(paging)
    if paged is not None:
        yield paged
    for effort in range(_EFFORT + 1):
        steps = None if should_stop() else greedy_steps(_costed(paging), should_stop, effort=effort)
        if steps is not None:
            yield steps


def _costed(paging: Paging) -> IndexedProblem:
    """The problem of one device and its storage, with what the objective counts in place of times."""
    indexed, one = paging.one.indexed, paging.one
    devices = range(indexed.device_count)
    ways = tuple(
        tuple(
            tuple(replace(way, time_ns=paging.run_uw * way.time_ns) for way in row) if device == one.device else ()
            for device, row in enumerate(rows)
        )
        for rows in indexed.implementations
    )

    def copies(source: int, destination: int) -> tuple[int | None, ...] | None:
        if (source, destination) == (one.device, paging.storage):
            return tuple(cost if x in paging.pageable else None for x, cost in enumerate(paging.out_cost))
        if (source, destination) == (paging.storage, one.device):
            return tuple(cost if x in paging.pageable else None for x, cost in enumerate(paging.in_cost))
        return None

    table = tuple(tuple(copies(source, destination) for destination in devices) for source in devices)
    return replace(indexed, implementations=ways, transfer_ns=table)


def belady_steps(paging: Paging) -> list[Step] | None:
    """Every operator once; what is used last is paged out where room is short. `None` where that makes too little."""
    first = _First(paging)
    fits = all(first.compute(operator) for operator in range(paging.one.indexed.operator_count))
    return first.steps if fits else None


class _First:
    """What is where, operator by operator."""

    def __init__(self, paging: Paging) -> None:
        self.paging, self.one, self.indexed = paging, paging.one, paging.one.indexed
        self.there: set[int] = set()
        self.stored: set[int] = set()
        self.steps: list[Step] = []
        end = self.indexed.operator_count
        self.uses = [
            [*readers, *([end] if tensor in self.indexed.keep else [])]
            for tensor, readers in enumerate(self.indexed.consumers)
        ]

    def compute(self, operator: int) -> bool:
        """Bring the inputs and run the operator; false where there is no room for it."""
        own = set(self.one.touched(operator))
        self._free({x for x in self.there - own if self._next_use(x, operator) is None})
        if not self._make_room(operator, own):
            return False
        for tensor in sorted(set(self.indexed.inputs[operator]) - self.there):
            if tensor not in self.stored or self.paging.storage is None:
                return False
            self.steps.append(Move(self.paging.storage, self.one.device, tensor))
            self.there.add(tensor)
        self.steps.append(Run(self.one.device, operator, self.one.implementation[operator]))
        self.there.update(self.indexed.outputs[operator])
        return True

    def _next_use(self, tensor: int, operator: int) -> int | None:
        return next((use for use in self.uses[tensor] if use >= operator), None)

    def _make_room(self, operator: int, own: set[int]) -> bool:
        room, size = self.one.room_bytes, self.indexed.tensor_bytes
        if room is None:
            return True
        level = sum(size[x] for x in self.there | own) + self.one.workspace_bytes[operator]
        others = sorted(self.there - own, key=lambda x: (self._next_use(x, operator) or 0, size[x]))
        while level > room:
            candidates = [x for x in others if x in self.paging.pageable]
            if not candidates or self.paging.storage is None:
                return False
            tensor = candidates[-1]
            others.remove(tensor)
            level -= size[tensor]
            if tensor not in self.stored:
                self.steps.append(Move(self.one.device, self.paging.storage, tensor))
                self.stored.add(tensor)
            self._free({tensor})
        return True

    def _free(self, tensors: set[int]) -> None:
        self.steps.extend(Drop(self.one.device, x) for x in sorted(tensors))
        self.there -= tensors
