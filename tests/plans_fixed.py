"""Small plans of which every figure is known by hand."""

from collections.abc import Sequence

from xengine_gui.model.device import Device, Link
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.plan import Drop, Move, Plan, Run, Step
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Parameter, Tensor
from xengine_gui.schedule.finish import finished_plan

LIMIT_BYTES = 270
GPU, CPU = 0, 1
F0, F1, F2, B1 = range(4)
T0, T1, T2, G = range(4)


def four_operators(
    *, limit_bytes: int | None = LIMIT_BYTES, names: Sequence[str] = ("f0", "f1", "f2", "b1")
) -> Problem:
    """f0, f1, f2 in a row, and b1 that reads the results of f2 and of f0: 100 bytes each, the last one 50.

    On the gpu they take 10, 20, 30 and 40 ns, f1 with a workspace of 30 bytes and a parameter of 20; on the cpu ten
    times as long. A transfer of 100 bytes takes 105 ns.
    """
    f0, f1, f2, b1 = names

    def costs(gpu_ns: int, workspace_bytes: int = 0) -> dict[str, tuple[Implementation, ...]]:
        return {"gpu": (Implementation(gpu_ns, workspace_bytes),), "cpu": (Implementation(10 * gpu_ns),)}

    return Problem(
        name="four",
        devices=(Device("gpu", "gpu", limit_bytes), Device("cpu", "cpu", 1000)),
        operators=(
            Operator(f0, "Conv", Phase.FORWARD, (), ("t0",), costs=costs(10)),
            Operator(f1, "Relu", Phase.FORWARD, ("t0",), ("t1",), ("w",), costs=costs(20, 30)),
            Operator(f2, "Conv", Phase.LOSS, ("t1",), ("t2",), costs=costs(30)),
            Operator(b1, "ConvGrad", Phase.BACKWARD, ("t2", "t0"), ("g",), costs=costs(40)),
        ),
        tensors=(Tensor("t0", 100), Tensor("t1", 100), Tensor("t2", 100), Tensor("g", 50)),
        parameters=(Parameter("w", 20),),
        links=(Link("gpu", "cpu", 10**9, 5), Link("cpu", "gpu", 10**9, 5)),
        keep=("g",),
    )


RECOMPUTING: tuple[Step, ...] = (
    Run(GPU, F0),
    Run(GPU, F1),
    Drop(GPU, T0),
    Run(GPU, F2),
    Drop(GPU, T1),
    Run(GPU, F0),
    Run(GPU, B1),
    Drop(GPU, T0),
    Drop(GPU, T2),
)
"""t0 is freed before f2, for which there is no room beside it, and computed again: 110 ns, 270 bytes at most."""

MOVING: tuple[Step, ...] = (
    Run(GPU, F0),
    Run(GPU, F1),
    Move(GPU, CPU, T0),
    Drop(GPU, T0),
    Run(GPU, F2),
    Drop(GPU, T1),
    Move(CPU, GPU, T0),
    Drop(CPU, T0),
    Run(GPU, B1),
)
"""t0 waits on the cpu instead: 310 ns, 270 bytes on the gpu and 100 on the cpu at most."""


def plan_of_four(steps: Sequence[Step] = RECOMPUTING, problem: Problem | None = None) -> Plan:
    """The plan of such steps on the serial clock."""
    return finished_plan(problem or four_operators(), "by hand", steps)
