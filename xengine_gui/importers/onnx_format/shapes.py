"""Shapes of all tensors: symbols bound, batch rescaled, constants folded, and ONNX's own shape inference in between."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.shape_inference

from xengine_gui.importers.onnx_format.binding import Binding
from xengine_gui.importers.onnx_format.old_opsets import MODERN, modernise
from xengine_gui.importers.onnx_format.one_by_one import forget_negative_lengths, infer_one_by_one, is_fatal, is_fragile
from xengine_gui.importers.onnx_format.protos import type_proto
from xengine_gui.importers.onnx_format.records import (
    Declared,
    FileGraph,
    FileNode,
    constant_type,
    declared_type,
    printable,
)
from xengine_gui.importers.onnx_format.values import MOST_ELEMENTS, Array, fold, initializer_value
from xengine_gui.model.dtype import is_float

RANDOM_KINDS = frozenset(
    {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli"}
)
# These look at their input's shape alone: with a static one they are constants, and the input need not be there.
_SHAPE_READERS = frozenset({"Shape", "Size", "EyeLike"})
_GROWING = frozenset({"ConstantOfShape", "Expand", "Tile", "Range", "Concat", "Gather", "Pad", "Upsample", "Resize"})
# Of these ONNX makes up a value for each element of a vector, even of an input.
_COPYING = frozenset({"Cast", "Slice"})
_MOST_ROUNDS = 12
_MOST_SCALES = 2**20


@dataclass
class Shapes:
    """What is known of every tensor: its type, its value where it is a small constant, and whether it is constant."""

    types: dict[str, Declared]
    values: dict[str, Array]
    constants: set[str]
    notes: list[str] = field(default_factory=list)

    def static(self, name: str) -> tuple[int, ...] | None:
        """The shape of a tensor if every dimension of it is known."""
        declared = self.types.get(name)
        return None if declared is None else declared.static


def find_shapes(graph: FileGraph, nodes: list[FileNode], binding: Binding) -> Shapes:
    """Types, values and constants of all tensors of `graph`, whose `nodes` are in a topological order."""
    overrides = dict(binding.reshapes)
    seeds = {name: binding.resolve(graph.declared[name]) for node in nodes for name in node.outputs
             if name in graph.declared and not _is_known(node)}  # fmt: skip
    shapes = _settled(graph, nodes, binding, overrides, seeds)
    unknown = {name for node in nodes for name in node.outputs if name and shapes.static(name) is None}
    more = {
        name: binding.resolve(graph.declared[name])
        for name in unknown
        if name in graph.declared and graph.declared[name].dims is not None
    }
    if any(declared.static is not None and seeds.get(name) != declared for name, declared in more.items()):
        # What inference leaves open the file may state.
        shapes = _settled(graph, nodes, binding, overrides, seeds | more)
    return shapes


def _settled(
    graph: FileGraph,
    nodes: list[FileNode],
    binding: Binding,
    overrides: Mapping[tuple[int, int], Array],
    seeds: Mapping[str, Declared],
) -> Shapes:
    """Inference and folding in turn until neither finds more."""
    values = {name: value for name, t in graph.initializers.items() if (value := initializer_value(t)) is not None}
    shapes = _pass(graph, nodes, binding, _Given(values, overrides, seeds))
    before = len(nodes) + 1
    for _ in range(_MOST_ROUNDS):
        still_open = sum(1 for node in nodes for name in node.outputs if name and shapes.static(name) is None)
        if still_open == 0 or still_open >= before:
            break
        before = still_open
        # ONNX's own propagation of values sees further in one pass than folding does, but it makes every value that it
        # meets, however large: whatever might grow is cut out of it, and a pass without it follows.
        cut = frozenset(node.index for node in nodes if _may_grow(node, shapes))
        wide = _pass(graph, nodes, binding, _Given(values, overrides, seeds, cut, propagate=True))
        shapes = _pass(graph, nodes, binding, _Given(wide.values, overrides, seeds))
        for name in wide.types:
            if shapes.static(name) is None and wide.static(name) is not None:
                shapes.types[name] = wide.types[name]
    return shapes


def _may_grow(node: FileNode, shapes: Shapes) -> bool:
    """Whether an operator may make a long vector of values, out of short ones or of a long one that it reads."""
    if _reads_vector(node, shapes) or (node.kind in _COPYING and _has_long_steps(node, shapes)):
        return True
    if node.kind not in _GROWING:
        return False
    return not node.outputs or shapes.static(node.outputs[0]) is None or _is_long(node.outputs[:1], shapes)


def _reads_vector(node: FileNode, shapes: Shapes) -> bool:
    """Whether an input is a vector so long that a value for each element of it must not be made up."""
    for name in node.inputs:
        shape = shapes.static(name)
        if shape is not None and len(shape) < 2 and any(length > MOST_ELEMENTS for length in shape):
            # Places and lengths are integers; scales and shifts may be longer.
            most = _MOST_SCALES if is_float(shapes.types[name].dtype) else MOST_ELEMENTS
            if node.kind in _COPYING or any(length > most for length in shape):
                return True
    return False


def _is_long(names: Sequence[str], shapes: Shapes) -> bool:
    known = [shape for name in names if (shape := shapes.static(name)) is not None]
    return any(len(shape) < 2 and any(length > MOST_ELEMENTS for length in shape) for shape in known)


def _has_long_steps(node: FileNode, shapes: Shapes) -> bool:
    """Whether a Slice takes steps that overflow on the way along a vector."""
    steps = shapes.values.get(node.inputs[4]) if len(node.inputs) > 4 else None
    return steps is not None and bool(np.any(np.abs(steps.astype(float)) > MOST_ELEMENTS))


def _pass(graph: FileGraph, nodes: list[FileNode], binding: Binding, given: "_Given") -> Shapes:
    """One inference, and the folding of all that it allows."""
    notes: list[str] = []
    types = _infer(graph, nodes, binding, given, notes)
    _complete_masks(nodes, types)
    shapes = Shapes(types, dict(given.values), set(), notes)
    _find_constants(graph, nodes, shapes)
    return shapes


def _complete_masks(nodes: list[FileNode], types: dict[str, Declared]) -> None:
    """Masks of Dropout have the input's shape; ONNX's inference does not say so for early opsets."""
    for node in nodes:
        if node.kind == "Dropout" and len(node.outputs) > 1 and node.inputs and node.inputs[0] in types:
            dtype = types.get(node.outputs[1], Declared("bool", None)).dtype
            types[node.outputs[1]] = Declared(dtype, types[node.inputs[0]].dims)


@dataclass(frozen=True)
class _Given:
    """What inference is told: values of small constants, inputs of nodes to replace, and types to start from.

    Nodes in `cut` are left out, as if their outputs were inputs of unknown shape; `propagate` lets ONNX compute values.
    """

    values: Mapping[str, Array]
    overrides: Mapping[tuple[int, int], Array]
    seeds: Mapping[str, Declared]
    cut: frozenset[int] = frozenset()
    propagate: bool = False


def _find_constants(graph: FileGraph, nodes: list[FileNode], shapes: Shapes) -> None:
    """Fill in the constants, and the values of those that are small, in one pass over the sorted nodes."""
    shapes.constants = {*graph.initializers, *graph.sparse}
    for node in nodes:
        if not _is_constant(node, shapes):
            continue
        shapes.constants.update(name for name in node.outputs if name)
        if len(node.outputs) != 1 or node.outputs[0] in shapes.values:
            continue
        inputs = [shapes.values.get(name) for name in node.inputs if name]
        value = fold(node, inputs, shapes.static(node.inputs[0]) if node.inputs else None)
        if value is not None:
            shapes.values[node.outputs[0]] = value


def _is_constant(node: FileNode, shapes: Shapes) -> bool:
    if node.kind in RANDOM_KINDS or (not _is_known(node) and not node.inputs):
        return False
    if node.kind in _SHAPE_READERS and not node.domain and node.inputs and shapes.static(node.inputs[0]) is not None:
        return True
    return all(name in shapes.constants for name in node.reads)


def _is_known(node: FileNode) -> bool:
    return bool(onnx.defs.has(node.kind, node.domain))


def _infer(
    graph: FileGraph, nodes: list[FileNode], binding: Binding, given: _Given, notes: list[str]
) -> dict[str, Declared]:
    """Types of all tensors by ONNX's inference on a copy without weights."""
    types: dict[str, Declared] = dict(graph.sparse)
    for name, tensor in graph.initializers.items():
        types[name] = constant_type(tensor.data_type, tensor.dims)
    types |= {name: binding.of_input(name) for name in graph.inputs}
    types |= {name: declared for name, declared in given.seeds.items() if name not in types}
    model = _skeleton(graph, nodes, types, given)
    if any(is_fragile(node.proto) for node in nodes):
        scouted = dict(types)
        impossible = infer_one_by_one(model, scouted)
        if impossible:
            notes.append(
                f"A length of {printable(impossible)} would be negative, so what follows from it is unknown; "
                "are free dimensions too small?"
            )
            return scouted
    try:
        inferred = onnx.shape_inference.infer_shapes(model, data_prop=given.propagate)
    except Exception as error:  # noqa: BLE001 - inference raises whatever its C++ side throws
        notes.append(f"Shape inference of the whole network failed ({_first_line(error)}); it was done node by node")
        infer_one_by_one(model, types)
        return types
    for value in (*inferred.graph.value_info, *inferred.graph.output):
        declared = declared_type(value.type)
        if declared.dims is not None or value.name not in types:
            types[value.name] = declared
    return types


def _skeleton(graph: FileGraph, nodes: list[FileNode], types: Mapping[str, Declared], given: _Given) -> Any:
    """A model with sorted nodes, small constants, and every weight as an input of its shape."""
    model = onnx.ModelProto()
    model.ir_version = min(max(graph.model.ir_version, 4), onnx.IR_VERSION)
    opset = _import_domains(model, graph, nodes)
    skeleton = model.graph
    skeleton.name = "shapes"
    # Sequences, maps and optionals are handed on as they are declared.
    other_types = {v.name: v for v in graph.model.graph.input if v.type.WhichOneof("value") != "tensor_type"}
    for name in (*graph.inputs, *graph.initializers, *graph.sparse):
        value = given.values.get(name)
        if value is not None and name in graph.initializers:
            _add_constant(skeleton, name, value)
        elif name in other_types:
            skeleton.input.append(other_types[name])
        else:
            _add_type(skeleton.input.add(), name, types[name])
    left_out = {node.index for node in nodes if is_fatal(node.proto)} | given.cut
    for node in nodes:
        if node.index in left_out:
            for name in node.outputs:
                skeleton.input.add().name = name
        else:
            _add_node(skeleton, node, given, opset)
    produced = {name for node in nodes if node.index not in left_out for name in node.outputs if name}
    skeleton.output.extend(onnx.ValueInfoProto(name=name) for name in graph.outputs if name in produced)
    for name, declared in given.seeds.items():
        if name in produced and name not in graph.outputs and declared.dims is not None:
            _add_type(skeleton.value_info.add(), name, declared)
    for output in skeleton.output:
        if output.name in given.seeds:
            _add_type(output, output.name, given.seeds[output.name])
    return model


def _add_node(skeleton: Any, node: FileNode, given: _Given, opset: int) -> None:
    if len(node.outputs) == 1 and node.outputs[0] in given.values:
        _add_constant(skeleton, node.outputs[0], given.values[node.outputs[0]])
        return
    if node.kind == "Constant" and not node.domain:
        tensor = next((a.t for a in node.proto.attribute if a.name == "value"), None)
        if tensor is not None:
            _add_type(skeleton.input.add(), node.outputs[0], constant_type(tensor.data_type, tensor.dims))
            return
    copy = skeleton.node.add()
    copy.CopyFrom(node.proto)
    forget_negative_lengths(copy)
    for slot in range(len(node.inputs)):
        value = given.overrides.get((node.index, slot))
        if value is not None:
            copy.input[slot] = f"{node.index}:{slot}\x00"
            _add_constant(skeleton, copy.input[slot], value)
    for attribute in copy.attribute:
        value = given.overrides.get((node.index, -1))
        if value is not None and attribute.name == "shape":
            attribute.ints[:] = [int(length) for length in value]
    modernise(copy, skeleton, opset)


def _import_domains(model: Any, graph: FileGraph, nodes: Iterable[FileNode]) -> int:
    """Every domain once, those that the file forgot too: inference refuses the whole graph for one that is missing.

    Gives the opset of the default domain in the file.
    """
    versions: dict[str, int] = {}
    for entry in graph.model.opset_import:
        domain = "" if entry.domain == "ai.onnx" else entry.domain
        versions[domain] = max(versions.get(domain, 1), entry.version)
    opset = min(versions.get("", 1), onnx.defs.onnx_opset_version())
    versions[""] = max(opset, MODERN)
    for domain in {node.domain for node in nodes} - versions.keys():
        versions[domain] = 1
        graph.notes.append(f"Domain {printable(domain)!r} is used but not imported; version 1 is assumed")
    model.opset_import.extend(onnx.OperatorSetIdProto(domain=d, version=v) for d, v in versions.items())
    return opset


def _add_constant(skeleton: Any, name: str, value: Array) -> None:
    skeleton.initializer.append(onnx.numpy_helper.from_array(value, name))


def _add_type(value: Any, name: str, declared: Declared) -> None:
    value.name = name
    value.type.CopyFrom(type_proto(declared))


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return printable(lines[0])[:200] if lines else type(error).__name__
