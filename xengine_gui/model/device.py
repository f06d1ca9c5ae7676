"""Devices and the links between them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Device:
    """A place that holds tensors and may run operators; a limit of `None` is no limit.

    `power_uw` is the power in microwatts that it takes above idle while an operator runs, `None` where nobody knows.
    """

    name: str
    kind: str = ""
    memory_limit_bytes: int | None = None
    power_uw: int | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """One direction between two devices; `power_uw` is the power in microwatts that a transfer takes above idle."""

    source: str
    destination: str
    bandwidth_bytes_per_s: int
    latency_ns: int = 0
    power_uw: int | None = None

    def transfer_ns(self, size_bytes: int) -> int:
        """Time of copying `size_bytes` over this link, rounded up to whole nanoseconds."""
        return self.latency_ns + -(-size_bytes * 10**9 // self.bandwidth_bytes_per_s)


@dataclass(frozen=True, slots=True)
class TransferTime:
    """The time of one tensor's transfer, instead of what its link would take; it also allows it where no link is."""

    tensor: str
    source: str
    destination: str
    time_ns: int
