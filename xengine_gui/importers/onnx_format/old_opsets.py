"""Nodes of the first opsets as opset 7 has them, for shape inference alone: ONNX infers few of the older ones.

Until opset 7 a second operand was broadcast only where an attribute said so, and then had no part in the shape.
"""

from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper

MODERN = 7
_GONE = frozenset({"is_test", "consumed_inputs", "broadcast", "output_sequence"})
_ARITHMETIC = frozenset({"Add", "Sub", "Mul", "Div", "Pow"})
_LOGIC = frozenset({"And", "Or", "Xor", "Less", "Greater", "Equal"})
_RENAMED = {("Pad", "paddings"): "pads"}


def modernise(node: Any, graph: Any, opset: int) -> None:
    """Rewrite a node of `graph`, and those in its bodies, from `opset` to opset 7; new constants go into `graph`."""
    if opset >= MODERN:
        return
    for attribute in node.attribute:
        for body in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
            for inner in body.node:
                modernise(inner, body, opset)
    if node.domain not in ("", "ai.onnx"):
        return
    given = {attribute.name: attribute for attribute in node.attribute}
    if node.op_type in _ARITHMETIC and "broadcast" in given and given["broadcast"].i and node.input:
        node.op_type = "Identity"
        del node.input[1:], node.attribute[:]
        return
    _rewrite(node, graph, given)
    gone = _GONE | ({"axis"} if node.op_type in _ARITHMETIC | _LOGIC else set())
    kept = [attribute for attribute in node.attribute if attribute.name not in gone]
    del node.attribute[:]
    node.attribute.extend(kept)


def _rewrite(node: Any, graph: Any, given: dict[str, Any]) -> None:
    """What one kind had in another way."""
    for (kind, old), new in _RENAMED.items():
        if node.op_type == kind and old in given:
            given[old].name = new
    if node.op_type == "Concat" and "axis" not in given:
        node.attribute.append(onnx.helper.make_attribute("axis", 1))
    elif node.op_type == "Reshape" and "shape" in given and len(node.input) == 1:
        name = f"{node.output[0]}:shape\x00"
        lengths = np.array(given["shape"].ints, dtype=np.int64)
        graph.initializer.append(onnx.numpy_helper.from_array(lengths, name))
        node.input.append(name)
        node.attribute.remove(given["shape"])
    elif node.op_type == "Cast" and "to" in given and given["to"].s:
        codes = dict(onnx.TensorProto.DataType.items())
        given["to"].i = codes.get(given["to"].s.decode("utf-8", "replace").upper(), onnx.TensorProto.UNDEFINED)
        given["to"].type = onnx.AttributeProto.INT
        given["to"].ClearField("s")
    elif node.op_type == "Upsample" and {"height_scale", "width_scale"} <= given.keys():
        scales = [1.0, 1.0, given["height_scale"].f, given["width_scale"].f]
        for name in ("height_scale", "width_scale"):
            node.attribute.remove(given[name])
        node.attribute.append(onnx.helper.make_attribute("scales", scales))
