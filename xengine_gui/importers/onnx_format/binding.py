"""Free dimensions and the batch: which lengths inputs get, and which constants of the graph must follow."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from xengine_gui.errors import BatchBoundError, InputError
from xengine_gui.importers.onnx_format.records import Declared, Dim, FileGraph, FileNode, printable
from xengine_gui.importers.onnx_format.values import Array

_DEFAULT = 1
_MOST = 2**31 - 1
"""No batch and no free dimension is longer: products of lengths must stay within the 64 bits of ONNX."""


@dataclass
class Binding:
    """Types of the inputs and values of the symbols.

    `reshapes` replaces constant shapes that hold the batch: the new value by node index and input slot (-1: the
    attribute of early opsets). `scale` is new batch over old, `None` where the old one was free.
    """

    inputs: dict[str, Declared]
    symbols: dict[str, int | None]
    notes: list[str] = field(default_factory=list)
    rescaled: set[str] = field(default_factory=set)
    batch_before: int | None = None
    batch: int | None = None
    reshapes: dict[tuple[int, int], Array] = field(default_factory=dict)

    def of_input(self, name: str) -> Declared:
        """The type of an input, with all lengths that are known."""
        return self.inputs[name]

    def resolve(self, declared: Declared) -> Declared:
        """A declared type with the symbols' values in place."""
        if declared.dims is None:
            return declared
        dims: tuple[Dim, ...] = tuple(
            value if isinstance(dim, str) and (value := self.symbols.get(dim)) is not None else dim
            for dim in declared.dims
        )
        if dims and self.batch is not None and self.batch_before is not None and dims[0] == self.batch_before:
            dims = (self.batch, *dims[1:])
        return Declared(declared.dtype, dims)


def bind(graph: FileGraph, source: str, *, batch: int | None, bindings: Mapping[str, int]) -> Binding:
    """The input types for a batch and bindings; an `InputError` for a symbol that is not there or a length below 1."""
    _refuse(graph, source, batch, bindings)
    result = Binding({}, {}, batch=batch)
    leading = _leading(graph)
    if batch is not None and isinstance(leading, str):
        given = bindings.get(leading, batch)
        if given != batch:
            raise BatchBoundError(source, batch, leading, given)
        bindings = {**bindings, leading: batch}
    if isinstance(leading, int):
        result.batch_before = leading
    for name in graph.inputs:
        declared = graph.declared[name]
        if declared.dims is None:
            result.inputs[name] = declared
            continue
        dims = [_bound(dim, f"{name}[{axis}]", bindings, result) for axis, dim in enumerate(declared.dims)]
        if batch is not None and declared.dims and _carries_batch(declared.dims, leading):
            dims[0] = batch
            result.rescaled.add(name)
            result.symbols.pop(f"{name}[0]", None)
        result.inputs[name] = Declared(declared.dtype, tuple(dims))
    _bind_inner_symbols(graph, bindings, result)
    assumed = [s for s, value in result.symbols.items() if value == _DEFAULT and s not in bindings]
    if assumed:
        result.notes.append(
            f"Free dimensions are taken as {_DEFAULT} where nothing else is given: {', '.join(map(printable, assumed))}"
        )
    if batch is not None and not result.rescaled:
        result.notes.append("No input has a leading dimension to rescale: the batch changes nothing")
    return result


def follow_batch(nodes: list[FileNode], binding: Binding, before: Mapping[str, tuple[int, ...] | None],
                 values: Mapping[str, Array]) -> None:  # fmt: skip
    """Rescale constant shapes that hold the batch, given the shapes and constants at the old batch."""
    if binding.batch is None or binding.batch_before in (None, 0, binding.batch):
        return
    ratio = Fraction(binding.batch, binding.batch_before or 1)
    carrying = set(binding.rescaled)
    for node in nodes:
        if not any(name in carrying for name in node.reads):
            continue
        carrying.update(name for name in node.outputs if name)
        if node.domain or not node.inputs or node.inputs[0] not in carrying:
            continue
        slot = {"Reshape": 1, "Expand": 1, "Resize": 3}.get(node.kind)
        if slot is None:
            continue
        target = values.get(node.inputs[slot]) if slot < len(node.inputs) else None
        if target is None and node.kind == "Reshape" and isinstance(node.attributes.get("shape"), tuple):
            slot, target = -1, np.asarray(node.attributes["shape"])
        if target is None or target.ndim != 1 or not target.size:
            continue
        scaled = _rescaled(target, before.get(node.inputs[0]), binding, ratio, whole=node.kind == "Reshape")
        if scaled is not None:
            binding.reshapes[node.index, slot] = scaled


def _rescaled(
    target: Array, shape: tuple[int, ...] | None, binding: Binding, ratio: Fraction, *, whole: bool
) -> Array | None:
    first = int(target[0])
    if not shape or first <= 0:
        return None
    if whole and np.all(target > 0):
        # The element count tells for sure: all of the input is in the target, so the batch is in its first length.
        length = first * ratio
        if length.denominator != 1 or int(np.prod(target, dtype=object)) != int(np.prod(shape, dtype=object)):
            return None
    elif first == shape[0] == binding.batch_before:
        length = Fraction(binding.batch or first)
    else:
        return None
    scaled = target.copy()
    scaled[0] = int(length)
    return scaled


def _refuse(graph: FileGraph, source: str, batch: int | None, bindings: Mapping[str, int]) -> None:
    if batch is not None and not 1 <= batch <= _MOST:
        raise InputError(source, f"the batch must be {_allowed(batch)}")
    known = _all_symbols(graph)
    mistakes = []
    for symbol, value in bindings.items():
        if symbol not in known:
            there = f"its free dimensions are {', '.join(map(printable, known))}" if known else "it has none"
            mistakes.append(f"there is no free dimension {symbol!r}; {there}")
        elif not 1 <= value <= _MOST:
            mistakes.append(f"dimension {symbol!r} must be {_allowed(value)}")
    if mistakes:
        raise InputError(source, mistakes)


def _allowed(length: int) -> str:
    return f"at least 1, not {length}" if length < 1 else f"at most {_MOST:,}"


def _all_symbols(graph: FileGraph) -> dict[str, None]:
    symbols: dict[str, None] = {}
    for name in graph.inputs:
        for axis, dim in enumerate(graph.declared[name].dims or ()):
            if not isinstance(dim, int):
                symbols[f"{name}[{axis}]" if dim is None else dim] = None
    for declared in graph.declared.values():
        symbols.update(dict.fromkeys(dim for dim in declared.dims or () if isinstance(dim, str)))
    return symbols


def _bind_inner_symbols(graph: FileGraph, bindings: Mapping[str, int], result: Binding) -> None:
    """Symbols that only results have are bound where asked for, never by default: inference may find their value."""
    for symbol in _all_symbols(graph):
        if symbol in bindings:
            result.symbols[symbol] = bindings[symbol]


def _leading(graph: FileGraph) -> Dim:
    """The leading dimension of the first input that has one: what the batch is in this file."""
    shapes = [dims for name in graph.inputs if (dims := graph.declared[name].dims)]
    many = [dims for dims in shapes if len(dims) > 1]
    return (many or shapes or [(None,)])[0][0]


def _carries_batch(dims: tuple[Dim, ...], leading: Dim) -> bool:
    if dims[0] is None or isinstance(dims[0], str):
        return dims[0] == leading
    # A vector of length one beside a batch of one is a flag or a scalar, not a batch.
    return dims[0] == leading and (len(dims) > 1 or dims[0] > 1)


def _bound(dim: Dim, place: str, bindings: Mapping[str, int], result: Binding) -> Dim:
    if isinstance(dim, int):
        return dim
    if dim is None:
        value = bindings.get(place)
        result.symbols[place] = value
        return value
    result.symbols[dim] = bindings.get(dim, _DEFAULT)
    return result.symbols[dim]
