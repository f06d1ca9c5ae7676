"""What making a tensor from nothing asks for: the steps behind it, and the memory that the largest of them takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xengine_gui.solve.frugal.places import bits, mask_of
from xengine_gui.solve.frugal.routes import Routes


class Cone(NamedTuple):
    """The worst excess of one step over the room of its device (negative where there is room), and all places made."""

    excess_bytes: int
    made: int


@dataclass(frozen=True, slots=True)
class _Way:
    """How a place is made, in brief: its device, what must be there at once in bytes and as places, what it reads."""

    device: int
    need_bytes: int
    mask: int
    inputs: tuple[int, ...]


class Cones:
    """Cones by place and by what is locked; places in `fixed` end them, since they are never made again."""

    def __init__(self, routes: Routes) -> None:
        indexed = routes.indexed
        self._rooms, self._size = routes.room_bytes, indexed.tensor_bytes * indexed.device_count
        count = indexed.tensor_count
        self._on_device = [(1 << count) - 1 << d * count for d in range(indexed.device_count)]
        self._ways = _ways(routes)
        self._known: dict[tuple[int, int], Cone] = {}
        self._fixed = 0

    def forget(self, fixed: int) -> None:
        """Begin anew with other places that are never made again."""
        self._fixed = fixed
        self._known.clear()

    def of(self, place: int, locked: int) -> Cone:
        """The cone of a place that is made from nothing but what is locked (which takes room all the while)."""
        key = place, locked
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._walk(place, locked)
        return known

    def made(self, places: Sequence[int], locked: int) -> int:
        """All that is made for some places."""
        mask = 0
        for place in places:
            mask |= self.of(place, locked).made
        return mask

    def _walk(self, place: int, locked: int) -> Cone:
        slack = [room - self._bytes(locked & on) for room, on in zip(self._rooms, self._on_device, strict=True)]
        ways, barrier, worst, made, stack = self._ways, locked | self._fixed, -max(self._rooms), 0, [place]
        while stack:
            at = stack.pop()
            if (made | barrier) >> at & 1:
                continue
            made |= 1 << at
            way = ways[at]
            if way is None:
                continue
            excess = way.need_bytes - slack[way.device]
            if way.mask & locked:
                excess -= self._bytes(way.mask & locked)
            if excess > worst:  # noqa: PLR1730 - twice as fast as max()
                worst = excess
            stack.extend(way.inputs)
        return Cone(worst, made)

    def _bytes(self, mask: int) -> int:
        return sum(self._size[place] for place in bits(mask))


def _ways(routes: Routes) -> list[_Way | None]:
    count, size = routes.indexed.tensor_count, routes.indexed.tensor_bytes
    ways: dict[int, _Way] = {}
    found: list[_Way | None] = []
    for place in range(routes.indexed.device_count * count):
        action = routes.making(place)
        if action is not None and id(action) not in ways:
            need = sum(size[p % count] for p in action.touched) + action.workspace_bytes
            ways[id(action)] = _Way(action.device, need, mask_of(action.touched), action.inputs)
        found.append(None if action is None else ways[id(action)])
    return found
