"""Timelines made by hand, small ones of given events and very large ones of arrays, for tests of what is painted."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast, overload

import numpy as np

from xengine_gui.model.device import Device, Link
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.plan import Compute, Event, Plan, Status, Transfer
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Tensor
from xengine_gui.schedule.timeline import Bars, Category, DeviceTimeline, Timeline, timeline

_PHASES = {"loss": Phase.LOSS, "grad": Phase.BACKWARD, "update": Phase.UPDATE}


def plan_of(
    events: Sequence[Event],
    limits: Mapping[str, int | None],
    *,
    sizes: Mapping[str, int] | None = None,
    inputs: Mapping[str, tuple[str, ...]] | None = None,
) -> Plan:
    """A plan of the given events on the devices that `limits` names.

    An operator's phase is told by the start of its name (loss, grad, update, else forward); its result is called
    `<name> out` and has `sizes[name]` bytes, 1 MiB where none are given.
    """
    names = list(dict.fromkeys(e.operator for e in events if isinstance(e, Compute)))
    devices = tuple(Device(name, memory_limit_bytes=limit) for name, limit in limits.items())
    operators = tuple(
        Operator(
            name,
            kind=name.split("_")[0],
            phase=_PHASES.get(name.split("_")[0], Phase.FORWARD),
            inputs=(inputs or {}).get(name, ()),
            outputs=(f"{name} out",),
            costs={device.name: (Implementation(1),) for device in devices},
        )
        for name in names
    )
    tensors = tuple(Tensor(f"{name} out", (sizes or {}).get(name, 2**20)) for name in names)
    links = tuple(Link(a.name, b.name, 10**9) for a in devices for b in devices if a is not b)
    problem = Problem("by hand", devices, operators, tensors, links=links)
    total = max((e.end_ns for e in events), default=0)
    return Plan(problem, "by hand", Status.FEASIBLE, tuple(events), total)


def timeline_of(
    events: Sequence[Event],
    limits: Mapping[str, int | None],
    *,
    sizes: Mapping[str, int] | None = None,
    inputs: Mapping[str, tuple[str, ...]] | None = None,
) -> Timeline:
    """The timeline of such a plan."""
    return timeline(plan_of(events, limits, sizes=sizes, inputs=inputs))


class _Events(Sequence[Event]):
    """The events of a large timeline, each made when it is asked for."""

    def __init__(self, devices: Sequence[DeviceTimeline], count: int) -> None:
        self._devices, self._count = devices, count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | Sequence[Event]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._count))]
        if not 0 <= index < self._count:
            raise IndexError(index)
        for device in self._devices:
            bars = device.compute
            place = int(np.searchsorted(bars.event, index))
            if place < len(bars.event) and bars.event[place] == index:
                return Compute("op", device.device, int(bars.start_ns[place]), int(bars.end_ns[place]))
        return Transfer("op out", self._devices[0].device, self._devices[-1].device, 0, 1)

    def __iter__(self) -> Iterator[Event]:
        return (self[i] for i in range(self._count))


def crowded_timeline(count: int, *, devices: int = 4, transfers: int = 2000, seed: int = 1) -> Timeline:
    """A timeline of `count` computations over some devices, with frees, transfers and a jagged memory curve."""
    random = np.random.default_rng(seed)
    each = count // devices
    none = np.zeros(0, np.int64)
    nothing = Bars(none, none, none, none)
    made = []
    end_ns = 0
    for d in range(devices):
        duration = random.lognormal(8, 1.2, each).astype(np.int64) + 1
        end = np.cumsum(duration + random.integers(0, 3, each))
        start = end - duration
        half = each // 2
        category = np.where(np.arange(each) < half, int(Category.FORWARD), int(Category.BACKWARD))
        category[random.random(each) < 0.03] = int(Category.RECOMPUTE)
        category[half] = int(Category.LOSS)
        level = np.cumsum(random.integers(-(2**20), 2**20, each)) + 2**32
        peak = int(np.argmax(level))
        compute = Bars(start, end, category.astype(np.int64), np.arange(each, dtype=np.int64) + d * each)
        frees = np.sort(random.choice(end, each // 2, replace=False))
        freed = np.full(len(frees), count, np.int64)
        end_ns = max(end_ns, int(end[-1]))
        made.append(
            DeviceTimeline(
                f"device {d}", int(level.max()), int(level.max()), int(start[peak]), compute, nothing, nothing, frees,
                freed, start, level,
            )
        )  # fmt: skip
    if devices > 1 and transfers:
        start = np.linspace(0, end_ns * 0.98, transfers).astype(np.int64)
        bars = Bars(
            start, start + end_ns // (4 * transfers), np.full(transfers, int(Category.TRANSFER), np.int64),
            np.arange(transfers, dtype=np.int64) + count,
        )  # fmt: skip
        first, last = made[0], made[-1]
        made[0] = DeviceTimeline(**(vars(first) | {"outgoing": bars}))
        made[-1] = DeviceTimeline(**(vars(last) | {"incoming": bars}))
    problem = plan_of([Compute("op", "device 0", 0, 1)], {d.device: d.limit_bytes for d in made}).problem
    events = cast("tuple[Event, ...]", _Events(made, count + transfers))
    return Timeline(Plan(problem, "crowd", Status.FEASIBLE, events, end_ns), tuple(made), end_ns)
