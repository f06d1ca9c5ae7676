"""Training graphs of transformers of any depth, for benchmarks and large tests."""

from xengine_gui.model.device import Device, Link
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Tensor

FLOP_PER_S = 20e12
BYTES_PER_S = 500e9
LAUNCH_NS = 5_000


class _Builder:
    """Forward operators first, then their backward in reverse: each reads its forward inputs and the gradient above."""

    def __init__(self) -> None:
        self.operators: list[Operator] = []
        self.size_bytes: dict[str, int] = {}
        self.flop: dict[str, float] = {}

    def add(self, kind: str, inputs: tuple[str, ...], size_bytes: int, flop: float, phase: Phase) -> str:
        name = f"{len(self.operators):05d}_{kind}"
        output = f"t{len(self.operators)}"
        moved = size_bytes + sum(self.size_bytes[t] for t in inputs)
        time_ns = LAUNCH_NS + int(max(flop / FLOP_PER_S, moved / BYTES_PER_S) * 1e9)
        costs = {"gpu": (Implementation(time_ns),)}
        self.operators.append(Operator(name, kind, phase, inputs, (output,), costs=costs))
        self.size_bytes[output], self.flop[output] = size_bytes, flop
        return output


def transformer(layers: int, gpu_share: float, *, batch: int = 8, length: int = 512, width: int = 1024) -> Problem:
    """A training step of `layers` transformer blocks (32 operators each) on a GPU with host memory beside it.

    The GPU's limit is `gpu_share` of the peak without recomputation.
    """
    build = _Builder()
    row = 2 * batch * length * width
    scores = 2 * batch * 16 * length * length
    product = 2.0 * batch * length * width * width
    attention = 2.0 * batch * length * length * width
    forward: list[tuple[str, tuple[str, ...]]] = []

    def op(kind: str, inputs: tuple[str, ...], size_bytes: int, flop: float = 0.0) -> str:
        output = build.add(kind, inputs, size_bytes, flop, Phase.FORWARD)
        forward.append((output, inputs))
        return output

    stream = op("Embedding", (), row)
    for _ in range(layers):
        normed = op("LayerNorm", (stream,), row)
        query, key, value = (op("MatMul", (normed,), row, product) for _ in range(3))
        weights = op("Softmax", (op("Scores", (query, key), scores, attention),), scores)
        mixed = op("Mix", (op("Dropout", (weights,), scores), value), row, attention)
        stream = op("Add", (stream, op("MatMul", (mixed,), row, product)), row)
        normed = op("LayerNorm", (stream,), row)
        hidden = op("Gelu", (op("MatMul", (normed,), 4 * row, 4 * product),), 4 * row)
        down = op("Dropout", (op("MatMul", (hidden,), row, 4 * product),), row)
        stream = op("Add", (stream, down), row)
    _backward(build, forward, build.add("Loss", (stream,), 4, 0.0, Phase.LOSS), stream)
    return _problem(build, layers, gpu_share)


def _backward(build: _Builder, forward: list[tuple[str, tuple[str, ...]]], loss: str, last: str) -> None:
    """Each backward operator reads the gradients of its output from all readers, and the forward inputs."""
    gradients: dict[str, list[str]] = {last: [loss]}
    for output, inputs in reversed(forward):
        above = tuple(gradients.pop(output))
        size = max((build.size_bytes[t] for t in inputs), default=4)
        made = build.add("Grad", (*above, *inputs), size, 2 * build.flop[output], Phase.BACKWARD)
        for tensor in inputs:
            gradients.setdefault(tensor, []).append(made)


def _problem(build: _Builder, layers: int, gpu_share: float) -> Problem:
    last = {t: i for i, o in enumerate(build.operators) for t in (*o.inputs, *o.outputs)}
    level = peak = 0
    ends: dict[int, int] = {}
    for tensor, i in last.items():
        ends[i] = ends.get(i, 0) + build.size_bytes[tensor]
    for i, operator in enumerate(build.operators):
        level += sum(build.size_bytes[t] for t in operator.outputs)
        peak = max(peak, level)
        level -= ends.get(i, 0)
    return Problem(
        name=f"transformer, {layers} layers",
        devices=(Device("gpu", "gpu", int(peak * gpu_share)), Device("host", "memory")),
        operators=tuple(build.operators),
        tensors=tuple(Tensor(name, size) for name, size in build.size_bytes.items()),
        links=(Link("gpu", "host", 12 * 10**9, 10_000), Link("host", "gpu", 12 * 10**9, 10_000)),
    )
