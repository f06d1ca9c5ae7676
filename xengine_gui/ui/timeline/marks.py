"""What is marked on a timeline besides the selected event, and where the next event is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np

from xengine_gui.language import tr
from xengine_gui.ui.timeline.index import TimelineIndex
from xengine_gui.ui.timeline.lit import Lit
from xengine_gui.ui.timeline.stack import StackIndex

StackSource = Callable[[], Mapping[str, StackIndex]]


class MouseStyle(Enum):
    """What wheel and drag do."""

    MAP = "map"
    TRACE = "trace"


MOUSE_TITLES = {
    MouseStyle.MAP.value: tr("Map: wheel zooms, drag pans"),
    MouseStyle.TRACE.value: tr("Trace viewer: wheel scrolls, drag selects"),
}


@dataclass(frozen=True)
class Marks:
    """What is lit, the selected moment, the selected stretch of time; `None` where there is none."""

    lit: Lit | None = None
    moment_ns: int | None = None
    stretch_ns: tuple[int, int] | None = None


def next_event(index: TimelineIndex, event: int, at_ns: int, *, forward: bool, stage: bool) -> int | None:
    """The event after or before one (-1: after or before a moment), of all or of those that end a stage."""
    count = len(index.timeline.plan.events)
    if not count:
        return None
    if event < 0:
        event = _last_begun(index, at_ns) + (0 if forward else 1)
    if not stage:
        return min(max(event + (1 if forward else -1), 0), count - 1)
    ends = index.stage_ends
    if not len(ends):
        return None
    place = np.searchsorted(ends, event, "right") if forward else np.searchsorted(ends, event) - 1
    return int(ends[min(max(int(place), 0), len(ends) - 1)])


def _last_begun(index: TimelineIndex, at_ns: int) -> int:
    """The latest event that began before a moment, -1 where none did."""
    latest = -1
    for device in index.devices:
        lanes = [(lane.bars.start_ns, lane.bars.event) for _, lane in device.lanes]
        for start, events in (*lanes, (device.device.free_ns, device.device.free_event)):
            place = int(np.searchsorted(start, at_ns)) - 1
            if place >= 0:
                latest = max(latest, int(events[place]))
    return latest


def span_of(index: TimelineIndex, lit: Lit) -> tuple[int, int]:
    """From the first to the last of what is lit."""
    events = index.timeline.plan.events
    times = [t for event in lit.events for t in (events[event].start_ns, events[event].end_ns)]
    times += [t for s in lit.stays for t in (s.start_ns, index.timeline.end_ns if s.end_ns is None else s.end_ns)]
    return min(times), max(times)
