"""Arguments of PyTorch's operators as the attributes that ONNX has for them: windows, axes, transposed weights."""

from collections.abc import Mapping
from typing import Any

from xengine_gui.model.graph import Attribute

_CONVOLUTIONS = frozenset({"Conv", "ConvTranspose"})
_POOLS = frozenset({"MaxPool", "AveragePool"})
_ALONG_AN_AXIS = frozenset({"Softmax", "LogSoftmax", "Split"})


def onnx_attributes(name: str, kind: str, given: Mapping[str, Any], rank: int) -> dict[str, Attribute]:
    """What an operator called `name` is given beside tensors; `rank` is that of its first result."""
    if kind in _CONVOLUTIONS:
        return _window(given, rank - 2)
    if kind in _POOLS and not name.startswith("adaptive"):
        kernel = _lengths(given.get("kernel_size"), int(name[-2]) if name.endswith("d") else rank - 2)
        pooled = _window({**given, "stride": given.get("stride") or kernel}, len(kernel))
        return {**pooled, "kernel_shape": kernel, **({"ceil_mode": 1} if given.get("ceil_mode") else {})}
    if name == "linear":
        return {"transB": 1}
    if kind in _ALONG_AN_AXIS or name in {"cat", "concat"}:
        axis = given.get("dim")
        return {"axis": axis if isinstance(axis, int) else 0}
    if kind.startswith("Reduce"):
        axes = _lengths(given.get("dim"), 1) if given.get("dim") is not None else ()
        return {"keepdims": int(bool(given.get("keepdim"))), **({"axes": axes} if axes else {})}
    return {}


def _window(given: Mapping[str, Any], space: int) -> dict[str, Attribute]:
    """Strides, dilations and padding over so many dimensions."""
    attributes: dict[str, Attribute] = {
        "strides": _lengths(given.get("stride"), space, 1),
        "dilations": _lengths(given.get("dilation"), space, 1),
    }
    padding = given.get("padding")
    if padding == "same":
        attributes["auto_pad"] = "SAME_UPPER"
    elif padding != "valid":
        attributes["pads"] = _lengths(padding, space, 0) * 2
    if given.get("output_padding"):
        attributes["output_padding"] = _lengths(given["output_padding"], space, 0)
    return attributes


def _lengths(value: Any, space: int, default: int = 1) -> tuple[int, ...]:
    """A number for each dimension, from one for all or one for each."""
    values = value if isinstance(value, list | tuple) else [default if value is None else value]
    whole = tuple(int(v) for v in values if isinstance(v, int))
    return whole * space if len(whole) == 1 else whole or (default,) * space
