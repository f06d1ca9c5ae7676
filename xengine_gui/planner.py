"""The one door for the window, the command line and notebooks: from a file to a verified plan.

Importers and solvers are loaded when they are first needed, so importing this module is quick.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xengine_gui.cost import DeviceChoice
from xengine_gui.errors import InputError
from xengine_gui.model.device import Link
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
from xengine_gui.units import format_size

if TYPE_CHECKING:
    from xengine_gui.cost.measured import CostRow
    from xengine_gui.profile import ProfileOptions
    from xengine_gui.schedule.diff import PlanDiff
    from xengine_gui.solve.compare import ComparedStrategy, Comparison
    from xengine_gui.solve.feasibility import SmallestLimit
    from xengine_gui.solve.shortage import Shortage
    from xengine_gui.solve.sweep_points import Axis, Sweep, SweepPoint
    from xengine_gui.solve.worker import SolverProcess

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
    path: Path,
    *,
    batch: int | None = None,
    bindings: Mapping[str, int] | None = None,
    mapping: Mapping[str, str] | None = None,
    sizes: Mapping[str, int] | None = None,
) -> NetworkGraph | Problem | Plan:
    """What a file holds: a network, a problem or a plan. Raises `InputError` where it cannot be used.

    `batch` and `bindings` (values of symbolic dimensions) are for networks, `mapping` (fields to attributes) for graphs
    that bring their costs, and `sizes` gives bytes to what has none.
    """
    from xengine_gui.importers import importer_of, read_file  # noqa: PLC0415 - loaded when a file is

    importer = importer_of(path)
    is_json = path.suffix.lower() == ".json"
    if not is_json and importer is not None and importer.key != "onnx":
        return read_file(path, batch=batch, bindings=bindings, mapping=mapping, sizes=sizes)
    if is_json or read_bytes(path, 64).lstrip().startswith(b"{"):
        data = read_json(path)
        form = data.get("format") if isinstance(data, dict) else None
        if form in (PLAN_FORMAT, PROBLEM_FORMAT) and (mapping or sizes):
            raise InputError(str(path), "the file is of our own format and has all sizes, so there is nothing to map")
        if form == PLAN_FORMAT:
            return parse_plan(data, str(path))
        if form == PROBLEM_FORMAT or importer is None or (is_json and not _is_graph(data)):
            return parse_problem(data, str(path))
    return read_file(path, batch=batch, bindings=bindings, mapping=mapping, sizes=sizes)


def _is_graph(data: object) -> bool:
    from xengine_gui.importers.node_link_json import is_node_link  # noqa: PLC0415

    return is_node_link(data)


def make_problem(
    network: NetworkGraph,
    devices: Sequence[DeviceChoice],
    *,
    training: bool = True,
    optimizer: str = "sgd",
    links: Sequence[Link] = (),
    implementations: bool = False,
) -> Problem:
    """The problem of training a network on devices, or of running it once.

    `links` replace what the devices' presets give between the same two; those of devices that are not there are left
    out. With `implementations` a convolution has a row per algorithm, which trade time for workspace.
    """
    from xengine_gui.cost import Algorithms, Roofline, build_problem  # noqa: PLC0415
    from xengine_gui.training import inference_graph, training_graph  # noqa: PLC0415

    graph = training_graph(network, optimizer=optimizer) if training else inference_graph(network)
    problem = build_problem(graph, devices, cost_model=Algorithms() if implementations else Roofline())
    return problem.with_links(links)


def with_measured(problem: Problem, *paths: Path) -> Problem:
    """The problem with the times of CSV tables (see `xengine profile`) in place of those that it has."""
    from xengine_gui.cost import with_measured as laid_over  # noqa: PLC0415

    return laid_over(problem, paths)


def profile(
    network: NetworkGraph,
    device: str = "cpu",
    *,
    training: bool = True,
    optimizer: str = "sgd",
    options: "ProfileOptions | None" = None,
    on_begin: Callable[[int], None] | None = None,
    on_row: "Callable[[int, CostRow], None] | None" = None,
) -> "list[CostRow]":
    """What each operator of a network takes on this machine's processor, which the table calls `device`.

    `on_begin` hears how many operators there are, `on_row` of every row with its place. Needs ONNX Runtime, the extra
    `profile`.
    """
    from xengine_gui.profile import ProfileOptions  # noqa: PLC0415 - brings onnx
    from xengine_gui.profile import profile as run  # noqa: PLC0415
    from xengine_gui.training import inference_graph, training_graph  # noqa: PLC0415

    graph = training_graph(network, optimizer=optimizer) if training else inference_graph(network)
    if on_begin is not None:
        on_begin(len(graph.operators))
    return run(graph, device, options or ProfileOptions(), on_row=on_row)


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


def compare(
    problem: Problem,
    strategies: Sequence[str] = (),
    options: SolveOptions = SolveOptions(),  # noqa: B008 - frozen
    *,
    process: "SolverProcess | None" = None,
    on_row: "Callable[[ComparedStrategy], None] | None" = None,
    stop: threading.Event | None = None,
) -> "Comparison":
    """Plan a problem with each of `strategies` in turn, all of them by default, and put the figures side by side.

    `options` hold for each strategy alone. `process` plans in a child instead of this thread; `on_row` hears of every
    row that changes; `stop` ends the one at work with its best plan, and the rest is not run.
    """
    from xengine_gui.solve.compare import compare as run  # noqa: PLC0415
    from xengine_gui.solve.strategies import STRATEGIES  # noqa: PLC0415

    keys = strategies or [strategy.key for strategy in STRATEGIES]
    unlimited_ns = unlimited_total_ns(problem)
    return run(problem, keys, options, unlimited_total_ns=unlimited_ns, process=process, on_row=on_row, stop=stop)


def diff(before: Plan, after: Plan) -> "PlanDiff":
    """What differs from one plan to another of the same graph, and what it costs."""
    from xengine_gui.schedule.diff import diff as differences  # noqa: PLC0415

    return differences(before, after)


def sweep_axis(
    problem: Problem, device: str, low_bytes: int | None = None, high_bytes: int | None = None, count: int = 12
) -> "Axis":
    """A device and limits for it, evenly spaced: by default from what one operator takes to what everything takes."""
    from xengine_gui.solve.sweep_points import Axis, evenly, usual_range  # noqa: PLC0415

    low, high = (None, None) if None not in (low_bytes, high_bytes) else usual_range(problem, device)
    low = low_bytes if low_bytes is not None else low or 0
    high = high_bytes if high_bytes is not None else max(low, high or 0)
    if low > high:
        raise InputError("", f"the smallest limit, {format_size(low)}, is more than the largest, {format_size(high)}")
    return Axis(problem.device(device).name, evenly(low, high, count))


def sweep(
    problem: Problem,
    axes: "Sequence[Axis]",
    strategies: Sequence[str] = ("optimal",),
    options: SolveOptions = SolveOptions(),  # noqa: B008 - frozen
    *,
    workers: int | None = None,
    scheduler_address: str | None = None,
    on_result: "Callable[[str, SweepPoint], None] | None" = None,
    stop: threading.Event | None = None,
) -> "Sweep":
    """Plan a problem over the limits of one device (one `sweep_axis`), or of two, with each of `strategies`.

    Totals never rise with a limit. `options` hold for each plan alone. `workers` processes plan side by side (`None`:
    one per core, 0: this thread), or those of a Dask scheduler. `on_result` hears of every point that becomes final,
    with its strategy; after `stop` the rest is left as its neighbours tell it.
    """
    from xengine_gui.solve.sweep import sweep as run  # noqa: PLC0415

    return run(
        problem, axes, strategies, options,
        workers=workers, scheduler_address=scheduler_address, on_result=on_result, stop=stop,
    )  # fmt: skip


def shortage(problem: Problem, *, stop: threading.Event | None = None, time_s: float | None = 10.0) -> "Shortage":
    """What keeps a problem from being planned: what is too large, and the smallest limits that would do."""
    from xengine_gui.solve.shortage import shortage as find  # noqa: PLC0415

    return find(problem, stop=stop, time_s=time_s)


def smallest_limits(
    problem: Problem, *, stop: threading.Event | None = None, time_s: float | None = 10.0
) -> "tuple[SmallestLimit, ...]":
    """Per device with a limit the smallest that would do, the others as they are, as far as the time tells."""
    from xengine_gui.solve.feasibility import smallest_limits as find  # noqa: PLC0415

    return find(problem, stop, time_s)


def unlimited_total_ns(problem: Problem) -> int | None:
    """The best known serial total with unlimited memory; exact for one device."""
    from xengine_gui.solve.placement import unlimited_placement  # noqa: PLC0415

    return unlimited_placement(problem.without_limits().indexed).total_ns


def sample_networks() -> tuple[Path, ...]:
    """The bundled networks."""
    return tuple(sorted(sample_graphs().glob("*.onnx")))


def sample_sessions() -> tuple[Path, ...]:
    """The bundled sessions: networks with devices and limits that are worth a look."""
    return tuple(sorted(sample_graphs().glob("*.xengine")))


def sample_problems() -> tuple[Path, ...]:
    """The bundled teaching toys, as problem files."""
    return tuple(sorted(sample_graphs().glob("*.json")))
