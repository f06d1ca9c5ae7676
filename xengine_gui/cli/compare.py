"""`xengine compare`: strategies side by side, or two plans and what differs."""

import argparse
import os
from collections.abc import Mapping
from pathlib import Path

from xengine_gui import planner
from xengine_gui.cli.chosen_strategies import chosen_strategies
from xengine_gui.cli.differences import print_diff, write_diff
from xengine_gui.cli.inputs import asked_problem, check_writable
from xengine_gui.cli.output import is_watched, say, shown, table, tell
from xengine_gui.cli.qt import qt_errors_told
from xengine_gui.cli.status import DONE, INFEASIBLE, NO_PLAN_IN_TIME
from xengine_gui.cli.stopping import stopped_by_ctrl_c
from xengine_gui.errors import InputError
from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.model.whole_file import write_text
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import SolveOptions
from xengine_gui.solve.compare import ComparedStrategy, Comparison, RowState
from xengine_gui.solve.compare_file import comparison_to_csv, comparison_to_json
from xengine_gui.solve.worker import SolverProcess
from xengine_gui.units import format_duration, format_gap, format_names, format_percent, format_size

_SUFFIXES = (".csv", ".json", ".svg", ".png", ".pdf")
_DIFF_SUFFIXES = (".csv", ".json")


def run(arguments: argparse.Namespace) -> int:
    """Compare what is asked for."""
    if len(arguments.files) > 1:
        return _two_plans(arguments)
    arguments.file = arguments.files[0] if arguments.files else None
    output: Path | None = arguments.output
    if output is not None and output.suffix.lower() not in _SUFFIXES:
        raise InputError(str(output), f"a comparison is written as {', '.join(_SUFFIXES)}")
    check_writable(output)
    keys = chosen_strategies(arguments.strategies)
    problem = asked_problem(arguments)
    gap_ratio = SolveOptions().gap_ratio if arguments.gap is None else arguments.gap
    options = SolveOptions(gap_ratio=gap_ratio, time_limit_s=arguments.time)
    comparison = _compared(problem, keys, options, arguments)
    _print(comparison)
    if output is not None:
        _write(output, comparison)
        say(f"\nThe comparison is in {shown(str(output))}.")
    return _status(comparison)


def _compared(problem: Problem, keys: list[str], options: SolveOptions, arguments: argparse.Namespace) -> Comparison:
    progress = _Progress(len(keys), told=arguments.progress or is_watched())
    process = None if arguments.in_process else SolverProcess()
    try:
        with stopped_by_ctrl_c() as stop:
            return planner.compare(problem, keys, options, process=process, on_row=progress.hear, stop=stop)
    finally:
        if process is not None:
            process.close()


class _Progress:
    """A line where a strategy begins and one where it ends, where somebody watches."""

    def __init__(self, count: int, *, told: bool) -> None:
        self._count, self._place, self._begun, self._told = count, 0, "", told

    def hear(self, row: ComparedStrategy) -> None:
        if not self._told:
            return
        if row.state is RowState.RUNNING and row.key != self._begun:
            self._begun = row.key
            tell(f"{self._place + 1:3d} of {self._count}  {row.key} …")
        elif row.state is not RowState.RUNNING:
            self._place += 1
            total = row.status if row.total_ns is None else format_duration(row.total_ns, fine=True)
            tell(f"{self._place:3d} of {self._count}  {row.key}: {total}")


def _print(comparison: Comparison) -> None:
    problem, devices = comparison.problem, [d.name for d in comparison.problem.devices]
    limits = ", ".join(f"{d.name} {_size(d.memory_limit_bytes)}" for d in problem.devices)
    count = len(comparison.rows)
    say(f"{shown(problem.name) or 'problem'}: {count} strateg{'y' if count == 1 else 'ies'}, {shown(limits)}\n")
    head = ["strategy", "total", "overhead", *(f"{d} peak" for d in devices)]
    rows = [_row(comparison, row, devices) for row in comparison.rows]
    last = len(head) + 4
    table([*head, "recomputes", "transfers", "gap", "took", "status"], rows, left=(0, last))
    bound = comparison.lower_bound_ns
    if bound is not None:
        exact = f"{format_duration(bound, fine=True)} is the highest bound that any of them proved"
        say(f"\ngap: what a plan may be above the best possible; {exact}.")
    reasons = [row for row in comparison.rows if row.reason and (row.total_ns is None or row.state is RowState.FAILED)]
    if reasons:
        say()
        for keys, reason in reasons_told_once({row.key: row.reason for row in reasons}):
            who = f"all {count}" if len(keys) == count > 1 else format_names(keys, count)
            say(f"{who}: {shown(reason)}")
    for sentence in comparison.contradictions():
        say(f"\nA fault: {shown(sentence)}")


def reasons_told_once(reasons: Mapping[str, str]) -> list[tuple[list[str], str]]:
    """Each reason with the keys that it is of; what a reason says beyond another's is told apart."""
    told: dict[str, list[str]] = {}
    for reason in sorted(set(reasons.values()), key=len):
        told[next((known for known in told if reason.startswith(known)), reason)] = []
    for key, reason in reasons.items():
        told[next(known for known in told if reason.startswith(known))].append(key)
    groups = [(keys, reason) for reason, keys in told.items()]
    groups.sort(key=lambda group: list(reasons).index(group[0][0]))
    more = [
        ([key], reason[len(known) :].strip())
        for known, keys in told.items()
        for key in keys
        if (reason := reasons[key]) != known
    ]
    return [*groups, *more]


def _row(comparison: Comparison, row: ComparedStrategy, devices: list[str]) -> list[str]:
    took = "-" if row.took_s is None else f"{row.took_s:.2f} s"
    figures = row.summary
    if figures is None:
        return [row.key, *["-"] * (len(devices) + 5), took, row.status]
    gap = comparison.gap_ratio(row)
    return [
        row.key,
        format_duration(figures.total_ns, fine=True),
        "-" if figures.overhead_ratio is None else format_percent(figures.overhead_ratio),
        *(format_size(figures.peak_bytes.get(device, 0)) for device in devices),
        f"{figures.recompute_count:,}",
        f"{figures.transfer_count:,}",
        "-" if gap is None else format_gap(gap, 3),
        took,
        row.status,
    ]


def _size(limit_bytes: int | None) -> str:
    return "unlimited" if limit_bytes is None else format_size(limit_bytes)


def _write(path: Path, comparison: Comparison) -> None:
    suffix = path.suffix.lower()
    if suffix == ".csv":
        write_text(path, comparison_to_csv(comparison))
    elif suffix == ".json":
        write_text(path, comparison_to_json(comparison))
    else:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        with qt_errors_told():
            from xengine_gui.ui.compare_picture import render_comparison  # noqa: PLC0415 - Qt only for a picture
        render_comparison(comparison, path)


def _status(comparison: Comparison) -> int:
    plans = [row.plan for row in comparison.rows if row.plan is not None]
    if any(plan.has_events for plan in plans):
        return DONE
    return INFEASIBLE if any(plan.status is Status.INFEASIBLE for plan in plans) else NO_PLAN_IN_TIME


def _two_plans(arguments: argparse.Namespace) -> int:
    """What differs from the first plan file to the second."""
    if len(arguments.files) > 2:
        raise InputError("", f"two plans are compared at a time, not {len(arguments.files)}")
    output: Path | None = arguments.output
    if output is not None and output.suffix.lower() not in _DIFF_SUFFIXES:
        raise InputError(str(output), f"what differs between two plans is written as {', '.join(_DIFF_SUFFIXES)}")
    check_writable(output)
    plans = [_plan(path) for path in arguments.files]
    difference = planner.diff(*plans)
    print_diff(difference, [str(path) for path in arguments.files])
    if output is not None:
        write_diff(difference, output)
        say(f"\nAll changes are in {shown(str(output))}.")
    return DONE


def _plan(path: Path) -> Plan:
    opened = planner.open_file(path)
    if not isinstance(opened, Plan):
        raise InputError(str(path), "is no plan; two files are compared where both are plans")
    broken = verify(opened).broken
    if broken:
        raise InputError(str(path), f"is not compared, since it breaks a rule: {broken[0]}")
    return opened
