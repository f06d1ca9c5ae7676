"""The smallest limit of a device by trying everything: exact for tiny problems, given up for others.

A state is how many operators have been computed and what each device holds; a step runs an operator (first or again, on
any device), copies a tensor or frees one. The path whose highest level on the device is least is found as shortest
paths are (Dijkstra 1959, with the maximum in place of the sum), so the first end that is reached is the best.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, count, product
from math import prod

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.plan import Drop, Move, Run, Step
from xengine_gui.solve.frugal.places import bits

_MOST_OPERATORS = 24
_MOST_STATES = 30_000
_MOST_HOMES = 64
_ASKED_EVERY = 256

State = tuple[int, tuple[int, ...]]
"""Operators computed so far, and per device the tensors that are there, as bits."""
Homes = Sequence[Sequence[int]]
"""Per parameter the devices that it lives on."""


@dataclass(frozen=True)
class Everything:
    """What trying everything tells: the smallest limit with steps for it, `None` where no limit would do."""

    limit_bytes: int | None
    steps: tuple[Step, ...] = ()


def exhaustive_limit(indexed: IndexedProblem, device: int, should_stop: Callable[[], bool]) -> Everything | None:
    """The smallest limit of `device` with the others' as they are; `None` where there is too much to try."""
    if indexed.operator_count > _MOST_OPERATORS:
        return None
    choices = [_homes(indexed, p) for p in range(len(indexed.parameter_bytes))]
    if prod(map(len, choices)) > _MOST_HOMES:
        return None
    best, states = Everything(None), count(1)

    def given_up() -> bool:
        number = next(states)
        return number > _MOST_STATES or (number % _ASKED_EVERY == 0 and should_stop())

    for homes in product(*choices):
        walk = _Walk(indexed, device, homes, best.limit_bytes)
        if not walk.finish(given_up):
            return None
        best = walk.best or best
    return best


def _homes(indexed: IndexedProblem, parameter: int) -> list[tuple[int, ...]]:
    """Every set of devices that a parameter may live on; nowhere where nothing uses it."""
    users = [o for o, parameters in enumerate(indexed.parameters) if parameter in parameters]
    able = sorted({d for o in users for d, rows in enumerate(indexed.implementations[o]) if rows})
    return [chosen for size in range(1, len(able) + 1) for chosen in combinations(able, size)] or [()]


class _Walk:
    """The search for one choice of homes, for levels below `below`."""

    def __init__(self, indexed: IndexedProblem, device: int, homes: Homes, below: int | None) -> None:
        self.indexed, self.device, self.below = indexed, device, below
        self.best: Everything | None = None
        self.devices = range(indexed.device_count)
        self.homes = [{p for p, places in enumerate(homes) if d in places} for d in self.devices]
        self.base = [sum(indexed.parameter_bytes[p] for p in there) for there in self.homes]
        self.inputs = [sum(1 << t for t in inputs) for inputs in indexed.inputs]
        self.outputs = [sum(1 << t for t in outputs) for outputs in indexed.outputs]
        self.operator_reach, self.needed = _reach(indexed)
        self.memo: dict[int, int] = {0: 0}
        self.came: dict[State, tuple[State | None, tuple[Step, ...]]] = {}

    def finish(self, given_up: Callable[[], bool]) -> bool:
        """Search to the end; false where it was given up."""
        if any(self._too_much(d, self.base[d]) for d in self.devices):
            return True
        start: State = (0, (0,) * len(self.devices))
        numbers = count()
        queue: list[_Waiting] = [(self.base[self.device], 0, next(numbers), start, None, ())]
        while queue:
            level, _, _, state, before, steps = heapq.heappop(queue)
            if state in self.came:
                continue
            if given_up():
                return False
            self.came[state] = before, steps
            if self._is_end(state):
                self.best = Everything(level, self._path(state))
                return True
            for high, step, (done, held) in self._next(state):
                after, freed = self._without_useless(done, held)
                if after not in self.came:
                    # Of equals the one that is farther is taken first.
                    taken = (step, *freed)
                    heapq.heappush(queue, (max(level, high), -done, next(numbers), after, state, taken))
        return True

    def _is_end(self, state: State) -> bool:
        done, held = state
        if done < self.indexed.operator_count:
            return False
        return all(any(mask >> tensor & 1 for mask in held) for tensor in self.indexed.keep)

    def _path(self, state: State | None) -> tuple[Step, ...]:
        parts = []
        while state is not None:
            state, steps = self.came[state]
            parts.append(steps)
        return tuple(step for steps in reversed(parts) for step in steps)

    def _too_much(self, device: int, level: int) -> bool:
        limit = self.indexed.limit_bytes[device]
        if device == self.device:
            return self.below is not None and level >= self.below
        return limit is not None and level > limit

    def _bytes(self, mask: int) -> int:
        if mask not in self.memo:
            low = mask & -mask
            self.memo[mask] = self.indexed.tensor_bytes[low.bit_length() - 1] + self._bytes(mask ^ low)
        return self.memo[mask]

    def _without_useless(self, done: int, held: tuple[int, ...]) -> tuple[State, list[Step]]:
        """The state without the tensors that nothing depends on any more; nothing is lost by freeing them."""
        useless = [mask & ~self.needed[done] for mask in held]
        freed: list[Step] = [Drop(d, t) for d, mask in enumerate(useless) for t in bits(mask)]
        return (done, tuple(mask & ~gone for mask, gone in zip(held, useless, strict=True))), freed

    def _next(self, state: State) -> Iterator[tuple[int, Step, State]]:
        """Per step from a state: the level that it takes on the device (0 on others), the step, where it leads."""
        done, held = state
        for device, mask in enumerate(held):
            yield from self._runs(state, device)
            for tensor in bits(mask):
                yield 0, Drop(device, tensor), (done, _with(held, device, mask & ~(1 << tensor)))
                for other in self.devices:
                    if not held[other] >> tensor & 1 and self.indexed.copy_ns(device, other, tensor) is not None:
                        after = held[other] | 1 << tensor
                        level = self.base[other] + self._bytes(after)
                        if not self._too_much(other, level):
                            high = level if other == self.device else 0
                            yield high, Move(device, other, tensor), (done, _with(held, other, after))

    def _runs(self, state: State, device: int) -> Iterator[tuple[int, Step, State]]:
        done, held = state
        for operator in range(min(done + 1, self.indexed.operator_count)):
            ways = self.indexed.implementations[operator][device]
            if not ways or (operator < done and self._is_idle(state, operator, device)):
                continue
            homeless = not self.homes[device].issuperset(self.indexed.parameters[operator])
            if homeless or self.inputs[operator] & ~held[device]:
                continue
            way = min(range(len(ways)), key=[row.workspace_bytes for row in ways].__getitem__)
            after = held[device] | self.outputs[operator]
            level = self.base[device] + self._bytes(after) + ways[way].workspace_bytes
            if not self._too_much(device, level):
                high = level if device == self.device else 0
                yield high, Run(device, operator, way), (max(done, operator + 1), _with(held, device, after))

    def _is_idle(self, state: State, operator: int, device: int) -> bool:
        """Whether computing an operator again is forbidden or brings nothing."""
        done, held = state
        there = not self.outputs[operator] & ~held[device]
        return there or not self.indexed.recomputable[operator] or self.operator_reach[operator] < done


_Waiting = tuple[int, int, int, State, State | None, tuple[Step, ...]]


def _with(held: tuple[int, ...], device: int, mask: int) -> tuple[int, ...]:
    return (*held[:device], mask, *held[device + 1 :])


def _reach(indexed: IndexedProblem) -> tuple[list[int], list[int]]:
    """Per operator the last that depends on it, and per count of computed operators the tensors still needed, as bits.

    What is to be kept is needed by all.
    """
    operators = indexed.operator_count
    tensor_reach = [operators if t in indexed.keep else -1 for t in range(indexed.tensor_count)]
    operator_reach = list(range(operators))
    for o in reversed(range(operators)):
        operator_reach[o] = max([o, *(tensor_reach[t] for t in indexed.outputs[o])])
        for t in indexed.inputs[o]:
            tensor_reach[t] = max(tensor_reach[t], operator_reach[o])
    needed = [sum(1 << t for t, last in enumerate(tensor_reach) if last >= done) for done in range(operators + 1)]
    return operator_reach, needed
