"""Dynamic Tensor Rematerialization, simulated (Kirisame et al., "Dynamic Tensor Rematerialization", ICLR 2021).

Operators arrive in base order. Before one runs its inputs are locked; those that are not there are computed again
first, and so on down. When its results do not fit, unlocked tensors are evicted, least h(t) first. As in the paper's
simulator a tensor that no operator to come reads is evicted at once ("eager eviction"), and a run that computes far
more than there are operators is given up.

What the paper leaves open: a tensor that no recomputation can want any more is freed for good; one that must not be
recomputed stays, unless memory is short and all that was made of it is there, which then stays in its place (the
paper's "banishing").
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from xengine_gui.model.plan import Drop, Run, Step
from xengine_gui.solve.formulations.one_device import OneDevice
from xengine_gui.solve.online.heuristics import Heuristic
from xengine_gui.solve.online.lifetimes import Lifetimes
from xengine_gui.solve.online.neighbourhood import Neighbourhood, neighbourhood

RUNS_PER_OPERATOR = 10
"""A simulation that runs this many times as many operators as there are is thrashing."""
_FREE_RUNS = 2000
"""So many more are allowed, so that short chains can be planned in the least memory."""
_MOST_LOOKS = 20_000_000
"""A heuristic that looks at more evicted tensors than this takes more than some seconds, and is given up."""
_ASKED_EVERY = 16


class Why(Enum):
    """Why a simulation ends without a plan."""

    NO_ROOM = "no room"
    THRASHING = "thrashing"
    COSTLY = "too costly to simulate"
    SLOWER = "slower than asked for"
    STOPPED = "stopped"


class GivenUpError(Exception):
    """A simulation ends without a plan, at the operator that was to run."""

    def __init__(self, why: Why, operator: int) -> None:
        super().__init__(f"{why.value} at operator {operator}")
        self.why, self.operator = why, operator


@dataclass(frozen=True)
class Limits:
    """When a simulation ends early: asked to stop, or slower than is of use."""

    should_stop: Callable[[], bool] = lambda: False
    below_ns: float = float("inf")


@dataclass(frozen=True)
class Simulated:
    """The steps of a simulation, and how often memory was short."""

    steps: list[Step]
    eviction_count: int


@dataclass
class _Pending:
    """An operator that waits for its inputs, and those that it has locked."""

    operator: int
    locked: set[int]


def simulated(one: OneDevice, limits: Limits, heuristic: Heuristic, *, eager: bool = True) -> Simulated:
    """Simulate one heuristic on one device; raises `GivenUpError` where it finds no plan."""
    return Simulator(one, heuristic, limits, eager=eager).run()


class Simulator:
    """The state of one simulation."""

    def __init__(self, one: OneDevice, heuristic: Heuristic, limits: Limits, *, eager: bool) -> None:
        self.one, self.indexed, self.heuristic, self.limits, self.eager = one, one.indexed, heuristic, limits, eager
        count = self.indexed.tensor_count
        self.size = self.indexed.tensor_bytes
        self.resident = bytearray(count)
        self.computed = bytearray(count)
        self.gone = bytearray(count)
        self.locks = [0] * count
        self.level_bytes = 0
        self.again = list(self.indexed.recomputable)
        lifetimes = Lifetimes(self.indexed)
        self.reads, self.ending = list(lifetimes.reads), lifetimes.ending
        self.cost_ns = [one.time_ns[producer] for producer in self.indexed.producer]
        self.around = self._neighbourhood()
        self.costs = np.array(self.cost_ns, dtype=np.float64)
        self.sizes = np.array(self.size, dtype=np.float64)
        self.pool = np.zeros(count, dtype=np.bool_)
        self.touched = np.zeros(count)
        self.clock_ns = self.arrived = 0
        self.run_count = self.eviction_count = 0
        self.steps: list[Step] = []

    def run(self) -> Simulated:
        """Every operator in base order, then what must be kept."""
        for operator in range(self.indexed.operator_count):
            self.arrived = operator
            self._compute(operator)
            self._settle(operator)
        self._bring_kept()
        return Simulated(self.steps, self.eviction_count)

    def _heed(self, looks: int) -> None:
        """End a simulation whose heuristic looks at too much, or after a stop."""
        if looks > _MOST_LOOKS:
            raise GivenUpError(Why.COSTLY, self.arrived)
        if self.limits.should_stop():
            raise GivenUpError(Why.STOPPED, self.arrived)

    # -- what DELTA does otherwise

    def _neighbourhood(self) -> Neighbourhood:
        return neighbourhood(self.heuristic.around, self.indexed, self.cost_ns, self.resident, self._heed)

    def _may_leave(self, tensor: int) -> bool:
        """Whether a tensor could be had again after an eviction."""
        return self.again[self.indexed.producer[tensor]]

    def _costs_back(self) -> npt.NDArray[np.float64]:
        """Per tensor what it would cost to have it again."""
        return self.costs + self.around.sums()

    def _fetch(self, tensor: int) -> bool:
        """Have a tensor there without computing it, where that is possible and better."""
        del tensor
        return False

    def _is_somewhere(self, tensor: int) -> bool:
        """Whether a device holds a tensor."""
        return bool(self.resident[tensor])

    def _release(self, tensor: int) -> None:
        """Let go of a tensor that may be wanted again."""
        self._evict(tensor)

    # -- operators

    def _compute(self, operator: int) -> None:
        """Run an operator once its inputs are there; those that are not are computed first, and so on down."""
        waiting = [_Pending(operator, set())]
        while waiting:
            pending = waiting[-1]
            missing = self._lock_inputs(pending)
            if missing is not None:
                if not self._fetch(missing):
                    waiting.append(_Pending(self.indexed.producer[missing], set()))
                continue
            self._execute(pending.operator)
            for tensor in pending.locked:
                self._unlock(tensor)
            waiting.pop()

    def _lock_inputs(self, pending: _Pending) -> int | None:
        """Lock the inputs that are there; the first that is not, if any."""
        missing = None
        for tensor in self.indexed.inputs[pending.operator]:
            if tensor in pending.locked:
                continue
            if self.resident[tensor]:
                self.touched[tensor] = float(self.clock_ns)
                self._lock(tensor)
                pending.locked.add(tensor)
            elif missing is None:
                missing = tensor
        return missing

    def _execute(self, operator: int) -> None:
        outputs = self.indexed.outputs[operator]
        there = [t for t in outputs if self.resident[t]]
        fresh = [t for t in outputs if not self.resident[t]]
        for tensor in there:
            self._lock(tensor)
        self._make_room(sum(self.size[t] for t in fresh) + self.one.workspace_bytes[operator], operator)
        for tensor in there:
            self._unlock(tensor)
        self.steps.append(Run(self.one.device, operator, self.one.implementation[operator]))
        self.clock_ns += self.one.time_ns[operator]
        self._count_run(operator)
        for tensor in fresh:
            if self.gone[tensor]:  # made once more beside a result that is wanted
                self.steps.append(Drop(self.one.device, tensor))
            else:
                self._put(tensor)

    def _count_run(self, operator: int) -> None:
        self.run_count += 1
        if self.clock_ns >= self.limits.below_ns:
            raise GivenUpError(Why.SLOWER, operator)
        if self.run_count > RUNS_PER_OPERATOR * self.indexed.operator_count + _FREE_RUNS:
            raise GivenUpError(Why.THRASHING, operator)
        if self.run_count % _ASKED_EVERY == 0 and self.limits.should_stop():
            raise GivenUpError(Why.STOPPED, operator)

    def _settle(self, operator: int) -> None:
        """After a first computation: free what nothing can want any more, evict what no operator to come reads."""
        unread = [t for t in self.indexed.outputs[operator] if not self.reads[t]]
        for tensor in self.indexed.inputs[operator]:
            self.reads[tensor] -= 1
            if not self.reads[tensor]:
                unread.append(tensor)
        for tensor in self.ending[operator]:
            self._forget(tensor)
        for tensor in unread:
            if self.eager and self.resident[tensor] and self.again[self.indexed.producer[tensor]]:
                self._evict(tensor)

    def _bring_kept(self) -> None:
        kept = sorted(self.indexed.keep)
        for tensor in kept:
            if self.resident[tensor]:
                self._lock(tensor)
        for tensor in kept:
            if not self._is_somewhere(tensor):
                self._compute(self.indexed.producer[tensor])
                self._lock(tensor)

    # -- memory

    def _make_room(self, size_bytes: int, operator: int) -> None:
        """Evict until so much fits."""
        room = self.one.room_bytes
        if room is None:
            return
        while self.level_bytes + size_bytes > room:
            victim = self._choose()
            if victim is not None:
                self.eviction_count += 1
                self._release(victim)
            elif not self._banish():
                raise GivenUpError(Why.NO_ROOM, operator)

    def _choose(self) -> int | None:
        """The unlocked tensor of least h."""
        candidates = np.flatnonzero(self.pool)
        if not candidates.size:
            return None
        score = self._costs_back()[candidates] if self.heuristic.by_cost else np.ones(candidates.size)
        if self.heuristic.by_size:
            score = score / self.sizes[candidates]
        if self.heuristic.by_staleness:
            score = score / (float(self.clock_ns) - self.touched[candidates] + 1.0)
        least = int(np.argmin(score))
        return int(candidates[least]) if score[least] < np.inf else None

    def _banish(self) -> bool:
        """Free a tensor that must not be recomputed for good, and keep what was made of it; false where none is."""
        found: int | None = None
        for tensor in range(self.indexed.tensor_count):
            if self.resident[tensor] and not self.locks[tensor] and self._is_spent(tensor):
                found = tensor if found is None or self.size[tensor] > self.size[found] else found
        if found is None:
            return False
        for reader in self.indexed.consumers[found]:
            self.again[reader] = False
            for tensor in self.indexed.outputs[reader]:
                self._note(tensor)
        self._forget(found)
        return True

    def _is_spent(self, tensor: int) -> bool:
        """Whether only recomputations could read a tensor, and none of them is due."""
        if self.reads[tensor] or not self.size[tensor]:
            return False
        results = [t for r in self.indexed.consumers[tensor] if self.again[r] for t in self.indexed.outputs[r]]
        return all(self._is_somewhere(t) or self.gone[t] for t in results)

    def _put(self, tensor: int) -> None:
        self.level_bytes += self.size[tensor]
        self.resident[tensor] = 1
        self.touched[tensor] = float(self.clock_ns)
        if self.computed[tensor]:
            self.around.restore(tensor)
        else:
            self.computed[tensor] = 1
            self.around.put(tensor)
        self._note(tensor)

    def _evict(self, tensor: int) -> None:
        self._drop(tensor)
        self.around.evict(tensor)

    def _drop(self, tensor: int) -> None:
        self.steps.append(Drop(self.one.device, tensor))
        self.resident[tensor] = 0
        self.level_bytes -= self.size[tensor]
        self._note(tensor)

    def _forget(self, tensor: int) -> None:
        """Nothing wants a tensor any more."""
        if self.gone[tensor]:
            return
        self.gone[tensor] = 1
        if self.resident[tensor]:
            self._drop(tensor)
        elif self.computed[tensor]:
            self.around.restore(tensor, gone=True)

    def _lock(self, tensor: int) -> None:
        self.locks[tensor] += 1
        self.pool[tensor] = False

    def _unlock(self, tensor: int) -> None:
        self.locks[tensor] -= 1
        self._note(tensor)

    def _note(self, tensor: int) -> None:
        """Keep the pool of what may be evicted in step."""
        self.pool[tensor] = bool(
            self.resident[tensor] and not self.locks[tensor] and self.size[tensor] and self._may_leave(tensor)
        )
