"""`xengine sweep`: totals over a range of limits of one device."""

import argparse
import contextlib
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from xengine_gui import planner
from xengine_gui.cli.inputs import Limit, asked_problem, check_writable
from xengine_gui.cli.output import is_watched, say, shown, table, tell
from xengine_gui.cli.qt import qt_errors_told
from xengine_gui.cli.status import DONE, INFEASIBLE, NO_PLAN_IN_TIME
from xengine_gui.errors import InputError
from xengine_gui.model.json_file import write_text
from xengine_gui.model.plan import Status
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.peak import one_device_peak_bytes
from xengine_gui.solve.base import SolveOptions
from xengine_gui.solve.feasibility import alone_bytes
from xengine_gui.solve.sweep import SweepPoint, knee, smallest_feasible, sweep
from xengine_gui.solve.sweep_file import mark_of, sweep_to_csv, sweep_to_json
from xengine_gui.units import format_duration, format_percent, format_size

_SUFFIXES = (".csv", ".json", ".svg", ".png", ".pdf")


def run(arguments: argparse.Namespace) -> int:
    """Sweep what is asked for."""
    output: Path | None = arguments.output
    if output is not None and output.suffix.lower() not in _SUFFIXES:
        raise InputError(str(output), f"a sweep is written as {', '.join(_SUFFIXES)}")
    check_writable(output)
    problem = asked_problem(arguments)
    device = _device(problem, arguments.device_limit)
    limits = _limits(problem, device, arguments)
    options = SolveOptions(time_limit_s=arguments.time)
    if arguments.gap is not None:
        options = SolveOptions(gap_ratio=arguments.gap, time_limit_s=arguments.time)
    progress = _Progress(len(limits))
    with _stopped_by_ctrl_c() as stop:
        points = sweep(
            problem, device, limits, arguments.strategy, options,
            workers=arguments.workers, scheduler_address=arguments.scheduler, on_result=progress.hear, stop=stop,
        )  # fmt: skip
    _print(problem, device, points)
    if output is not None:
        _write(output, problem, device, arguments.strategy, points)
        say(f"\nThe sweep is in {shown(str(output))}.")
    return _status(points)


def _device(problem: Problem, name: str | None) -> str:
    """The device that is meant: the only one that has a limit, or that there is, where none is named."""
    if name is not None:
        return problem.device(name).name
    limited = [d.name for d in problem.devices if d.memory_limit_bytes is not None] or [d.name for d in problem.devices]
    if len(limited) > 1:
        raise InputError("", f"name the device whose limit is swept with --device-limit: {', '.join(limited)}")
    return limited[0]


def _limits(problem: Problem, device: str, arguments: argparse.Namespace) -> list[int]:
    """Limits evenly spaced between the two that are asked for, by default from one operator to everything."""
    index = [d.name for d in problem.devices].index(device)
    free = problem.with_limit(device, None)
    low = _size(problem, device, arguments.from_, alone_bytes(free.indexed, index))
    high = _size(problem, device, arguments.to, max(low, one_device_peak_bytes(problem, device)))
    if low > high:
        raise InputError("", f"--from ({format_size(low)}) is more than --to ({format_size(high)})")
    steps = arguments.points - 1
    return sorted({low + (high - low) * i // steps for i in range(steps + 1)} if steps else {high})


def _size(problem: Problem, device: str, text: str | None, otherwise: int) -> int:
    size = otherwise if text is None else Limit(device, text).bytes_in(problem)
    if size is None:
        raise InputError("", "a sweep ends at a size: with as much as everything takes, more changes nothing")
    return size


@contextlib.contextmanager
def _stopped_by_ctrl_c() -> Iterator[threading.Event]:
    """The first Ctrl-C ends the sweep with what there is, the second leaves at once."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def hear(*interrupt: Any) -> None:
        if stop.is_set():
            signal.default_int_handler(*interrupt)
        tell("Stopping with what there is; press Ctrl-C again to leave at once.")
        stop.set()

    before = signal.signal(signal.SIGINT, hear)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


class _Progress:
    """A line for each limit that is done, where somebody watches."""

    def __init__(self, count: int) -> None:
        self.count, self.done = count, set[int]()

    def hear(self, point: SweepPoint) -> None:
        if point.limit_bytes in self.done:
            return
        self.done.add(point.limit_bytes)
        if is_watched():
            total = "no plan" if point.total_ns is None else format_duration(point.total_ns)
            tell(f"{len(self.done):4d} of {self.count}  {format_size(point.limit_bytes)}: {total}")


def _print(problem: Problem, device: str, points: Sequence[SweepPoint]) -> None:
    say(f"{shown(problem.name) or 'problem'}: {len(points)} limits of {shown(device)}\n")
    unlimited_ns = planner.unlimited_total_ns(problem)
    smallest, bend = smallest_feasible(points), knee(points)
    rows = []
    for point in points:
        total, gap = point.total_ns, point.gap_ratio
        overhead = format_percent(total / unlimited_ns - 1) if total is not None and unlimited_ns else "-"
        rows.append(
            [
                format_size(point.limit_bytes),
                "-" if total is None else format_duration(total, fine=True),
                overhead,
                "-" if gap is None else format_percent(gap, 3),
                str(point.status),
                mark_of(point, smallest, bend),
            ]
        )
    table(["limit", "total", "overhead", "gap", "status", ""], rows, left=(4, 5))
    lowest = points[0]
    if lowest.total_ns is None and lowest.explanation:
        say(f"\nAt {format_size(lowest.limit_bytes)}: {shown(lowest.explanation)}")


def _write(path: Path, problem: Problem, device: str, strategy: str, points: Sequence[SweepPoint]) -> None:
    suffix = path.suffix.lower()
    if suffix == ".csv":
        write_text(path, sweep_to_csv(device, points))
    elif suffix == ".json":
        write_text(path, sweep_to_json(problem.name, device, strategy, points))
    else:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
        with qt_errors_told():
            from xengine_gui.ui.sweep_picture import render_sweep  # noqa: PLC0415 - Qt is loaded only for a picture
        render_sweep(problem.name, device, points, path)


def _status(points: Sequence[SweepPoint]) -> int:
    if any(point.total_ns is not None for point in points):
        return DONE
    return INFEASIBLE if all(point.status is Status.INFEASIBLE for point in points) else NO_PLAN_IN_TIME
