"""`xengine inspect`: what is in a network, how large it is, and what was assumed."""

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from xengine_gui import planner
from xengine_gui.cli.inputs import asked_mapping
from xengine_gui.cli.output import pairs, say, shown
from xengine_gui.cli.status import DONE
from xengine_gui.cost import DeviceChoice
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
    opened = planner.open_file(
        arguments.file, batch=arguments.batch, bindings=dict(arguments.bind), mapping=asked_mapping(arguments),
        sizes=dict(arguments.size),
    )  # fmt: skip
    if isinstance(opened, NetworkGraph):
        report = _of_network(opened, training=arguments.training, optimizer=arguments.optimizer)
        name = opened.name
    else:
        problem = opened.problem if isinstance(opened, Plan) else opened
        report, name = _of_problem(problem), problem.name
    if arguments.json:
        say(json.dumps(asdict(report), indent=1, ensure_ascii=False))
    else:
        _print(report, name or str(arguments.file), training=arguments.training)
    return DONE


def _of_network(network: NetworkGraph, *, training: bool, optimizer: str) -> Report:
    unknown = list(network.unknown_tensors)
    operators, tensors = network.operator_count, len(network.tensors)
    activation_bytes: int | None = network.activation_bytes
    parameter_bytes: int | None = network.parameter_bytes
    notes, peak_bytes = list(network.notes), None
    if unknown:
        activation_bytes = parameter_bytes = None
    else:
        # Sizes are the same on every device, so any one that computes tells the peak.
        device = DeviceChoice("any", planner.DEFAULT_DEVICES[0].preset)
        problem = planner.make_problem(network, (device,), training=training, optimizer=optimizer)
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


def _print(report: Report, name: str, *, training: bool) -> None:
    say(f"{shown(name)}{' (training step)' if training else ''}\n")
    pairs(
        [
            ("operators", f"{report.operators:,}", ""),
            ("tensors", f"{report.tensors:,}", ""),
            ("activations", *_size(report.activation_bytes)),
            ("parameters", *_size(report.parameter_bytes)),
            ("peak without recomputation", *_size(report.peak_bytes)),
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
