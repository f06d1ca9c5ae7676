"""A problem on one of its devices, cut into stages: what the models of papers are written over."""

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.plan import Drop, Run, Step
from xengine_gui.model.problem import Problem
from xengine_gui.solve.formulations.stages import Stages


@dataclass(frozen=True)
class OneDevice(Stages):
    """Every operator on one device, each by its fastest implementation that fits there.

    `room_bytes` is what the limit leaves for tensors and workspace beside the parameters (`None`: no limit).
    `whole` tells whether the problem has no other plans: one device, one implementation per operator.
    """

    device: int
    implementation: tuple[int, ...]
    time_ns: tuple[int, ...]
    workspace_bytes: tuple[int, ...]
    room_bytes: int | None
    whole: bool

    @property
    def time_unit_ns(self) -> int:
        """The greatest common divisor of all times: totals are whole multiples of it."""
        return gcd(*self.time_ns) or 1

    @property
    def least_ns(self) -> int:
        """The total of running everything once: no plan on this device takes less."""
        return sum(self.time_ns)


def on_one_device(indexed: IndexedProblem, device: int) -> OneDevice | None:
    """The problem on a device, `None` where an operator cannot run there."""
    home: set[int] = set().union(*indexed.parameters)
    limit = indexed.limit_bytes[device]
    room = None if limit is None else limit - sum(indexed.parameter_bytes[p] for p in home)
    chosen: list[int] = []
    for operator, ways in enumerate(indexed.implementations):
        rows = ways[device]
        tensors = sum(indexed.tensor_bytes[t] for t in {*indexed.inputs[operator], *indexed.outputs[operator]})
        fitting = [j for j, row in enumerate(rows) if room is None or tensors + row.workspace_bytes <= room]
        if not rows:
            return None
        chosen.append(min(fitting or range(len(rows)), key=lambda j, rows=rows: rows[j].time_ns))
    rows_of = [ways[device][j] for ways, j in zip(indexed.implementations, chosen, strict=True)]
    whole = indexed.device_count == 1 and all(len(ways[device]) == 1 for ways in indexed.implementations)
    return OneDevice(
        indexed=indexed,
        device=device,
        implementation=tuple(chosen),
        time_ns=tuple(row.time_ns for row in rows_of),
        workspace_bytes=tuple(row.workspace_bytes for row in rows_of),
        room_bytes=room,
        whole=whole,
    )


def single_devices(problem: Problem) -> list[OneDevice]:
    """The problem on each device that can run everything, the fastest first."""
    sides = (on_one_device(problem.indexed, device) for device in range(len(problem.devices)))
    return sorted((side for side in sides if side is not None), key=lambda side: side.least_ns)


def steps_of_stages(
    one: OneDevice, *, runs: Callable[[int, int], bool], holds: Callable[[int, int], bool]
) -> list[Step]:
    """The steps of a solution: each stage in base order, every tensor freed as soon as nothing wants it any more.

    `runs(stage, operator)` and `holds(stage, tensor)` are asked for the pairs of `one.runs` and `one.holds`.
    """
    running: list[list[int]] = [[] for _ in range(one.stage_count)]
    for stage, operator in one.runs:
        if runs(stage, operator):
            running[stage].append(operator)
    held: list[set[int]] = [set() for _ in range(one.stage_count)] + [set(one.indexed.keep)]
    for stage, tensor in one.holds:
        if holds(stage, tensor):
            held[stage].add(tensor)
    steps: list[Step] = []
    there: set[int] = set()
    for operators, after in zip(running, held[1:], strict=True):
        wanted = [after]
        for operator in reversed(operators):
            wanted.append(wanted[-1] | set(one.indexed.inputs[operator]))
        wanted.reverse()
        for tensor in sorted(there - wanted[0]):
            there.remove(tensor)
            steps.append(Drop(one.device, tensor))
        for operator, later in zip(operators, wanted[1:], strict=True):
            steps.append(Run(one.device, operator, one.implementation[operator]))
            there.update(one.indexed.outputs[operator])
            for tensor in sorted(there - later):
                there.remove(tensor)
                steps.append(Drop(one.device, tensor))
    return steps
