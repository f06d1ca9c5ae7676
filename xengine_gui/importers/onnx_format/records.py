"""An ONNX message as plain records: nodes, constants, inputs and outputs, with names that can be shown."""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import onnx
import onnx.inliner
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from xengine_gui.errors import InputError
from xengine_gui.importers.onnx_format.look import what_is_broken
from xengine_gui.model.graph import Attribute

Dim = int | str | None
"""A dimension as declared: its length, its symbol, or nothing."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A type as a file declares it: dtype in lower case, and dimensions (`None`: not even the rank is known)."""

    dtype: str
    dims: tuple[Dim, ...] | None

    @property
    def static(self) -> tuple[int, ...] | None:
        """The shape if every dimension of it is known."""
        lengths = tuple(dim for dim in self.dims or () if isinstance(dim, int))
        return lengths if self.dims is not None and len(lengths) == len(self.dims) else None


@dataclass(frozen=True, slots=True)
class FileNode:
    """One node of the file; `index` is its place there, `captures` what its sub-graphs read from outside."""

    index: int
    kind: str
    domain: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    captures: tuple[str, ...]
    attributes: Mapping[str, Attribute]
    proto: Any

    @property
    def reads(self) -> Iterator[str]:
        """Every tensor that it reads, captures among them; omitted slots left out."""
        yield from (name for name in self.inputs if name)
        yield from self.captures

    @property
    def place(self) -> str:
        """How a sentence calls it: `node #3 (Relu, 'r3')`."""
        label = f", {printable(self.name)!r}" if self.name else ""
        return f"node #{self.index} ({self.kind}{label})"


@dataclass
class FileGraph:
    """A file's network as it stands there; `declared` has all types that it states, intermediate ones too."""

    model: Any
    nodes: list[FileNode]
    initializers: dict[str, Any]
    sparse: dict[str, Declared]
    inputs: list[str]
    outputs: list[str]
    declared: dict[str, Declared]
    notes: list[str] = field(default_factory=list)

    @property
    def given(self) -> set[str]:
        """Names that no node produces: inputs and initializers."""
        return {*self.inputs, *self.initializers, *self.sparse}


def printable(name: str) -> str:
    """The name with control and invisible characters as escapes, fit for a terminal, a picture or any file."""
    if name.isprintable():
        return name
    return "".join(
        c if c.isprintable() else f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\u{ord(c):04x}"
        for c in unicodedata.normalize("NFC", name)
    )


def parse(data: bytes, source: str) -> FileGraph:
    """The records of an ONNX message. Raises an `InputError` for bytes that are none, or that hold no network."""
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError:
        raise InputError(source, f"this is no ONNX network: the file {what_is_broken(data)}") from None
    if not model.HasField("graph"):
        raise InputError(source, "this is no ONNX network: the file holds no graph")
    if not _is_all_text(model):
        raise InputError(source, "the file is damaged: a name in it is no valid text")
    notes = _version_notes(model)
    model = _without_functions(model, notes)
    graph = model.graph
    if not graph.node and not graph.output:
        raise InputError(source, "the network has no operators and no outputs")
    declared = {value.name: declared_type(value.type) for value in graph.value_info}
    declared |= {value.name: declared_type(value.type) for value in graph.output}
    declared |= {value.name: declared_type(value.type) for value in graph.input}
    initializers = {tensor.name: tensor for tensor in graph.initializer}
    sparse = {
        tensor.values.name: constant_type(tensor.values.data_type, tensor.dims) for tensor in graph.sparse_initializer
    }
    if any(_is_outside(tensor) for tensor in graph.initializer):
        notes.append("Weights are stored outside the file; sizes come from their shapes, no other file was opened")
    return FileGraph(
        model=model,
        nodes=[_node(index, proto) for index, proto in enumerate(graph.node)],
        initializers=initializers,
        sparse=sparse,
        inputs=[v.name for v in graph.input if v.name not in initializers and v.name not in sparse],
        outputs=[value.name for value in graph.output],
        declared=declared,
        notes=notes,
    )


def _is_all_text(model: Any) -> bool:
    """Whether every name is valid UTF-8: the parser hands others on as bytes."""
    names = [entry.domain for entry in model.opset_import]
    for function in model.functions:
        names += [function.domain, function.name, *function.input, *function.output]
    for block in (model.graph, *model.functions):
        for node in _all_nodes(block.node):
            names += [node.name, node.op_type, node.domain, *node.input, *node.output]
            names += [attribute.name for attribute in node.attribute]
    for graph in _all_graphs(model.graph):
        names += [tensor.name for tensor in graph.initializer]
        names += [tensor.values.name for tensor in graph.sparse_initializer]
        for value in (*graph.input, *graph.output, *graph.value_info):
            names.append(value.name)
            names += [dim.dim_param for dim in value.type.tensor_type.shape.dim]
    return all(isinstance(name, str) for name in names)


def dtype_name(data_type: int) -> str:
    """The name of an element type in lower case: `float32`, `int4`, `string`; `unknown` for none or a new one."""
    try:
        name = str(onnx.TensorProto.DataType.Name(data_type)).lower()
    except ValueError:
        return "unknown"
    return {"float": "float32", "double": "float64", "undefined": "unknown"}.get(name, name)


def declared_type(proto: Any) -> Declared:
    """Dtype and dimensions of a type; sequences, maps and optionals have neither."""
    kind = proto.WhichOneof("value")
    if kind not in ("tensor_type", "sparse_tensor_type"):
        return Declared(kind.removesuffix("_type") if kind else "unknown", None)
    tensor = getattr(proto, kind)
    dims = tuple(_dim(d) for d in tensor.shape.dim) if tensor.HasField("shape") else None
    return Declared(dtype_name(tensor.elem_type), dims)


def constant_type(data_type: int, lengths: Iterable[int]) -> Declared:
    """The type of a constant; a negative length, which only a damaged file has, is unknown."""
    return Declared(dtype_name(data_type), tuple(length if length >= 0 else None for length in lengths))


def _dim(proto: Any) -> Dim:
    kind = proto.WhichOneof("value")
    if kind == "dim_value" and proto.dim_value >= 0:
        return int(proto.dim_value)
    return str(proto.dim_param) or None if kind == "dim_param" else None


def _is_outside(tensor: Any) -> bool:
    return bool(tensor.data_location == onnx.TensorProto.EXTERNAL)


def _version_notes(model: Any) -> list[str]:
    notes = []
    if model.ir_version > onnx.IR_VERSION:
        notes.append(
            f"The file has IR version {model.ir_version}, newer than {onnx.IR_VERSION}; it is read all the same"
        )
    newest = onnx.defs.onnx_opset_version()
    versions = [entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")]
    if versions and max(versions) > newest:
        notes.append(
            f"The file uses opset {max(versions)}, newer than {newest}; operators are read as of opset {newest}"
        )
    return notes


def _without_functions(model: Any, notes: list[str]) -> Any:
    if not model.functions:
        return model
    circle = _recursive_function(model)
    if circle:
        notes.append(f"Local function {printable(circle)} calls itself; its calls stay unknown operators")
        return model
    try:
        inlined = onnx.inliner.inline_local_functions(model)
    except Exception as error:  # noqa: BLE001 - the inliner raises whatever its C++ side throws
        reason = printable(str(error).splitlines()[0])
        notes.append(f"Local functions could not be inlined ({reason}); their calls stay unknown operators")
        return model
    notes.append(f"{len(model.functions)} local function{'s were' if len(model.functions) > 1 else ' was'} inlined")
    return inlined


def _recursive_function(model: Any) -> str:
    calls = {(f.domain, f.name): {(n.domain, n.op_type) for n in _all_nodes(f.node)} for f in model.functions}
    finished: set[tuple[str, str]] = set()
    for start in calls:
        path: list[tuple[str, str]] = []
        stack = [(start, False)]
        while stack:
            key, leave = stack.pop()
            if leave:
                finished.add(path.pop())
            elif key in path:
                return key[1]
            elif key in calls and key not in finished:
                path.append(key)
                stack.append((key, True))
                stack.extend((called, False) for called in calls[key])
    return ""


def _all_nodes(nodes: Any) -> Iterator[Any]:
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else ())):
                yield from _all_nodes(graph.node)


def _all_graphs(graph: Any) -> Iterator[Any]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else ())):
                yield from _all_graphs(inner)


def _node(index: int, proto: Any) -> FileNode:
    attributes: dict[str, Attribute] = {}
    captures: dict[str, None] = {}
    for attribute in proto.attribute:
        if attribute.HasField("g"):
            captures.update(dict.fromkeys(_captures(attribute.g)))
        for graph in attribute.graphs:
            captures.update(dict.fromkeys(_captures(graph)))
        value = _attribute(attribute)
        if value is not None:
            attributes[attribute.name] = value
    inputs = tuple(proto.input)
    return FileNode(
        index=index,
        kind=proto.op_type,
        domain="" if proto.domain == "ai.onnx" else proto.domain,
        name=proto.name,
        inputs=inputs,
        outputs=tuple(proto.output),
        captures=tuple(name for name in captures if name not in inputs),
        attributes=attributes,
        proto=proto,
    )


def _attribute(proto: Any) -> Attribute | None:
    reader = _ATTRIBUTES.get(proto.type)
    return None if reader is None else reader(proto)


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


_ATTRIBUTES: Mapping[int, Callable[[Any], Attribute]] = {
    onnx.AttributeProto.INT: lambda a: int(a.i),
    onnx.AttributeProto.FLOAT: lambda a: float(a.f),
    onnx.AttributeProto.STRING: lambda a: _text(a.s),
    onnx.AttributeProto.INTS: lambda a: tuple(a.ints),
    onnx.AttributeProto.FLOATS: lambda a: tuple(a.floats),
    onnx.AttributeProto.STRINGS: lambda a: tuple(_text(s) for s in a.strings),
}


def _captures(graph: Any) -> Iterator[str]:
    """Names that a sub-graph reads and does not define itself."""
    own = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    for node in graph.node:
        own.update(node.output)
    for node in graph.node:
        yield from (name for name in node.input if name and name not in own)
        for attribute in node.attribute:
            for inner in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else ())):
                yield from (name for name in _captures(inner) if name not in own)
    yield from (value.name for value in graph.output if value.name and value.name not in own)


def inner_constants(node: FileNode) -> Iterator[Any]:
    """Weights that stand inside a node's sub-graphs, as tensor messages."""
    for attribute in node.proto.attribute:
        for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else ())):
            yield from graph.initializer
            for inner in _all_nodes(graph.node):
                yield from (a.t for a in inner.attribute if inner.op_type == "Constant" and a.HasField("t"))
