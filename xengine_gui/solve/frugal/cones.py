"""What making a tensor from nothing asks for: the steps behind it, and the memory that the largest of them takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xengine_gui.solve.frugal.places import bits, mask_of
from xengine_gui.solve.frugal.routes import UNLIMITED_BYTES, Routes

_MOST_KNOWN = 100_000


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


class _Whole(NamedTuple):
    """A cone with nothing locked: all its places, and per device what the largest step takes (far below 0 for none)."""

    need_bytes: tuple[int, ...]
    made: int


class Cones:
    """Cones by place and by what is locked; places in `fixed` end them, since they are never made again."""

    def __init__(self, routes: Routes) -> None:
        indexed = routes.indexed
        self._rooms, self._size = routes.room_bytes, indexed.tensor_bytes * indexed.device_count
        count = indexed.tensor_count
        self._on_device = [(1 << count) - 1 << d * count for d in range(indexed.device_count)]
        self._ways = _ways(routes)
        self._nothing = (-UNLIMITED_BYTES,) * indexed.device_count
        self._fixed = 0
        self._known: dict[tuple[int, int], Cone] = {}
        self._whole: dict[int, _Whole] = {}
        self._slack: dict[int, tuple[int, ...]] = {}

    def begin_stage(self, fixed: int) -> None:
        """Begin with other places that are never made again; what is known is kept where it stays true."""
        if fixed != self._fixed or len(self._known) > _MOST_KNOWN:
            self._known.clear()
            self._slack.clear()
        if fixed != self._fixed:
            self._whole.clear()
            self._fixed = fixed

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
        """From a place back to what is locked; where nothing behind a place is, its whole cone is taken at once."""
        slack, worst, made, stack = self._slack_with(locked), -max(self._rooms), 0, [place]
        while stack:
            at = stack.pop()
            way = self._ways[at]
            if (made | locked | self._fixed) >> at & 1 or way is None:
                continue
            whole = self._whole_of(at)
            if not whole.made & locked:
                made |= whole.made
                excess = max(need - free for need, free in zip(whole.need_bytes, slack, strict=True))
            else:
                made |= 1 << at
                excess = way.need_bytes - slack[way.device] - self._bytes(way.mask & locked)
                stack.extend(way.inputs)
            worst = max(worst, excess)
        return Cone(worst, made)

    def _slack_with(self, locked: int) -> tuple[int, ...]:
        """Per device the room that what is locked leaves."""
        if locked not in self._slack:
            free = [room - self._bytes(locked & on) for room, on in zip(self._rooms, self._on_device, strict=True)]
            self._slack[locked] = tuple(free)
        return self._slack[locked]

    def _whole_of(self, place: int) -> _Whole:
        stack = [place]
        while stack:
            at = stack[-1]
            way = self._ways[at]
            if at in self._whole:
                stack.pop()
            elif way is None or self._fixed >> at & 1:
                self._whole[at] = _Whole(self._nothing, 0)
            elif missing := [i for i in way.inputs if i not in self._whole]:
                stack += missing
            else:
                self._whole[at] = self._joined(at, way, [self._whole[i] for i in way.inputs])
        return self._whole[place]

    def _joined(self, place: int, way: _Way, behind: Sequence[_Whole]) -> _Whole:
        """The cone of a place from those of what it is made of."""
        need, made = list(self._nothing), 1 << place
        need[way.device] = way.need_bytes
        for whole in behind:
            need = list(map(max, need, whole.need_bytes))
            made |= whole.made
        return _Whole(tuple(need), made)

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
