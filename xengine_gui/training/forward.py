"""The forward part of both graphs: storages in place of views, inputs as operators, parameters with their state."""

from collections.abc import Iterable

from xengine_gui.model.graph import (
    GraphOperator,
    NetworkGraph,
    ParameterState,
    TrainingGraph,
    TrainingOperator,
    TrainingTensor,
)
from xengine_gui.model.operator import Phase
from xengine_gui.units import format_names

INPUT_NOTE = "A network input is an operator of kind Input: the batch can be loaded again, so it is recomputable"


class GraphBuilder:
    """Operators, tensors and parameters of a graph while it is made."""

    def __init__(self, network: NetworkGraph, *, training: bool) -> None:
        self.network = network
        self.training = training
        self.operators: list[TrainingOperator] = []
        self.tensors: dict[str, TrainingTensor] = {}
        self.notes: list[str] = []
        self._operator_names = {operator.name for operator in network.operators}
        self._tensor_names = set(network.tensors)
        self.storage = self._storages()

    def _storages(self) -> dict[str, str]:
        """The storage of every tensor. A Dropout is a view at inference alone: training draws a mask."""
        storage = {name: name for name in self.network.inputs}
        for operator in self.network.operators:
            for place, name in enumerate(operator.outputs):
                if name:
                    storage[name] = storage[operator.inputs[0]] if place == 0 and self.is_view(operator) else name
        return storage

    def is_view(self, operator: GraphOperator) -> bool:
        """Whether the operator's first output shares the bytes of its first input, so that nothing runs."""
        return operator.view and not (self.training and operator.kind == "Dropout")

    def reads(self, operator: GraphOperator) -> tuple[str, ...]:
        """The storages that an operator reads, each once; parameters are none."""
        names = (*operator.inputs, *operator.captures)
        return tuple(dict.fromkeys(self.storage[name] for name in names if name in self.storage))

    def parameter_storages(self, names: Iterable[str]) -> tuple[str, ...]:
        """The storages of the parameters among `names`, each once."""
        parameters = self.network.parameters
        return tuple(dict.fromkeys(parameters[name].storage for name in names if name in parameters))

    def tensor(self, name: str, size_bytes: int | None) -> str:
        """Add a tensor of this graph's own and return its name, made different from every other where it must be."""
        while name in self._tensor_names:
            name += "'"
        self._tensor_names.add(name)
        self.tensors[name] = TrainingTensor(name, size_bytes)
        return name

    def operator_name(self, name: str) -> str:
        """The name for an operator of this graph's own, made different from every other where it must be."""
        while name in self._operator_names:
            name += "'"
        self._operator_names.add(name)
        return name

    def add_network_tensor(self, name: str) -> None:
        """Add a storage of the network itself."""
        self.tensors[name] = TrainingTensor(name, self.network.tensors[name].size_bytes)

    def add_inputs(self) -> None:
        """An operator without inputs for every network input that something reads or that is an output."""
        used = {name for operator in self.network.operators for name in self.reads(operator)}
        used.update(self.storage[name] for name in self.network.outputs)
        unused = [name for name in self.network.inputs if name not in used]
        for name in self.network.inputs:
            if name in used:
                self.add_network_tensor(name)
                self.operators.append(
                    TrainingOperator(self.operator_name(name), "Input", Phase.FORWARD, inputs=(), outputs=(name,))
                )
        if any(name in used for name in self.network.inputs):
            self.notes.append(INPUT_NOTE)
        if unused:
            self.notes.append(f"Nothing reads the inputs {format_names(unused)}; they are left out")

    def add_forward(self, operator: GraphOperator, extra: tuple[str, ...] = (), *, recomputable: bool = True) -> None:
        """The operator's forward; `extra` are tensors that it writes for its backward."""
        written = tuple(name for name in operator.outputs if name and self.storage[name] == name)
        for name in written:
            self.add_network_tensor(name)
        self.operators.append(
            TrainingOperator(
                name=operator.name,
                kind=operator.kind,
                phase=Phase.FORWARD,
                inputs=self.reads(operator),
                outputs=written + extra,
                parameters=self.parameter_storages(operator.parameters),
                recomputable=recomputable and operator.recomputable,
                forward=operator,
            )
        )

    def parameter_states(self, factor: int) -> dict[str, ParameterState]:
        """The storages of parameters that operators use; trainable ones take `factor` times their bytes."""
        used = {name for operator in self.operators for name in operator.parameters}
        states: dict[str, ParameterState] = {}
        for parameter in self.network.parameters.values():
            if parameter.storage not in used:
                continue
            known = states.get(parameter.storage)
            trainable = parameter.trainable or (known is not None and known.trainable)
            size = parameter.size_bytes
            whole = size * factor if trainable and size is not None else size
            states[parameter.storage] = ParameterState(parameter.storage, whole, size, trainable)
        return states

    def graph(self, *, factor: int, optimizer: str | None, keep: tuple[str, ...] = ()) -> TrainingGraph:
        """The finished graph."""
        return TrainingGraph(
            name=self.network.name,
            network=self.network,
            operators=tuple(self.operators),
            tensors=self.tensors,
            parameters=self.parameter_states(factor),
            keep=keep,
            notes=(*self.network.notes, *self.notes),
            optimizer=optimizer,
        )


def inference_graph(network: NetworkGraph) -> TrainingGraph:
    """One inference: the forward alone, views left out, the network's outputs kept to the end."""
    builder = GraphBuilder(network, training=False)
    builder.add_inputs()
    for operator in network.operators:
        if not builder.is_view(operator):
            builder.add_forward(operator)
    keep = tuple(dict.fromkeys(builder.storage[name] for name in network.outputs))
    return builder.graph(factor=1, optimizer=None, keep=keep)
