"""DELTA, simulated (Tang et al., "DELTA: Dynamically Optimizing GPU Memory beyond Tensor Recomputation", 2022).

It runs as DTR does, with a second device that only holds tensors. When memory is short a *filter* picks the tensor of
least cost / (size · staleness), where the cost is that of the cheaper way to have it again, and a *director* takes that
way: swap it out, or drop it and compute it again. A copy that is held elsewhere stays there until nothing wants it, so
that the tensor can leave again without a transfer.

DELTA overlaps transfers with operators and fetches ahead. The serial clock, on which strategies are compared, knows
neither, so here every transfer is paid for in full and is made when its tensor is wanted.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.plan import Drop, Move
from xengine_gui.solve.formulations.one_device import OneDevice
from xengine_gui.solve.online.heuristics import Around, Heuristic
from xengine_gui.solve.online.neighbourhood import EvictedPaths, SinglePaths, adjacent_tensors
from xengine_gui.solve.online.simulator import GivenUpError, Limits, Simulated, Simulator, Why

FILTER = Heuristic("DELTA's filter", Around.ANCESTORS)
SINGLE_FILTER = Heuristic("DELTA's filter by single operators")
"""For graphs so large that looking at all that was evicted before a tensor takes too long."""


@dataclass(frozen=True)
class Host:
    """A device that holds what another swaps out; times are `None` for tensors that cannot go there and back."""

    device: int
    limit_bytes: int | None
    out_ns: tuple[int | None, ...]
    in_ns: tuple[int | None, ...]


def host_for(indexed: IndexedProblem, device: int) -> Host | None:
    """Where `device` can swap to: preferably a device that computes nothing, then the roomiest; `None` without any."""
    hosts = [_host(indexed, device, other) for other in range(indexed.device_count) if other != device]
    able = [host for host in hosts if any(time_ns is not None for time_ns in host.in_ns)]
    computes = [any(ways[d] for ways in indexed.implementations) for d in range(indexed.device_count)]

    def preference(host: Host) -> tuple[bool, float]:
        return not computes[host.device], float("inf") if host.limit_bytes is None else host.limit_bytes

    return max(able, key=preference, default=None)


def _host(indexed: IndexedProblem, device: int, other: int) -> Host:
    there = [indexed.copy_ns(device, other, t) for t in range(indexed.tensor_count)]
    back = [indexed.copy_ns(other, device, t) for t in range(indexed.tensor_count)]
    both = [a is not None and b is not None for a, b in zip(there, back, strict=True)]
    return Host(
        device=other,
        limit_bytes=indexed.limit_bytes[other],
        out_ns=tuple(a if ok else None for a, ok in zip(there, both, strict=True)),
        in_ns=tuple(b if ok else None for b, ok in zip(back, both, strict=True)),
    )


def simulated_with_host(
    one: OneDevice, limits: Limits, host: Host, heuristic: Heuristic = FILTER, *, eager: bool = True
) -> Simulated:
    """Simulate DELTA on one device and its host; raises `GivenUpError` where it finds no plan."""
    return _SwappingSimulator(one, host, limits, heuristic, eager=eager).run()


class _SwappingSimulator(Simulator):
    """DTR's simulator with copies on a host."""

    around: EvictedPaths

    def __init__(self, one: OneDevice, host: Host, limits: Limits, heuristic: Heuristic, *, eager: bool) -> None:
        self.host = host
        super().__init__(one, heuristic, limits, eager=eager)
        self.copied = np.zeros(self.indexed.tensor_count, dtype=np.bool_)
        self.copied_bytes = 0
        self.here = np.frombuffer(self.resident, dtype=np.uint8)
        self.remade = np.array([self.again[producer] for producer in self.indexed.producer], dtype=np.bool_)
        self.in_ns, self.out_ns = _floats(host.in_ns), _floats(host.out_ns)

    def _neighbourhood(self) -> EvictedPaths:
        parents, children = adjacent_tensors(self.indexed)
        kind = EvictedPaths if self.heuristic.around is Around.ANCESTORS else SinglePaths
        return kind(parents, children, self.cost_ns, self.resident, downwards=False, heed=self._heed)

    # -- the filter and the director

    def _may_leave(self, tensor: int) -> bool:
        return super()._may_leave(tensor) or self.host.in_ns[tensor] is not None

    def _costs_back(self) -> npt.NDArray[np.float64]:
        return np.minimum(self._recompute_ns(), self._swap_ns())

    def _recompute_ns(self) -> npt.NDArray[np.float64]:
        return np.where(self.remade, super()._costs_back(), np.inf)

    def _swap_ns(self) -> npt.NDArray[np.float64]:
        """Per tensor the time to swap it in again, and out first where it has no copy; endless where it cannot go."""
        out_ns = self.out_ns
        if self.host.limit_bytes is not None:
            # Copies of what is here can make way.
            spare_bytes = float(np.sum(self.sizes[self.copied & (self.here > 0)]))
            free_bytes = self.host.limit_bytes - self.copied_bytes + spare_bytes
            out_ns = np.where(self.sizes <= free_bytes, out_ns, np.inf)
        return self.in_ns + np.where(self.copied, 0.0, out_ns)

    def _release(self, tensor: int) -> None:
        if not self.copied[tensor] and self._swap_ns()[tensor] < self._recompute_ns()[tensor]:
            self._copy_out(tensor)
        self._evict(tensor)

    def _fetch(self, tensor: int) -> bool:
        if not self.copied[tensor]:
            return False
        in_ns = self.host.in_ns[tensor] or 0
        if super()._may_leave(tensor) and self.cost_ns[tensor] + self.around.sum_before(tensor) < in_ns:
            return False
        self._make_room(self.size[tensor], self.indexed.producer[tensor])
        self.steps.append(Move(self.host.device, self.one.device, tensor))
        self.clock_ns += in_ns
        self._put(tensor)
        return True

    # -- the host

    def _copy_out(self, tensor: int) -> None:
        limit = self.host.limit_bytes
        spare = [int(t) for t in np.flatnonzero(self.copied & (self.here > 0))]
        spare.sort(key=self.size.__getitem__)
        while limit is not None and self.copied_bytes + self.size[tensor] > limit:
            if not spare:  # sizes beyond the floats of the filter
                raise GivenUpError(Why.NO_ROOM, self.indexed.producer[tensor])
            self._drop_copy(spare.pop())
        self.steps.append(Move(self.one.device, self.host.device, tensor))
        self.clock_ns += self.host.out_ns[tensor] or 0
        self.copied[tensor] = True
        self.copied_bytes += self.size[tensor]

    def _drop_copy(self, tensor: int) -> None:
        self.steps.append(Drop(self.host.device, tensor))
        self.copied[tensor] = False
        self.copied_bytes -= self.size[tensor]

    def _is_somewhere(self, tensor: int) -> bool:
        return super()._is_somewhere(tensor) or bool(self.copied[tensor])

    def _put(self, tensor: int) -> None:
        self.around.held_back[tensor] = 0
        self.around.cost_ns[tensor] = self.cost_ns[tensor]
        super()._put(tensor)

    def _evict(self, tensor: int) -> None:
        if self.copied[tensor]:
            self.around.held_back[tensor] = 1
            self.around.cost_ns[tensor] = self.host.in_ns[tensor] or 0
        super()._evict(tensor)

    def _forget(self, tensor: int) -> None:
        if self.copied[tensor]:
            self._drop_copy(tensor)
        super()._forget(tensor)

    def _note(self, tensor: int) -> None:
        super()._note(tensor)
        self.remade[tensor] = self.again[self.indexed.producer[tensor]]


def _floats(times: tuple[int | None, ...]) -> npt.NDArray[np.float64]:
    return np.array([np.inf if time_ns is None else time_ns for time_ns in times], dtype=np.float64)
