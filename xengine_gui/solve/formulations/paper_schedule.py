"""Schedules under the rule of XEngine's paper: a remote read is paid at every use and takes no memory at the reader.

They are no plans of the format; here they are judged under their own rule, and turned into plans where that can be.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.plan import Move, Run, Step
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.solve.formulations.stages import Stages
from xengine_gui.solve.greedy.actions import Action, finished_steps, kept_devices

Price = tuple[int, int, int, int]
"""Who reads which tensor from where to where: (operator, tensor, source, destination)."""


@dataclass(frozen=True)
class PaperProblem(Stages):
    """A problem as the paper sees it: per operator and device the fastest implementation that fits with its results.

    `prices` overrides what a read costs, in nanoseconds. With `as_printed` memory is counted as the paper prints it:
    behind an operator whatever it reads is freed on its device, also what was read from another and never was there.
    """

    prices: Mapping[Price, int] = field(default_factory=dict)
    as_printed: bool = False

    @property
    def devices(self) -> range:
        """The devices as positions in the problem."""
        return range(self.indexed.device_count)

    @cached_property
    def run_set(self) -> frozenset[tuple[int, int]]:
        """The pairs of `runs`, to look them up."""
        return frozenset(self.runs)

    @cached_property
    def chosen(self) -> tuple[tuple[int, ...], ...]:
        """Per operator and device its implementation, -1 where it cannot run."""
        return tuple(
            tuple(self._fastest(operator, device) for device in self.devices)
            for operator in range(self.indexed.operator_count)
        )

    @property
    def is_hopeless(self) -> bool:
        """Whether some operator can run nowhere."""
        return any(max(row) < 0 for row in self.chosen)

    def can_run(self, operator: int, device: int) -> bool:
        """Whether an operator can run on a device."""
        return self.chosen[operator][device] >= 0

    def time_ns(self, operator: int, device: int) -> int:
        """What an operator takes on a device."""
        return self.indexed.implementations[operator][device][self.chosen[operator][device]].time_ns

    def workspace_bytes(self, operator: int, device: int) -> int:
        """What an operator needs on a device besides its tensors."""
        return self.indexed.implementations[operator][device][self.chosen[operator][device]].workspace_bytes

    def price_ns(self, operator: int, tensor: int, source: int, destination: int) -> int | None:
        """What an operator pays to read a tensor from another device, `None` where there is no way."""
        fixed = self.prices.get((operator, tensor, source, destination))
        return self.indexed.copy_ns(source, destination, tensor) if fixed is None else fixed

    @cached_property
    def time_unit_ns(self) -> int:
        """The greatest common divisor of all times."""
        operators = range(self.indexed.operator_count)
        times = [self.time_ns(o, d) for o in operators for d in self.devices if self.can_run(o, d)]
        copies = [ns for rows in self.indexed.transfer_ns for row in rows if row for ns in row if ns is not None]
        return gcd(*times, *copies, *self.prices.values()) or 1

    def _fastest(self, operator: int, device: int) -> int:
        rows, limit = self.indexed.implementations[operator][device], self.indexed.limit_bytes[device]
        own = sum(self.indexed.tensor_bytes[x] for x in self.indexed.outputs[operator])
        own += sum(self.indexed.parameter_bytes[p] for p in self.indexed.parameters[operator])
        fitting = [j for j, row in enumerate(rows) if limit is None or own + row.workspace_bytes <= limit]
        return min(fitting, key=lambda j: rows[j].time_ns, default=-1)


@dataclass(frozen=True)
class PaperSchedule:
    """What runs where in each stage, and what is held where as it begins: (stage, operator or tensor, device)."""

    runs: frozenset[tuple[int, int, int]]
    held: frozenset[tuple[int, int, int]]

    def is_there(self, indexed: IndexedProblem, stage: int, tensor: int, device: int) -> bool:
        """Whether a tensor is held or run on a device in a stage."""
        return (stage, tensor, device) in self.held or (stage, indexed.producer[tensor], device) in self.runs


@dataclass(frozen=True)
class PaperVerdict:
    """What a schedule comes to under the paper's rule, and every way in which it breaks it."""

    total_ns: int
    broken: tuple[str, ...]


def judge_schedule(paper: PaperProblem, schedule: PaperSchedule) -> PaperVerdict:
    """Judge a schedule in integers, without any part of the model."""
    return _Judge(paper, schedule).verdict()


class _Judge:
    """One schedule before the paper's rule."""

    def __init__(self, paper: PaperProblem, schedule: PaperSchedule) -> None:
        self.paper, self.schedule, self.indexed = paper, schedule, paper.indexed
        self.total_ns = 0
        homes = {(p, d) for _, o, d in schedule.runs for p in self.indexed.parameters[o]}
        at_home = [sum(self.indexed.parameter_bytes[p] for p, e in homes if e == d) for d in paper.devices]
        limits = zip(self.indexed.limit_bytes, at_home, strict=True)
        self.room_bytes = [None if limit is None else limit - taken for limit, taken in limits]

    def verdict(self) -> PaperVerdict:
        broken = list(self._order())
        for stage in range(self.paper.stage_count):
            broken += self._held(stage)
            broken += self._reads_in(stage)
            broken += self._printed_memory(stage) if self.paper.as_printed else self._memory(stage)
        last = self.paper.stage_count - 1
        broken += (f"tensor {x} is not kept" for x in sorted(self.indexed.keep) if not self._sources(last, x))
        return PaperVerdict(self.total_ns, tuple(broken))

    def _order(self) -> Iterator[str]:
        for operator in range(self.indexed.operator_count):
            stages = sorted(t for t, o, _ in self.schedule.runs if o == operator)
            if not stages or stages[0] != operator:
                yield f"operator {operator} is not first computed in its stage"
            elif len(stages) > 1 and not self.indexed.recomputable[operator]:
                yield f"operator {operator} must not be recomputed"

    def _held(self, stage: int) -> Iterator[str]:
        for t, x, d in self.schedule.held:
            if t == stage and not self.schedule.is_there(self.indexed, t - 1, x, d):
                yield f"stage {t}: tensor {x} is held on device {d}, where it was not"

    def _reads_in(self, stage: int) -> Iterator[str]:
        for operator, device in self._running(stage):
            self.total_ns += self.paper.time_ns(operator, device)
            for x in self.indexed.inputs[operator]:
                others = (e for e in self._sources(stage, x) if e != device)
                prices = [self.paper.price_ns(operator, x, e, device) for e in others]
                self.total_ns += sum(price for price in prices if price is not None)
                is_local = self.schedule.is_there(self.indexed, stage, x, device)
                if not is_local and all(price is None for price in prices):
                    yield f"stage {stage}: operator {operator} cannot read tensor {x} on device {device}"

    def _memory(self, stage: int) -> Iterator[str]:
        """Memory as it is: a tensor goes once nobody in the stage reads it any more and it is not held on."""
        running = self._running(stage)
        needed = {(x, d) for t, x, d in self.schedule.held if t == stage + 1}
        if stage == self.paper.stage_count - 1:
            needed |= {(x, d) for x in self.indexed.keep for d in self._sources(stage, x)}
        there = {(x, d) for t, x, d in self.schedule.held if t == stage}
        for i, (o, d) in enumerate(running):
            later = {(x, e) for r, _ in running[i:] for x in self.indexed.inputs[r] for e in self._sources(stage, x)}
            there = {place for place in there if place in needed | later}
            there |= {(x, d) for x in self.indexed.outputs[o]}
            for e in self.paper.devices:
                level = sum(self.indexed.tensor_bytes[x] for x, place in there if place == e)
                level += self.paper.workspace_bytes(o, d) if e == d else 0
                yield from self._passing(stage, o, e, level)

    def _printed_memory(self, stage: int) -> Iterator[str]:
        """Memory as the paper prints it."""
        size = self.indexed.tensor_bytes
        for d in self.paper.devices:
            level = sum(size[x] for t, x, e in self.schedule.held if (t, e) == (stage, d))
            for o in self.paper.slots[stage]:
                if self._runs(stage, o, d):
                    level += sum(size[x] for x in self.indexed.outputs[o])
                    yield from self._passing(stage, o, d, level + self.paper.workspace_bytes(o, d))
                    level -= sum(size[x] for x in self.indexed.inputs[o] if self._is_freed(stage, o, x, d))
            if level < 0 and stage < self.indexed.operator_count - 1:
                yield f"stage {stage}: device {d} ends with {level} bytes"

    def _is_freed(self, stage: int, operator: int, tensor: int, device: int) -> bool:
        """Whether no hazard that is printed speaks against a free behind an operator that runs."""
        if stage == self.paper.stage_count - 1 and tensor in self.indexed.keep:
            return False
        later = any(self._runs(stage, r, device) for r in self.indexed.consumers[tensor] if r > operator)
        return not later and (stage + 1, tensor, device) not in self.schedule.held

    def _passing(self, stage: int, operator: int, device: int, level: int) -> Iterator[str]:
        room = self.room_bytes[device]
        if room is not None and level > room:
            over = level - room
            yield f"stage {stage}: device {device} holds {over} bytes too much while operator {operator} runs"

    def _running(self, stage: int) -> list[tuple[int, int]]:
        """The operators that run in a stage, in base order, each with its device."""
        places = ((o, d) for o in self.paper.slots[stage] for d in self.paper.devices)
        return [(o, d) for o, d in places if self._runs(stage, o, d)]

    def _runs(self, stage: int, operator: int, device: int) -> bool:
        return (stage, operator, device) in self.schedule.runs

    def _sources(self, stage: int, tensor: int) -> list[int]:
        return [d for d in self.paper.devices if self.schedule.is_there(self.indexed, stage, tensor, d)]


def plan_steps(paper: PaperProblem, schedule: PaperSchedule) -> list[Step] | None:
    """The steps of a schedule with copies that take memory, or `None` where they find no room.

    A copy stays at the reader for later ones, or goes at once: the faster way that is a plan.
    """
    found: list[tuple[int, list[Step]]] = []
    for stays in (True, False):
        actions = list(_actions(paper, schedule, stays=stays))
        steps = finished_steps(paper.indexed, actions, kept_devices(paper.indexed, actions))
        replay = replay_steps(paper.indexed, steps)
        if replay.valid:
            found.append((replay.total_ns, steps))
    return min(found, key=lambda way: way[0])[1] if found else None


def _actions(paper: PaperProblem, schedule: PaperSchedule, *, stays: bool) -> Iterator[Action]:
    indexed = paper.indexed
    copies: set[tuple[int, int]] = set()
    for stage, slots in enumerate(paper.slots):
        for operator in slots:
            for device in (d for d in paper.devices if (stage, operator, d) in schedule.runs):
                for x in indexed.inputs[operator]:
                    if (x, device) in copies or schedule.is_there(indexed, stage, x, device):
                        continue
                    prices = {
                        d: indexed.copy_ns(d, device, x)
                        for d in paper.devices
                        if schedule.is_there(indexed, stage, x, d)
                    }
                    ways = {d: price for d, price in prices.items() if price is not None}
                    if ways:
                        yield Move(min(ways, key=lambda d: ways[d]), device, x)
                        copies |= {(x, device)} if stays else set()
                yield Run(device, operator, paper.chosen[operator][device])
