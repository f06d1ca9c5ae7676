"""Networks as they are read, and the graphs of a training step or an inference that are made of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from xengine_gui.model.dtype import BITS, element_count
from xengine_gui.model.operator import Phase

Attribute = int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GraphTensor:
    """One result (or input) of a network. Shape and size are `None` where they are unknown, never 0.

    `storage` names the tensor that owns the bytes: a view (Reshape, Identity and the like) has its source's storage.
    """

    name: str
    shape: tuple[int, ...] | None
    dtype: str
    size_bytes: int | None
    storage: str

    @property
    def element_count(self) -> int | None:
        """Number of elements, by the size where the shape is unknown; `None` where that is too."""
        if self.shape is None and self.size_bytes is not None and self.dtype in BITS:
            return self.size_bytes * 8 // BITS[self.dtype]
        return element_count(self.shape)


@dataclass(frozen=True, slots=True)
class GraphParameter:
    """A constant of a network: weights, statistics, shape constants. Training updates only the trainable ones.

    `storage` is the name of the constant that owns the bytes; views of one constant share it.
    """

    name: str
    shape: tuple[int, ...] | None
    dtype: str
    size_bytes: int | None
    storage: str
    trainable: bool = False


@dataclass(frozen=True, slots=True)
class GraphOperator:
    """One operator of a network, with the names of what it reads in the order of its slots (empty: not given).

    `inputs` and `outputs` are all slots of the operator, parameters among them; `parameters` names the parameters
    that it reads; `captures` are tensors that its sub-graphs read from outside. A `view` shares the bytes of its first
    input. An operator that is not `known` has no rules: its shapes and its backward are assumptions.
    """

    name: str
    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: tuple[str, ...] = ()
    captures: tuple[str, ...] = ()
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    domain: str = ""
    view: bool = False
    recomputable: bool = True
    known: bool = True


@dataclass(frozen=True)
class NetworkGraph:
    """A forward network in a topological order: operators, tensors by name, parameters by name.

    `inputs` and `outputs` name tensors; `symbols` gives every named or unnamed free dimension with the value that was
    taken, `None` where it has none; `notes` says, a sentence each, what was assumed when it was read.
    """

    name: str
    operators: tuple[GraphOperator, ...]
    tensors: Mapping[str, GraphTensor]
    parameters: Mapping[str, GraphParameter]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    symbols: Mapping[str, int | None] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    has_backward: bool = False

    @property
    def operator_count(self) -> int:
        """Number of operators; constant-only ones are parameters and do not count."""
        return len(self.operators)

    @cached_property
    def unknown_tensors(self) -> tuple[str, ...]:
        """Names of tensors and parameters whose size is unknown; planning needs them all."""
        return _without_size(self.tensors, self.parameters)

    @cached_property
    def activation_bytes(self) -> int:
        """Bytes of all tensors that operators produce, each storage once; inputs and parameters do not count."""
        roots = {self.tensors[name].storage for operator in self.operators for name in operator.outputs if name}
        produced = roots.difference(self.inputs)
        return sum(self.tensors[name].size_bytes or 0 for name in produced)

    @cached_property
    def parameter_bytes(self) -> int:
        """Bytes of all parameters as they are in the file, without gradients or optimizer state."""
        sizes = {parameter.storage: parameter.size_bytes or 0 for parameter in self.parameters.values()}
        return sum(sizes.values())


@dataclass(frozen=True, slots=True)
class TrainingTensor:
    """One storage of a training or inference graph: an activation, a mask or statistic, or a gradient."""

    name: str
    size_bytes: int | None


@dataclass(frozen=True, slots=True)
class ParameterState:
    """A parameter with all that training keeps beside it; `size_bytes` is the sum, `weight_bytes` the weights alone."""

    name: str
    size_bytes: int | None
    weight_bytes: int | None
    trainable: bool


@dataclass(frozen=True, slots=True)
class TrainingOperator:
    """One operator of a training or inference graph; `inputs` and `outputs` name storages, each once.

    `forward` is the network's operator that it belongs to (`None` for inputs, loss, sums of gradients and updates
    of no operator); `input_gradients` and `parameter_gradients` name what a backward operator computes gradients of.
    """

    name: str
    kind: str
    phase: Phase
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: tuple[str, ...] = ()
    recomputable: bool = True
    forward: GraphOperator | None = None
    input_gradients: tuple[str, ...] = ()
    parameter_gradients: tuple[str, ...] = ()


@dataclass(frozen=True)
class TrainingGraph:
    """Operators in base order with the storages and parameters they use: a training step, or an inference.

    `keep` names the tensors that must be there at the end. `notes` are the network's with what was added here.
    """

    name: str
    network: NetworkGraph
    operators: tuple[TrainingOperator, ...]
    tensors: Mapping[str, TrainingTensor]
    parameters: Mapping[str, ParameterState]
    keep: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    optimizer: str | None = None

    @property
    def training(self) -> bool:
        """Whether it has a backward."""
        return self.optimizer is not None

    @property
    def operator_count(self) -> int:
        """Number of operators."""
        return len(self.operators)

    @cached_property
    def unknown_tensors(self) -> tuple[str, ...]:
        """Names of tensors and parameters whose size is unknown; a problem needs them all."""
        return _without_size(self.tensors, self.parameters)

    @cached_property
    def parameter_bytes(self) -> int:
        """Bytes of all parameters with gradients and optimizer state."""
        return sum(parameter.size_bytes or 0 for parameter in self.parameters.values())


def _without_size(
    *groups: Mapping[str, GraphTensor | GraphParameter | TrainingTensor | ParameterState],
) -> tuple[str, ...]:
    return tuple(item.name for group in groups for item in group.values() if item.size_bytes is None)
