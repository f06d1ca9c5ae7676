"""From an order of operators on one device to a plan's steps: every tensor is freed as soon as nothing wants it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xengine_gui.model.plan import Drop, Run, Step
from xengine_gui.solve.formulations.one_device import OneDevice


@dataclass(frozen=True)
class Layout:
    """Steps, and by how much they pass the limit at worst: `over_bytes` while `operator` runs."""

    steps: list[Step] = field(repr=False)
    over_bytes: int
    operator: int


def layout(one: OneDevice, order: Sequence[int]) -> Layout:
    """The steps of an order, each operator by the fastest implementation that fits beside what must be there."""
    indexed, device = one.indexed, one.device
    ways = [_ways(one, operator) for operator in range(indexed.operator_count)]
    made_bytes = [sum(indexed.tensor_bytes[t] for t in outputs) for outputs in indexed.outputs]
    steps: list[Step] = []
    level = over = worst = 0
    for operator, freed in zip(order, _frees(one, order), strict=True):
        level += made_bytes[operator]
        choice = ways[operator][0][1]
        if one.room_bytes is not None and level + ways[operator][0][0] > one.room_bytes:
            workspace, choice = _fitting(ways[operator], one.room_bytes - level)
            if level + workspace - one.room_bytes > over:
                over, worst = level + workspace - one.room_bytes, operator
        steps.append(Run(device, operator, choice))
        for tensor in freed:
            level -= indexed.tensor_bytes[tensor]
            steps.append(Drop(device, tensor))
    return Layout(steps, over, worst)


def _frees(one: OneDevice, order: Sequence[int]) -> list[list[int]]:
    """Per run the tensors that go after it: nothing reads them any more, or they are made again before that."""
    inputs, outputs = one.indexed.inputs, one.indexed.outputs
    read_next = bytearray(one.indexed.tensor_count)
    for tensor in one.indexed.keep:
        read_next[tensor] = 1
    frees: list[list[int]] = []
    for operator in reversed(order):
        frees.append([t for t in one.touched(operator) if not read_next[t]])
        for tensor in outputs[operator]:
            read_next[tensor] = 0
        for tensor in inputs[operator]:
            read_next[tensor] = 1
    frees.reverse()
    return frees


def _ways(one: OneDevice, operator: int) -> list[tuple[int, int]]:
    """Workspace and number of each implementation, the fastest first."""
    rows = one.indexed.implementations[operator][one.device]
    order = sorted(range(len(rows)), key=lambda j: (rows[j].time_ns, rows[j].workspace_bytes))
    return [(rows[j].workspace_bytes, j) for j in order]


def _fitting(ways: Sequence[tuple[int, int]], room_bytes: int) -> tuple[int, int]:
    """The first way whose workspace fits in some room, the one with the least where none does."""
    return next((way for way in ways if way[0] <= room_bytes), min(ways))
