"""What PyTorch's operators are called here, which arguments are slots, and what autograd keeps of them.

Kinds are those of ONNX. Where autograd keeps something else than the rule of the kind says, the operator says so
itself, after PyTorch's `derivatives.yaml`: an operation in place, for one, keeps its result instead of its input.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """An operator of PyTorch: its kind, the arguments that are slots (none named: every tensor), and what is kept.

    `reads` is what the backward reads where it is not what the kind's rule says, `reads_in_place` the same of the
    version that ends in an underscore; an `extra` tensor is written for the backward (`indices` of the output, or
    one as large as the input). `attributes` are taken over from arguments, under new names.
    """

    kind: str
    slots: tuple[str, ...] = ()
    reads: tuple[str, ...] | None = None
    reads_in_place: tuple[str, ...] | None = None
    extra: str = ""
    attributes: Mapping[str, str] | None = None


VIEWS = frozenset({
    "view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "transpose", "permute", "t", "contiguous",
    "movedim", "swapaxes", "swapdims", "alias", "view_as", "reshape_as", "numpy_T", "adjoint", "mT", "_unsafe_view",
    "lift_fresh", "lift_fresh_copy", "to", "type_as", "_to_copy",
})  # fmt: skip
"""Those that share the bytes of their input wherever strides and type allow it."""

_CONVOLUTION = Kind("Conv", ("input", "weight", "bias"), attributes={"groups": "group"})
_TRANSPOSED = Kind("ConvTranspose", ("input", "weight", "bias"), attributes={"groups": "group"})
_INPUT, _OUTPUT = ("i0",), ("o0",)
_NORMALISED = ("input", "weight", "bias")

KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("conv1d", "conv2d", "conv3d", "convolution"), _CONVOLUTION),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), _TRANSPOSED),
    "linear": Kind("Gemm", ("input", "weight", "bias")),
    **dict.fromkeys(("matmul", "bmm", "mm", "mv", "dot"), Kind("MatMul")),
    "addmm": Kind("Gemm", ("mat1", "mat2", "self")),
    "baddbmm": Kind("Gemm", ("batch1", "batch2", "self")),
    "einsum": Kind("Einsum", ("tensors",), attributes={"equation": "equation"}),
    "embedding": Kind("Gather", ("weight", "indices")),
    "batch_norm": Kind("BatchNormalization", (*_NORMALISED, "running_mean", "running_var")),
    "layer_norm": Kind("LayerNormalization", _NORMALISED),
    "rms_norm": Kind("RMSNormalization", ("input", "weight")),
    "group_norm": Kind("GroupNormalization", _NORMALISED, attributes={"num_groups": "num_groups"}),
    "instance_norm": Kind("InstanceNormalization", _NORMALISED),
    "scaled_dot_product_attention": Kind("Attention", ("query", "key", "value", "attn_mask")),
    # Activations.
    "relu": Kind("Relu"),
    "sigmoid": Kind("Sigmoid"),
    "tanh": Kind("Tanh"),
    "gelu": Kind("Gelu"),
    "erf": Kind("Erf"),
    "silu": Kind("Silu"),
    "mish": Kind("Mish"),
    "softplus": Kind("Softplus"),
    "hardswish": Kind("HardSwish"),
    "hardsigmoid": Kind("HardSigmoid", reads=_INPUT),
    **dict.fromkeys(("hardtanh", "relu6"), Kind("Clip", ("self",), reads=_INPUT)),
    **dict.fromkeys(
        ("clamp", "clamp_min", "clamp_max"), Kind("Clip", ("self",), reads=_INPUT)
    ),
    "leaky_relu": Kind("LeakyRelu", reads=_INPUT, reads_in_place=_OUTPUT),
    "elu": Kind("Elu", reads=_INPUT, reads_in_place=_OUTPUT),
    "selu": Kind("Selu", reads=_INPUT, reads_in_place=_OUTPUT),
    "celu": Kind("Celu", reads=_INPUT, reads_in_place=_OUTPUT),
    "prelu": Kind("PRelu", ("self", "weight")),
    "glu": Kind("Glu", reads=_INPUT),
    "log_sigmoid": Kind("LogSigmoid", reads=("i0", "o1"), extra="buffer"),
    "softmax": Kind("Softmax"),
    "log_softmax": Kind("LogSoftmax"),
    "dropout": Kind("Dropout", ("input",)),
    # Arithmetic.
    **dict.fromkeys(("add", "__add__"), Kind("Add", ("self", "other"))),
    "sub": Kind("Sub", ("self", "other")),
    "rsub": Kind("Sub", ("other", "self")),
    "mul": Kind("Mul", ("self", "other")),
    "div": Kind("Div", ("self", "other")),
    "pow": Kind("Pow"),
    "square": Kind("Square", reads=_INPUT),
    "neg": Kind("Neg"),
    "abs": Kind("Abs"),
    "sin": Kind("Sin"),
    "cos": Kind("Cos"),
    "exp": Kind("Exp"),
    "log": Kind("Log"),
    "sqrt": Kind("Sqrt"),
    "rsqrt": Kind("Rsqrt", reads=_OUTPUT),
    "reciprocal": Kind("Reciprocal"),
    **dict.fromkeys(("minimum", "maximum"), Kind("Max")),
    "where": Kind("Where", ("condition", "self", "other")),
    "masked_fill": Kind("Where", ("mask", "", "self")),
    # Reductions.
    "sum": Kind("ReduceSum", ("self",)),
    "mean": Kind("ReduceMean", ("self",)),
    **dict.fromkeys(("amax", "amin"), Kind("ReduceMax", ("self",))),
    **dict.fromkeys(("max", "min"), Kind("ReduceMax", ("self",), reads=("o1",))),
    "prod": Kind("ReduceProd", ("self",)),
    "logsumexp": Kind("ReduceLogSumExp", ("self",)),
    **dict.fromkeys(("norm", "linalg_vector_norm"), Kind("ReduceL2", ("self",))),
    "var": Kind("Variance", ("self",), reads=_INPUT),
    "std": Kind("Deviation", ("self",), reads=("i0", "o0")),
    "cumsum": Kind("CumSum", ("self",)),
    "cumprod": Kind("CumProd", ("self",)),
    **dict.fromkeys(("topk", "sort"), Kind("TopK", ("self",))),
    # Pooling and resizing.
    **dict.fromkeys(
        ("max_pool1d", "max_pool2d", "max_pool3d"),
        Kind("MaxPool", ("self",), ("i0", "o1"), extra="indices"),
    ),
    **dict.fromkeys(
        ("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d"), Kind("MaxPool", ("self",), ("i0", "o1"))
    ),
    **dict.fromkeys(
        ("avg_pool1d", "avg_pool2d", "avg_pool3d"),
        Kind("AveragePool", ("self",), _INPUT),
    ),
    **dict.fromkeys(
        ("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"), Kind("AveragePool", ("self",), _INPUT)
    ),
    **dict.fromkeys(
        (
            "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "upsample_bilinear2d",
            "upsample_trilinear3d", "upsample_bicubic2d", "upsample_linear1d",
        ),
        Kind("Resize", ("input", "self")),
    ),
    "pixel_shuffle": Kind("DepthToSpace"),
    "pixel_unshuffle": Kind("SpaceToDepth"),
    "grid_sampler": Kind("GridSample", ("input", "grid")),
    # Moving things about.
    "clone": Kind("Identity", ("self",)),
    **dict.fromkeys(("cat", "concat", "stack", "hstack", "vstack"), Kind("Concat", ("tensors",))),
    **dict.fromkeys(("split", "split_with_sizes", "chunk", "unbind", "tensor_split"), Kind("Split", ("self",))),
    **dict.fromkeys(("slice", "select", "narrow", "diagonal"), Kind("Slice", ("self", "input"))),
    **dict.fromkeys(("expand", "expand_as", "broadcast_to"), Kind("Expand", ("self",))),
    **dict.fromkeys(("repeat", "repeat_interleave", "tile"), Kind("Tile", ("self",))),
    **dict.fromkeys(("pad", "constant_pad_nd", "reflection_pad2d", "replication_pad2d"), Kind("Pad", ("self",))),
    **dict.fromkeys(("roll", "flip", "unfold", "im2col", "col2im"), Kind("Rearrange", ("self", "input"), reads=())),
    **dict.fromkeys(("tril", "triu"), Kind("Trilu", ("self",))),
    "index_select": Kind("Gather", ("self", "index")),
    "gather": Kind("GatherElements", ("self", "index"), reads=("i0", "i1")),
    "index": Kind("GatherND", ("self", "indices"), reads=("i1", "i2", "i3", "i4")),
    **dict.fromkeys(("scatter", "scatter_add", "index_add"), Kind("ScatterElements", ("self", "index", "src"))),
    # Losses.
    "cross_entropy_loss": Kind(
        "SoftmaxCrossEntropyLoss", ("self", "target", "weight"), reads=("o1", "i1"), extra="log_prob"
    ),
    "nll_loss": Kind("NegativeLogLikelihoodLoss", ("self", "target", "weight"), reads=("i1",)),
    "nll_loss_nd": Kind("NegativeLogLikelihoodLoss", ("self", "target", "weight"), reads=("i1",)),
    **dict.fromkeys(
        ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"), Kind("Loss", ("self", "target"), reads=("i0", "i1"))
    ),
    "binary_cross_entropy_with_logits": Kind("Loss", ("self", "target", "weight"), reads=("i0", "i1")),
    # Without a gradient.
    "detach": Kind("Detach"),
    **dict.fromkeys(("eq", "ne", "gt", "lt", "ge", "le"), Kind("Equal")),
    **dict.fromkeys(("logical_and", "logical_or", "logical_not"), Kind("And")),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_not"), Kind("And")),
    **dict.fromkeys(("floor", "ceil", "round", "sign"), Kind("Floor")),
    **dict.fromkeys(("argmax", "argmin"), Kind("ArgMax", ("self",))),
    **dict.fromkeys(("zeros", "ones", "full", "empty", "zeros_like", "ones_like", "full_like", "empty_like",
                     "new_zeros", "new_ones", "new_full", "scalar_tensor", "eye"), Kind("ConstantOfShape")),
    **dict.fromkeys(("rand", "randn", "rand_like", "randn_like", "bernoulli"), Kind("RandomUniformLike")),
    "arange": Kind("Range"),
}  # fmt: skip
"""By the name of the operator without namespace, overload and underscore."""

RECURRENT: Mapping[str, str] = {"lstm": "LSTM", "gru": "GRU", "rnn_tanh": "RNN", "rnn_relu": "RNN"}
"""Those that are a whole stack of layers each."""
