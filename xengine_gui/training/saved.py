"""Small tensors that a forward writes for its backward alone."""

from math import prod

from xengine_gui.model.graph import GraphOperator, NetworkGraph

_FLOAT_BYTES = 4
# What PyTorch's own kernels keep of a step beside its output, in widths of the state: an LSTM four gates, the cell and
# the tanh of the cell, a GRU three gates and three products with the state before, an RNN nothing.
_GATES = {"LSTM": 6, "GRU": 6, "RNN": 0}


def statistics_bytes(network: NetworkGraph, operator: GraphOperator, what: str) -> int | None:
    """Bytes of the mean and inverse deviation of a normalisation, or of the gates of a recurrent operator.

    `None` where the shape that decides it is unknown.
    """
    tensor = network.tensors.get(operator.inputs[0])
    if tensor is None:
        return 0
    shape = tensor.shape
    if shape is None:
        return _of_unknown_shape(network, operator, what)
    if what == "channel":
        return 2 * _FLOAT_BYTES * (shape[1] if len(shape) > 1 else 1)
    if what == "gates":
        hidden = operator.attributes.get("hidden_size", 0)
        both = 2 if operator.attributes.get("direction") == "bidirectional" else 1
        width = hidden if isinstance(hidden, int) else 0
        kept = operator.attributes.get("saved_widths", _GATES.get(operator.kind, 1))
        return _FLOAT_BYTES * prod(shape[:2]) * both * width * (kept if isinstance(kept, int) else 1)
    return _values_per_row(operator.kind) * _FLOAT_BYTES * _rows(operator, shape)


def _of_unknown_shape(network: NetworkGraph, operator: GraphOperator, what: str) -> int | None:
    """What can be told by the scale of a normalisation and the number of elements, which may have been given."""
    tensor = network.tensors[operator.inputs[0]]
    scale = network.parameters.get(operator.inputs[1]) if len(operator.inputs) > 1 else None
    if what == "gates" or scale is None or not scale.shape or tensor.element_count is None:
        return None
    if what == "channel":
        return 2 * _FLOAT_BYTES * scale.shape[0]
    return _values_per_row(operator.kind) * _FLOAT_BYTES * (tensor.element_count // max(1, prod(scale.shape)))


def _values_per_row(kind: str) -> int:
    return 2 if kind in ("LayerNormalization", "GroupNormalization", "InstanceNormalization") else 1


def _rows(operator: GraphOperator, shape: tuple[int, ...]) -> int:
    if operator.kind == "InstanceNormalization":
        return prod(shape[:2])
    if operator.kind == "GroupNormalization":
        groups = operator.attributes.get("num_groups", 1)
        return shape[0] * (groups if isinstance(groups, int) else 1) if shape else 1
    heads = operator.attributes.get("q_num_heads", operator.attributes.get("num_heads"))
    if len(shape) == 3 and isinstance(heads, int):
        return prod(shape[:2]) * heads  # attention with its heads side by side in the last dimension
    axis = operator.attributes.get("axis", -1)
    return prod(shape[: axis if isinstance(axis, int) else -1])
