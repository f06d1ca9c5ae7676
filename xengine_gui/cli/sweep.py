"""`xengine sweep`: totals over a range of limits of one device, or of two."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from xengine_gui import planner
from xengine_gui.cli.chosen_strategies import chosen_strategies
from xengine_gui.cli.inputs import Limit, asked_problem, check_writable
from xengine_gui.cli.output import is_watched, say, shown, table, tell
from xengine_gui.cli.qt import qt_errors_told
from xengine_gui.cli.status import DONE, INFEASIBLE, NO_PLAN_IN_TIME
from xengine_gui.cli.stopping import stopped_by_ctrl_c
from xengine_gui.errors import InputError
from xengine_gui.model.plan import Status
from xengine_gui.model.problem import Problem
from xengine_gui.model.whole_file import write_text
from xengine_gui.solve.base import SolveOptions
from xengine_gui.solve.sweep_file import marks, sweep_to_csv, sweep_to_json
from xengine_gui.solve.sweep_points import Axis, Sweep, SweepCurve, SweepPoint
from xengine_gui.units import format_duration, format_gap, format_names, format_percent, format_size

_SUFFIXES = (".csv", ".json", ".svg", ".png", ".pdf")
_POINTS, _POINTS_OF_TWO = 12, 6


def run(arguments: argparse.Namespace) -> int:
    """Sweep what is asked for."""
    output: Path | None = arguments.output
    if output is not None and output.suffix.lower() not in _SUFFIXES:
        raise InputError(str(output), f"a sweep is written as {', '.join(_SUFFIXES)}")
    check_writable(output)
    keys = chosen_strategies(arguments.strategies)
    problem = asked_problem(arguments)
    axes = _axes(problem, arguments)
    gap_ratio = SolveOptions().gap_ratio if arguments.gap is None else arguments.gap
    options = SolveOptions(gap_ratio=gap_ratio, time_limit_s=arguments.time)
    count = len(keys)
    for axis in axes:
        count *= len(axis.limits_bytes)
    progress = _Progress(count, several=len(keys) > 1, told=arguments.progress or is_watched())
    with stopped_by_ctrl_c() as stop:
        found = planner.sweep(
            problem, axes, keys, options,
            workers=arguments.workers, scheduler_address=arguments.scheduler, on_result=progress.hear, stop=stop,
        )  # fmt: skip
    _print(problem, found)
    if output is not None:
        _write(output, found)
        say(f"\nThe sweep is in {shown(str(output))}.")
    return _status(found)


def _axes(problem: Problem, arguments: argparse.Namespace) -> list[Axis]:
    second = arguments.second_device
    first = _device(problem, arguments.device_limit, second)
    count = arguments.points or (_POINTS if second is None else _POINTS_OF_TWO)
    axes = [_axis(problem, first, (arguments.from_, "--from"), (arguments.to, "--to"), count)]
    if second is None:
        given = {"--second-from": arguments.second_from, "--second-to": arguments.second_to}
        for option, value in given.items():
            if value is not None:
                raise InputError(option, "has no meaning without --second-device")
        return axes
    name = problem.device(second).name
    ends = (arguments.second_from, "--second-from"), (arguments.second_to, "--second-to")
    return [*axes, _axis(problem, name, *ends, arguments.second_points)]


def _device(problem: Problem, name: str | None, second: str | None) -> str:
    """The device that is meant: the only one that has a limit, or that there is, where none is named."""
    if name is not None:
        return problem.device(name).name
    others = [d for d in problem.devices if d.name != second]
    limited = [d.name for d in others if d.memory_limit_bytes is not None] or [d.name for d in others]
    if len(limited) != 1:
        raise InputError("", f"name the device whose limit is swept with --device-limit: {', '.join(limited)}")
    return limited[0]


def _axis(problem: Problem, device: str, low: tuple[str | None, str], high: tuple[str | None, str], count: int) -> Axis:
    """Limits evenly spaced between the two that are asked for, by default from one operator to everything."""
    sizes = [_size(problem, device, text) for text, _ in (low, high)]
    if None not in sizes and (sizes[0] or 0) > (sizes[1] or 0):
        first, last = (format_size(size or 0) for size in sizes)
        raise InputError("", f"{low[1]} ({first}) is more than {high[1]} ({last})")
    return planner.sweep_axis(problem, device, sizes[0], sizes[1], count)


def _size(problem: Problem, device: str, text: str | None) -> int | None:
    if text is None:
        return None
    size = Limit(device, text).bytes_in(problem)
    if size is None:
        raise InputError("", "a sweep ends at a size: with as much as everything takes, more changes nothing")
    return size


class _Progress:
    """A line for each point that is done, where somebody watches."""

    def __init__(self, count: int, *, several: bool, told: bool) -> None:
        self._count, self._several, self._told = count, several, told
        self._done: set[tuple[str, tuple[int, ...]]] = set()

    def hear(self, strategy: str, point: SweepPoint) -> None:
        if (strategy, point.limits_bytes) in self._done:
            return
        self._done.add((strategy, point.limits_bytes))
        if self._told:
            total = "no plan" if point.total_ns is None else format_duration(point.total_ns)
            limits = ", ".join(map(format_size, point.limits_bytes))
            by = f" {strategy}," if self._several else ""
            tell(f"{len(self._done):4d} of {self._count} {by} {limits}: {total}")


def _print(problem: Problem, found: Sweep) -> None:
    name, devices = shown(problem.name) or "problem", " and ".join(shown(axis.device) for axis in found.axes)
    say(f"{name}: {len(found.limits)} {'limits' if len(found.axes) == 1 else 'pairs of limits'} of {devices}\n")
    if len(found.axes) > 1:
        _print_map(found)
    elif len(found.curves) == 1:
        _print_curve(problem, found, found.curves[0])
    else:
        _print_curves(found)
    for curve in found.curves:
        if curve.declined:
            say(f"\n{curve.strategy} declined: {shown(curve.declined)}")
    lowest = found.best()[0]
    if lowest.total_ns is None and lowest.explanation and not all(curve.declined for curve in found.curves):
        say(f"\nAt {' and '.join(map(format_size, lowest.limits_bytes))}: {shown(lowest.explanation)}")


def _print_curve(problem: Problem, found: Sweep, curve: SweepCurve) -> None:
    """One strategy: all that is known of each limit."""
    unlimited_ns = planner.unlimited_total_ns(problem)
    rows = []
    for point, mark in zip(curve.points, marks(found, curve.points), strict=True):
        total, gap = point.total_ns, point.gap_ratio
        overhead = format_percent(total / unlimited_ns - 1) if total is not None and unlimited_ns else "-"
        gap_words = "-" if gap is None else format_gap(gap, 3)
        rows.append([format_size(point.limit_bytes), _total(point), overhead, gap_words, str(point.status), mark])
    table(["limit", "total", "overhead", "gap", "status", ""], rows, left=(4, 5))


def _print_curves(found: Sweep) -> None:
    """Several strategies: their totals beside the bound."""
    best = found.best()
    rows = []
    for i, mark in enumerate(marks(found, best)):
        bound = best[i].lower_bound_ns
        totals = [_total(curve.points[i]) for curve in found.curves]
        words = "-" if bound is None else format_duration(bound, fine=True)
        rows.append([format_size(best[i].limit_bytes), *totals, words, mark])
    head = ["limit", *(curve.strategy for curve in found.curves), "lower bound", ""]
    table(head, rows, left=(len(head) - 1,))


def _print_map(found: Sweep) -> None:
    """Two devices: the first one's limits to the right, the second one's downwards."""
    across, down = found.axes
    best = {point.limits_bytes: point for point in found.best()}
    if len(found.curves) > 1:
        say(f"the fastest of {format_names(curve.strategy for curve in found.curves)}\n")
    rows = [
        [format_size(limit), *(_total(best[other, limit]) for other in across.limits_bytes)]
        for limit in down.limits_bytes
    ]
    corner = f"{down.device} \\ {across.device}"
    table([corner, *map(format_size, across.limits_bytes)], rows, left=())


def _total(point: SweepPoint) -> str:
    if point.total_ns is not None:
        return format_duration(point.total_ns, fine=True)
    return "infeasible" if point.status is Status.INFEASIBLE else "-"


def _write(path: Path, found: Sweep) -> None:
    suffix = path.suffix.lower()
    if suffix == ".csv":
        write_text(path, sweep_to_csv(found))
    elif suffix == ".json":
        write_text(path, sweep_to_json(found))
    else:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        with qt_errors_told():
            from xengine_gui.ui.sweep_picture import render_sweep  # noqa: PLC0415 - Qt is loaded only for a picture
        render_sweep(found, path)


def _status(found: Sweep) -> int:
    points: Sequence[SweepPoint] = found.best()
    if any(point.total_ns is not None for point in points):
        return DONE
    return INFEASIBLE if all(point.status is Status.INFEASIBLE for point in points) else NO_PLAN_IN_TIME
