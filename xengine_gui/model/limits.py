"""Memory limits that look like a slip of the unit."""

from collections.abc import Iterator

from xengine_gui.model.problem import Problem
from xengine_gui.units import format_size_exact

_MOST_SLIP = 2**20
"""No number of MiB is typed that is as large; a limit of so many bytes is meant."""


def tiny_limits(problem: Problem) -> Iterator[str]:
    """A sentence for each device whose limit is below the largest tensor, to the byte: `8192` may have been MiB."""
    largest = max(problem.tensors, key=lambda tensor: tensor.size_bytes, default=None)
    for device in problem.devices:
        limit = device.memory_limit_bytes
        if limit is not None and largest is not None and limit < largest.size_bytes:
            slip = "; a limit without a unit is in bytes" if limit < _MOST_SLIP else ""
            yield (
                f"{device.name} may hold {format_size_exact(limit)}, and {largest.name} alone takes "
                f"{format_size_exact(largest.size_bytes)}{slip}"
            )
