"""A small hand for writing ONNX networks of which only structure and shapes matter."""  # noqa: INP001

import math
from collections.abc import Mapping, Sequence
from typing import Any

from onnx import ModelProto, TensorProto, helper

OPSET = 20
IR_VERSION = 9

Shape = Sequence[int | str]


class Network:
    """Nodes of one network while it is written. Weights are ConstantOfShape nodes: right in size, free in the file."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}
        self.inputs: list[Any] = []

    def input(self, name: str, shape: Shape, dtype: int = TensorProto.FLOAT) -> str:
        """A network input."""
        self.inputs.append(helper.make_tensor_value_info(name, dtype, list(shape)))
        return name

    def node(self, kind: str, inputs: Sequence[str], name: str, **attributes: Any) -> str:
        """A node with one output, which is called after it."""
        output = f"{name}_out"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], name=name, **attributes))
        return output

    def ints(self, values: Sequence[int]) -> str:
        """A small constant of integers, shared by all that need the same."""
        name = "ints_" + "_".join(map(str, values)).replace("-", "m")
        if name not in self.constants:
            self.constants[name] = helper.make_tensor(name, TensorProto.INT64, [len(values)], list(values))
        return name

    def scalar(self, value: float) -> str:
        """A constant number."""
        name = f"number_{value:g}".replace("-", "m").replace(".", "_")
        if name not in self.constants:
            self.constants[name] = helper.make_tensor(name, TensorProto.FLOAT, [], [value])
        return name

    def weight(self, name: str, *shape: int) -> str:
        """A weight of this shape."""
        self.nodes.append(helper.make_node("ConstantOfShape", [self.ints(shape)], [name]))
        return name

    def conv(self, x: str, name: str, cin: int, cout: int, kernel: int, **options: Any) -> str:
        """A convolution; options: `stride`, `pad` (default keeps the size), `group`, `bias`."""
        pad = options.get("pad", kernel // 2)
        group = options.get("group", 1)
        inputs = [x, self.weight(f"{name}.weight", cout, cin // group, kernel, kernel)]
        if options.get("bias", False):
            inputs.append(self.weight(f"{name}.bias", cout))
        attributes = {"kernel_shape": [kernel] * 2, "strides": [options.get("stride", 1)] * 2, "pads": [pad] * 4}
        return self.node("Conv", inputs, name, group=group, **attributes)

    def batch_norm(self, x: str, name: str, channels: int) -> str:
        """A batch normalisation with scale, shift and running statistics."""
        parts = ("weight", "bias", "running_mean", "running_var")
        return self.node("BatchNormalization", [x, *(self.weight(f"{name}.{p}", channels) for p in parts)], name)

    def relu(self, x: str, name: str) -> str:
        """A rectifier."""
        return self.node("Relu", [x], name)

    def max_pool(self, x: str, name: str, kernel: int, stride: int, **options: Any) -> str:
        """A maximum over windows; options: `pad`, `ceil`."""
        attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [options.get("pad", 0)] * 4}
        return self.node("MaxPool", [x], name, ceil_mode=int(options.get("ceil", False)), **attributes)

    def linear(self, x: str, name: str, cin: int, cout: int) -> str:
        """A dense layer on rows."""
        weights = [self.weight(f"{name}.weight", cout, cin), self.weight(f"{name}.bias", cout)]
        return self.node("Gemm", [x, *weights], name, transB=1)

    def projection(self, x: str, name: str, cin: int, cout: int) -> str:
        """A dense layer on the last axis of any tensor."""
        product = self.node("MatMul", [x, self.weight(f"{name}.weight", cin, cout)], f"{name}.matmul")
        return self.node("Add", [product, self.weight(f"{name}.bias", cout)], name)

    def layer_norm(self, x: str, name: str, width: int) -> str:
        """A normalisation of the last axis."""
        weights = [self.weight(f"{name}.weight", width), self.weight(f"{name}.bias", width)]
        return self.node("LayerNormalization", [x, *weights], name, axis=-1)

    def reshape(self, x: str, name: str, shape: Sequence[int]) -> str:
        """Another view of the same elements."""
        return self.node("Reshape", [x, self.ints(shape)], name)

    def attention(self, x: str, name: str, width: int, heads: int, masked: Mapping[str, str]) -> str:
        """Self-attention; `masked` has either `add` (a mask to add to the scores) or `where` (a mask to choose by)."""
        each = width // heads
        split = {}
        for part, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
            y = self.projection(x, f"{name}.{part}", width, width)
            y = self.reshape(y, f"{name}.{part}.split", [0, 0, heads, each])
            split[part] = self.node("Transpose", [y], f"{name}.{part}.heads", perm=order)
        scores = self.node("MatMul", [split["query"], split["key"]], f"{name}.scores")
        scores = self.node("Mul", [scores, self.scalar(1 / math.sqrt(each))], f"{name}.scale")
        if "add" in masked:
            scores = self.node("Add", [scores, masked["add"]], f"{name}.mask")
        else:
            scores = self.node("Where", [masked["where"], scores, self.scalar(-10000.0)], f"{name}.mask")
        chances = self.node("Softmax", [scores], f"{name}.softmax", axis=-1)
        mixed = self.node("MatMul", [chances, split["value"]], f"{name}.mix")
        mixed = self.node("Transpose", [mixed], f"{name}.rows", perm=[0, 2, 1, 3])
        return self.projection(self.reshape(mixed, f"{name}.join", [0, 0, width]), f"{name}.output", width, width)

    def model(self, output: str, shape: Shape) -> ModelProto:
        """The finished model with one output."""
        outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, list(shape))]
        graph = helper.make_graph(self.nodes, self.name, self.inputs, outputs, list(self.constants.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = IR_VERSION
        model.producer_name = "xengine-gui samples"
        return model
