"""A timeline prepared for looking at: every lane indexed, transfers as arrows, and where each event stands."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xengine_gui.schedule.timeline import Bars, Category, DeviceTimeline, Int64Array, Timeline
from xengine_gui.ui.timeline.curves import StepCurve
from xengine_gui.ui.timeline.geometry import Columns, Coverage, TimeRange
from xengine_gui.ui.timeline.lanes import LaneIndex
from xengine_gui.ui.timeline.navigation import LEAST_SPAN_NS, whole_range

LANES = ("compute", "incoming", "outgoing")


class DeviceIndex:
    """One device's lanes and memory, with the figures of its title line."""

    def __init__(self, device: DeviceTimeline, end_ns: int) -> None:
        self.device = device
        self.compute = LaneIndex(device.compute)
        self.incoming = LaneIndex(device.incoming)
        self.outgoing = LaneIndex(device.outgoing)
        self.frees = Coverage(device.free_ns, device.free_ns)
        self.memory = StepCurve(device.memory_ns, device.memory_bytes)
        self.busy_ns = int(np.sum(device.compute.end_ns - device.compute.start_ns))
        self.busy_ratio = self.busy_ns / end_ns if end_ns else 0.0
        self.recompute_count = int(np.count_nonzero(device.compute.category == Category.RECOMPUTE))

    @property
    def name(self) -> str:
        """The device's name."""
        return self.device.device

    def lane(self, name: str) -> LaneIndex:
        """One of `LANES`."""
        lane: LaneIndex = getattr(self, name)
        return lane

    @property
    def lanes(self) -> Iterator[tuple[str, LaneIndex]]:
        """All lanes with their names."""
        return ((name, self.lane(name)) for name in LANES)


@dataclass(frozen=True)
class Arrows:
    """The transfers from one device to another (positions in the timeline), sorted by start."""

    source: int
    destination: int
    start_ns: Int64Array
    end_ns: Int64Array
    event: Int64Array

    def in_view(self, columns: Columns, bin_columns: int) -> Int64Array:
        """Positions of those to draw: all that are in view, or where they crowd the first of each bin of columns."""
        if not len(self.start_ns):
            return np.zeros(0, np.int64)
        edges = np.append(columns.begin_ns[:: max(1, bin_columns)], columns.view.end_ns + 1)
        place = self.start_ns.searchsorted(edges)
        shown = place[:-1][place[:-1] < place[1:]]
        before = place[0] - 1
        if before >= 0 and self.end_ns[before] > columns.view.start_ns:
            shown = np.insert(shown, 0, before)
        return shown.astype(np.int64)


@dataclass(frozen=True, slots=True)
class Place:
    """Where an event's bar or tick is: the device's position, `lane` (one of `LANES` or `free`), position in it."""

    device: int
    lane: str
    position: int


class TimelineIndex:
    """All of a timeline, ready for any number of looks."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.devices = tuple(DeviceIndex(device, timeline.end_ns) for device in timeline.devices)
        self.names: dict[int, tuple[str, str | None]] = {}
        """What some events are called, with the kind of operator, noted as they are painted."""
        self.categories = frozenset(c for d in self.devices for _, lane in d.lanes for c in lane.categories)

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Each operator's kind."""
        return {operator.name: operator.kind for operator in self.timeline.plan.problem.operators}

    @cached_property
    def whole(self) -> TimeRange:
        """The view of the whole plan; where its clock began long before its first event, from that event on."""
        end_ns = self.timeline.end_ns
        starts = [int(lane.bars.start_ns[0]) for d in self.devices for _, lane in d.lanes if len(lane)]
        first_ns = min(starts, default=0)
        if 0 < end_ns - first_ns < end_ns // 10:
            return TimeRange(first_ns, max(end_ns, first_ns + LEAST_SPAN_NS))
        return whole_range(end_ns)

    @property
    def has_frees(self) -> bool:
        """Whether anything is freed."""
        return any(len(device.device.free_ns) for device in self.devices)

    @cached_property
    def arrows(self) -> tuple[Arrows, ...]:
        """Transfers by source and destination."""
        arriving = [np.full(len(d.device.incoming.event), i, np.int64) for i, d in enumerate(self.devices)]
        events = np.concatenate([d.device.incoming.event for d in self.devices] or [np.zeros(0, np.int64)])
        device = np.concatenate(arriving or [np.zeros(0, np.int64)])
        order = np.argsort(events, kind="stable")
        events, device = events[order], device[order]
        found: list[Arrows] = []
        for source, index in enumerate(self.devices):
            bars = index.device.outgoing
            if not len(bars.event) or not len(events):
                continue
            place = np.minimum(events.searchsorted(bars.event), len(events) - 1)
            goal = np.where(events[place] == bars.event, device[place], -1)
            found.extend(self._arrows(source, to, bars, goal == to) for to in sorted(set(goal[goal >= 0].tolist())))
        return tuple(found)

    @staticmethod
    def _arrows(source: int, destination: int, bars: Bars, chosen: Int64Array) -> Arrows:
        return Arrows(source, destination, bars.start_ns[chosen], bars.end_ns[chosen], bars.event[chosen])

    def places(self, event: int) -> list[Place]:
        """Where an event is drawn: once, or for a transfer at both its ends."""
        return [
            Place(device, lane, int(order[p]))
            for device, lane, events, order in self._by_event
            for p in range(int(events.searchsorted(event)), int(events.searchsorted(event, "right")))
        ]

    @cached_property
    def _by_event(self) -> list[tuple[int, str, Int64Array, Int64Array]]:
        """Per device and lane the events sorted by number, and where in the lane each of them is."""
        found: list[tuple[int, str, Int64Array, Int64Array]] = []
        for i, device in enumerate(self.devices):
            lanes = [(name, lane.bars.event) for name, lane in device.lanes] + [("free", device.device.free_event)]
            for name, events in lanes:
                order = np.argsort(events, kind="stable").astype(np.int64)
                found.append((i, name, events[order], order))
        return found

    @cached_property
    def stage_ends(self) -> Int64Array:
        """The events that end a stage: the first computations, in the order of the plan."""
        first = [d.device.compute.event[d.device.compute.category != Category.RECOMPUTE] for d in self.devices]
        return np.sort(np.concatenate(first)) if first else np.zeros(0, np.int64)

    def span(self, place: Place) -> tuple[int, int]:
        """Start and end of what is at a place."""
        device = self.devices[place.device]
        if place.lane == "free":
            moment = int(device.device.free_ns[place.position])
            return moment, moment
        bars = device.lane(place.lane).bars
        return int(bars.start_ns[place.position]), int(bars.end_ns[place.position])
