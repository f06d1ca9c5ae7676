"""A plan as flat arrays, sorted by time and ready to paint; no drawing in it."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from xengine_gui.model.plan import Plan

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
