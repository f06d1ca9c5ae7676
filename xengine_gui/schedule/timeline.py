"""A plan as flat arrays, sorted by time and ready to paint; no drawing in it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from xengine_gui.model.operator import Phase
from xengine_gui.model.plan import Compute, Plan, Transfer
from xengine_gui.schedule.replay import MemoryCurve, Replay, replay

Int64Array = npt.NDArray[np.int64]


class Category(IntEnum):
    """What a bar shows; the order is the order of painting, rare ones last."""

    FORWARD = 0
    BACKWARD = 1
    UPDATE = 2
    LOSS = 3
    RECOMPUTE = 4
    TRANSFER = 5


@dataclass(frozen=True)
class Bars:
    """The bars of one lane, sorted by start; `event` is each one's position in the plan's events."""

    start_ns: Int64Array
    end_ns: Int64Array
    category: Int64Array
    event: Int64Array


@dataclass(frozen=True)
class DeviceTimeline:
    """What one device does: its lanes, its frees and its memory.

    The memory curve is a step function: from `memory_ns[i]` to `memory_ns[i + 1]` the device holds `memory_bytes[i]`
    (parameters, tensors and workspace); instants of zero length keep their highest level.
    """

    device: str
    limit_bytes: int | None
    peak_bytes: int
    peak_ns: int
    compute: Bars
    incoming: Bars
    outgoing: Bars
    free_ns: Int64Array
    free_event: Int64Array
    memory_ns: Int64Array
    memory_bytes: Int64Array


@dataclass(frozen=True)
class Timeline:
    """All devices of a plan on one time axis, which starts at 0 and ends at `end_ns`."""

    plan: Plan
    devices: tuple[DeviceTimeline, ...]
    end_ns: int


_PHASES = {
    Phase.FORWARD: Category.FORWARD,
    Phase.LOSS: Category.LOSS,
    Phase.BACKWARD: Category.BACKWARD,
    Phase.UPDATE: Category.UPDATE,
}
_MOST = 2**62
"""What is larger is drawn as this, which leaves room to compute with in 64 bits; as times it is 146 years."""

_UNKNOWN = MemoryCurve((), (), 0, 0, 0, None)
_Bar = tuple[int, int, int, int]


def timeline(plan: Plan, replayed: Replay | None = None) -> Timeline:
    """The arrays of a plan's picture; a plan without events has empty lanes. `replayed` is its replay, if known."""
    replayed = replayed or replay(plan)
    return lanes_of(plan, {o.name: o.phase for o in plan.problem.operators}, replayed.memory)


def lanes_of(plan: Plan, phases: Mapping[str, Phase], memory: Mapping[str, MemoryCurve]) -> Timeline:
    """The lanes of events whose operators are of these phases, with the memory of the devices of which it is known."""
    phase = {name: _PHASES[phase] for name, phase in phases.items()}
    names = [d.name for d in plan.problem.devices]
    compute: dict[str, list[_Bar]] = {name: [] for name in names}
    incoming: dict[str, list[_Bar]] = {name: [] for name in names}
    outgoing: dict[str, list[_Bar]] = {name: [] for name in names}
    frees: dict[str, list[tuple[int, int]]] = {name: [] for name in names}
    for i, event in enumerate(plan.events):
        if isinstance(event, Compute):
            category = Category.RECOMPUTE if event.again else phase[event.operator]
            compute[event.device].append((event.start_ns, event.end_ns, category, i))
        elif isinstance(event, Transfer):
            bar = event.start_ns, event.end_ns, Category.TRANSFER, i
            incoming[event.destination].append(bar)
            outgoing[event.source].append(bar)
        else:
            frees[event.device].append((event.start_ns, i))
    devices = tuple(
        _device(
            device.name,
            device.memory_limit_bytes,
            (_bars(compute[device.name]), _bars(incoming[device.name]), _bars(outgoing[device.name])),
            frees[device.name],
            memory.get(device.name, _UNKNOWN),
        )
        for device in plan.problem.devices
    )
    end_ns = max((event.end_ns for event in plan.events), default=0)
    return Timeline(plan, devices, min(end_ns, _MOST))


def _device(
    name: str,
    limit_bytes: int | None,
    lanes: tuple[Bars, Bars, Bars],
    frees: list[tuple[int, int]],
    memory: MemoryCurve,
) -> DeviceTimeline:
    compute, incoming, outgoing = lanes
    free_ns, free_event = _columns(frees, 2)
    return DeviceTimeline(
        device=name,
        limit_bytes=limit_bytes,
        peak_bytes=memory.peak_bytes,
        peak_ns=memory.peak_ns,
        compute=compute,
        incoming=incoming,
        outgoing=outgoing,
        free_ns=free_ns,
        free_event=free_event,
        memory_ns=_column(memory.time_ns),
        memory_bytes=_column(memory.level_bytes),
    )


def _bars(rows: list[_Bar]) -> Bars:
    return Bars(*_columns(rows, 4))


def _columns(rows: list[tuple[int, ...]] | list[_Bar] | list[tuple[int, int]], count: int) -> tuple[Int64Array, ...]:
    return tuple(map(_column, zip(*rows, strict=True))) if rows else tuple(_column(()) for _ in range(count))


def _column(values: Iterable[int]) -> Int64Array:
    """An array of 64 bits."""
    numbers = tuple(values)
    try:
        return np.minimum(np.array(numbers, dtype=np.int64), _MOST)
    except OverflowError:
        return np.array([min(value, _MOST) for value in numbers], dtype=np.int64)
