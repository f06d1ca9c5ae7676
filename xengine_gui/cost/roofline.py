"""Cost models: what one operator takes on one device. The roofline is the first of them."""

from math import ceil
from typing import Protocol

from xengine_gui.cost.flops import Work
from xengine_gui.cost.preset_fields import DevicePreset
from xengine_gui.model.operator import Implementation


class CostModel(Protocol):
    """Anything that gives an operator's implementations on a device; none where it cannot run there."""

    key: str
    title: str

    def implementations(self, work: Work, device: DevicePreset) -> tuple[Implementation, ...]:
        """The ways to run this work on this device, with their times and workspaces."""
        ...


class Roofline:
    """The longer of arithmetic and memory traffic at the device's reachable rates, and the launch overhead.

    After S. Williams, A. Waterman, D. Patterson, Roofline: an insightful visual performance model, CACM 52(4), 2009.
    """

    key = "roofline"
    title = "Roofline from the device preset"

    def implementations(self, work: Work, device: DevicePreset) -> tuple[Implementation, ...]:
        """One implementation without a workspace; none on a device that computes nothing."""
        if not device.computes:
            return ()
        return (Implementation(roofline_ns(work, device)),)


def roofline_ns(work: Work, device: DevicePreset) -> int:
    """The time of this work on a device that computes."""
    seconds = max(work.flop / device.flop_per_s(work.work_class), work.bytes_moved / device.reachable_bytes_per_s)
    return ceil(seconds * 1e9) + device.launch_ns
