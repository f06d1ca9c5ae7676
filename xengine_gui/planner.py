"""The one door for the window, the command line and notebooks: from a file to a verified plan.

Importers and solvers are loaded when they are first needed, so importing this module is quick.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from xengine_gui.cost import DeviceChoice
from xengine_gui.errors import InputError
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.model.json_file import read_bytes, read_json
from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.plan_file import FORMAT as PLAN_FORMAT
from xengine_gui.model.plan_file import parse_plan
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import FORMAT as PROBLEM_FORMAT
from xengine_gui.model.problem_file import parse_problem
from xengine_gui.paths import sample_graphs
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import Bound, Finished, Incumbent, SolveContext, SolveEvent, SolveOptions, Started

DEFAULT_DEVICES = (DeviceChoice("cpu", "i7-8700k"), DeviceChoice("gpu", "rtx-3060-laptop"))
"""What a network is planned for when nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class Demo:
    """A bundled network with devices that are too small for it."""

    file_name: str
    devices: tuple[DeviceChoice, ...]
    batch: int | None = None
    training: bool = True
    optimizer: str = "sgd"
    gap_ratio: float = 0.005

    @property
    def path(self) -> Path:
        """Where the network is."""
        return sample_graphs() / self.file_name

    def problem(self) -> Problem:
        """The problem that the demo plans."""
        network = open_file(self.path, batch=self.batch)
        if not isinstance(network, NetworkGraph):
            raise InputError(str(self.path), "the demo is no network")
        return make_problem(network, self.devices, training=self.training, optimizer=self.optimizer)


DEMO = Demo(
    file_name="resnet50.onnx",
    devices=(DeviceChoice("cpu", "i7-1165g7", 8 * 2**30), DeviceChoice("gpu", "iris-xe", 1120 * 2**20)),
    batch=32,
)
"""What `xengine --demo` opens: training ResNet-50 on a laptop whose GPU may hold 40 % of what it would need."""


def open_file(
    path: Path, *, batch: int | None = None, bindings: Mapping[str, int] | None = None
) -> NetworkGraph | Problem | Plan:
    """What a file holds: a network, a problem or a plan. Raises `InputError` where it cannot be used.

    `batch` and `bindings` (values of symbolic dimensions) are for networks.
    """
    if path.suffix.lower() != ".json" and not read_bytes(path, 64).lstrip().startswith(b"{"):
        return _read_network(path, batch, bindings)
    data = read_json(path)
    form = data.get("format") if isinstance(data, dict) else None
    if form == PLAN_FORMAT:
        return parse_plan(data, str(path))
    if form == PROBLEM_FORMAT or not _is_network(path):
        return parse_problem(data, str(path))
    return _read_network(path, batch, bindings)


def _read_network(path: Path, batch: int | None, bindings: Mapping[str, int] | None) -> NetworkGraph:
    from xengine_gui.importers import read_network  # noqa: PLC0415 - ONNX takes a third of a second to load

    return read_network(path, batch=batch, bindings=bindings)


def _is_network(path: Path) -> bool:
    from xengine_gui.importers import IMPORTERS  # noqa: PLC0415

    return any(path.suffix.lower() in importer.suffixes for importer in IMPORTERS)


def make_problem(
    network: NetworkGraph, devices: Sequence[DeviceChoice], *, training: bool = True, optimizer: str = "sgd"
) -> Problem:
    """The problem of training a network on devices, or of running it once."""
    from xengine_gui.cost import build_problem  # noqa: PLC0415
    from xengine_gui.training import inference_graph, training_graph  # noqa: PLC0415

    graph = training_graph(network, optimizer=optimizer) if training else inference_graph(network)
    return build_problem(graph, devices)


def plan(
    problem: Problem,
    strategy: str = "optimal",
    options: SolveOptions = SolveOptions(),  # noqa: B008 - frozen
    *,
    emit: Callable[[SolveEvent], None] | None = None,
    stop: threading.Event | None = None,
) -> Plan:
    """Plan a problem with the strategy called `strategy`, in this thread.

    `emit` hears of every step on the way, `stop` ends the search with the best plan so far. Every incumbent and the
    plan handed back have passed `verify`: one that breaks a rule is told in the log and never shown as valid.
    """
    from xengine_gui.solve.strategies import strategy as find  # noqa: PLC0415

    chosen = find(strategy)
    obstacle = chosen.supports(problem)
    if obstacle:
        raise InputError(problem.name, f"{chosen.title} cannot plan this: {obstacle}")
    listener = _Listener(problem, emit or (lambda _event: None))
    context = SolveContext(options, listener.hear, stop or threading.Event())
    listener.context = context
    listener.emit(Started(strategy))
    found = listener.judged(chosen.plan(problem, context))
    listener.emit(Finished(found, context.elapsed_s))
    return found


@dataclass
class _Listener:
    """Stands between a strategy and its audience and lets only verified plans through."""

    problem: Problem
    emit: Callable[[SolveEvent], None]
    context: SolveContext | None = None
    best: Plan | None = None
    lower_bound_ns: int | None = None

    def hear(self, event: SolveEvent) -> None:
        if isinstance(event, Incumbent):
            broken = verify(event.plan, self.problem).broken
            if broken:
                self._log(f"a plan was left out, since it breaks a rule: {broken[0]}")
            elif self.best is None or (event.plan.total_ns or 0) < (self.best.total_ns or 0):
                self.best = event.plan
                self.emit(event)
        elif isinstance(event, Bound):
            if self.lower_bound_ns is None or event.lower_bound_ns > self.lower_bound_ns:
                self.lower_bound_ns = event.lower_bound_ns
                self.emit(event)
        elif not isinstance(event, Started | Finished):
            self.emit(event)

    def judged(self, found: Plan) -> Plan:
        """The plan itself where it keeps the rules, else the best incumbent that does, else none."""
        if found.has_events:
            broken = verify(found, self.problem).broken
            if not broken:
                return found
            sentence = f"the strategy's plan breaks a rule: {broken[0]}"
        elif self.best is not None:
            sentence = f"the strategy handed back no plan ({found.status}) although it had found one"
        else:
            return found
        self._log(sentence)
        if self.best is None:
            return Plan(self.problem, found.strategy, Status.UNKNOWN, runtime_s=found.runtime_s, explanation=sentence)
        return replace(self.best, status=Status.FEASIBLE, runtime_s=found.runtime_s, explanation=sentence)

    def _log(self, sentence: str) -> None:
        if self.context is not None:
            self.context.log(sentence)


def unlimited_total_ns(problem: Problem) -> int | None:
    """The best known serial total with unlimited memory; exact for one device."""
    from xengine_gui.solve.placement import unlimited_placement  # noqa: PLC0415

    return unlimited_placement(problem.without_limits().indexed).total_ns


def sample_networks() -> tuple[Path, ...]:
    """The bundled networks."""
    return tuple(sorted(sample_graphs().glob("*.onnx")))


def sample_problems() -> tuple[Path, ...]:
    """The bundled teaching toys, as problem files."""
    return tuple(sorted(sample_graphs().glob("*.json")))
