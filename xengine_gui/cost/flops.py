"""What an operator does, independent of a device: floating-point operations and bytes moved, forward and backward.

A multiply-accumulate counts as two operations. Counts of matrix work are exact; those of the rest are rough, as
bandwidth decides their time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

from xengine_gui.model.graph import GraphOperator, NetworkGraph, TrainingGraph, TrainingOperator
from xengine_gui.model.operator import Phase

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Convolution:
    """The shapes of a convolution, by which its algorithms differ: lengths of space are tuples, one per axis."""

    images: int
    read_channels: int
    written_channels: int
    read: tuple[int, ...]
    written: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    groups: int


@dataclass(frozen=True, slots=True)
class Work:
    """Operations, bytes moved to and from memory, and the class of arithmetic (matrix, depthwise, vector).

    A convolution, or its backward, has its shapes too.
    """

    flop: int
    bytes_moved: int
    work_class: str
    convolution: Convolution | None = None
    backward: bool = False


@dataclass(frozen=True, slots=True)
class _Shapes:
    """Shapes of an operator's slots; an unknown or absent one is `()` and counts as a single element."""

    operator: GraphOperator
    inputs: tuple[Shape, ...]
    outputs: tuple[Shape, ...]

    def read(self, slot: int) -> Shape:
        return self.inputs[slot] if slot < len(self.inputs) else ()

    @property
    def written(self) -> int:
        return sum(prod(shape) for shape in self.outputs)

    def ints(self, attribute: str) -> tuple[int, ...]:
        value = self.operator.attributes.get(attribute, ())
        return tuple(int(v) for v in value) if isinstance(value, tuple) else ()


def _convolution(weight_slot: int) -> Callable[[_Shapes], int]:
    return lambda s: 2 * s.written * prod(s.read(weight_slot)[1:])


def _transposed_convolution(s: _Shapes) -> int:
    return 2 * prod(s.read(0)) * prod(s.read(1)[1:])


def _gemm(s: _Shapes) -> int:
    a = s.read(0)
    inner = a[0 if s.operator.attributes.get("transA") else -1] if a else 1
    return 2 * s.written * inner


def _matmul(s: _Shapes) -> int:
    return 2 * s.written * (s.read(0)[-1] if s.read(0) else 1)


def _recurrent(s: _Shapes) -> int:
    steps = prod(s.read(0)[:2])
    return 2 * steps * (prod(s.read(1)) + prod(s.read(2)))


def _attention(s: _Shapes) -> int:
    query, key = s.read(0), s.read(1)
    if len(query) < 3 or len(key) < 3:
        return 0
    return 4 * prod(query) * key[-2]


def _einsum(s: _Shapes) -> int:
    terms = str(s.operator.attributes.get("equation", "")).replace(" ", "").split("->")[0].split(",")
    lengths: dict[str, int] = {}
    for term, shape in zip(terms, s.inputs, strict=False):
        lengths.update(zip(term.replace("...", ""), shape[-len(term.replace("...", "")) :], strict=False))
    return 2 * prod(lengths.values())


def _pool(s: _Shapes) -> int:
    return s.written * prod(s.ints("kernel_shape"))


def _local_response(s: _Shapes) -> int:
    size = s.operator.attributes.get("size", 5)
    return s.written * (2 * int(size if isinstance(size, int) else 5) + 4)


_MATRIX: Mapping[str, Callable[[_Shapes], int]] = {
    "Conv": _convolution(1),
    "ConvInteger": _convolution(1),
    "QLinearConv": _convolution(3),
    "FusedConv": _convolution(1),
    "DeformConv": _convolution(1),
    "ConvTranspose": _transposed_convolution,
    "Gemm": _gemm,
    "FusedGemm": _gemm,
    "MatMul": _matmul,
    "MatMulInteger": _matmul,
    "FusedMatMul": _matmul,
    "QLinearMatMul": _matmul,
    "LSTM": _recurrent,
    "GRU": _recurrent,
    "RNN": _recurrent,
    "Attention": _attention,
    "MultiHeadAttention": _attention,
    "Einsum": _einsum,
}
_WINDOW: Mapping[str, Callable[[_Shapes], int]] = {
    "MaxPool": _pool,
    "AveragePool": _pool,
    "LpPool": _pool,
    "LRN": _local_response,
}
_PER_INPUT: Mapping[str, int] = {
    kind: count
    for kinds, count in (
        ("GlobalAveragePool GlobalMaxPool GlobalLpPool ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd", 1),
        ("ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare ArgMax ArgMin CumSum", 1),
    )
    for kind in kinds.split()
}
_PER_OUTPUT: Mapping[str, int] = {
    kind: count
    for kinds, count in (
        ("Concat Transpose Slice Gather GatherElements GatherND ScatterElements ScatterND Split Pad Cast Expand", 0),
        ("Tile Reshape Flatten Squeeze Unsqueeze Identity DepthToSpace SpaceToDepth Compress", 0),
        ("BatchNormalization", 2),
        ("Softmax LogSoftmax", 5),
        ("LayerNormalization InstanceNormalization GroupNormalization RMSNormalization", 8),
        ("Gelu Erf Tanh Sigmoid Exp Log Softplus Mish Swish Elu Selu Celu Sin Cos Pow Sqrt", 8),
    )
    for kind in kinds.split()
}


# How often training kernels go over their data: batch statistics come before anything can be normalised, and the
# gradient of a maximum is scattered. The P100 times that MONeT's authors published show these factors against Relu.
_PASSES: Mapping[tuple[Phase, str], int] = {
    (Phase.FORWARD, "BatchNormalization"): 2,
    (Phase.BACKWARD, "BatchNormalization"): 2,
    (Phase.BACKWARD, "MaxPool"): 4,
}


def forward_flop(network: NetworkGraph, operator: GraphOperator) -> int:
    """Operations of one forward run of an operator."""
    shapes = _Shapes(
        operator,
        tuple(_shape(network, name) for name in operator.inputs),
        tuple(_shape(network, name) for name in operator.outputs if name),
    )
    kind = operator.kind
    exact = _MATRIX.get(kind) or _WINDOW.get(kind)
    if exact is not None:
        return exact(shapes)
    if kind in _PER_INPUT:
        return _PER_INPUT[kind] * prod(shapes.read(0))
    if kind in ("Sum", "Max", "Min", "Mean"):
        return shapes.written * max(1, len(shapes.inputs) - 1)
    return shapes.written * _PER_OUTPUT.get(kind, 1)


def network_mac(network: NetworkGraph) -> int:
    """Multiply-accumulates of all matrix work of one inference: the figure that papers give for a network."""
    return sum(forward_flop(network, operator) for operator in network.operators if operator.kind in _MATRIX) // 2


def work_class(network: NetworkGraph, operator: GraphOperator) -> str:
    """The class of an operator's arithmetic: matrix, depthwise (one channel a group), or vector."""
    if operator.kind not in _MATRIX:
        return "vector"
    group = operator.attributes.get("group", 1)
    if isinstance(group, int) and group > 1:
        weight = _shape(network, operator.inputs[1]) if len(operator.inputs) > 1 else ()
        if len(weight) > 1 and (weight[1] == 1 or group >= weight[0]):
            return "depthwise"
    return "matrix"


def work(graph: TrainingGraph, operator: TrainingOperator) -> Work:
    """Operations and bytes of one run of an operator of a training or inference graph."""
    forward = operator.forward
    if operator.phase is Phase.UPDATE:
        return _update_work(graph, operator)
    if forward is None:
        elements = sum(_tensor_bytes(graph, name) for name in operator.outputs + operator.inputs) // 4
        flop = 0 if operator.kind == "Input" else 5 * elements if operator.phase is Phase.LOSS else elements
        return Work(flop, _activation_bytes(graph, operator), "vector")
    flop = forward_flop(graph.network, forward)
    weights = _weight_bytes(graph, operator)
    if operator.phase is Phase.BACKWARD:
        if forward.kind in _MATRIX:
            flop *= len(operator.input_gradients) + bool(operator.parameter_gradients)
        else:
            flop *= 2
        weights += sum(graph.parameters[name].weight_bytes or 0 for name in operator.parameter_gradients)
    elif forward.kind == "BatchNormalization" and graph.training:
        flop *= 4
    passes = _PASSES.get((operator.phase, forward.kind), 1) if graph.training else 1
    return Work(
        flop,
        passes * _activation_bytes(graph, operator) + weights,
        work_class(graph.network, forward),
        _convolution_of(graph.network, forward),
        operator.phase is Phase.BACKWARD,
    )


def _convolution_of(network: NetworkGraph, operator: GraphOperator) -> Convolution | None:
    """The shapes of a convolution, `None` of anything else."""
    if operator.kind not in ("Conv", "FusedConv") or len(operator.inputs) < 2 or not operator.outputs:
        return None
    read, weights, written = (_shape(network, n) for n in (*operator.inputs[:2], operator.outputs[0]))
    if not len(read) == len(weights) == len(written) > 2:
        return None
    ones = (1,) * (len(read) - 2)
    shapes = _Shapes(operator, (read, weights), (written,))
    return Convolution(
        images=read[0],
        read_channels=read[1],
        written_channels=written[1],
        read=read[2:],
        written=written[2:],
        kernel=weights[2:],
        strides=shapes.ints("strides") or ones,
        dilations=shapes.ints("dilations") or ones,
        groups=max(1, read[1] // max(1, weights[1])),
    )


def _update_work(graph: TrainingGraph, operator: TrainingOperator) -> Work:
    weights = state = 0
    for name in operator.parameter_gradients:
        weights += graph.parameters[name].weight_bytes or 0
        state += graph.parameters[name].size_bytes or 0
    # Everything is read; all but the gradient is written.
    return Work(2 * state // 4, 2 * state - weights, "vector")


def _activation_bytes(graph: TrainingGraph, operator: TrainingOperator) -> int:
    return sum(_tensor_bytes(graph, name) for name in operator.inputs + operator.outputs)


def _weight_bytes(graph: TrainingGraph, operator: TrainingOperator) -> int:
    total = sum(graph.parameters[name].weight_bytes or 0 for name in operator.parameters)
    if operator.phase is Phase.FORWARD and operator.kind in ("Gather", "GatherElements", "GatherND"):
        # A look-up reads the rows that it returns, not the table.
        return min(total, sum(_tensor_bytes(graph, name) for name in operator.outputs))
    return total


def _tensor_bytes(graph: TrainingGraph, name: str) -> int:
    return graph.tensors[name].size_bytes or 0


def _shape(network: NetworkGraph, name: str) -> Shape:
    item = network.tensors.get(name) or network.parameters.get(name)
    return item.shape if item is not None and item.shape is not None else ()
