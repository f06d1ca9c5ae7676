"""Inference node by node, for graphs that ONNX cannot be given as a whole.

ONNX's own inference ends the whole process on some graphs; what is looked for here goes before it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import onnx
import onnx.shape_inference

from xengine_gui.importers.onnx_format.protos import type_proto
from xengine_gui.importers.onnx_format.records import Declared, constant_type, declared_type

# Of a negative length these end the whole process inside ONNX: a graph with one is first gone through node by node.
_FRAGILE = frozenset({"Slice", "GatherND"})
# These end it where the type of an input is unknown; they are left out.
_FATAL = frozenset({"RegexFullMatch", "DictVectorizer"})


def is_fragile(proto: Any) -> bool:
    """Whether a node, or one inside its sub-graphs, may end the process over a negative length."""
    return proto.op_type in _FRAGILE or any(is_fragile(inner) for body in _bodies(proto) for inner in body.node)


def is_fatal(proto: Any) -> bool:
    """Whether a node has to be left out: it may end the process, and nothing can be found out before.

    The inputs of a body that is run many times are made inside ONNX, so a fragile one cannot be gone through before;
    one of If reads nothing but what is outside it.
    """
    if proto.op_type in _FATAL:
        return True
    inside = [inner for body in _bodies(proto) for inner in body.node]
    return any(is_fatal(inner) or (proto.op_type != "If" and is_fragile(inner)) for inner in inside)


def infer_one_by_one(model: Any, types: dict[str, Declared]) -> str:
    """Fill in the types of all tensors node by node; what fails stays unknown.

    Gives the first tensor that would have a negative length, empty where none has; such lengths stay unknown too.
    """
    return _infer_graph(model.graph, list(model.opset_import), types, {})


def _infer_graph(graph: Any, imports: list[Any], types: dict[str, Declared], constants: Mapping[str, Any]) -> str:
    impossible = ""
    constants = {**constants, **{tensor.name: tensor for tensor in graph.initializer}}
    for tensor in graph.initializer:
        types[tensor.name] = constant_type(tensor.data_type, tensor.dims)
    for node in graph.node:
        for tensor in (a.t for a in node.attribute if node.op_type == "Constant" and a.name == "value"):
            constants[node.output[0]] = tensor
        inside = ""
        if node.op_type == "If":
            found, inside = _outputs_of_if(node, imports, types, constants)
        else:
            found = _infer_node(node, imports, types, constants)
        negative = next((name for name, proto in found.items() if _is_negative(proto)), "")
        types.update({name: declared_type(proto) for name, proto in found.items()})
        impossible = impossible or inside or negative
    return impossible


def _infer_node(
    node: Any, imports: list[Any], types: Mapping[str, Declared], constants: Mapping[str, Any]
) -> Mapping[str, Any]:
    if not onnx.defs.has(node.op_type, node.domain) or is_fatal(node):
        return {}
    try:
        version = next(entry.version for entry in imports if entry.domain in (node.domain, ""))
        schema = onnx.defs.get_schema(node.op_type, version, node.domain)
        known = {name: type_proto(types[name]) for name in node.input if name in types}
        data = {name: constants[name] for name in node.input if name in constants}
        found: Mapping[str, Any] = onnx.shape_inference.infer_node_outputs(
            schema, node, known, data, opset_imports=imports
        )
    except Exception:  # noqa: BLE001 - an operator that cannot be inferred is listed as unknown
        return {}
    return found


def _outputs_of_if(
    node: Any, imports: list[Any], types: Mapping[str, Declared], constants: Mapping[str, Any]
) -> tuple[Mapping[str, Any], str]:
    """What an If gives: the dimensions on which its branches agree; and a tensor in one that cannot be."""
    branches: list[list[Declared]] = []
    impossible = ""
    for body in _bodies(node):
        inside = dict(types)
        impossible = _infer_graph(body, imports, inside, constants) or impossible
        branches.append([inside.get(value.name, Declared("unknown", None)) for value in body.output])
    agreed = [_agreed(of_output) for of_output in zip(*branches, strict=False)]
    named = zip(node.output, agreed, strict=False)
    return {name: type_proto(declared) for name, declared in named if name}, impossible


def _agreed(branches: tuple[Declared, ...]) -> Declared:
    first = branches[0]
    if any(b.dims is None or first.dims is None or len(b.dims) != len(first.dims) for b in branches):
        return Declared(first.dtype, None)
    lengths = zip(*(b.dims or () for b in branches), strict=True)
    return Declared(first.dtype, tuple(of_axis[0] if len(set(of_axis)) == 1 else None for of_axis in lengths))


def _is_negative(proto: Any) -> bool:
    return any(dim.dim_value < 0 for dim in proto.tensor_type.shape.dim)


def forget_negative_lengths(proto: Any) -> None:
    """Leave open what the sub-graphs of a node declare as negative; a negative length ends the process."""
    for body in _bodies(proto):
        for value in (*body.input, *body.output, *body.value_info):
            for dim in value.type.tensor_type.shape.dim:
                if dim.dim_value < 0:
                    dim.Clear()
        for tensor in body.initializer:
            if any(length < 0 for length in tensor.dims):
                tensor.dims[:] = [max(0, length) for length in tensor.dims]
        for node in body.node:
            forget_negative_lengths(node)


def _bodies(proto: Any) -> Iterator[Any]:
    for attribute in proto.attribute:
        yield from attribute.graphs
        if attribute.HasField("g"):
            yield attribute.g
