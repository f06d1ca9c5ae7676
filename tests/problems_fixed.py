"""Small problems of which everything is known."""

from xengine_gui.model.device import Device
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Tensor


def chain_problem(
    limit_bytes: int | None = None, length: int = 4, *, device: str = "gpu", size_bytes: int = 100
) -> Problem:
    """A chain of operators that take 10 ns and make one tensor each; two tensors at a time are enough."""
    return Problem(
        name="chain",
        devices=(Device(device, device, limit_bytes),),
        operators=tuple(
            Operator(
                f"o{i}",
                "Relu",
                Phase.FORWARD,
                (f"t{i - 1}",) if i else (),
                (f"t{i}",),
                costs={device: (Implementation(10),)},
            )
            for i in range(length)
        ),
        tensors=tuple(Tensor(f"t{i}", size_bytes) for i in range(length)),
    )


def training_chain(length: int = 6, limit_bytes: int | None = None) -> Problem:
    """Forwards f0, f1, ..., then backwards, each from the last gradient and the result of its forward; 100 bytes each.

    Three tensors at a time are enough, however long it is: everything can be computed again from the beginning.
    """
    names = [f"f{i}" for i in range(length)] + [f"b{i}" for i in reversed(range(length))]
    inputs = {f"f{i}": [f"f{i - 1}"] if i else [] for i in range(length)}
    inputs |= {f"b{i}": [f"f{i}", *([f"b{i + 1}"] if i + 1 < length else [])] for i in range(length)}
    return Problem(
        name="training chain",
        devices=(Device("gpu", "gpu", limit_bytes),),
        operators=tuple(
            Operator(n, "x", Phase.FORWARD, tuple(inputs[n]), (n,), costs={"gpu": (Implementation(10),)}) for n in names
        ),
        tensors=tuple(Tensor(n, 100) for n in names),
    )
