"""Chains of a forward and its backward, as the papers on checkpointing have them."""

from collections.abc import Sequence

from xengine_gui.model.device import Device
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Tensor


def recording_chain(length: int, *, limit: int | None = None, record_bytes: int = 0) -> Problem:
    """Each forward step makes a state of one byte and a record that its own backward reads, which weighs nothing.

    The input x0 is not computed again; gradients weigh nothing, so bytes count states.
    """
    forward = [_operator("input", Phase.FORWARD, (), ("x0",), recomputable=False)]
    forward += [_operator(f"F{i}", Phase.FORWARD, (f"x{i - 1}",), (f"x{i}", f"r{i}")) for i in range(1, length + 1)]
    loss = _operator("loss", Phase.LOSS, (f"x{length}",), (f"g{length}",))
    backward = [_operator(f"B{i}", Phase.BACKWARD, (f"r{i}", f"g{i}"), (f"g{i - 1}",)) for i in range(length, 0, -1)]
    sizes = {f"x{i}": 1 for i in range(length + 1)} | {f"r{i}": record_bytes for i in range(1, length + 1)}
    sizes |= {f"g{i}": 0 for i in range(length + 1)}
    return _problem([*forward, loss, *backward], sizes, limit)


def state_chain(
    length: int, *, limit: int | None = None, sizes: Sequence[int] = (), times: Sequence[int] = ()
) -> Problem:
    """Each step's backward reads the state before the step, as a convolution's does; the first state is an operator's.

    `sizes` are the states' (and their gradients'), `times` the forward's; the backward takes twice as long. All are 1
    where none are given.
    """
    sizes = sizes or [1] * (length + 1)
    times = times or [1] * (length + 1)
    forward = [_operator("F0", Phase.FORWARD, (), ("x0",), times[0])]
    forward += [_operator(f"F{i}", Phase.FORWARD, (f"x{i - 1}",), (f"x{i}",), times[i]) for i in range(1, length + 1)]
    loss = _operator("loss", Phase.LOSS, (f"x{length}",), (f"g{length}",))
    backward = [
        _operator(f"B{i}", Phase.BACKWARD, (f"x{i - 1}", f"g{i}"), (f"g{i - 1}",), 2 * times[i])
        for i in range(length, 0, -1)
    ]
    tensors = {f"{kind}{i}": size for i, size in enumerate(sizes) for kind in "xg"}
    return _problem([*forward, loss, *backward], tensors, limit)


def result_chain(length: int, *, limit: int | None = None) -> Problem:
    """Each step's backward reads the step's own result, as a rectifier's does; no phases, unit times and sizes."""
    operators = [_operator("F0", Phase.FORWARD, (), ("x0",))]
    operators += [_operator(f"F{i}", Phase.FORWARD, (f"x{i - 1}",), (f"x{i}",)) for i in range(1, length)]
    operators.append(_operator("loss", Phase.FORWARD, (f"x{length - 1}",), (f"g{length}",)))
    operators += [
        _operator(f"B{i}", Phase.FORWARD, (f"x{i}", f"g{i + 1}"), (f"g{i}",)) for i in range(length - 1, -1, -1)
    ]
    sizes = {f"x{i}": 1 for i in range(length)} | {f"g{i}": 1 for i in range(length + 1)}
    return _problem(operators, sizes, limit)


def _operator(
    name: str,
    phase: Phase,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    time_ns: int = 1,
    *,
    recomputable: bool = True,
) -> Operator:
    costs = {"gpu": (Implementation(time_ns),)}
    return Operator(name, "x", phase, inputs, outputs, recomputable=recomputable, costs=costs)


def _problem(operators: Sequence[Operator], sizes: dict[str, int], limit: int | None) -> Problem:
    return Problem(
        name="chain",
        devices=(Device("gpu", "gpu", limit),),
        operators=tuple(operators),
        tensors=tuple(Tensor(name, size) for name, size in sizes.items()),
    )
