"""The one door for the window, the command line and notebooks: from a file to a verified plan.

Importers and solvers are loaded when they are first needed, so importing this module is quick.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xengine_gui.cost import DeviceChoice
from xengine_gui.errors import InputError
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.model.json_file import read_bytes, read_json
from xengine_gui.model.plan import Plan
from xengine_gui.model.plan_file import FORMAT as PLAN_FORMAT
from xengine_gui.model.plan_file import parse_plan
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import FORMAT as PROBLEM_FORMAT
from xengine_gui.model.problem_file import parse_problem
from xengine_gui.paths import sample_graphs
from xengine_gui.solve.base import SolveEvent, SolveOptions
from xengine_gui.solve.judge import plan_judged

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

    return plan_judged(find(strategy), problem, options, emit=emit, stop=stop)


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
