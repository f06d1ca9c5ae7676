"""A problem on all of its devices, cut into stages: what XEngine's models are written over."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.solve.formulations.stages import Stages
from xengine_gui.solve.working_set import WorkingSet, working_sets

_LARGEST_TOTAL = 10**6
"""The fastest operators together, in units of time, where the unit may be chosen: HiGHS works to a millionth."""


class Way(NamedTuple):
    """An implementation of an operator on a device, as positions in the problem."""

    device: int
    implementation: int


class Moment(NamedTuple):
    """The boundary in front of an operator in a stage, where a tensor may be copied and freed."""

    stage: int
    operator: int
    tensor: int


@dataclass(frozen=True)
class ManyDevices(Stages):
    """Every operator on any device that can run it.

    `ways[o]` are the implementations worth a thought: those that fit on their device by themselves, of which no other
    there is as fast with as little workspace. With `every_moment` a tensor may be copied and freed in front of every
    operator of a stage, else only around those that read or write it, and as a stage begins.
    """

    ways: tuple[tuple[Way, ...], ...]
    every_moment: bool

    @property
    def has_every_plan(self) -> bool:
        """Whether each staged plan has its like here: on one device a tensor comes and goes around its operators."""
        return self.every_moment or self.indexed.device_count == 1

    @property
    def devices(self) -> range:
        """The devices as positions in the problem."""
        return range(self.indexed.device_count)

    @property
    def rounds(self) -> range:
        """Rounds of copies at one moment: by then a tensor has come from any device to any other."""
        return range(self.indexed.device_count - 1)

    def time_ns(self, operator: int, way: Way) -> int:
        """What a way of running an operator takes."""
        return self.indexed.implementations[operator][way.device][way.implementation].time_ns

    def workspace_bytes(self, operator: int, way: Way) -> int:
        """What a way of running an operator needs besides its tensors."""
        return self.indexed.implementations[operator][way.device][way.implementation].workspace_bytes

    def ways_on(self, operator: int, device: int) -> list[Way]:
        """The ways of running an operator on a device."""
        return [way for way in self.ways[operator] if way.device == device]

    @cached_property
    def time_unit_ns(self) -> int:
        """A unit in which times are small enough for HiGHS; all times are multiples of it where `is_whole_unit`."""
        fastest = sum(min((self.time_ns(o, way) for way in ways), default=0) for o, ways in enumerate(self.ways))
        return max(self._common_ns, -(-fastest // _LARGEST_TOTAL))

    @property
    def is_whole_unit(self) -> bool:
        """Whether every time is a multiple of the unit."""
        return self.time_unit_ns == self._common_ns

    @cached_property
    def _common_ns(self) -> int:
        times = [self.time_ns(o, way) for o, ways in enumerate(self.ways) for way in ways]
        copies = [ns for rows in self.indexed.transfer_ns for row in rows if row for ns in row if ns is not None]
        return math.gcd(*times, *copies) or 1

    @cached_property
    def moments(self) -> tuple[Moment, ...]:
        """Every moment, stage by stage and operator by operator."""
        by_stage: list[list[int]] = [[] for _ in range(self.stage_count)]
        for stage, tensor in self.holds:
            by_stage[stage].append(tensor)
        found = []
        for stage, slots in enumerate(self.slots):
            alive = set(by_stage[stage])
            before: set[int] = set(alive)
            for operator in slots:
                alive.update(self.indexed.outputs[operator])
                touched = set(self.touched(operator))
                found += [Moment(stage, operator, x) for x in sorted(alive if self.every_moment else before | touched)]
                before = touched
        return tuple(found)


def on_many_devices(indexed: IndexedProblem, *, every_moment: bool) -> ManyDevices:
    """The problem on all devices; an operator that fits nowhere has no way."""
    ways = (tuple(w for needs in row for w in _worthwhile(indexed, needs)) for row in working_sets(indexed))
    return ManyDevices(indexed, tuple(ways), every_moment)


def _worthwhile(indexed: IndexedProblem, needs: WorkingSet) -> Iterator[Way]:
    """The implementations that fit with what their operator needs at least, each slower but smaller than the last."""
    rows = indexed.implementations[needs.operator][needs.device]
    besides = needs.tensor_bytes + needs.parameter_bytes
    least = math.inf if needs.limit_bytes is None else needs.limit_bytes - besides + 1
    for row, j in sorted((row, j) for j, row in enumerate((r.time_ns, r.workspace_bytes) for r in rows)):
        if row[1] < least:
            least = row[1]
            yield Way(needs.device, j)
