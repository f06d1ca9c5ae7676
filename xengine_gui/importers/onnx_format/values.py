"""Values of small constants, folded through the operators that compute shapes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.numpy_helper

from xengine_gui.importers.onnx_format.records import FileNode

Array = npt.NDArray[Any]
Shape = tuple[int, ...]

MOST_ELEMENTS = 1024
"""Shapes, axes, scales and flags are small; larger constants are weights, whose values nobody needs."""


def initializer_value(tensor: Any) -> Array | None:
    """The value of a small constant inside the file; `None` for large ones and those stored elsewhere."""
    if tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.data_type == onnx.TensorProto.STRING:
        return None
    count = 1
    for length in tensor.dims:
        count *= max(length, 0)
    if count > MOST_ELEMENTS:
        return None
    try:
        return np.asarray(onnx.numpy_helper.to_array(tensor))
    except (ValueError, TypeError, LookupError, NotImplementedError):
        # Dimensions without data: a weight of which only the shape is stored.
        return None


def constant_value(node: FileNode) -> Array | None:
    """The value of a Constant node, where it is small."""
    for attribute in node.proto.attribute:
        if attribute.name == "value":
            return initializer_value(attribute.t)
    for name, dtype in (("value_int", np.int64), ("value_ints", np.int64), ("value_float", np.float32),
                        ("value_floats", np.float32)):  # fmt: skip
        if name in node.attributes:
            return np.asarray(node.attributes[name], dtype=dtype)
    return None


def fold(node: FileNode, inputs: Sequence[Array | None], shape: Shape | None) -> Array | None:
    """The value of an operator's output from those of its inputs; `shape` is that of its first input.

    `None` where an input is not known, the kind is not one that computes shapes, or the result would be large.
    """
    known = [value for value in inputs if value is not None]
    try:
        result = None if node.domain else _folded(node, known if len(known) == len(inputs) else [], shape)
    except (ValueError, TypeError, LookupError, ArithmeticError, MemoryError):
        return None
    return result if result is not None and result.size <= MOST_ELEMENTS else None


def _folded(node: FileNode, known: list[Array], shape: Shape | None) -> Array | None:
    if node.kind == "Constant":
        return constant_value(node)
    if node.kind in ("Shape", "Size"):
        return None if shape is None else _shape_value(node, shape)
    if node.kind == "ConstantOfShape" and known:
        return _constant_of_shape(node, known[0])
    rule = _RULES.get(node.kind)
    return np.asarray(rule(node.attributes, *known)) if rule is not None and known else None


def _shape_value(node: FileNode, shape: Shape) -> Array:
    if node.kind == "Size":
        return np.asarray(np.prod([int(length) for length in shape], dtype=np.int64))
    start, end = node.attributes.get("start", 0), node.attributes.get("end", len(shape))
    return np.asarray(shape[int(str(start)) : int(str(end))], dtype=np.int64)


def _axes(attributes: Mapping[str, Any], given: tuple[Array, ...]) -> tuple[int, ...] | None:
    if given:
        return tuple(int(axis) for axis in given[0].ravel())
    axes = attributes.get("axes")
    return None if axes is None else tuple(axes)


def _slice(attributes: Mapping[str, Any], data: Array, *given: Array) -> Array:
    starts = given[0].ravel() if given else np.asarray(attributes["starts"])
    ends = given[1].ravel() if given else np.asarray(attributes["ends"])
    axes = given[2].ravel() if len(given) > 2 else attributes.get("axes", range(len(starts)))
    steps = given[3].ravel() if len(given) > 3 else [1] * len(starts)
    where: list[slice] = [slice(None)] * data.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        where[int(axis)] = slice(int(start), int(end) if abs(int(end)) < 2**31 - 1 else None, int(step))
    return np.asarray(data[tuple(where)])


def _unsqueeze(attributes: Mapping[str, Any], data: Array, *given: Array) -> Array:
    return np.expand_dims(data, _axes(attributes, given) or ())


def _squeeze(attributes: Mapping[str, Any], data: Array, *given: Array) -> Array:
    return np.squeeze(data, _axes(attributes, given))


def _constant_of_shape(node: FileNode, shape: Array) -> Array:
    lengths = [int(length) for length in shape.ravel()]
    if np.prod(lengths, dtype=np.float64) > MOST_ELEMENTS:
        raise ValueError("large")
    fill = next((a.t for a in node.proto.attribute if a.name == "value"), None)
    value = np.zeros(1, dtype=np.float32) if fill is None else onnx.numpy_helper.to_array(fill)
    return np.full(lengths, value.ravel()[0])


def _range(_: Mapping[str, Any], start: Array, limit: Array, delta: Array) -> Array:
    if abs(float(limit - start)) > MOST_ELEMENTS * abs(float(delta)):
        raise ValueError("large")
    return np.arange(start.item(), limit.item(), delta.item(), dtype=start.dtype)


def _divide(_: Mapping[str, Any], a: Array, b: Array) -> Array:
    if np.issubdtype(a.dtype, np.integer):
        return np.asarray(np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b)), dtype=a.dtype) if np.all(b) else a[:0]
    return np.asarray(a / b)


def _cast(attributes: Mapping[str, Any], data: Array) -> Array:
    return data.astype(onnx.helper.tensor_dtype_to_np_dtype(attributes["to"]))


def _reduce(what: Callable[..., Array]) -> Callable[..., Array]:
    def rule(attributes: Mapping[str, Any], data: Array, *given: Array) -> Array:
        return what(data, axis=_axes(attributes, given), keepdims=bool(attributes.get("keepdims", 1)))

    return rule


def _expand(_: Mapping[str, Any], data: Array, shape: Array) -> Array:
    lengths = [int(length) for length in shape]
    if np.prod(lengths, dtype=np.float64) > MOST_ELEMENTS:
        raise ValueError("large")
    return data * np.ones(lengths, dtype=data.dtype)


_RULES: Mapping[str, Callable[..., Array]] = {
    "Identity": lambda _, x: x,
    "Cast": _cast,
    "Gather": lambda a, x, i: np.take(x, i.astype(np.int64), axis=a.get("axis", 0)),
    "Concat": lambda a, *xs: np.concatenate(xs, axis=a.get("axis", 0)),
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Reshape": lambda a, x, *s: np.reshape(x, tuple(s[0]) if s else a["shape"]),
    "Flatten": lambda _, x: x.reshape(1, -1),
    "Slice": _slice,
    "Range": _range,
    "Expand": _expand,
    "Add": lambda _, a, b: a + b,
    "Sub": lambda _, a, b: a - b,
    "Mul": lambda _, a, b: a * b,
    "Div": _divide,
    "Mod": lambda _, a, b: np.mod(a, b),
    "Neg": lambda _, a: -a,
    "Abs": lambda _, a: np.abs(a),
    "Floor": lambda _, a: np.floor(a),
    "Ceil": lambda _, a: np.ceil(a),
    "Sqrt": lambda _, a: np.sqrt(a),
    "Min": lambda _, *xs: np.minimum.reduce(xs),
    "Max": lambda _, *xs: np.maximum.reduce(xs),
    "Equal": lambda _, a, b: a == b,
    "Less": lambda _, a, b: a < b,
    "Greater": lambda _, a, b: a > b,
    "Not": lambda _, a: np.logical_not(a),
    "And": lambda _, a, b: np.logical_and(a, b),
    "Or": lambda _, a, b: np.logical_or(a, b),
    "Where": lambda _, c, a, b: np.asarray(np.where(c, a, b)),
    "ReduceProd": _reduce(np.prod),
    "ReduceSum": _reduce(np.sum),
    "ReduceMax": _reduce(np.max),
    "ReduceMin": _reduce(np.min),
}
