"""From an exported program of PyTorch to a network."""

import operator as python_operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xengine_gui.importers.torch_format.attributes import onnx_attributes
from xengine_gui.importers.torch_format.kinds import KINDS, RECURRENT, VIEWS, Kind
from xengine_gui.importers.torch_format.recurrent import layers_of
from xengine_gui.model.dtype import element_count, size_bytes
from xengine_gui.model.graph import Attribute, GraphOperator, GraphParameter, GraphTensor, NetworkGraph
from xengine_gui.units import format_names

_RANDOM = frozenset({"RandomUniformLike"})
READS = "backward_reads"
"""The attribute by which an operator says itself what its backward reads."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an operator in the program: its name without overload, arguments by name, and what it gives."""

    node: Any
    name: str
    in_place: bool
    arguments: Mapping[str, Any]
    values: tuple[Any, ...]


def network_of(program: Any, *, name: str) -> NetworkGraph:
    """The network of an exported program; results that nothing reads are left out."""
    return Assembly(program).network(name)


class Assembly:
    """Operators, tensors and parameters of a network while the program is gone through."""

    def __init__(self, program: Any) -> None:
        self.program = program
        self.names: dict[Any, str] = {}
        self.outputs_of: dict[Any, tuple[str, ...]] = {}
        self.tensors: dict[str, GraphTensor] = {}
        self.parameters: dict[str, GraphParameter] = {}
        self.operators: list[GraphOperator] = []
        self.inputs: list[str] = []
        self.unknown: dict[str, None] = {}

    def network(self, name: str) -> NetworkGraph:
        """The finished network."""
        specs = {spec.arg.name: spec for spec in self.program.graph_signature.input_specs if hasattr(spec.arg, "name")}
        wanted = {spec.arg.name for spec in self.program.graph_signature.output_specs if "USER" in str(spec.kind)}
        outputs: list[str] = []
        for node in self.program.graph.nodes:
            if node.op == "placeholder":
                self._placeholder(node, specs[node.name])
            elif node.op == "get_attr":
                self._parameter(node, node.name, trainable=False)
            elif node.op == "call_function":
                self._call(node)
            elif node.op == "output":
                outputs = [self.names[n] for n in node.all_input_nodes if n.name in wanted and n in self.names]
        notes = ["Exported from PyTorch with the shapes of the example inputs"]
        if self.unknown:
            notes.append(f"Unknown operators, kept as they are: {format_names(self.unknown)}")
        shown = tuple(dict.fromkeys(o for o in outputs if o in self.tensors))
        return NetworkGraph(
            name=name, operators=tuple(self.operators), tensors=self.tensors, parameters=self.parameters,
            inputs=tuple(self.inputs), outputs=shown, notes=tuple(notes),
        )  # fmt: skip

    # -- what is given

    def _placeholder(self, node: Any, spec: Any) -> None:
        kind = str(spec.kind)
        if "USER_INPUT" in kind:
            if _is_tensor(node.meta.get("val")):
                self.inputs.append(self._tensor(node, node.name, node.meta["val"]))
            return
        state = self.program.state_dict.get(spec.target) if spec.target else None
        trainable = "PARAMETER" in kind and state is not None and bool(state.requires_grad)
        self._parameter(node, spec.target or node.name, trainable=trainable)

    def _parameter(self, node: Any, name: str, *, trainable: bool) -> None:
        value = node.meta.get("val")
        if not _is_tensor(value):
            return
        shape, dtype = shape_of(value), dtype_of(value)
        self.names[node] = name
        self.parameters[name] = GraphParameter(
            name, shape, dtype, size_bytes(dtype, element_count(shape)), name, trainable=trainable
        )

    def _tensor(self, node: Any, name: str, value: Any, storage: str = "") -> str:
        self.names[node] = name
        return self.add_tensor(name, shape_of(value), dtype_of(value), storage)

    def add_tensor(self, name: str, shape: tuple[int, ...] | None, dtype: str, storage: str = "") -> str:
        """A tensor of the network, with bytes of its own unless it has another's `storage`."""
        size = size_bytes(dtype, element_count(shape))
        self.tensors[name] = GraphTensor(name, shape, dtype, size, storage or name)
        return name

    # -- calls

    def _call(self, node: Any) -> None:
        if node.target is python_operator.getitem:
            source, place = node.args
            names = self.outputs_of.get(source, ())
            if isinstance(place, int) and place < len(names):
                self.names[node] = names[place]
            return
        value = node.meta.get("val")
        values = tuple(value) if isinstance(value, tuple | list) else (value,)
        if not any(_is_tensor(v) for v in values):
            return
        call = _called(node, values)
        if call.in_place and not node.users and self._only_constants(call):
            return  # a counter of batches
        if call.name in RECURRENT:
            layers_of(self, call)
        elif call.name == "broadcast_tensors" and self._agree(call):
            self.outputs_of[node] = tuple(self.named(call.arguments.get("tensors")))
        elif call.name in VIEWS or self._drops_nothing(call):
            self._view(call)
        else:
            self._operator(call, _kind_of(call))
        if call.in_place and call.node.args and call.node in self.names:
            # What reads the old tensor from here on reads the new one.
            self.names[call.node.args[0]] = self.names[call.node]

    def _agree(self, call: Call) -> bool:
        return len({shape_of(n.meta["val"]) for n in call.node.all_input_nodes}) == 1

    def _only_constants(self, call: Call) -> bool:
        return all(self.names.get(n) in self.parameters for n in call.node.all_input_nodes)

    def _drops_nothing(self, call: Call) -> bool:
        return call.name == "dropout" and (not call.arguments.get("train") or not call.arguments.get("p"))

    def _view(self, call: Call) -> None:
        source = call.node.all_input_nodes[0]
        name, value = self.names.get(source, ""), call.values[0]
        same = dtype_of(source.meta["val"]) == dtype_of(value) and _is_viewable(source.meta["val"], value)
        parameter = self.parameters.get(name)
        if parameter is not None and same:
            self.names[call.node] = call.node.name
            self.parameters[call.node.name] = GraphParameter(
                call.node.name, shape_of(value), parameter.dtype, parameter.size_bytes, parameter.storage,
                trainable=parameter.trainable,
            )  # fmt: skip
            return
        kind = Kind("Reshape" if same else "Cast" if dtype_of(source.meta["val"]) != dtype_of(value) else "Identity")
        self._operator(call, kind, view=same)

    def _operator(self, call: Call, kind: Kind | None, *, view: bool = False) -> None:
        name = call.node.name
        slots = self._slots(call, kind)
        if kind is None:
            self.unknown[call.name] = None
        attributes = _attributes(call, kind)
        is_dropout = kind is not None and kind.kind == "Dropout"
        view = view or is_dropout
        storage = self.tensors[slots[0]].storage if view and slots and slots[0] in self.tensors else ""
        outputs = [
            self._tensor(call.node, name if place == 0 else f"{name}.{place}", value, storage if place == 0 else "")
            if _is_tensor(value) else ""
            for place, value in enumerate(call.values)
        ]  # fmt: skip
        self.names[call.node] = outputs[0]
        self.outputs_of[call.node] = tuple(outputs)
        if kind is not None and kind.extra:
            dtype = "int64" if kind.extra == "indices" else dtype_of(call.values[0])
            source = self.tensors.get(slots[0])
            shape = shape_of(call.values[0]) if kind.extra == "indices" or source is None else source.shape
            outputs.append(self.add_tensor(f"{name}.{kind.extra}", shape, dtype))
        self.add_operator(
            call, kind.kind if kind else call.name, slots, tuple(outputs), attributes, view=view, known=kind is not None
        )

    def add_operator(
        self, call: Call, kind: str, inputs: tuple[str, ...], outputs: tuple[str, ...],
        attributes: Mapping[str, Attribute], *, name: str = "", view: bool = False, known: bool = True,
    ) -> None:  # fmt: skip
        """An operator of the network."""
        self.operators.append(
            GraphOperator(
                name=_shown(call.node, name or call.node.name),
                kind=kind,
                inputs=inputs,
                outputs=outputs,
                parameters=tuple(dict.fromkeys(i for i in inputs if i in self.parameters)),
                attributes=attributes,
                domain="" if known else "torch",
                view=view,
                recomputable=kind not in _RANDOM,
                known=known,
            )
        )

    def _slots(self, call: Call, kind: Kind | None) -> tuple[str, ...]:
        if kind is None or not kind.slots:
            return tuple(self.names[n] for n in call.node.all_input_nodes if n in self.names)
        names: list[str] = []
        for slot in kind.slots:
            if slot and slot not in call.arguments:
                continue
            names += self.named(call.arguments.get(slot))
        while names and not names[-1]:
            names.pop()
        return tuple(names)

    def named(self, value: Any) -> list[str]:
        """The tensors in an argument by name, empty for one that is none."""
        if isinstance(value, tuple | list):
            return [name for item in value for name in self.named(item)]
        return [self.names.get(value, "") if hasattr(value, "meta") else ""]


def _called(node: Any, values: tuple[Any, ...]) -> Call:
    schema = getattr(node.target, "_schema", None)
    whole = schema.name.split("::")[-1] if schema is not None else getattr(node.target, "__name__", str(node.target))
    names = [argument.name for argument in schema.arguments] if schema is not None else []
    arguments = {**dict(zip(names, node.args, strict=False)), **node.kwargs}
    in_place = whole.endswith("_") and not whole.endswith("__")
    return Call(node, whole[:-1] if in_place else whole, in_place, arguments, values)


def _kind_of(call: Call) -> Kind | None:
    if call.name.startswith("adaptive_avg") and set(_lengths(call.arguments.get("output_size"))) == {1}:
        return Kind("GlobalAveragePool", ("self",))  # a mean, to PyTorch too
    return KINDS.get(call.name)


def _attributes(call: Call, kind: Kind | None) -> dict[str, Attribute]:
    attributes: dict[str, Attribute] = {}
    if kind is None:
        return attributes
    for argument, attribute in (kind.attributes or {}).items():
        value = call.arguments.get(argument)
        if isinstance(value, int | float | str):
            attributes[attribute] = value
        elif isinstance(value, tuple | list) and value:
            attributes[attribute] = tuple(int(v) for v in value)
    shape = shape_of(call.values[0]) if _is_tensor(call.values[0]) else None
    attributes.update(onnx_attributes(call.name, kind.kind, call.arguments, len(shape or ())))
    if kind.kind == "LayerNormalization":
        attributes["axis"] = -len(call.arguments.get("normalized_shape") or (1,))
    reads = kind.reads_in_place if call.in_place and kind.reads_in_place is not None else kind.reads
    if reads == ("o1",) and len(call.values) < 2:
        reads = ("i0", "o0")
    if kind.kind == "BatchNormalization" and not call.arguments.get("training"):
        reads = ("i0", "i1")
    if reads is not None:
        attributes[READS] = reads
    return attributes


def _lengths(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def _shown(node: Any, name: str) -> str:
    """An operator's name with the place of its module before it: `layer1.0.conv1/conv2d_3`."""
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    path = stack[-1][0] if stack else ""
    return f"{path.removeprefix('L__self___')}/{name}" if path else name


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "dtype") and hasattr(value, "shape")


def shape_of(value: Any) -> tuple[int, ...] | None:
    """The shape of a tensor, `None` where a length depends on values."""
    lengths = tuple(value.shape)
    return tuple(int(n) for n in lengths) if all(isinstance(n, int) for n in lengths) else None


def dtype_of(value: Any) -> str:
    """The name of a tensor's type as it is used here."""
    name = str(value.dtype).removeprefix("torch.")
    return name.replace("_", "") if name.startswith("float8") else name


def _is_viewable(source: Any, value: Any) -> bool:
    """Whether PyTorch can give the result without a copy, as far as the strides tell."""
    if tuple(source.stride()) == tuple(value.stride()) and tuple(source.shape) == tuple(value.shape):
        return True
    if None in (*source.stride(), *source.shape, *value.stride(), *value.shape):
        return False  # of a saved program with lengths that depend on values
    sizes = sorted(zip(source.stride(), source.shape, strict=True))
    moved = sorted(zip(value.stride(), value.shape, strict=True))
    if [pair for pair in sizes if pair[1] != 1] == [pair for pair in moved if pair[1] != 1]:
        return True
    try:
        source.view(tuple(value.shape))
    except (RuntimeError, ValueError):
        return False
    return bool(value.is_contiguous()) or not source.is_contiguous()
