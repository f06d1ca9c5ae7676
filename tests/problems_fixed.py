"""Small problems of which everything is known."""

from xengine_gui.model.device import Device
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Tensor


def chain_problem(limit_bytes: int | None = None, length: int = 4) -> Problem:
    """A chain of operators that take 10 ns on the gpu and make 100 bytes each; two tensors at a time are enough."""
    return Problem(
        name="chain",
        devices=(Device("gpu", "gpu", limit_bytes),),
        operators=tuple(
            Operator(
                f"o{i}",
                "Relu",
                Phase.FORWARD,
                (f"t{i - 1}",) if i else (),
                (f"t{i}",),
                costs={"gpu": (Implementation(10),)},
            )
            for i in range(length)
        ),
        tensors=tuple(Tensor(f"t{i}", 100) for i in range(length)),
    )
