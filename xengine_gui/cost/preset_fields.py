"""What a device preset is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

KINDS = ("cpu", "igpu", "gpu", "mcu", "memory", "storage")
EFFICIENCIES: Mapping[str, float] = MappingProxyType({"matrix": 0.7, "depthwise": 0.2, "vector": 0.3, "memory": 0.75})
"""Share of the peak that kernels reach: dense matrix work, depthwise convolutions, other arithmetic, bandwidth."""


@dataclass(frozen=True)
class DevicePreset:
    """A device as its maker states it. One without arithmetic (`peak_flop_per_s` 0) holds tensors but runs nothing.

    `matrix_flop_per_s` is the peak of matrix units where it differs; `bus` is what it talks through, for default links.
    `power_uw` is what it takes above idle while it computes, or, where it computes nothing, while a transfer from or to
    it goes on (`None`: not known). A storage may have rates of its own in place of its bus's: `read_...` out of it,
    `write_...` into it. `own` presets are the user's, not bundled.
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
    own: bool = False

    @property
    def computes(self) -> bool:
        """Whether operators can run on it."""
        return self.peak_flop_per_s > 0

    def flop_per_s(self, work_class: str) -> float:
        """Reachable arithmetic of a class of work (matrix, depthwise, vector)."""
        peak = self.matrix_flop_per_s if work_class == "matrix" and self.matrix_flop_per_s else self.peak_flop_per_s
        return peak * self.efficiency.get(work_class, EFFICIENCIES[work_class])

    @property
    def reachable_bytes_per_s(self) -> float:
        """Reachable bandwidth of the device's memory."""
        return self.bandwidth_bytes_per_s * self.efficiency.get("memory", EFFICIENCIES["memory"])
