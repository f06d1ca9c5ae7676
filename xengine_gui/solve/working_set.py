"""What one operator needs at once, and the simplest proof that nothing can be planned."""

from dataclasses import dataclass

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.problem import Problem
from xengine_gui.units import format_size, format_size_exact


@dataclass(frozen=True, slots=True)
class WorkingSet:
    """What an operator takes on a device while it runs, at the least: tensors, workspace, parameters.

    `parameter_bytes` has its own parameters and those of operators that can run nowhere else.
    """

    operator: int
    device: int
    tensor_bytes: int
    workspace_bytes: int
    parameter_bytes: int
    limit_bytes: int | None

    @property
    def missing_bytes(self) -> int:
        """Bytes by which it passes the device's limit, 0 where it fits."""
        if self.limit_bytes is None:
            return 0
        return max(0, self.tensor_bytes + self.workspace_bytes + self.parameter_bytes - self.limit_bytes)


@dataclass(frozen=True, slots=True)
class TooLarge:
    """A proof: an operator that fits on no device, even alone; one working set per device that could run it."""

    working_sets: tuple[WorkingSet, ...]

    def sentence(self, problem: Problem) -> str:
        """The proof in words."""
        operator = problem.operators[self.working_sets[0].operator]
        where = "; ".join(_on_device(problem, needs) for needs in self.working_sets)
        size = {t.name: format_size(t.size_bytes) for t in problem.tensors}
        tensors = ", ".join(f"{t} {size[t]}" for t in dict.fromkeys((*operator.inputs, *operator.outputs)))
        tensors = tensors or "no tensors"
        return f"{operator.name!r} fits on no device, even alone with its inputs and outputs ({tensors}): {where}."


def _on_device(problem: Problem, needs: WorkingSet) -> str:
    device, limit, missing = problem.devices[needs.device].name, needs.limit_bytes, needs.missing_bytes
    # What is short by little reads the same in short, so it is told to the byte.
    tell = format_size_exact if format_size((limit or 0) + missing) == format_size(limit or 0) else format_size
    shares = (
        (needs.tensor_bytes, "tensors"),
        (needs.workspace_bytes, "workspace"),
        (needs.parameter_bytes, "parameters"),
    )
    parts = [f"{tell(size)} of {what}" for size, what in shares if size or what == "tensors"]
    return (
        f"on {device!r} it takes {' + '.join(parts)}, its limit is {tell(limit or 0)}, "
        f"{tell(missing)} {'is' if missing == 1 else 'are'} missing"
    )


def working_sets(indexed: IndexedProblem) -> list[list[WorkingSet]]:
    """Per operator its working set on each device that can run it."""
    bound: list[set[int]] = [set() for _ in range(indexed.device_count)]
    for ways, parameters in zip(indexed.implementations, indexed.parameters, strict=True):
        able = [d for d, rows in enumerate(ways) if rows]
        if len(able) == 1:
            bound[able[0]].update(parameters)
    bound_bytes = [sum(indexed.parameter_bytes[p] for p in parameters) for parameters in bound]
    size = indexed.tensor_bytes
    found = []
    for operator, ways in enumerate(indexed.implementations):
        tensors = sum(size[t] for t in {*indexed.inputs[operator], *indexed.outputs[operator]})
        row = []
        for device, rows in enumerate(ways):
            if not rows:
                continue
            own = sum(indexed.parameter_bytes[p] for p in indexed.parameters[operator] if p not in bound[device])
            workspace = min(implementation.workspace_bytes for implementation in rows)
            limit = indexed.limit_bytes[device]
            row.append(WorkingSet(operator, device, tensors, workspace, own + bound_bytes[device], limit))
        found.append(row)
    return found


def single_operator_proof(indexed: IndexedProblem) -> TooLarge | None:
    """The operator that misses most bytes of those that fit on no device even alone, `None` where there is none.

    It holds for every plan, since inputs, outputs, workspace and parameters must be there together while it runs.
    """
    hopeless = [sets for sets in working_sets(indexed) if all(needs.missing_bytes for needs in sets)]
    if not hopeless:
        return None
    return TooLarge(tuple(max(hopeless, key=lambda sets: min(needs.missing_bytes for needs in sets))))
