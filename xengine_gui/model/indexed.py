"""A problem with numbers in place of names: what replay, heuristics and the engine compute on."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from xengine_gui.model.operator import Implementation

if TYPE_CHECKING:
    from xengine_gui.model.problem import Problem


@dataclass(frozen=True)
class IndexedProblem:
    """Operators, tensors, devices and parameters as positions in the problem's own lists.

    Shapes, with T operators, N tensors, D devices: `inputs[o]` and `outputs[o]` tensors of operator o without repeats;
    `implementations[o][d]` its ways to run on device d (empty: cannot); `transfer_ns[a][b][t]` the time of copying
    tensor t from a to b, `None` where there is no way.
    """

    limit_bytes: tuple[int | None, ...]
    tensor_bytes: tuple[int, ...]
    parameter_bytes: tuple[int, ...]
    producer: tuple[int, ...]
    inputs: tuple[tuple[int, ...], ...]
    outputs: tuple[tuple[int, ...], ...]
    parameters: tuple[tuple[int, ...], ...]
    implementations: tuple[tuple[tuple[Implementation, ...], ...], ...]
    recomputable: tuple[bool, ...]
    transfer_ns: tuple[tuple[tuple[int | None, ...] | None, ...], ...]
    keep: frozenset[int]

    @property
    def operator_count(self) -> int:
        """T, the number of operators."""
        return len(self.inputs)

    @property
    def tensor_count(self) -> int:
        """N, the number of tensors."""
        return len(self.tensor_bytes)

    @property
    def device_count(self) -> int:
        """D, the number of devices."""
        return len(self.limit_bytes)

    @cached_property
    def consumers(self) -> tuple[tuple[int, ...], ...]:
        """Per tensor the operators that read it, in base order."""
        readers: list[list[int]] = [[] for _ in self.tensor_bytes]
        for operator, tensors in enumerate(self.inputs):
            for tensor in tensors:
                readers[tensor].append(operator)
        return tuple(map(tuple, readers))

    def copy_ns(self, source: int, destination: int, tensor: int) -> int | None:
        """Time of copying `tensor` from `source` to `destination`, `None` where there is no way."""
        row = self.transfer_ns[source][destination]
        return None if row is None else row[tensor]

    @classmethod
    def of(cls, problem: "Problem") -> "IndexedProblem":
        """The indexed form of a problem."""
        tensor = {t.name: i for i, t in enumerate(problem.tensors)}
        parameter = {p.name: i for i, p in enumerate(problem.parameters)}
        producer = {t: i for i, o in enumerate(problem.operators) for t in o.outputs}
        return cls(
            limit_bytes=tuple(d.memory_limit_bytes for d in problem.devices),
            tensor_bytes=tuple(t.size_bytes for t in problem.tensors),
            parameter_bytes=tuple(p.size_bytes for p in problem.parameters),
            producer=tuple(producer[t.name] for t in problem.tensors),
            inputs=tuple(tuple(tensor[t] for t in dict.fromkeys(o.inputs)) for o in problem.operators),
            outputs=tuple(tuple(tensor[t] for t in dict.fromkeys(o.outputs)) for o in problem.operators),
            parameters=tuple(tuple(parameter[p] for p in dict.fromkeys(o.parameters)) for o in problem.operators),
            implementations=tuple(
                tuple(tuple(o.costs.get(d.name, ())) for d in problem.devices) for o in problem.operators
            ),
            recomputable=tuple(o.recomputable for o in problem.operators),
            transfer_ns=_transfer_table(problem, tensor),
            keep=frozenset(tensor[t] for t in problem.keep),
        )


def _transfer_table(
    problem: "Problem", tensor: dict[str, int]
) -> tuple[tuple[tuple[int | None, ...] | None, ...], ...]:
    device = {d.name: i for i, d in enumerate(problem.devices)}
    table: dict[tuple[int, int], list[int | None]] = {}
    for link in problem.links:
        place = device[link.source], device[link.destination]
        # Where two links join the same devices the first counts, as for every reader of the format.
        table.setdefault(place, [link.transfer_ns(t.size_bytes) for t in problem.tensors])
    fixed: set[tuple[int, int, int]] = set()
    for row in problem.transfers:
        place = device[row.source], device[row.destination]
        times = table.setdefault(place, [None] * len(problem.tensors))
        if (*place, tensor[row.tensor]) not in fixed:
            fixed.add((*place, tensor[row.tensor]))
            times[tensor[row.tensor]] = row.time_ns
    devices = range(len(problem.devices))
    return tuple(tuple(tuple(table[a, b]) if (a, b) in table else None for b in devices) for a in devices)
