"""A problem on one device with a storage beside it: what POET's model is written over, and steps of its solutions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from xengine_gui.model.plan import Drop, Move, Run, Step
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.energy import first_links
from xengine_gui.solve.formulations.one_device import OneDevice
from xengine_gui.solve.objective import Objective

Chosen = Callable[[int, int], bool]
"""Whether a solution chooses a pair of a stage and an operator or tensor."""


@dataclass(frozen=True)
class Paging:
    """Every operator on `one.device`, tensors also on the device `storage` (`None`: there is none).

    `in_ns` and `out_ns` are per tensor the times of a copy from and to the storage, and the costs what the objective
    counts, nanoseconds or femtojoules; `run_uw` times the time of a run is its cost.
    """

    one: OneDevice
    storage: int | None
    storage_bytes: int | None
    pageable: frozenset[int]
    in_ns: tuple[int, ...]
    out_ns: tuple[int, ...]
    run_uw: int
    run_cost: tuple[int, ...]
    in_cost: tuple[int, ...]
    out_cost: tuple[int, ...]
    deadline_ns: int | None

    @cached_property
    def stores(self) -> tuple[tuple[int, int], ...]:
        """The pairs (stage, tensor) that make sense: stored as the stage begins, or at the end."""
        kept = self.pageable & self.one.indexed.keep
        return (
            *((stage, x) for stage, x in self.one.holds if x in self.pageable),
            *((self.one.stage_count, x) for x in sorted(kept)),
        )

    @property
    def ins(self) -> Iterator[tuple[int, int]]:
        """The pairs (stage, tensor) that make sense: paged in as the stage ends."""
        stores = set(self.stores)
        return ((stage - 1, x) for stage, x in self.one.holds if (stage - 1, x) in stores)

    @property
    def outs(self) -> Iterator[tuple[int, int]]:
        """The pairs (stage, tensor) that make sense: paged out as the stage ends."""
        return ((stage - 1, x) for stage, x in self.stores)


def pagings(problem: Problem, one: OneDevice, objective: Objective, deadline_ns: int | None) -> Iterator[Paging]:
    """The problem on one device with each other as its storage, or with none where nothing can be copied there."""
    found = False
    for storage in range(len(problem.devices)):
        if storage != one.device:
            paging = _paging(problem, one, storage, objective, deadline_ns)
            if paging.pageable:
                found = True
                yield paging
    if not found:
        yield _paging(problem, one, None, objective, deadline_ns)


def _paging(
    problem: Problem, one: OneDevice, storage: int | None, objective: Objective, deadline_ns: int | None
) -> Paging:
    tensors = range(one.indexed.tensor_count)
    out: list[int | None] = [None for _ in tensors]
    into = list(out)
    powers = {way: link.power_uw for way, link in first_links(problem).items()}
    device = problem.devices[one.device]
    out_uw = in_uw = run_uw = 1
    if storage is not None:
        out = [one.indexed.copy_ns(one.device, storage, t) for t in tensors]
        into = [one.indexed.copy_ns(storage, one.device, t) for t in tensors]
        out_uw = powers.get((device.name, problem.devices[storage].name)) or 0
        in_uw = powers.get((problem.devices[storage].name, device.name)) or 0
    if objective is Objective.ENERGY:
        run_uw = device.power_uw or 0
    else:
        out_uw = in_uw = 1
    in_ns, out_ns = tuple(ns or 0 for ns in into), tuple(ns or 0 for ns in out)
    return Paging(
        one=one,
        storage=storage,
        storage_bytes=None if storage is None else one.indexed.limit_bytes[storage],
        pageable=frozenset(t for t in tensors if out[t] is not None and into[t] is not None),
        in_ns=in_ns,
        out_ns=out_ns,
        run_uw=run_uw,
        run_cost=tuple(run_uw * ns for ns in one.time_ns),
        in_cost=tuple(in_uw * ns for ns in in_ns),
        out_cost=tuple(out_uw * ns for ns in out_ns),
        deadline_ns=deadline_ns,
    )


@dataclass(frozen=True)
class Choices:
    """What a solution says of each pair that the model has."""

    runs: Chosen
    holds: Chosen
    stores: Chosen
    ins: Chosen
    outs: Chosen


def steps_of_paging(paging: Paging, choices: Choices) -> list[Step]:
    """The steps of a solution: the runs of each stage, then copies out, frees, and copies in."""
    return _Decoder(paging, choices).steps()


class _Decoder:
    """What is where while a solution becomes steps."""

    def __init__(self, paging: Paging, choices: Choices) -> None:
        self.paging, self.one = paging, paging.one
        stages = range(self.one.stage_count + 1)
        self.running = _by_stage(stages, self.one.runs, choices.runs)
        self.held = [set(row) for row in _by_stage(stages, self.one.holds, choices.holds)]
        self.stored = [set(row) for row in _by_stage(stages, paging.stores, choices.stores)]
        self.into = _by_stage(stages, paging.ins, choices.ins)
        self.out = _by_stage(stages, paging.outs, choices.outs)
        self.held[-1] = set(self.one.indexed.keep) - self.stored[-1]
        self.there: set[int] = set()
        self.on_storage: set[int] = set()
        self.taken: list[Step] = []

    def steps(self) -> list[Step]:
        """All steps in order."""
        for stage in range(self.one.stage_count):
            self._compute(stage)
            self._page(stage)
        return self.taken

    def _compute(self, stage: int) -> None:
        operators = self.running[stage]
        wanted = [(self.held[stage + 1] - set(self.into[stage])) | set(self._leaving(stage))]
        for operator in reversed(operators):
            wanted.append(wanted[-1] | set(self.one.indexed.inputs[operator]))
        wanted.reverse()
        self._free(self.there - wanted[0])
        for operator, later in zip(operators, wanted[1:], strict=True):
            self.taken.append(Run(self.one.device, operator, self.one.implementation[operator]))
            self.there.update(self.one.indexed.outputs[operator])
            self._free(self.there - later)

    def _leaving(self, stage: int) -> list[int]:
        """What is paged out as a stage ends, where it is not stored already and stays there."""
        return [x for x in self.out[stage] if x in self.stored[stage + 1] and x not in self.on_storage]

    def _page(self, stage: int) -> None:
        storage = self.paging.storage
        if storage is None:
            return
        coming = [x for x in self.into[stage] if x not in self.there and x in self.held[stage + 1]]
        self._clear(self.on_storage - self.stored[stage + 1] - set(coming))
        for x in self._leaving(stage):
            self.taken.append(Move(self.one.device, storage, x))
            self.on_storage.add(x)
        self._free(self.there - self.held[stage + 1])
        for x in coming:
            self.taken.append(Move(storage, self.one.device, x))
            self.there.add(x)
        self._clear(self.on_storage - self.stored[stage + 1])

    def _free(self, tensors: set[int]) -> None:
        self.taken.extend(Drop(self.one.device, x) for x in sorted(tensors))
        self.there -= tensors

    def _clear(self, tensors: set[int]) -> None:
        storage = self.paging.storage
        if storage is not None:
            self.taken.extend(Drop(storage, x) for x in sorted(tensors))
            self.on_storage -= tensors


def _by_stage(
    stages: Sequence[int], pairs: "Iterator[tuple[int, int]] | Sequence[tuple[int, int]]", chosen: Chosen
) -> list[list[int]]:
    rows: list[list[int]] = [[] for _ in stages]
    for stage, item in pairs:
        if chosen(stage, item):
            rows[stage].append(item)
    return rows
