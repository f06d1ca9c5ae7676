"""The problem: a graph in base order, devices with limits, and what everything costs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

from xengine_gui.errors import InputError, unknown_name
from xengine_gui.model.device import Device, Link, TransferTime
from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.operator import Operator
from xengine_gui.model.tensor import Parameter, Tensor
from xengine_gui.units import LARGEST


@dataclass(frozen=True)
class Problem:
    """What a strategy plans: operators in base order, the devices they may run on, and all costs.

    The constructor refuses what no plan could be judged against (an unknown name, a tensor without a producer, an order
    that is not topological, a negative number) with an `InputError` that lists every mistake.
    """

    name: str
    devices: tuple[Device, ...]
    operators: tuple[Operator, ...]
    tensors: tuple[Tensor, ...]
    parameters: tuple[Parameter, ...] = ()
    links: tuple[Link, ...] = ()
    transfers: tuple[TransferTime, ...] = ()
    keep: tuple[str, ...] = ()
    notes: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        mistakes = list(_mistakes(self))
        if mistakes:
            raise InputError(f"problem {self.name!r}" if self.name else "problem", mistakes)

    def __getstate__(self) -> dict[str, object]:
        """What goes to other processes: never what is worked out, maybe by another thread at this very moment."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    @cached_property
    def indexed(self) -> IndexedProblem:
        """The same problem with numbers in place of names."""
        return IndexedProblem.of(self)

    def device(self, name: str) -> Device:
        """The device called `name`; an `InputError` names those there are."""
        for device in self.devices:
            if device.name == name:
                return device
        raise InputError("", unknown_name("device", name, (d.name for d in self.devices)))

    def with_links(self, links: Iterable[Link]) -> "Problem":
        """The same problem with other links; those of devices that are not there are left out."""
        names = {device.name for device in self.devices}
        given = {(k.source, k.destination): k for k in links if {k.source, k.destination} <= names}
        usual: dict[tuple[str, str], Link] = {}
        for link in self.links:
            usual.setdefault((link.source, link.destination), link)  # of several the first counts
        return replace(self, links=tuple((usual | given).values())) if given else self

    def with_limit(self, device: str, memory_limit_bytes: int | None) -> "Problem":
        """The same problem with another memory limit on one device."""
        changed = replace(self.device(device), memory_limit_bytes=memory_limit_bytes)
        devices = tuple(changed if d.name == device else d for d in self.devices)
        if any(_beyond(memory_limit_bytes or 0, "")):
            return replace(self, devices=devices)  # which tells what is wrong
        return self._on_devices(devices)

    def _on_devices(self, devices: tuple[Device, ...]) -> "Problem":
        """The same problem with other limits, which are known to be right."""
        # Nothing else has changed, and looking through a large graph again would hold up a limit that is dragged.
        twin = object.__new__(Problem)
        for part in fields(self):
            object.__setattr__(twin, part.name, devices if part.name == "devices" else getattr(self, part.name))
        indexed = vars(self).get("indexed")
        if indexed is not None:
            limits = tuple(d.memory_limit_bytes for d in devices)
            vars(twin)["indexed"] = replace(indexed, limit_bytes=limits)
        return twin

    def without_limits(self) -> "Problem":
        """The same problem with unlimited memory everywhere."""
        return self._on_devices(tuple(replace(d, memory_limit_bytes=None) for d in self.devices))


def _repeated(names: list[str], what: str) -> Iterator[str]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            yield f"{what} {name!r} is there twice"
        seen.add(name)


def _unknown(names: tuple[str, ...], known: set[str], sentence: str) -> list[str]:
    # Asked about as a whole first: a graph has a hundred thousand of these, and hardly ever a mistake.
    return [] if known.issuperset(names) else [f"{sentence} {name!r}" for name in names if name not in known]


def _beyond(value: int, what: str) -> Iterator[str]:
    if value < 0:
        yield f"{what} is negative"
    elif value > LARGEST:
        yield f"{what} is larger than any machine's, above 2^128"


def _mistakes(problem: Problem) -> Iterator[str]:
    if not problem.devices:
        yield "there is no device"
    yield from _repeated([d.name for d in problem.devices], "device")
    yield from _repeated([t.name for t in problem.tensors], "tensor")
    yield from _repeated([p.name for p in problem.parameters], "parameter")
    yield from _repeated([o.name for o in problem.operators], "operator")
    for device in problem.devices:
        yield from _beyond(device.memory_limit_bytes or 0, f"device {device.name!r}: memory_limit_bytes")
        yield from _beyond(device.power_uw or 0, f"device {device.name!r}: power_uw")
    for tensor in problem.tensors:
        if not 0 <= tensor.size_bytes <= LARGEST:
            yield from _beyond(tensor.size_bytes, f"tensor {tensor.name!r}: bytes")
    for parameter in problem.parameters:
        yield from _beyond(parameter.size_bytes, f"parameter {parameter.name!r}: bytes")
    yield from _operator_mistakes(problem)
    yield from _link_mistakes(problem)


def _operator_mistakes(problem: Problem) -> Iterator[str]:
    devices = {d.name for d in problem.devices}
    tensors = {t.name for t in problem.tensors}
    parameters = {p.name for p in problem.parameters}
    producer: dict[str, str] = {}
    for operator in problem.operators:
        for name in operator.outputs:
            if name in producer:
                yield f"tensor {name!r} is produced by both {producer[name]!r} and {operator.name!r}"
            producer[name] = operator.name
    computed: set[str] = set()
    for operator in problem.operators:
        place = f"operator {operator.name!r}"
        yield from _unknown(operator.inputs + operator.outputs, tensors, f"{place}: there is no tensor")
        yield from _unknown(operator.parameters, parameters, f"{place}: there is no parameter")
        for name in operator.inputs:
            if name in tensors and name in producer and name not in computed:
                yield (
                    f"{place} reads {name!r} before {producer[name]!r} has produced it "
                    "(operators must stand in a topological order, so this is a cycle or an unsorted file)"
                )
        computed.update(operator.outputs)
        yield from _cost_mistakes(operator, devices)
    yield from (f"tensor {t!r} is produced by no operator" for t in sorted(tensors - producer.keys()))
    yield from (f"keep: there is no tensor {t!r}" for t in problem.keep if t not in tensors)


def _cost_mistakes(operator: Operator, devices: set[str]) -> Iterator[str]:
    place = f"operator {operator.name!r}"
    if not any(operator.costs.values()):
        yield f"{place} has no costs on any device"
    for device, rows in operator.costs.items():
        if device not in devices:
            yield f"{place}: costs name the unknown device {device!r}"
        for row in rows:
            if not 0 <= row.time_ns <= LARGEST:
                yield from _beyond(row.time_ns, f"{place}: time_ns on {device!r}")
            if not 0 <= row.workspace_bytes <= LARGEST:
                yield from _beyond(row.workspace_bytes, f"{place}: workspace_bytes on {device!r}")
        if len(rows) > 1:
            yield from _repeated([row.name or "" for row in rows], f"{place}: implementation on {device!r}")


def _link_mistakes(problem: Problem) -> Iterator[str]:
    devices = {d.name for d in problem.devices}
    tensors = {t.name for t in problem.tensors}
    ways = [("link", k.source, k.destination) for k in problem.links]
    ways += [("transfer", r.source, r.destination) for r in problem.transfers]
    for word, source, destination in dict.fromkeys(ways):
        place = f"{word} {source!r} to {destination!r}"
        for name in sorted({source, destination} - devices):
            yield f"{place}: there is no device {name!r}"
        if source == destination:
            yield f"{place}: source and destination are the same"
    for link in problem.links:
        if link.bandwidth_bytes_per_s <= 0:
            yield f"link {link.source!r} to {link.destination!r}: bandwidth must be positive"
        yield from _beyond(link.latency_ns, f"link {link.source!r} to {link.destination!r}: latency_ns")
        yield from _beyond(link.power_uw or 0, f"link {link.source!r} to {link.destination!r}: power_uw")
    for row in problem.transfers:
        if row.tensor not in tensors:
            yield f"transfers: there is no tensor {row.tensor!r}"
        yield from _beyond(row.time_ns, f"transfers: the time of {row.tensor!r}")
