"""Default links between devices, by the buses they talk through."""

from collections.abc import Mapping
from dataclasses import dataclass

from xengine_gui.cost.preset_fields import DevicePreset
from xengine_gui.model.device import Link

# Bandwidth of one direction as copies reach it, and latency. PCIe: 16 lanes (x4, x8 where named) at about 76 % of the
# line rate, as bandwidth tests of GPUs report. NVLink: half of the data sheets' both-way figures.
_BUS: Mapping[str, tuple[int, int]] = {
    "pcie3": (12_000_000_000, 10_000),
    "pcie4": (24_000_000_000, 10_000),
    "pcie4x4": (6_000_000_000, 10_000),
    "pcie4x8": (12_000_000_000, 10_000),
    "pcie5": (48_000_000_000, 10_000),
    "pcie5x8": (24_000_000_000, 10_000),
    "nvlink2": (150_000_000_000, 8_000),
    "nvlink3": (300_000_000_000, 8_000),
    "nvlink4": (450_000_000_000, 8_000),
    "nvlink5": (900_000_000_000, 8_000),
    "nvme": (3_000_000_000, 80_000),
    "usb3": (1_000_000_000, 100_000),
    "sd": (80_000_000, 500_000),
    "flash": (16_000_000, 50_000),
}
_TITLES: Mapping[str, str] = {
    "pcie3": "PCIe 3.0 x16",
    "pcie4": "PCIe 4.0 x16",
    "pcie4x4": "PCIe 4.0 x4",
    "pcie4x8": "PCIe 4.0 x8",
    "pcie5": "PCIe 5.0 x16",
    "pcie5x8": "PCIe 5.0 x8",
    "nvlink2": "NVLink 2",
    "nvlink3": "NVLink 3",
    "nvlink4": "NVLink 4",
    "nvlink5": "NVLink 5",
    "nvme": "NVMe drive",
    "usb3": "USB 3",
    "sd": "SD card",
    "flash": "serial flash",
}
BUSES = ("shared", *_BUS)
"""What a device may talk through."""
# What an NVLink device uses towards everything that has none.
_HOST_BUS: Mapping[str, str] = {"nvlink2": "pcie3", "nvlink3": "pcie4", "nvlink4": "pcie5", "nvlink5": "pcie5"}
_STORAGE = ("storage",)


@dataclass(frozen=True, slots=True)
class LinkPreset:
    """A bus with what one direction of it carries."""

    key: str
    title: str
    bandwidth_bytes_per_s: int
    latency_ns: int


LINK_PRESETS: tuple[LinkPreset, ...] = tuple(LinkPreset(key, _TITLES[key], *_BUS[key]) for key in _BUS)
"""The buses that a link may be taken to be."""


def default_link(source: str, source_preset: DevicePreset, destination: str, destination_preset: DevicePreset) -> Link:
    """One direction from `source` to `destination`, which are the names of two devices made from these presets."""
    bandwidth_bytes_per_s, latency_ns = _way(source_preset, destination_preset)
    stores = [preset.power_uw for preset in (source_preset, destination_preset) if preset.kind in _STORAGE]
    return Link(source, destination, bandwidth_bytes_per_s, latency_ns, stores[0] if len(stores) == 1 else None)


def _way(one: DevicePreset, other: DevicePreset) -> tuple[int, int]:
    pair = (one, other)
    if any(preset.kind in _STORAGE for preset in pair):
        store = next(preset for preset in pair if preset.kind in _STORAGE)
        if one.kind in _STORAGE and one.read_bytes_per_s:
            return min(one.read_bytes_per_s, other.bandwidth_bytes_per_s), one.read_latency_ns
        if other.kind in _STORAGE and other.write_bytes_per_s:
            return min(other.write_bytes_per_s, one.bandwidth_bytes_per_s), other.write_latency_ns
        rate = min(preset.bandwidth_bytes_per_s for preset in pair)
        return min(rate, _BUS[store.bus][0]), _BUS[store.bus][1]
    if all(preset.bus in _HOST_BUS for preset in pair):
        return min(_BUS[preset.bus] for preset in pair)
    slowest_memory = min(preset.bandwidth_bytes_per_s for preset in pair)
    if all(preset.bus == "shared" or preset.kind in ("cpu", "memory") for preset in pair):
        # A copy within one memory reads and writes every byte.
        return slowest_memory // 2, 5_000
    buses = [_BUS[_HOST_BUS.get(preset.bus, preset.bus)] for preset in pair if preset.bus in _BUS]
    # A host without a bus of its own (shared memory) takes whatever the card has.
    bandwidth, latency_ns = min(buses, default=_BUS["pcie3"])
    return min(bandwidth, slowest_memory), latency_ns
