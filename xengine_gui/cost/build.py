"""From a training or inference graph and a choice of devices to a problem."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xengine_gui.cost.algorithms import COST_MODELS
from xengine_gui.cost.flops import work
from xengine_gui.cost.links import default_link
from xengine_gui.cost.preset_fields import DevicePreset
from xengine_gui.cost.presets import device_preset
from xengine_gui.cost.roofline import CostModel
from xengine_gui.errors import InputError
from xengine_gui.model.device import Device, Link
from xengine_gui.model.graph import TrainingGraph
from xengine_gui.model.operator import Operator
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Parameter, Tensor
from xengine_gui.units import format_count, format_names


@dataclass(frozen=True, slots=True)
class DeviceChoice:
    """A device to plan for: its name, the preset it is made from, and a limit (`None`: the preset's own memory)."""

    name: str
    preset: str
    memory_limit_bytes: int | None = None


def build_problem(
    graph: TrainingGraph,
    devices: Sequence[DeviceChoice],
    *,
    links: Sequence[Link] | None = None,
    name: str = "",
    cost_model: CostModel = COST_MODELS[0],
) -> Problem:
    """The problem of running `graph` on `devices`; without `links`, those of every two devices' presets.

    Raises an `InputError` where a size is unknown, a preset is not known, or no device computes.
    """
    presets = {choice.name: device_preset(choice.preset) for choice in devices}
    refuse_unknown_sizes(graph)
    if presets and not any(preset.computes for preset in presets.values()):
        raise InputError("", f"none of the devices ({', '.join(presets)}) computes: add a processor or a GPU")
    parameters, groups = _parameter_groups(graph)
    return Problem(
        name=name or graph.name,
        devices=tuple(
            Device(
                choice.name,
                presets[choice.name].kind,
                presets[choice.name].memory_bytes if choice.memory_limit_bytes is None else choice.memory_limit_bytes,
                presets[choice.name].power_uw if presets[choice.name].computes else None,
            )
            for choice in devices
        ),
        operators=_operators(graph, presets, groups, cost_model),
        tensors=tuple(Tensor(tensor.name, tensor.size_bytes or 0) for tensor in graph.tensors.values()),
        parameters=parameters,
        links=tuple(links) if links is not None else _default_links(presets),
        keep=graph.keep,
        notes="\n".join(graph.notes),
    )


def refuse_unknown_sizes(graph: TrainingGraph) -> None:
    """An `InputError` where a size of the graph is unknown, with what would settle it."""
    unknown = graph.unknown_tensors
    if not unknown:
        return
    # Gradients and masks follow from the network's own tensors, which can be given.
    unknown = tuple(name for name in unknown if name in graph.network.unknown_tensors) or unknown
    shown = format_names(map(repr, unknown))
    free = ", ".join(symbol for symbol, value in graph.network.symbols.items() if value is None)
    remedy = f"; bind the dimensions {free}" if free else f"; give sizes, as in --size {unknown[0]}=8MB"
    raise InputError(graph.name, f"the size of {format_count(len(unknown), 'tensor')} is unknown: {shown}{remedy}")


def _default_links(presets: Mapping[str, DevicePreset]) -> tuple[Link, ...]:
    return tuple(
        default_link(source, presets[source], destination, presets[destination])
        for source in presets
        for destination in presets
        if source != destination
    )


def _parameter_groups(graph: TrainingGraph) -> tuple[tuple[Parameter, ...], Mapping[str, str]]:
    """Parameters that the same operators use, together as one; they live and die together in every plan.

    The second value names every parameter's group.
    """
    users: dict[str, list[str]] = {}
    for operator in graph.operators:
        for name in operator.parameters:
            users.setdefault(name, []).append(operator.name)
    members: dict[tuple[str, ...], list[str]] = {}
    for name, operators in users.items():
        members.setdefault(tuple(operators), []).append(name)
    parameters: list[Parameter] = []
    groups: dict[str, str] = {}
    taken = set(users)
    for users_of_all, names in members.items():
        group = names[0]
        if len(names) > 1:
            what = "weights" if any(graph.parameters[name].trainable for name in names) else "constants"
            group = f"{what} of {users_of_all[0]}"
            while group in taken:
                group += "'"
            taken.add(group)
        parameters.append(Parameter(group, sum(graph.parameters[name].size_bytes or 0 for name in names)))
        groups.update(dict.fromkeys(names, group))
    return tuple(parameters), groups


def _operators(
    graph: TrainingGraph, presets: Mapping[str, DevicePreset], groups: Mapping[str, str], cost_model: CostModel
) -> tuple[Operator, ...]:
    operators = []
    for operator in graph.operators:
        done = work(graph, operator)
        costs = {device: cost_model.implementations(done, preset) for device, preset in presets.items()}
        operators.append(
            Operator(
                name=operator.name,
                kind=operator.kind,
                phase=operator.phase,
                inputs=operator.inputs,
                outputs=operator.outputs,
                parameters=tuple(dict.fromkeys(groups[name] for name in operator.parameters)),
                recomputable=operator.recomputable,
                costs={device: rows for device, rows in costs.items() if rows},
            )
        )
    return tuple(operators)
