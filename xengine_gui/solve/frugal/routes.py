"""One way to make each tensor on each device: by its producer where that is placed, else by a copy from there."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.plan import Move, Run
from xengine_gui.units import LARGEST

UNLIMITED_BYTES = LARGEST << 64
"""Stands for no limit, so that limits can be compared and subtracted."""

Placement = tuple[int, ...]
"""Per operator its device."""


@dataclass(frozen=True)
class Action:
    """A run or a copy: what it reads and makes, as places (device * N + tensor), on which device."""

    step: Run | Move
    device: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    workspace_bytes: int = 0

    @property
    def is_copy(self) -> bool:
        """Whether it is a copy."""
        return isinstance(self.step, Move)

    @cached_property
    def touched(self) -> tuple[int, ...]:
        """The places on its own device that must be there at once."""
        return self.outputs if self.is_copy else tuple(dict.fromkeys((*self.inputs, *self.outputs)))


@dataclass(frozen=True)
class Routes:
    """The run of each operator where it is placed, and per place the copy that brings its tensor, if one is needed.

    `room_bytes[d]` is what parameters leave of the limit of device d for tensors and workspace.
    """

    indexed: IndexedProblem
    room_bytes: tuple[int, ...]
    runs: tuple[Action, ...]
    copies: dict[int, Action]

    @classmethod
    def of(cls, indexed: IndexedProblem, placement: Placement) -> "Routes | None":
        """The routes of a placement; `None` where a device has no room for its parameters."""
        homes: list[set[int]] = [set() for _ in indexed.limit_bytes]
        for operator, device in enumerate(placement):
            homes[device].update(indexed.parameters[operator])
        room = tuple(
            (UNLIMITED_BYTES if limit is None else limit) - sum(indexed.parameter_bytes[p] for p in home)
            for limit, home in zip(indexed.limit_bytes, homes, strict=True)
        )
        if min(room) < 0:
            return None
        runs = tuple(_run(indexed, operator, device) for operator, device in enumerate(placement))
        copies = [_copies(indexed, t, placement[producer]) for t, producer in enumerate(indexed.producer)]
        return cls(indexed, room, runs, {c.outputs[0]: c for row in copies for c in row})

    def making(self, place: int) -> Action | None:
        """What makes a tensor on a device."""
        device, tensor = divmod(place, self.indexed.tensor_count)
        run = self.runs[self.indexed.producer[tensor]]
        return run if run.device == device else self.copies.get(place)

    def copy(self, source: int, destination: int, tensor: int) -> Action:
        """A copy over a link that there is."""
        return _copy(self.indexed, source, destination, tensor)


def placed(indexed: IndexedProblem, order: Sequence[int]) -> Placement:
    """Each operator on the first device of an order where it fits alone and its inputs can be brought."""
    placement: list[int] = []
    for operator in range(indexed.operator_count):
        able = [d for d in order if indexed.implementations[operator][d]]
        fitting = [d for d in able if _fits_alone(indexed, operator, d)]
        reached = [
            d
            for d in fitting
            if all(_path(indexed, t, placement[indexed.producer[t]], d) for t in indexed.inputs[operator])
        ]
        placement.append((reached or fitting or able)[0])
    return tuple(placement)


def _fits_alone(indexed: IndexedProblem, operator: int, device: int) -> bool:
    limit = indexed.limit_bytes[device]
    tensors = {*indexed.inputs[operator], *indexed.outputs[operator]}
    own = sum(indexed.tensor_bytes[t] for t in tensors)
    own += sum(indexed.parameter_bytes[p] for p in indexed.parameters[operator])
    return limit is None or own + min(w.workspace_bytes for w in indexed.implementations[operator][device]) <= limit


def _run(indexed: IndexedProblem, operator: int, device: int) -> Action:
    ways = indexed.implementations[operator][device]
    way = min(range(len(ways)), key=[(row.workspace_bytes, row.time_ns) for row in ways].__getitem__)
    first = device * indexed.tensor_count
    inputs = tuple(first + t for t in indexed.inputs[operator])
    outputs = tuple(first + t for t in indexed.outputs[operator])
    return Action(Run(device, operator, way), device, inputs, outputs, ways[way].workspace_bytes)


def _copy(indexed: IndexedProblem, source: int, destination: int, tensor: int) -> Action:
    count = indexed.tensor_count
    places = (source * count + tensor,), (destination * count + tensor,)
    return Action(Move(source, destination, tensor), destination, *places)


def _copies(indexed: IndexedProblem, tensor: int, home: int) -> list[Action]:
    """The last copy of the shortest way to each device that can be reached."""
    return [
        _copy(indexed, path[-2], path[-1], tensor)
        for device in range(indexed.device_count)
        if len(path := _path(indexed, tensor, home, device)) > 1
    ]


def _path(indexed: IndexedProblem, tensor: int, start: int, end: int) -> list[int]:
    """The devices on the way with the fewest copies, both ends included; empty where there is none."""
    if start == end:
        return [start]
    before: dict[int, int] = {start: start}
    queue = [start]
    for device in queue:
        for other in range(indexed.device_count):
            if other not in before and indexed.copy_ns(device, other, tensor) is not None:
                before[other] = device
                queue.append(other)
    if end not in before:
        return []
    path = [end]
    while path[-1] != start:
        path.append(before[path[-1]])
    return path[::-1]
