"""Whole numbers for CP-SAT, which counts in 64 bits: units of bytes and time that lose nothing where possible."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

from xengine_gui.model.operator import Implementation
from xengine_gui.solve.formulations.one_device import OneDevice

_MOST_BYTES = 2**40
_MOST_TIME = 2**50
"""The largest sums in units: products with the number of moments still stay below 2^63."""


class Way(NamedTuple):
    """An implementation, as its position in the problem, with time and workspace in units."""

    implementation: int
    time: int
    workspace: int


@dataclass(frozen=True)
class Units:
    """Sizes, room and ways to run each operator in units; `exact_memory` where no size was rounded.

    Sizes are rounded up, the room and the times down, so plans keep the limit and bounds stay bounds. A way that
    another beats in both time and workspace is left out.
    """

    tensors: tuple[int, ...]
    ways: tuple[tuple[Way, ...], ...]
    room: int | None
    time_unit_ns: int
    exact_memory: bool


def units_of(one: OneDevice, computations: Sequence[int]) -> Units:
    """The units for a problem on one device whose operators are computed at most so often each."""
    rows = [ways[one.device] for ways in one.indexed.implementations]
    sizes = (*one.indexed.tensor_bytes, *(way.workspace_bytes for row in rows for way in row))
    common = gcd(*sizes) or 1
    memory_unit = max(common, -(-sum(sizes) // _MOST_BYTES))
    most_ns = sum(count * max(way.time_ns for way in row) for count, row in zip(computations, rows, strict=True))
    time_unit_ns = max(gcd(*(way.time_ns for row in rows for way in row)) or 1, -(-most_ns // _MOST_TIME))
    return Units(
        tensors=tuple(-(-size // memory_unit) for size in one.indexed.tensor_bytes),
        ways=tuple(tuple(_ways(row, memory_unit, time_unit_ns)) for row in rows),
        # The limit need not count beyond what everything takes together.
        room=None if one.room_bytes is None else min(one.room_bytes, sum(sizes)) // memory_unit,
        time_unit_ns=time_unit_ns,
        exact_memory=memory_unit == common,
    )


def _ways(row: Sequence[Implementation], memory_unit: int, time_unit_ns: int) -> Iterator[Way]:
    least = None
    for j in sorted(range(len(row)), key=lambda j: (row[j].time_ns, row[j].workspace_bytes)):
        if least is None or row[j].workspace_bytes < least:
            least = row[j].workspace_bytes
            yield Way(j, row[j].time_ns // time_unit_ns, -(-least // memory_unit))
