"""What a device holds at a moment, found without going through all stays of a plan. No Qt in it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from xengine_gui.schedule.timeline import Int64Array
from xengine_gui.schedule.walk import Residency

PARAMETERS = "parameters"
_MOST = 2**62
"""Later times are taken for this one, and sums of sizes up to it are exact in 64 bits."""


_Row = tuple[int, str, int, int | None]


@dataclass(frozen=True, slots=True)
class HeldTensor:
    """Something in memory, and until when; `None` is the end of the plan."""

    name: str
    size_bytes: int
    until_ns: int | None


class HeldIndex:
    """All stays on one device, the largest first, and equal ones by name; its parameters are one that never ends."""

    def __init__(self, stays: Iterable[Residency], size_bytes: Mapping[str, int], parameter_bytes: int) -> None:
        rows: list[_Row] = [(-size_bytes[r.tensor], r.tensor, r.start_ns, r.end_ns) for r in stays]
        if parameter_bytes:
            rows.append((-parameter_bytes, PARAMETERS, -_MOST, None))
        rows.sort(key=lambda row: row[:2])
        self._rows = rows
        self._start = np.array([min(row[2], _MOST) for row in rows], np.int64)
        self._end = np.array([_MOST if row[3] is None else min(row[3], _MOST) for row in rows], np.int64)
        total_bytes = -sum(row[0] for row in rows)
        self._size = np.array([-row[0] for row in rows], np.int64) if total_bytes < _MOST else None

    def at(self, time_ns: int) -> "HeldTensors":
        """What is there at a moment."""
        moment = min(time_ns, _MOST - 1)
        return HeldTensors(self, np.flatnonzero((self._start <= moment) & (moment < self._end)))

    def row(self, place: int) -> HeldTensor:
        """One of the stays."""
        size_bytes, name, _, until_ns = self._rows[place]
        return HeldTensor(name, -size_bytes, until_ns)

    def total_bytes(self, places: Int64Array) -> int:
        """The bytes of some stays."""
        if self._size is not None:
            return int(self._size[places].sum())
        return sum(-int(self._rows[place][0]) for place in places.tolist())


class HeldTensors(Sequence[HeldTensor]):
    """Some of a device's stays; rows are made when they are asked for."""

    def __init__(self, index: HeldIndex, places: Int64Array) -> None:
        self.source, self.places = index, places

    @property
    def total_bytes(self) -> int:
        """The bytes of all."""
        return self.source.total_bytes(self.places)

    def same_as(self, other: object) -> bool:
        """Whether these are the very same stays."""
        return (
            isinstance(other, HeldTensors) and self.source is other.source and np.array_equal(self.places, other.places)
        )

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, place: int) -> HeldTensor: ...
    @overload
    def __getitem__(self, place: slice) -> list[HeldTensor]: ...
    def __getitem__(self, place: int | slice) -> HeldTensor | list[HeldTensor]:
        if isinstance(place, slice):
            return [self.source.row(p) for p in self.places[place].tolist()]
        return self.source.row(int(self.places[place]))
