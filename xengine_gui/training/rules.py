"""What the backward of each operator kind reads.

A rule says per differentiable input slot what its gradient needs beside the gradient of the output: `i0` is the forward
input of slot 0, `o0` the forward output of slot 0, `s` small statistics that the forward of a training step saves. The
needs are those of the usual kernels of oneDNN, cuDNN and PyTorch, with the cheaper choice where they differ.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, repeat

from xengine_gui.model.graph import GraphOperator


@dataclass(frozen=True, slots=True)
class Rule:
    """The backward of a kind.

    `gradients` gives per input slot what its gradient reads; slot -1 stands for every slot that is not named, a slot
    that is in neither has no gradient. `aliases` are slots whose gradient is the output's gradient itself where the
    shapes agree, so nothing runs. `statistics` tells how many elements the forward saves for it: per channel
    (`channel`), per row that is normalised (`row`), or none.
    """

    gradients: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    aliases: frozenset[int] = frozenset()
    statistics: str = ""

    def needs(self, slot: int) -> tuple[str, ...] | None:
        """What the gradient of an input slot reads; `None` where it has no gradient."""
        return self.gradients.get(slot, self.gradients.get(-1))

    def is_alias(self, slot: int) -> bool:
        """Whether the gradient of a slot is that of the output, unless a shape is broadcast."""
        return slot in self.aliases or -1 in self.aliases


_PRODUCT = Rule({0: ("i1",), 1: ("i0",), 2: ()})
_OUTPUT = Rule({0: ("o0",)})
_INPUT = Rule({0: ("i0",)})
_BOTH = Rule({0: ("i0", "o0")})
_FIRST_ALONE = Rule({0: ()})
_ALL_ALONE = Rule({-1: ()})
_NO_GRADIENT = Rule()
_RECURRENT = Rule(dict.fromkeys((0, 1, 2, 3, 5, 6, 7), ("i0", "i1", "i2", "o0", "s")), statistics="gates")

_READS = "backward_reads"

UNKNOWN = Rule({-1: ("i*", "o*")})
"""A kind without a rule: all inputs and outputs, which no backward can exceed."""

_GROUPS: tuple[tuple[str, Rule], ...] = (
    ("Conv ConvTranspose Gemm FusedGemm FusedConv MatMul FusedMatMul DeformConv", _PRODUCT),
    ("Einsum Mul", Rule({0: ("i1",), 1: ("i0",)})),
    ("Div", Rule({0: ("i1",), 1: ("i0", "i1")})),
    ("Pow", Rule({0: ("i0", "i1"), 1: ("i0", "o0")})),
    ("Relu Sigmoid Tanh Softmax LogSoftmax Softsign Sqrt Exp Reciprocal LeakyRelu Elu Selu Celu", _OUTPUT),
    # Where the output lies on a bound the gradient is 0: the output tells it, as it does for Relu.
    ("Clip HardSigmoid ThresholdedRelu", _OUTPUT),
    ("Gelu FastGelu QuickGelu Erf Log Softplus HardSwish Mish Swish Silu Sin Cos Tan Asin Acos Atan Sinh Cosh", _INPUT),
    ("Asinh Acosh Atanh Abs Hardmax ReduceL1 ReduceSumSquare ReduceLogSum Shrink", _INPUT),
    ("PRelu", Rule({0: ("i0", "i1"), 1: ("i0",)})),
    ("BiasGelu", Rule({0: ("i0", "i1"), 1: ("i0", "i1")})),
    ("BatchNormalization", Rule({0: ("i0", "i1", "s"), 1: ("i0", "s"), 2: ()}, statistics="channel")),
    ("LayerNormalization GroupNormalization InstanceNormalization",
     Rule({0: ("i0", "i1", "s"), 1: ("i0", "s"), 2: ()}, statistics="row")),
    ("RMSNormalization SimplifiedLayerNormalization", Rule({0: ("i0", "i1", "s"), 1: ("i0", "s")}, statistics="row")),
    ("LpNormalization MeanVarianceNormalization LRN GlobalLpPool LpPool", _BOTH),
    ("MaxPool GlobalMaxPool ReduceMax ReduceMin ReduceProd ReduceL2 ReduceLogSumExp CumProd", _BOTH),
    ("Add Sum", Rule({-1: ()}, aliases=frozenset({-1}))),
    ("Sub", Rule({0: (), 1: ()}, aliases=frozenset({0}))),
    ("Mean Concat", _ALL_ALONE),
    ("Max Min", Rule({-1: ("i*",)})),
    ("Transpose Slice Split Pad Cast CastLike Expand Tile DepthToSpace SpaceToDepth ReduceMean", _FIRST_ALONE),
    ("ReduceSum CumSum AveragePool GlobalAveragePool Neg Upsample Resize Trilu ReverseSequence", _FIRST_ALONE),
    ("CenterCropPad Col2Im AffineGrid DFT", _FIRST_ALONE),
    # Masks of the views in training: a flag of the file keeps some of them from being views.
    ("Reshape Flatten Squeeze Unsqueeze Identity", Rule({0: ()}, aliases=frozenset({0}))),
    ("Dropout", Rule({0: ("o1",)})),
    ("Gather GatherElements GatherND Compress", Rule({0: ("i1",)})),
    ("ScatterElements ScatterND Scatter", Rule({0: ("i1",), 2: ("i1",)})),
    ("Where", Rule({1: ("i0",), 2: ("i0",)})),
    ("TopK", Rule({0: ("o1",)})),
    ("TensorScatter", Rule({0: ("i2",), 1: ("i2",)})),
    ("MaxUnpool", Rule({0: ("i1",)})),
    ("MaxRoiPool", Rule({0: ("i0", "i1", "o0")})),
    ("STFT", Rule({0: ("i2",), 2: ("i0",)})),
    ("Det", _BOTH),
    ("SwiGLU", Rule({-1: ("i*",)})),
    # Cosines and sines, and the places that they are taken at; the rotation is undone with them alone.
    ("RotaryEmbedding", Rule({0: ("i1", "i2", "i3")})),
    ("CausalConvWithState", Rule({0: ("i1",), 1: ("i0", "i3"), 2: (), 3: ("i1",)})),
    ("GridSample RoiAlign", Rule({0: ("i0", "i1"), 1: ("i0", "i1")})),
    ("LSTM GRU RNN", _RECURRENT),
    ("Attention MultiHeadAttention GroupQueryAttention", Rule({-1: ("i*", "o0", "s")}, statistics="row")),
    ("SkipLayerNormalization", Rule({0: ("o0", "s"), 1: ("o0", "s"), 2: ("o0", "s"), 3: ()}, statistics="row")),
    ("SoftmaxCrossEntropyLoss NegativeLogLikelihoodLoss", Rule({0: ("i0", "i1")})),
    ("QuantizeLinear DequantizeLinear DynamicQuantizeLinear", Rule({0: ()}, aliases=frozenset())),
    ("Equal Greater GreaterOrEqual Less LessOrEqual Not And Or Xor IsNaN IsInf Sign Floor Ceil Round", _NO_GRADIENT),
    ("Mod BitwiseAnd BitwiseOr BitwiseXor BitwiseNot ArgMax ArgMin NonZero Shape Size", _NO_GRADIENT),
    ("OneHot EyeLike Range Unique NonMaxSuppression RandomNormal RandomUniform RandomNormalLike", _NO_GRADIENT),
    ("RandomUniformLike Multinomial Bernoulli Constant ConstantOfShape StringNormalizer TfIdfVectorizer", _NO_GRADIENT),
    ("BitShift BitCast BlackmanWindow HammingWindow HannWindow MelWeightMatrix ImageDecoder", _NO_GRADIENT),
    ("StringConcat StringSplit RegexFullMatch SequenceLength OptionalHasElement", _NO_GRADIENT),
    ("Detach ConvInteger MatMulInteger QLinearConv QLinearMatMul", _NO_GRADIENT),
)  # fmt: skip

RULES: Mapping[str, Rule] = dict(chain.from_iterable(zip(kinds.split(), repeat(rule)) for kinds, rule in _GROUPS))
"""The rule of every operator kind that has one."""


def rule_of(kind: str) -> Rule:
    """The rule of a kind, `UNKNOWN` where there is none."""
    return RULES.get(kind, UNKNOWN)


def has_rule(operator: GraphOperator) -> bool:
    """Whether it is known what the operator's backward reads."""
    return operator.kind in RULES or _READS in operator.attributes


def rule_for(operator: GraphOperator) -> Rule:
    """The rule of an operator: that of its kind, unless it says itself what its backward reads.

    A framework may keep something else than the least that would do; its importer then puts that into the attribute
    `backward_reads`, for all slots alike.
    """
    rule = rule_of(operator.kind)
    reads = operator.attributes.get(_READS)
    if not isinstance(reads, tuple):
        return rule
    needs = tuple(str(need) for need in reads)
    slots = rule.gradients if rule is not UNKNOWN and "i1" not in needs else {-1: ()}
    return replace(
        rule,
        gradients=dict.fromkeys(slots, needs),
        aliases=frozenset(),
        statistics=rule.statistics if "s" in needs else "",
    )
