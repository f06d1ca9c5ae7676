"""Which constants training updates: files do not say, so the slot that reads one decides."""

from collections.abc import Mapping

from xengine_gui.model.dtype import is_float

_ALWAYS: Mapping[str, frozenset[int]] = {
    "Conv": frozenset({1, 2}),
    "ConvTranspose": frozenset({1, 2}),
    "DeformConv": frozenset({1, 3}),
    "Gemm": frozenset({0, 1, 2}),
    "MatMul": frozenset({0, 1}),
    "BatchNormalization": frozenset({1, 2}),
    "InstanceNormalization": frozenset({1, 2}),
    "GroupNormalization": frozenset({1, 2}),
    "LayerNormalization": frozenset({1, 2}),
    "RMSNormalization": frozenset({1}),
    "PRelu": frozenset({1}),
    "LSTM": frozenset({1, 2, 3, 7}),
    "GRU": frozenset({1, 2, 3}),
    "RNN": frozenset({1, 2, 3}),
    "Gather": frozenset({0}),
    "Einsum": frozenset({0, 1}),
}
# A scale, a shift, an embedding of positions: trainable unless the file writes the number itself, as for 1 / sqrt(d).
_UNLESS_LITERAL = frozenset({"Add", "Sub", "Mul", "Div", "Sum", "Concat", "Expand"})


def is_trainable_slot(kind: str, slot: int, *, dtype: str, single: bool, literal: bool) -> bool:
    """Whether a constant in this slot is a weight; `single`: one element, `literal`: written as a Constant node."""
    if not is_float(dtype):
        return False
    if kind in _ALWAYS:
        return slot in _ALWAYS[kind]
    return kind in _UNLESS_LITERAL and not literal and not single
