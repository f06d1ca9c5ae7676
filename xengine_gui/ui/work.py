"""What is open in the window and what the user has chosen for it; every change makes a new one."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from pathlib import Path

from xengine_gui import planner
from xengine_gui.cost import DeviceChoice, default_link, device_preset, with_measured
from xengine_gui.errors import BatchBoundError, InputError
from xengine_gui.importers.sizes import missing_sizes
from xengine_gui.language import tr
from xengine_gui.model.constraints import Constraint, as_far_as_possible
from xengine_gui.model.device import Link
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.model.plan import Plan
from xengine_gui.model.problem import Problem
from xengine_gui.units import format_names

_COSTS_OUTDATED = tr("The measured times were of another batch, mode or optimizer, so times are modelled again.")
_MOST_MISTAKES = 3


@dataclass(frozen=True)
class Setup:
    """How a network becomes a problem. A `batch` of `None` is the network's own; `bindings` are its free dimensions.

    `links` are those that differ from what the devices' presets give; `costs` are tables of measured times. With
    `implementations` a convolution has a row per algorithm, which trade time for workspace.
    """

    devices: tuple[DeviceChoice, ...]
    training: bool = True
    optimizer: str = "sgd"
    batch: int | None = None
    bindings: Mapping[str, int] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    mapping: Mapping[str, str] = field(default_factory=dict)
    costs: tuple[Path, ...] = ()
    implementations: bool = False

    def for_another_file(self) -> "Setup":
        """The same devices and mode, without what belongs to one file."""
        return replace(self, batch=None, bindings={}, links=(), costs=(), sizes={}, mapping={})

    def with_preset(self, device: str, preset: str) -> "Setup":
        """The same with a device made of another preset, with that preset's own memory."""
        devices = (DeviceChoice(d.name, preset, None) if d.name == device else d for d in self.devices)
        return replace(self, devices=tuple(devices))

    def with_device(self, preset: str, stem: str) -> "Setup":
        """The same with one more device, under a free name made of `stem`."""
        taken = {d.name for d in self.devices}
        name = next(n for n in (stem, *(f"{stem}{i}" for i in range(2, len(taken) + 3))) if n not in taken)
        return replace(self, devices=(*self.devices, DeviceChoice(name, preset, None)))

    def without_device(self, device: str) -> "Setup":
        """The same without a device."""
        return replace(self, devices=tuple(d for d in self.devices if d.name != device))

    def runs_like(self, other: "Setup") -> bool:
        """Whether times that were measured for one hold for the other."""
        return (self.training, self.optimizer, self.batch, self.bindings) == (
            other.training, other.optimizer, other.batch, other.bindings,
        )  # fmt: skip


@dataclass(frozen=True)
class Work:
    """An opened file with its problem. Without a network (a problem file, a plan file) there is no setup to change.

    `constraints` are built into `problem`; `unbound` is the problem without them (`None` where there are none), and
    `idle` tells of those that cannot hold why. `note` is a sentence on what was done otherwise than asked for.
    `given_costs` are the tables that lie over a problem without a setup, `given_links` its links that were changed, and
    `file_links` those that it had before.
    """

    path: Path
    problem: Problem
    network: NetworkGraph | None = None
    setup: Setup | None = None
    note: str = ""
    constraints: tuple[Constraint, ...] = ()
    unbound: Problem | None = None
    idle: Mapping[Constraint, str] = field(default_factory=dict)
    given_costs: tuple[Path, ...] = ()
    given_links: tuple[Link, ...] = ()
    file_links: tuple[Link, ...] | None = None
    read_with: Setup | None = None

    @property
    def costs(self) -> tuple[Path, ...]:
        """The tables of measured times that lie over the problem."""
        return self.given_costs if self.setup is None else self.setup.costs

    @property
    def links_given(self) -> tuple[Link, ...]:
        """The links that are not as usual."""
        return self.given_links if self.setup is None else self.setup.links

    @property
    def usual_links(self) -> tuple[Link, ...]:
        """The links as the presets of the devices, or the file, give them."""
        if self.setup is not None:
            return default_links(self.setup.devices)
        return self.free_problem.links if self.file_links is None else self.file_links

    @property
    def report(self) -> tuple[str, ...]:
        """What was assumed to come from the file to the problem, a sentence each."""
        return tuple(line for line in self.problem.notes.splitlines() if line)

    @property
    def free_problem(self) -> Problem:
        """The problem without the user's constraints."""
        return self.problem if self.unbound is None else self.unbound

    @property
    def description(self) -> str:
        """One line on what is open: `vgg19.onnx · training · batch 32 · 93 operators`."""
        parts = [self.path.name]
        if self.setup is not None:
            parts.append("training" if self.setup.training else "inference")
            if self.setup.batch is not None:
                parts.append(tr("batch {batch}", batch=self.setup.batch))
        parts.append(tr("{operators:,} operators", operators=len(self.problem.operators)))
        if self.costs:
            parts.append(tr("measured times"))
        return " · ".join(parts)

    def is_like(self, other: "Work") -> bool:
        """Whether both stand for the same problem, so that a plan of one is a plan of the other."""
        return (
            self.problem.devices == other.problem.devices
            and (self.constraints, self.setup, self.links_given) == (other.constraints, other.setup, other.links_given)
            and self.free_problem.operators is other.free_problem.operators
        )

    @property
    def batch(self) -> int | None:
        """The batch size that was chosen, or else the one that the network has in its file."""
        if self.setup is not None and self.setup.batch is not None:
            return self.setup.batch
        if self.network is None:
            return None
        shapes = (self.network.tensors[name].shape for name in self.network.inputs if name in self.network.tensors)
        return next((shape[0] for shape in shapes if shape), None)

    def with_limit(self, device: str, memory_limit_bytes: int | None) -> "Work":
        """The same with another memory limit on one device."""
        problem = self.problem.with_limit(device, memory_limit_bytes)
        unbound = None if self.unbound is None else self.unbound.with_limit(device, memory_limit_bytes)
        if self.setup is None:
            return replace(self, problem=problem, unbound=unbound)
        if memory_limit_bytes is None:
            raise InputError("", f"{device}: a device of a preset has its own memory, so it cannot be unlimited")
        devices = (
            replace(d, memory_limit_bytes=memory_limit_bytes) if d.name == device else d for d in self.setup.devices
        )
        return replace(self, problem=problem, unbound=unbound, setup=replace(self.setup, devices=tuple(devices)))

    def with_links(self, links: Iterable[Link]) -> "Work":
        """The same where transfers between some devices take another time."""
        return self._linked({**_by_ends(self.links_given), **_by_ends(links)})

    def without_links(self, pairs: Collection[tuple[str, str]]) -> "Work":
        """The same with the usual links from one device to another, for these pairs of devices."""
        return self._linked({ends: link for ends, link in _by_ends(self.links_given).items() if ends not in pairs})

    def _linked(self, given: Mapping[tuple[str, str], Link]) -> "Work":
        usual = _by_ends(self.usual_links)
        changed = tuple(link for ends, link in given.items() if usual.get(ends) != link)
        if changed == self.links_given:
            return self
        free = replace(self.free_problem, links=self.usual_links).with_links(changed)
        if self.setup is None:
            work = replace(self, given_links=changed, file_links=self.usual_links, problem=free, unbound=None)
        else:
            work = replace(self, setup=replace(self.setup, links=changed), problem=free, unbound=None)
        return work.with_constraints(self.constraints) if self.constraints else work

    def with_constraints(self, constraints: Sequence[Constraint]) -> "Work":
        """The same under other constraints; those that cannot hold are kept, and told in `idle`."""
        free = self.free_problem
        problem, idle = as_far_as_possible(free, constraints)
        unbound = None if problem is free else free
        return replace(self, problem=problem, unbound=unbound, constraints=tuple(constraints), idle=idle)

    def with_limits_of(self, problem: Problem) -> "Work":
        """The same graph as `problem` has it: itself under other limits."""
        unbound = None if self.unbound is None else replace(self.unbound, devices=problem.devices)
        if self.setup is None:
            return replace(self, problem=problem, unbound=unbound)
        limits = {d.name: d.memory_limit_bytes for d in problem.devices}
        devices = (replace(d, memory_limit_bytes=limits[d.name]) for d in self.setup.devices)
        return replace(self, problem=problem, unbound=unbound, setup=replace(self.setup, devices=tuple(devices)))

    def with_setup(self, setup: Setup) -> "Work":
        """The same network under another setup; it is read again where its sizes change.

        Takes up to some seconds on a large network.
        """
        if self.setup is None or self.network is None:
            raise InputError(self.path.name, "its problem is given, so only the memory limits can be changed")
        network = self.network
        if (setup.batch, setup.bindings, setup.sizes) != (self.setup.batch, self.setup.bindings, self.setup.sizes):
            network, setup = read_network(self.path, setup)
        outdated = bool(self.costs) and setup.costs == self.costs and not setup.runs_like(self.setup)
        work = work_on(self.path, network, replace(setup, costs=()) if outdated else setup)
        if outdated:
            work = replace(work, note=_COSTS_OUTDATED)
        return work.with_constraints(self.constraints) if self.constraints else work

    def with_costs(self, costs: Sequence[Path]) -> "Work":
        """The same with further tables of measured times; an `InputError` tells the first rows that have no place."""
        if self.setup is not None:
            return self.with_setup(replace(self.setup, costs=(*self.setup.costs, *costs)))
        problem = _measured(self.free_problem, costs)
        work = replace(self, problem=problem, unbound=None, given_costs=(*self.given_costs, *costs))
        return work.with_constraints(self.constraints) if self.constraints else work


class SizesWantedError(InputError):
    """A network has free dimensions that need a value before its sizes are known."""

    def __init__(self, path: Path, network: NetworkGraph) -> None:
        self.path = path
        self.network = network
        self.missing = missing_sizes(network)
        free = (
            tr("the sizes of its tensors depend on {symbols}", symbols=", ".join(network.symbols))
            if network.symbols
            else ""
        )
        unknown = tr("sizes are missing of {missing}", missing=format_names(self.missing)) if self.missing else ""
        super().__init__(path.name, "; ".join(filter(None, (free, unknown))))


def read_network(path: Path, setup: Setup) -> tuple[NetworkGraph, Setup]:
    """The network of a file that is known to hold one, and its setup, where the batch counts and not its dimension."""
    try:
        opened = planner.open_file(path, batch=setup.batch, bindings=setup.bindings, sizes=setup.sizes)
    except BatchBoundError as error:
        others = {name: length for name, length in setup.bindings.items() if name != error.symbol}
        return read_network(path, replace(setup, bindings=others))
    if not isinstance(opened, NetworkGraph):
        raise InputError(path.name, "the file has changed: it is no network any more")
    return opened, setup


def work_on(path: Path, network: NetworkGraph, setup: Setup) -> Work:
    """A network made into a problem."""
    problem = planner.make_problem(
        network, setup.devices, training=setup.training, optimizer=setup.optimizer, links=setup.links,
        implementations=setup.implementations,
    )  # fmt: skip
    return Work(path, _measured(problem, setup.costs), network, setup)


def _measured(problem: Problem, costs: Sequence[Path]) -> Problem:
    try:
        return with_measured(problem, costs)
    except InputError as error:
        more = len(error.mistakes) - _MOST_MISTAKES
        rest = (tr("{more:,} more rows have no place", more=more),) if more > 0 else ()
        raise InputError(Path(error.source).name, (*error.mistakes[:_MOST_MISTAKES], *rest)) from None


def _by_ends(links: Iterable[Link]) -> dict[tuple[str, str], Link]:
    found: dict[tuple[str, str], Link] = {}
    for link in links:
        found.setdefault((link.source, link.destination), link)  # of several the first counts
    return found


def default_links(devices: Sequence[DeviceChoice]) -> tuple[Link, ...]:
    """The links that a network planned on these devices will have."""
    presets = [(d.name, device_preset(d.preset)) for d in devices]
    return tuple(default_link(*a, *b) for a, b in permutations(presets, 2))


def open_work(path: Path, setup: Setup) -> tuple[Work, Plan | None]:
    """What a file holds, made ready: a network under `setup`, a problem, or a plan with its problem.

    The length that free dimensions were given counts where the batch is another.
    """
    try:
        opened = planner.open_file(
            path, batch=setup.batch, bindings=setup.bindings, mapping=setup.mapping, sizes=setup.sizes
        )
    except BatchBoundError:
        return open_work(path, replace(setup, batch=None))
    if isinstance(opened, Plan):
        return Work(path, opened.problem), opened
    if isinstance(opened, Problem):
        return Work(path, opened, read_with=setup), None
    # One free dimension is the batch, which the window shows and changes anyway.
    if missing_sizes(opened) or (not setup.bindings and len(opened.symbols) > 1):
        raise SizesWantedError(path, opened)
    try:
        return work_on(path, opened, setup), None
    except InputError as error:
        if not setup.training:
            raise
        # A network that cannot be trained can still be run.
        try:
            work = work_on(path, opened, replace(setup, training=False))
        except InputError:
            raise error from None
        return replace(work, note=f"{error}; it is opened for inference"), None
