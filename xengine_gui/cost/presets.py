"""Device presets: what a device is worth in memory, arithmetic and bandwidth, each with its source."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType

from xengine_gui.errors import InputError
from xengine_gui.paths import resources

DEFAULT_EFFICIENCY: Mapping[str, float] = MappingProxyType(
    {"matrix": 0.7, "depthwise": 0.2, "vector": 0.3, "memory": 0.75}
)
"""Share of the peak that kernels reach: dense matrix work, depthwise convolutions, other arithmetic, bandwidth."""


@dataclass(frozen=True)
class DevicePreset:
    """A device as its maker states it. One without arithmetic (`peak_flop_per_s` 0) holds tensors but runs nothing.

    `matrix_flop_per_s` is the peak of matrix units where it differs; `bus` is what it talks through, for default links.
    `power_uw` is what it takes above idle while it computes, or, where it computes nothing, while a transfer from or to
    it goes on (`None`: not known). A storage may have rates of its own in place of its bus's: `read_...` out of it,
    `write_...` into it.
    """

    key: str
    title: str
    kind: str
    memory_bytes: int
    peak_flop_per_s: int
    bandwidth_bytes_per_s: int
    launch_ns: int
    bus: str
    summary: str
    source: str
    matrix_flop_per_s: int = 0
    efficiency: Mapping[str, float] = field(default_factory=dict)
    power_uw: int | None = None
    read_bytes_per_s: int = 0
    read_latency_ns: int = 0
    write_bytes_per_s: int = 0
    write_latency_ns: int = 0

    @property
    def computes(self) -> bool:
        """Whether operators can run on it."""
        return self.peak_flop_per_s > 0

    def flop_per_s(self, work_class: str) -> float:
        """Reachable arithmetic of a class of work (matrix, depthwise, vector)."""
        peak = self.matrix_flop_per_s if work_class == "matrix" and self.matrix_flop_per_s else self.peak_flop_per_s
        return peak * self.efficiency.get(work_class, DEFAULT_EFFICIENCY[work_class])

    @property
    def reachable_bytes_per_s(self) -> float:
        """Reachable bandwidth of the device's memory."""
        return self.bandwidth_bytes_per_s * self.efficiency.get("memory", DEFAULT_EFFICIENCY["memory"])


@cache
def device_presets() -> tuple[DevicePreset, ...]:
    """All presets of the resources folder, in the order of the file."""
    rows = json.loads((resources() / "devices.json").read_text(encoding="utf-8"))["presets"]
    return tuple(DevicePreset(**row) for row in rows)


def device_preset(key: str) -> DevicePreset:
    """The preset called `key`; an `InputError` lists those there are."""
    for preset in device_presets():
        if preset.key == key:
            return preset
    known = ", ".join(preset.key for preset in device_presets())
    raise InputError("", f"there is no device preset {key!r}; there are {known}")
