"""Random tiny problems with everything that the format knows at once, by number, and their optimum by trying all."""

import heapq
from collections.abc import Iterator
from itertools import combinations, product
from random import Random

from xengine_gui.model.device import Device, Link, TransferTime
from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Parameter, Tensor

State = tuple[int, tuple[int, ...]]
"""How many operators have been computed, and per device the tensors that are there, as bits."""


class TooManyStatesError(Exception):
    """There is too much to try."""


def whole_problem(number: int) -> Problem:
    """Two or three devices of which one may only hold, links missing here and there, parameters, workspace, several
    outputs and implementations, operators that run once only, tensors to keep, limits close to what is needed."""
    random = Random(number)  # noqa: S311 - no secret
    names = [f"d{i}" for i in range(random.choice([1, 2, 2, 3]))]
    computing = names[: random.choice([1, 2, len(names)])]
    parameters = [Parameter(f"p{i}", random.randint(1, 4)) for i in range(random.choice([0, 0, 1, 2]))]
    tensors: list[Tensor] = []
    operators: list[Operator] = []
    for o in range(random.randint(2, 6)):
        inputs = _some(random, [t.name for t in tensors[-4:]], 1 if o else 0, 3)
        outputs = [f"t{len(tensors) + i}" for i in range(random.choice([1, 1, 1, 2]))]
        tensors += [Tensor(name, random.randint(0, 6)) for name in outputs]
        able = computing if random.random() < 0.6 else _some(random, computing, 1, len(computing))
        costs = {name: _implementations(random) for name in able}
        used = _some(random, [p.name for p in parameters], 0, 1)
        again = random.random() < 0.8
        operators.append(
            Operator(f"o{o}", "x", Phase.FORWARD, tuple(inputs), tuple(outputs), tuple(used), again, costs)
        )
    pairs = [(a, b) for a in names for b in names if a != b]
    links = [Link(a, b, 10**9, random.randint(0, 4)) for a, b in pairs if random.random() < 0.8]
    fixed = [
        TransferTime(random.choice(tensors).name, *random.choice(pairs), random.randint(0, 9))
        for _ in range(random.choice([0, 0, 1, 2]) if pairs else 0)
    ]
    problem = Problem(
        name=f"whole {number}",
        devices=tuple(Device(name) for name in names),
        operators=tuple(operators),
        tensors=tuple(tensors),
        parameters=tuple(p for p in parameters if any(p.name in o.parameters for o in operators)),
        links=tuple(links),
        transfers=tuple(fixed),
        keep=tuple(_some(random, [t.name for t in tensors], 0, 1)),
    )
    for name in names:
        if random.random() < 0.8:
            problem = problem.with_limit(name, round(random.uniform(0.7, 1.6) * _largest(problem.indexed)))
    return problem


def _some(random: Random, names: list[str], least: int, most: int) -> list[str]:
    count = random.randint(min(least, len(names)), min(most, len(names)))
    return random.sample(names, count)


def _implementations(random: Random) -> tuple[Implementation, ...]:
    if random.random() < 0.7:
        return (Implementation(random.randint(0, 9), random.choice([0, 0, 2])),)
    slow, fast = random.randint(4, 9), random.randint(0, 5)
    return Implementation(slow, 0, "frugal"), Implementation(fast, random.randint(1, 4), "fast")


def _largest(indexed: IndexedProblem) -> int:
    tensors = [{*ins, *outs} for ins, outs in zip(indexed.inputs, indexed.outputs, strict=True)]
    return max(sum(indexed.tensor_bytes[t] for t in ts) for ts in tensors) + sum(indexed.parameter_bytes)


def least_total_ns(indexed: IndexedProblem, most_states: int) -> int | None:
    """The least serial total of any plan by shortest paths (Dijkstra) over all states, for all choices of homes.

    `None` where there is no plan; raises `TooManyStatesError` where that would take more states.
    """
    best, left = None, most_states
    devices = range(indexed.device_count)
    choices = [tuple(devices[i] for i in c) for n in range(1, len(devices) + 1) for c in combinations(devices, n)]
    for homes in product(choices, repeat=len(indexed.parameter_bytes)):
        room = [
            None
            if limit is None
            else limit - sum(s for s, h in zip(indexed.parameter_bytes, homes, strict=True) if d in h)
            for d, limit in enumerate(indexed.limit_bytes)
        ]
        if any(r is not None and r < 0 for r in room):
            continue
        found, left = _shortest(indexed, homes, room, left)
        if left <= 0:
            raise TooManyStatesError
        if found is not None and (best is None or found < best):
            best = found
    return best


def _shortest(
    indexed: IndexedProblem, homes: tuple[tuple[int, ...], ...], room: list[int | None], left: int
) -> tuple[int | None, int]:
    start: State = 0, (0,) * indexed.device_count
    known, queue = {start: 0}, [(0, start)]
    while queue and left > 0:
        cost, state = heapq.heappop(queue)
        if cost > known[state]:
            continue
        left -= 1
        done, held = state
        if done == indexed.operator_count and all(any(h >> t & 1 for h in held) for t in indexed.keep):
            return cost, left
        for time_ns, after in _next(indexed, homes, room, state):
            if cost + time_ns < known.get(after, cost + time_ns + 1):
                known[after] = cost + time_ns
                heapq.heappush(queue, (cost + time_ns, after))
    return None, left


def _next(
    indexed: IndexedProblem, homes: tuple[tuple[int, ...], ...], room: list[int | None], state: State
) -> Iterator[tuple[int, State]]:
    """Per step that a state allows its time and where it leads."""
    done, held = state

    def leads(device: int, mask: int, operators: int, workspace_bytes: int = 0) -> list[State]:
        level = sum(size for t, size in enumerate(indexed.tensor_bytes) if mask >> t & 1) + workspace_bytes
        free = room[device]
        fits = free is None or level <= free
        return [(operators, (*held[:device], mask, *held[device + 1 :]))] if fits else []

    for d, mask in enumerate(held):
        for t in range(indexed.tensor_count):
            if mask >> t & 1:
                yield 0, (done, (*held[:d], mask & ~(1 << t), *held[d + 1 :]))
                continue
            times = [indexed.copy_ns(a, d, t) for a, source in enumerate(held) if source >> t & 1]
            yield from ((ns, after) for ns in times if ns is not None for after in leads(d, mask | 1 << t, done))
        for o in range(min(done + 1, indexed.operator_count)):
            if _may_run(indexed, homes, o, d, mask) and (o == done or indexed.recomputable[o]):
                made = mask | sum(1 << t for t in indexed.outputs[o] if not mask >> t & 1)
                for way in indexed.implementations[o][d]:
                    for after in leads(d, made, max(done, o + 1), way.workspace_bytes):
                        yield way.time_ns, after


def _may_run(
    indexed: IndexedProblem, homes: tuple[tuple[int, ...], ...], operator: int, device: int, mask: int
) -> bool:
    at_home = all(device in homes[p] for p in indexed.parameters[operator])
    return at_home and all(mask >> t & 1 for t in indexed.inputs[operator])
