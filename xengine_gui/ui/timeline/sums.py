"""The sums of a stretch of time on one device: time by kind, bytes moved, peak, idle. No Qt in it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from xengine_gui.schedule.timeline import Bars, Category, Int64Array
from xengine_gui.ui.timeline.index import DeviceIndex
from xengine_gui.ui.timeline.lanes import LaneIndex, categories_among


@dataclass(frozen=True)
class RangeSums:
    """One device in a stretch of time; what is only partly in it counts with that part, frees and bytes are whole.

    Bytes count for transfers that end within it, with its end and without its start.
    """

    device: str
    time_ns: Mapping[Category, int]
    computations: int
    recomputations: int
    idle_ns: int
    in_bytes: int
    out_bytes: int
    frees: int
    peak_bytes: int


def sums_of(device: DeviceIndex, start_ns: int, end_ns: int, event_bytes: Mapping[int, int]) -> RangeSums:
    """The sums between two moments; `event_bytes` has the bytes of each transfer, by its position in the events."""
    positions, part_ns = _parts(device.compute, start_ns, end_ns)
    category = device.compute.bars.category[positions]
    time_ns = {Category(int(c)): int(np.sum(part_ns[category == c])) for c in categories_among(category)}
    moved = [_ended(lane.bars, start_ns, end_ns) for lane in (device.incoming, device.outgoing)]
    in_bytes, out_bytes = (sum(event_bytes.get(event, 0) for event in events.tolist()) for events in moved)
    first, last = np.searchsorted(device.device.free_ns, (start_ns, end_ns + 1)).tolist()
    return RangeSums(
        device=device.name,
        time_ns=time_ns,
        computations=len(positions),
        recomputations=int(np.count_nonzero(category == Category.RECOMPUTE)),
        idle_ns=end_ns - start_ns - int(np.sum(part_ns)),
        in_bytes=in_bytes,
        out_bytes=out_bytes,
        frees=last - first,
        peak_bytes=device.memory.highest(start_ns, end_ns),
    )


def _parts(lane: LaneIndex, start_ns: int, end_ns: int) -> tuple[Int64Array, Int64Array]:
    """The bars in a stretch of time, and how much of each is in it."""
    positions = lane.at(start_ns, end_ns)
    bars = lane.bars
    part = np.minimum(bars.end_ns[positions], end_ns) - np.maximum(bars.start_ns[positions], start_ns)
    return positions, np.maximum(part, 0)


def _ended(bars: Bars, start_ns: int, end_ns: int) -> Int64Array:
    return bars.event[(bars.end_ns > start_ns) & (bars.end_ns <= end_ns)]
