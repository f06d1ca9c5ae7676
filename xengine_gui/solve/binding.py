"""The moment at which a device is fullest: what runs then, and what is held."""

from collections.abc import Sequence
from dataclasses import dataclass

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.plan import Drop, Move, Run, Step
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.units import format_size

_NAMED = 4
"""So many tensors are named in a sentence, the largest; the rest is counted."""


@dataclass(frozen=True, slots=True)
class HeldTensor:
    """A tensor on the device at the moment; `used` where the operator or transfer of the moment needs it there."""

    name: str
    size_bytes: int
    used: bool


@dataclass(frozen=True, slots=True)
class BindingMoment:
    """What makes up the highest level of a device: tensors (the largest first), workspace and parameters.

    `operator` runs at the moment; where a transfer into the device makes the peak it is `None` and `transferred` is
    the tensor that arrives.
    """

    device: str
    operator: str | None
    transferred: str | None
    tensors: tuple[HeldTensor, ...]
    workspace_bytes: int
    parameter_bytes: int

    @property
    def level_bytes(self) -> int:
        """All of it."""
        return sum(t.size_bytes for t in self.tensors) + self.workspace_bytes + self.parameter_bytes

    @property
    def when(self) -> str:
        """The moment in words: while what runs."""
        return f"while {self.transferred!r} arrives" if self.operator is None else f"while {self.operator!r} runs"

    def sentence(self) -> str:
        """What must be there at the moment, with bytes."""
        used = [t for t in self.tensors if t.used]
        retained = [t for t in self.tensors if not t.used]
        parts = [_listed(used, "inputs and outputs" if self.operator is not None else "transferred")] if used else []
        parts += [_listed(retained, "retained for later")] if retained else []
        parts += [f"workspace of {format_size(self.workspace_bytes)}"] if self.workspace_bytes else []
        parts += [f"parameters of {format_size(self.parameter_bytes)}"] if self.parameter_bytes else []
        return f"{self.device!r} is fullest {self.when}: {'; '.join(parts) or 'nothing is there'}."


def _listed(tensors: Sequence[HeldTensor], what: str) -> str:
    named = [f"{t.name!r} {format_size(t.size_bytes)}" for t in tensors[:_NAMED]]
    rest = tensors[_NAMED:]
    if rest:
        named.append(f"{len(rest)} more of {format_size(sum(t.size_bytes for t in rest))}")
    return f"{what} {', '.join(named)}"


def binding_moment(problem: Problem, steps: Sequence[Step], device: int) -> BindingMoment | None:
    """The moment of a device's peak when `steps` are taken; `None` where nothing is ever there.

    Where several moments are as high, it is the one whose own operator takes most.
    """
    indexed = problem.indexed
    replay = replay_steps(indexed, steps)
    tensors_bytes = replay.peak_bytes[device] - replay.parameter_bytes[device]
    if not replay.peak_bytes[device]:
        return None
    peaks = [
        i
        for i, (at, high) in enumerate(zip(replay.touched, replay.high_bytes, strict=True))
        if at == device and high == tensors_bytes and not isinstance(steps[i], Drop)
    ]
    if not peaks:
        return BindingMoment(problem.devices[device].name, None, None, (), 0, replay.parameter_bytes[device])
    step = max(peaks, key=lambda i: _own_bytes(indexed, steps[i]))
    return _moment(problem, steps, step, device, replay.parameter_bytes[device])


def _used(indexed: IndexedProblem, step: Step) -> set[int]:
    if isinstance(step, Run):
        return {*indexed.inputs[step.operator], *indexed.outputs[step.operator]}
    return {step.tensor}


def _own_bytes(indexed: IndexedProblem, step: Step) -> tuple[bool, int]:
    tensors = sum(indexed.tensor_bytes[t] for t in _used(indexed, step))
    return isinstance(step, Run), tensors + _workspace_bytes(indexed, step)


def _workspace_bytes(indexed: IndexedProblem, step: Step) -> int:
    if not isinstance(step, Run):
        return 0
    return indexed.implementations[step.operator][step.device][step.implementation].workspace_bytes


def _moment(problem: Problem, steps: Sequence[Step], last: int, device: int, parameter_bytes: int) -> BindingMoment:
    indexed, held = problem.indexed, set[int]()
    for step in steps[: last + 1]:
        if isinstance(step, Run) and step.device == device:
            held.update(indexed.outputs[step.operator])
        elif isinstance(step, Move) and step.destination == device:
            held.add(step.tensor)
        elif isinstance(step, Drop) and step.device == device:
            held.discard(step.tensor)
    step, used = steps[last], _used(indexed, steps[last])
    tensors = sorted(held, key=lambda t: (-indexed.tensor_bytes[t], t))
    return BindingMoment(
        device=problem.devices[device].name,
        operator=problem.operators[step.operator].name if isinstance(step, Run) else None,
        transferred=None if isinstance(step, Run) else problem.tensors[step.tensor].name,
        tensors=tuple(HeldTensor(problem.tensors[t].name, indexed.tensor_bytes[t], t in used) for t in tensors),
        workspace_bytes=_workspace_bytes(indexed, step),
        parameter_bytes=parameter_bytes,
    )
