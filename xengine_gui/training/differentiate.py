"""Reverse-mode differentiation of a network into a training step: forward, loss, backward, update."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from types import MappingProxyType

from xengine_gui.errors import InputError, unknown_name
from xengine_gui.model.dtype import may_be_float
from xengine_gui.model.graph import GraphOperator, GraphTensor, NetworkGraph, TrainingGraph, TrainingOperator
from xengine_gui.model.operator import Phase
from xengine_gui.training.existing import existing_training_graph
from xengine_gui.training.forward import GraphBuilder
from xengine_gui.training.rules import Rule, has_rule, rule_for
from xengine_gui.training.saved import statistics_bytes
from xengine_gui.units import format_names

OPTIMIZERS: Mapping[str, int] = MappingProxyType({"none": 1, "sgd": 2, "momentum": 3, "adam": 4})
"""How many times a trainable parameter's bytes are held: weights, gradient, then momentum, then second moments."""

LOSS_NOTE = "Loss: softmax cross-entropy against labels of negligible size, a stand-in where training uses another"
_UPDATE_SHARE = 0.01


def training_graph(network: NetworkGraph, *, optimizer: str = "sgd") -> TrainingGraph:
    """One training step of a network. An `InputError` says why where there is nothing to train.

    Gradients of parameters are written into the parameters' own bytes; gradients of network inputs are not computed.
    """
    if optimizer not in OPTIMIZERS:
        raise InputError("", unknown_name("optimizer", optimizer, OPTIMIZERS))
    if network.has_backward:
        return existing_training_graph(network, optimizer)
    return _Differentiation(network, optimizer).graph()


class _Differentiation:
    """One walk forward and one back over a network."""

    def __init__(self, network: NetworkGraph, optimizer: str) -> None:
        self.network = network
        self.optimizer = optimizer
        self.builder = GraphBuilder(network, training=True)
        self.extra: dict[str, dict[str, str]] = {}
        self.to_inputs = not any(parameter.trainable for parameter in network.parameters.values())
        self.requires = self._requiring()
        self.gradient: dict[str, str] = {}
        self.pending: Counter[str] = Counter()
        self.backward_of: dict[str, str] = {}

    def graph(self) -> TrainingGraph:
        builder = self.builder
        builder.add_inputs()
        steps = [operator for operator in self.network.operators if not builder.is_view(operator)]
        for operator in steps:
            self._forward(operator)
        self._count_contributions(steps)
        self._loss()
        for operator in reversed(steps):
            self._backward(operator)
        if self.optimizer != "none":
            self._updates(steps)
        self._tell(steps)
        return builder.graph(factor=OPTIMIZERS[self.optimizer], optimizer=self.optimizer)

    # -- which tensors need gradients

    def _requiring(self) -> set[str]:
        """The storages that trainable parameters flow into (in a network without any: the inputs)."""
        requires: set[str] = set()
        if self.to_inputs:
            requires.update(name for name in self.network.inputs if may_be_float(self.network.tensors[name].dtype))
        for operator in self.network.operators:
            if self.builder.is_view(operator):
                continue
            if any(self._parameter_slots(operator)) or any(self._slots(operator, requires)):
                requires.update(
                    name for name in operator.outputs if name and may_be_float(self.network.tensors[name].dtype)
                )
        return requires

    def _slots(self, operator: GraphOperator, requires: set[str]) -> Iterator[tuple[int, str]]:
        """Slots through which a gradient flows on, with the storages behind them; captures have slot -1."""
        rule = rule_for(operator)
        slots = [*enumerate(operator.inputs), *((-1, name) for name in operator.captures)]
        for slot, name in slots:
            storage = self.builder.storage.get(name)
            if storage in requires and rule.needs(slot) is not None and may_be_float(self.network.tensors[name].dtype):
                yield slot, storage

    def _parameter_slots(self, operator: GraphOperator) -> Iterator[tuple[int, str]]:
        """Slots of trainable parameters, with the parameters' names."""
        rule = rule_for(operator)
        for slot, name in enumerate(operator.inputs):
            parameter = self.network.parameters.get(name)
            if parameter is not None and parameter.trainable and rule.needs(slot) is not None:
                yield slot, name

    # -- forward

    def _forward(self, operator: GraphOperator) -> None:
        """The forward, with masks and statistics where a backward will read them."""
        extra: dict[str, str] = {}
        tensor = self.network.tensors[operator.outputs[0]] if operator.outputs and operator.outputs[0] else None
        recomputable = True
        if operator.kind == "Dropout" and tensor is not None:
            recomputable = False
            if len(operator.outputs) < 2 or not operator.outputs[1]:
                extra["o1"] = self.builder.tensor(f"{tensor.name}/mask", tensor.element_count)
        rule = rule_for(operator)
        if rule.statistics and self._has_backward(operator):
            size = statistics_bytes(self.network, operator, rule.statistics)
            if size != 0:
                extra["s"] = self.builder.tensor(f"{operator.name}/statistics", size)
        self.extra[operator.name] = extra
        self.builder.add_forward(operator, tuple(extra.values()), recomputable=recomputable)

    def _has_backward(self, operator: GraphOperator) -> bool:
        return any(self._parameter_slots(operator)) or any(self._slots(operator, self.requires))

    # -- loss

    def _targets(self) -> list[str]:
        storages = dict.fromkeys(self.builder.storage[name] for name in self.network.outputs)
        return [name for name in storages if name in self.requires]

    def _loss(self) -> None:
        targets = self._targets()
        if not targets:
            raise InputError(
                self.network.name, "there is nothing to train: no output depends on a parameter by a differentiable way"
            )
        builder = self.builder
        softmax = {o.outputs[0] for o in self.network.operators if o.kind in ("Softmax", "LogSoftmax") and o.outputs}
        loss = builder.tensor("loss", 4)
        saved: dict[str, str] = {}
        for name in targets:
            size = self.network.tensors[name].size_bytes
            saved[name] = name if name in softmax else builder.tensor(f"{name}/log_probabilities", size)
        kind = "NegativeLogLikelihoodLoss" if all(name in softmax for name in targets) else "SoftmaxCrossEntropyLoss"
        written = tuple(tensor for name, tensor in saved.items() if tensor != name)
        builder.operators.append(
            TrainingOperator(builder.operator_name("loss"), kind, Phase.LOSS, tuple(targets), (loss, *written))
        )
        for name in reversed(targets):
            gradient = self._new_gradient(name)
            builder.operators.append(
                TrainingOperator(
                    builder.operator_name("loss/grad" if len(targets) == 1 else f"{name}/loss/grad"),
                    f"{kind}Grad",
                    Phase.BACKWARD,
                    (loss, saved[name]),
                    (gradient,),
                )
            )
            self._contribute(name, gradient)

    # -- backward

    def _count_contributions(self, steps: list[GraphOperator]) -> None:
        """How many partial gradients every storage will get: from losses and from operators on a way to one."""
        self.pending.update(self._targets())
        for operator in reversed(steps):
            if self._gradients_of_outputs(operator, self.pending):
                aliases, computed = self._split(operator)
                self.pending.update(aliases)
                self.pending.update(computed)

    def _gradients_of_outputs(self, operator: GraphOperator, reached: Mapping[str, object]) -> list[str]:
        return [name for name in operator.outputs if name in reached and name in self.requires]

    def _split(self, operator: GraphOperator) -> tuple[list[str], list[str]]:
        """Storages whose gradient is the output's itself (as often as they are read so), and those to compute."""
        rule = rule_for(operator)
        aliases: list[str] = []
        computed: dict[str, None] = {}
        for slot, storage in self._slots(operator, self.requires):
            if rule.is_alias(slot) and self._same_size(operator, slot):
                aliases.append(storage)
            else:
                computed[storage] = None
        return aliases, list(computed)

    def _same_size(self, operator: GraphOperator, slot: int) -> bool:
        read, written = self._tensor(operator.inputs[slot]), self._tensor(operator.outputs[0])
        return read is not None and written is not None and read.element_count == written.element_count is not None

    def _tensor(self, name: str) -> GraphTensor | None:
        return self.network.tensors.get(name)

    def _backward(self, operator: GraphOperator) -> None:
        written = self._gradients_of_outputs(operator, self.gradient)
        if not written:
            return
        gradients = tuple(self.gradient[name] for name in written)
        aliases, computed = self._split(operator)
        parameters = dict(self._parameter_slots(operator))
        outputs = {storage: self._new_gradient(storage) for storage in computed}
        if outputs or parameters:
            reads, weights = self._needs(operator, {*self._computed_slots(operator), *parameters})
            trained = self.builder.parameter_storages(parameters.values())
            name = self.builder.operator_name(f"{operator.name}/grad")
            self.builder.operators.append(
                TrainingOperator(
                    name=name,
                    kind=f"{operator.kind}Grad",
                    phase=Phase.BACKWARD,
                    inputs=tuple(dict.fromkeys((*reads, *gradients))),
                    outputs=tuple(outputs.values()),
                    parameters=tuple(dict.fromkeys((*weights, *trained))),
                    forward=operator,
                    input_gradients=tuple(outputs),
                    parameter_gradients=trained,
                )
            )
            self.backward_of[operator.name] = name
        for storage in aliases:
            self._contribute(storage, gradients[0])
        for storage, gradient in outputs.items():
            self._contribute(storage, gradient)

    def _computed_slots(self, operator: GraphOperator) -> Iterator[int]:
        rule = rule_for(operator)
        for slot, _ in self._slots(operator, self.requires):
            if not (rule.is_alias(slot) and self._same_size(operator, slot)):
                yield slot

    def _needs(self, operator: GraphOperator, slots: set[int]) -> tuple[list[str], tuple[str, ...]]:
        """Storages and parameters that the gradients of these slots read beside the gradients of the outputs."""
        rule: Rule = rule_for(operator)
        names: list[str] = []
        for need in dict.fromkeys(need for slot in sorted(slots) for need in rule.needs(slot) or ()):
            extra = self.extra[operator.name].get(need)
            if extra is not None:
                names.append(extra)
            elif need == "i*":
                names.extend((*operator.inputs, *operator.captures))
            elif need == "o*":
                names.extend(operator.outputs)
            elif need != "s":
                slots_of = operator.inputs if need[0] == "i" else operator.outputs
                names.extend(slots_of[int(need[1:]) : int(need[1:]) + 1])
        storages = [
            self.builder.storage.get(n, n) for n in names if n in self.builder.storage or n in self.builder.tensors
        ]
        return storages, self.builder.parameter_storages(names)

    def _new_gradient(self, storage: str) -> str:
        """A tensor for a partial gradient, or for the gradient itself where there is only one."""
        size = self.network.tensors[storage].size_bytes
        only = self.pending[storage] <= 1 and storage not in self.gradient
        return self.builder.tensor(f"{storage}/grad" if only else f"{storage}/grad/{self.pending[storage]}", size)

    def _contribute(self, storage: str, gradient: str) -> None:
        """Take a partial gradient in: the first stands, every later one is added to it by an operator."""
        self.pending[storage] -= 1
        before = self.gradient.get(storage)
        if before is None:
            self.gradient[storage] = gradient
            return
        name = f"{storage}/grad" if self.pending[storage] == 0 else f"{storage}/grad/sum_{self.pending[storage]}"
        total = self.builder.tensor(name, self.network.tensors[storage].size_bytes)
        self.builder.operators.append(
            TrainingOperator(
                self.builder.operator_name(f"{name}/add"),
                "GradientSum",
                Phase.BACKWARD,
                tuple(dict.fromkeys((before, gradient))),
                (total,),
            )
        )
        self.gradient[storage] = total

    # -- update and notes

    def _updates(self, steps: list[GraphOperator]) -> None:
        """Updates in the order in which gradients are finished; small neighbours share one, as in fused optimizers."""
        finished: dict[str, GraphOperator] = {}
        for operator in reversed(steps):
            if operator.name in self.backward_of:
                names = (name for _, name in self._parameter_slots(operator))
                for storage in self.builder.parameter_storages(names):
                    # A tied weight's gradient is finished by the last backward that adds to it.
                    finished.pop(storage, None)
                    finished[storage] = operator
        sizes = {p.storage: p.size_bytes or 0 for p in self.network.parameters.values() if p.storage in finished}
        enough = sum(sizes.values()) * _UPDATE_SHARE
        group: list[str] = []
        for storages in _runs(finished):
            group += storages
            if sum(sizes[name] for name in group) >= enough:
                self._update(finished[group[-1]], group)
                group = []
        if group:
            self._update(finished[group[-1]], group)

    def _update(self, operator: GraphOperator, parameters: list[str]) -> None:
        self.builder.operators.append(
            TrainingOperator(
                name=self.builder.operator_name(f"{operator.name}/update"),
                kind="Update",
                phase=Phase.UPDATE,
                inputs=(),
                outputs=(),
                parameters=tuple(parameters),
                recomputable=False,
                parameter_gradients=tuple(parameters),
            )
        )

    def _tell(self, steps: list[GraphOperator]) -> None:
        notes = self.builder.notes
        notes.append(LOSS_NOTE)
        if self.to_inputs:
            notes.append("The network has no trainable parameter: its backward runs to the inputs")
        strange = dict.fromkeys(o.kind for o in steps if not has_rule(o) and self._has_backward(o))
        if strange:
            kinds = format_names(strange)
            notes.append(f"No rule says what the backward of {kinds} reads: all inputs and outputs are assumed")
        dropped = [operator.name for operator in steps if operator.kind == "Dropout"]
        if dropped:
            notes.append(f"Dropout draws a mask of a byte an element and is not recomputed: {format_names(dropped)}")


def _runs(finished: Mapping[str, GraphOperator]) -> Iterator[list[str]]:
    """The parameters of each operator together, in order."""
    for _, names in groupby(finished, key=lambda name: finished[name].name):
        yield list(names)
