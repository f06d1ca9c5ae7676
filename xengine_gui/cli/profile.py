"""`xengine profile`: measure what each operator of a network takes on this machine's processor."""

import argparse
from collections import Counter

from xengine_gui import planner
from xengine_gui.cli.inputs import check_writable
from xengine_gui.cli.output import is_watched, say, shown, table, tell
from xengine_gui.cli.status import DONE
from xengine_gui.cost.measured import CostRow, write_costs
from xengine_gui.errors import InputError
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.units import format_count, format_duration, format_percent

_MOST_SHOWN = 12


def run(arguments: argparse.Namespace) -> int:
    """Measure, tell what takes the time, and write the table."""
    from xengine_gui.profile import ProfileOptions  # noqa: PLC0415 - brings onnx

    check_writable(arguments.output)
    if arguments.processor_time and arguments.threads > 1:
        raise InputError("--processor-time", "is that of one thread, so --threads has no meaning beside it")
    network = planner.open_file(
        arguments.file, batch=arguments.batch, bindings=dict(arguments.bind), sizes=dict(arguments.size)
    )
    if not isinstance(network, NetworkGraph):
        raise InputError(str(arguments.file), "is no network: only a network's operators can be run")

    count = 0

    def begin(operators: int) -> None:
        nonlocal count
        count = operators

    def hear(number: int, row: CostRow) -> None:
        if is_watched() or arguments.progress:
            place = f"{number:5d} of {count}"
            tell(f"{place}  {format_duration(row.time_ns):>8}  {shown(row.operator)}: {row.source}")

    options = ProfileOptions(arguments.runs, arguments.threads, arguments.processor_time)
    training, optimizer = not arguments.inference, arguments.optimizer
    rows = planner.profile(
        network, arguments.device, training=training, optimizer=optimizer,
        options=options, on_begin=begin, on_row=hear,
    )  # fmt: skip
    if arguments.output is not None:
        write_costs(rows, arguments.output)
    _print(network.name, rows)
    if arguments.output is not None:
        say(f"\nThe costs are in {shown(str(arguments.output))}; plan with --costs {shown(str(arguments.output))}.")
    return DONE


def _print(name: str, rows: list[CostRow]) -> None:
    total_ns = sum(row.time_ns for row in rows)
    ways = Counter(row.source.split()[0] for row in rows)
    estimated_ns = sum(row.time_ns for row in rows if row.source.startswith("estimated"))
    counted = ", ".join(f"{count:,} {way}" for way, count in ways.items())
    say(f"{shown(name)}: {format_count(len(rows), 'operator')} ({counted}), {format_duration(total_ns)} in all")
    say(f"{format_percent(estimated_ns / total_ns if total_ns else 0)} of the time is estimated\n")
    longest = sorted(rows, key=lambda row: -row.time_ns)[:_MOST_SHOWN]
    lines = [[r.operator, format_duration(r.time_ns), format_duration(r.spread_ns or 0), r.source] for r in longest]
    table(["longest", "time", "spread", "source"], lines, left=(0, 3))
