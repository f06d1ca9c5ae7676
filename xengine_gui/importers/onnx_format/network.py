"""From an ONNX message to a network: storages, parameters, names and notes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import onnx

from xengine_gui.errors import InputError
from xengine_gui.importers.onnx_format.binding import Binding, bind, follow_batch
from xengine_gui.importers.onnx_format.order import check_edges, in_order
from xengine_gui.importers.onnx_format.records import (
    FileGraph,
    FileNode,
    constant_type,
    inner_constants,
    parse,
    printable,
)
from xengine_gui.importers.onnx_format.shapes import RANDOM_KINDS, Shapes, find_shapes
from xengine_gui.importers.onnx_format.trainable import is_trainable_slot
from xengine_gui.model.dtype import element_count, size_bytes
from xengine_gui.model.graph import GraphOperator, GraphParameter, GraphTensor, NetworkGraph
from xengine_gui.units import LARGEST, format_count, format_names

VIEW_KINDS = frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout"})
_OPTIONAL_OUTPUTS = frozenset({"Dropout", "BatchNormalization", "MaxPool", "LayerNormalization"})
_TRAINING_DOMAINS = ("ai.onnx.preview.training", "ai.onnx.training")
_OPTIMIZER_KINDS = frozenset({"SGDOptimizer", "AdamOptimizer", "AdamWOptimizer", "LambOptimizer", "SGD"})


def network_of(data: bytes, *, source: str, name: str, batch: int | None, bindings: Mapping[str, int]) -> NetworkGraph:
    """The network in the bytes of an ONNX file; `source` is what error sentences call the file."""
    graph = parse(data, source)
    check_edges(graph, source)
    nodes = in_order(graph, source)
    binding = bind(graph, source, batch=batch, bindings=bindings)
    if batch is not None and binding.batch_before not in (None, batch):
        unchanged = bind(graph, source, batch=None, bindings=bindings)
        before = find_shapes(graph, nodes, unchanged)
        static = {name: before.static(name) for name in before.types}
        follow_batch(nodes, binding, static, before.values)
    shapes = find_shapes(graph, nodes, binding)
    network = _Assembly(graph, nodes, binding, shapes).network(name)
    sizes = {t.name: t.size_bytes or 0 for t in network.tensors.values()}
    sizes |= {p.name: p.size_bytes or 0 for p in network.parameters.values()}
    beyond = [
        f"tensor {name!r} is larger than any machine's memory, above 2^128 bytes"
        for name, size in sizes.items()
        if size > LARGEST
    ]
    if beyond:
        raise InputError(source, beyond)
    return network


class _Assembly:
    """The steps from records and shapes to the finished network."""

    def __init__(self, graph: FileGraph, nodes: list[FileNode], binding: Binding, shapes: Shapes) -> None:
        self.graph = graph
        self.binding = binding
        self.shapes = shapes
        self.nodes = [node for node in nodes if not all(name in shapes.constants for name in node.outputs if name)]
        self.constant_nodes = {
            name: node for node in nodes for name in node.outputs if name and name in shapes.constants
        }
        self.read = {name for node in nodes for name in node.reads} | set(graph.outputs)
        self.shown: dict[str, str] = {}
        self.taken: set[str] = set()
        self.notes = [*graph.notes, *binding.notes, *shapes.notes]

    def network(self, name: str) -> NetworkGraph:
        operator_names = self._operator_names()
        tensors = self._tensors()
        parameters = self._parameters()
        operators = tuple(self._operator(node, operator_names[node.index], parameters) for node in self.nodes)
        outputs = tuple(dict.fromkeys(self._name(o) for o in self.graph.outputs if self._name(o) in tensors))
        self._tell(operators, tensors, parameters)
        return NetworkGraph(
            name=name,
            operators=operators,
            tensors=tensors,
            parameters=parameters,
            inputs=tuple(self._name(i) for i in self.graph.inputs),
            outputs=outputs,
            symbols={printable(symbol): value for symbol, value in self.binding.symbols.items()},
            notes=tuple(dict.fromkeys(self.notes)),
            has_backward=any(_is_backward(node) for node in self.nodes),
        )

    def _name(self, tensor: str) -> str:
        """The name by which a tensor is shown: printable, and no other's."""
        if tensor not in self.shown:
            name = printable(tensor)
            while name in self.taken:
                name += "'"
            self.taken.add(name)
            self.shown[tensor] = name
        return self.shown[tensor]

    def _operator_names(self) -> dict[int, str]:
        counts = Counter(node.name for node in self.nodes)
        taken = {printable(name) for name, count in counts.items() if name and count == 1}
        names: dict[int, str] = {}
        for node in self.nodes:
            name = printable(node.name)
            if not name or counts[node.name] > 1:
                name = f"{name or printable(node.kind)}_{node.index}"
                while name in taken:
                    name += "'"
                taken.add(name)
            names[node.index] = name
        unnamed, repeated = counts[""], sum(1 for name, count in counts.items() if name and count > 1)
        if unnamed:
            self.notes.append(
                f"{format_count(unnamed, 'operator')} without a name: called by kind and place, like Relu_12"
            )
        if repeated:
            self.notes.append(
                f"{format_count(repeated, 'operator name')} used more than once: places were added to them"
            )
        return names

    def _tensors(self) -> dict[str, GraphTensor]:
        tensors: dict[str, GraphTensor] = {}
        storage: dict[str, str] = {}
        for name in self.graph.inputs:
            storage[name] = name
            tensors[self._name(name)] = self._tensor(name, name)
        for node in self.nodes:
            for place, name in enumerate(self._outputs(node)):
                if name:
                    source = node.inputs[0] if place == 0 and self._is_view(node) else ""
                    storage[name] = storage.get(source, name)
                    tensors[self._name(name)] = self._tensor(name, storage[name])
        return tensors

    def _outputs(self, node: FileNode) -> tuple[str, ...]:
        """The outputs that are computed: optional ones that nothing reads are not."""
        if node.domain or node.kind not in _OPTIONAL_OUTPUTS:
            return node.outputs
        return tuple(name for place, name in enumerate(node.outputs) if place == 0 or name in self.read)

    def _tensor(self, name: str, storage: str) -> GraphTensor:
        shape, dtype = self.shapes.static(name), self._dtype(name)
        return GraphTensor(self._name(name), shape, dtype, size_bytes(dtype, element_count(shape)), self._name(storage))

    def _dtype(self, name: str) -> str:
        declared = self.shapes.types.get(name) or self.graph.declared.get(name)
        return declared.dtype if declared else "unknown"

    def _is_view(self, node: FileNode) -> bool:
        if node.kind not in VIEW_KINDS or node.domain or not node.inputs or node.inputs[0] in self.shapes.constants:
            return False
        return node.kind != "Dropout" or not self._drops_at_random(node)

    def _drops_at_random(self, node: FileNode) -> bool:
        """Whether a Dropout is in training mode; one whose mode is computed may be."""
        if node.kind != "Dropout" or len(node.inputs) < 3 or not node.inputs[2]:
            return False
        mode = self.shapes.values.get(node.inputs[2])
        return True if mode is None else bool(mode.any())

    def _parameters(self) -> dict[str, GraphParameter]:
        parameters: dict[str, GraphParameter] = {}
        for node in self.nodes:
            for slot, name in enumerate((*node.inputs, *node.captures)):
                if not name or name not in self.shapes.constants:
                    continue
                trainable = self._is_trainable(node, slot, name)
                known = parameters.get(self._name(name))
                if known is None or (trainable and not known.trainable):
                    parameters[self._name(name)] = self._parameter(name, trainable=trainable)
            for name, inner in self._inner(node):
                found = constant_type(inner.data_type, inner.dims)
                size = size_bytes(found.dtype, element_count(found.static))
                parameters[name] = GraphParameter(name, found.static, found.dtype, size, name)
        return parameters

    def _inner(self, node: FileNode) -> Iterator[tuple[str, Any]]:
        """Constants inside a node's sub-graphs, with the names they are given here."""
        for place, tensor in enumerate(inner_constants(node)):
            yield self._name(f"{node.index}/{place}/{tensor.name}"), tensor

    def _parameter(self, name: str, *, trainable: bool) -> GraphParameter:
        root = name
        while (node := self.constant_nodes.get(root)) is not None and node.kind in VIEW_KINDS and not node.domain:
            if not node.inputs:  # a damaged file; there is nothing to view
                break
            root = node.inputs[0]
        shape, dtype = self.shapes.static(name), self._dtype(name)
        size = size_bytes(dtype, element_count(shape))
        value = self.shapes.values.get(name)
        if shape is None and value is not None:
            shape, size = value.shape, int(value.nbytes)
        return GraphParameter(self._name(name), shape, dtype, size, self._name(root), trainable=trainable)

    def _is_trainable(self, node: FileNode, slot: int, name: str) -> bool:
        if node.domain and not onnx.defs.has(node.kind):
            return False
        maker = self.constant_nodes.get(name)
        is_literal = maker is not None and maker.kind == "Constant"
        count = element_count(self.shapes.static(name))
        return is_trainable_slot(
            node.kind, slot, dtype=self._dtype(name), single=count is not None and count <= 1, literal=is_literal
        )

    def _operator(self, node: FileNode, name: str, parameters: Mapping[str, GraphParameter]) -> GraphOperator:
        read = [self._name(n) for n in (*node.inputs, *node.captures) if n in self.shapes.constants]
        inner = [name for name, _ in self._inner(node)]
        return GraphOperator(
            name=name,
            kind=printable(node.kind),
            inputs=tuple(self._name(i) if i else "" for i in node.inputs),
            outputs=tuple(self._name(o) if o else "" for o in self._outputs(node)),
            parameters=tuple(p for p in dict.fromkeys([*read, *inner]) if p in parameters),
            captures=tuple(self._name(c) for c in node.captures if c not in self.shapes.constants),
            attributes=node.attributes,
            domain=node.domain,
            view=self._is_view(node),
            recomputable=node.kind not in RANDOM_KINDS and not self._drops_at_random(node),
            known=bool(onnx.defs.has(node.kind, node.domain)),
        )

    def _tell(
        self,
        operators: Iterable[GraphOperator],
        tensors: Mapping[str, GraphTensor],
        parameters: Mapping[str, GraphParameter],
    ) -> None:
        strange = Counter(f"{o.domain}.{o.kind}" if o.domain else o.kind for o in operators if not o.known)
        if strange:
            self.notes.append(f"Unknown operators, kept as they are: {format_names(strange)}")
        if any(operator.captures or operator.kind in ("If", "Loop", "Scan") for operator in operators):
            self.notes.append("Control flow is one opaque operator each; what happens inside it is not planned")
        random = [operator.name for operator in operators if not operator.recomputable]
        if random:
            self.notes.append(f"Random results are not recomputed: {format_names(random)}")
        unknown = [tensor.name for tensor in tensors.values() if tensor.size_bytes is None]
        unknown += [parameter.name for parameter in parameters.values() if parameter.size_bytes is None]
        if unknown:
            self.notes.append(f"Unknown size of {format_count(len(unknown), 'tensor')}: {format_names(unknown)}")
        empty = [t.name for t in tensors.values() if t.size_bytes == 0]
        if empty:
            self.notes.append(
                f"{format_count(len(empty), 'tensor')} of 0 bytes, as a dimension is 0: {format_names(empty)}"
            )
        constant = [self._name(o) for o in self.graph.outputs if o in self.shapes.constants]
        if constant:
            self.notes.append(f"Outputs that depend on no input are parameters: {format_names(constant)}")
        if any(_is_backward(node) for node in self.nodes):
            self.notes.append("The file already has a backward: it is planned as it is, not differentiated again")


def _is_backward(node: FileNode) -> bool:
    return node.domain in _TRAINING_DOMAINS or node.kind.endswith("Grad") or node.kind in _OPTIMIZER_KINDS
