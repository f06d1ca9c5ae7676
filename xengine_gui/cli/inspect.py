"""`xengine inspect`: what is in a network, how large it is, and what was assumed."""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from xengine_gui import planner
from xengine_gui.cli.inputs import asked_mapping, asked_session
from xengine_gui.cli.output import pairs, say, shown
from xengine_gui.cli.status import DONE
from xengine_gui.cost import DeviceChoice
from xengine_gui.errors import InputError
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.model.plan import Plan
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.peak import one_device_peak_bytes
from xengine_gui.units import format_names, format_size, format_size_exact


@dataclass(frozen=True)
class Report:
    """What `--json` prints. Sizes that depend on an unknown tensor are `None`."""

    operators: int
    tensors: int
    activation_bytes: int | None
    parameter_bytes: int | None
    peak_bytes: int | None
    unknown_tensors: list[str]
    symbols: Mapping[str, int | None]
    notes: list[str]


def run(arguments: argparse.Namespace) -> int:
    """Print the report on a file."""
    opened = _opened(arguments)
    if isinstance(opened, NetworkGraph):
        problem = _problem_of(opened, training=arguments.training, optimizer=arguments.optimizer)
        report = _of_network(opened, problem, training=arguments.training)
    else:
        problem = opened.problem if isinstance(opened, Plan) else opened
        report = _of_problem(problem)
    if arguments.json:
        say(json.dumps(asdict(report), indent=1, ensure_ascii=False))
        return DONE
    smallest = [] if problem is None else _smallest(problem, arguments.time)
    _print(report, opened.name if isinstance(opened, NetworkGraph) else _name(problem), arguments, smallest)
    return DONE


def _opened(arguments: argparse.Namespace) -> NetworkGraph | Problem | Plan:
    session = asked_session(arguments)
    if session is None:
        return planner.open_file(
            arguments.file, batch=arguments.batch, bindings=dict(arguments.bind), mapping=asked_mapping(arguments),
            sizes=dict(arguments.size),
        )  # fmt: skip
    if arguments.batch or arguments.bind or arguments.size or asked_mapping(arguments):
        raise InputError(str(arguments.file), "is a session with its own sizes: they are changed in the window")
    return session.problem()


def _problem_of(network: NetworkGraph, *, training: bool, optimizer: str) -> Problem | None:
    """The network on a device, `None` where sizes are unknown: sizes are the same on any, so one tells the peak."""
    if network.unknown_tensors:
        return None
    device = DeviceChoice("any", planner.DEFAULT_DEVICES[0].preset)
    return planner.make_problem(network, (device,), training=training, optimizer=optimizer)


def _smallest(problem: Problem, time_s: float | None) -> list[tuple[str, str, str]]:
    """A line per limited device: with how little memory there is a plan, the other devices as they are."""
    if len(problem.devices) == 1 and problem.devices[0].memory_limit_bytes is None:
        problem = problem.with_limit(problem.devices[0].name, one_device_peak_bytes(problem))
    rows = []
    for small in planner.smallest_limits(problem, time_s=time_s):
        of = f" of {small.device}" if len(problem.devices) > 1 else ""
        name = f"smallest limit{of}"
        if small.limit_bytes is None:
            rows.append((name, "none", "no limit of it would do" if small.proved else "no plan was found"))
            continue
        if not small.limit_bytes:
            rows.append((name, format_size(0), "everything can run on the other devices"))
            continue
        exact = format_size_exact(small.limit_bytes)
        known = f"at least {format_size_exact(small.lower_bytes)} are needed"
        least = f"{known if small.lower_bytes else 'the least known'}; --time 60 looks longer for less"
        rows.append((name, format_size(small.limit_bytes), f"{exact}, {'proved' if small.proved else least}"))
    return rows


def _of_network(network: NetworkGraph, problem: Problem | None, *, training: bool) -> Report:
    unknown = list(network.unknown_tensors)
    operators, tensors = network.operator_count, len(network.tensors)
    activation_bytes: int | None = network.activation_bytes
    parameter_bytes: int | None = network.parameter_bytes
    notes, peak_bytes = list(network.notes), None
    if problem is None:
        activation_bytes = parameter_bytes = None
    else:
        peak_bytes = one_device_peak_bytes(problem)
        if training:
            of_training = _of_problem(problem)
            operators, tensors = of_training.operators, of_training.tensors
            activation_bytes, parameter_bytes = of_training.activation_bytes, of_training.parameter_bytes
            notes = of_training.notes
    return Report(
        operators, tensors, activation_bytes, parameter_bytes, peak_bytes, unknown, dict(network.symbols), notes
    )


def _of_problem(problem: Problem) -> Report:
    return Report(
        operators=len(problem.operators),
        tensors=len(problem.tensors),
        activation_bytes=sum(t.size_bytes for t in problem.tensors),
        parameter_bytes=sum(p.size_bytes for p in problem.parameters),
        peak_bytes=one_device_peak_bytes(problem),
        unknown_tensors=[],
        symbols={},
        notes=[note for note in problem.notes.splitlines() if note],
    )


def _name(problem: Problem | None) -> str:
    return "" if problem is None else problem.name


def _print(report: Report, name: str, arguments: argparse.Namespace, smallest: Sequence[tuple[str, str, str]]) -> None:
    say(f"{shown(name or str(arguments.file))}{' (training step)' if arguments.training else ''}\n")
    pairs(
        [
            ("operators", f"{report.operators:,}", ""),
            ("tensors", f"{report.tensors:,}", ""),
            ("activations", *_size(report.activation_bytes)),
            ("parameters", *_size(report.parameter_bytes)),
            ("peak without recomputation", *_size(report.peak_bytes)),
            *smallest,
        ]
    )
    if report.symbols:
        say("\nsymbolic dimensions (give values with --bind NAME=N, or --batch N):")
        for symbol, value in report.symbols.items():
            say(f"  {shown(symbol)} = {'unknown' if value is None else value}")
    if report.unknown_tensors:
        say(f"\nsizes are unknown of {format_names(map(shown, report.unknown_tensors))}")
    for note in report.notes:
        say(f"\nnote: {shown(note)}")


def _size(size_bytes: int | None) -> tuple[str, str]:
    return ("unknown", "") if size_bytes is None else (format_size(size_bytes), format_size_exact(size_bytes))
