"""Every strategy on every sample graph at three limits: a plan that keeps the rules or a reason, and how soon it stops.

    python tests/benchmarks/strategy_rows.py [--stop 2] [--strategies A,B] [--graphs A,B] [--rows FILE.csv]

prints a Markdown table with a row per strategy, and below it whatever is not as promised; exit status 1 if anything is.
The limits are shares of what the whole graph takes on one device, for every device. Each run has a child process, as in
the window; one that has not ended after `--stop` seconds is asked to stop, and how long that takes is measured.
A child that does not answer within half a second is killed, which is told as `killed`. `--rows` writes all runs.
"""

import argparse
import csv
import multiprocessing
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from xengine_gui import planner
from xengine_gui.errors import PlannerError
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.peak import one_device_peak_bytes
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import Finished, SolveOptions, Strategy
from xengine_gui.solve.compare import sentence
from xengine_gui.solve.strategies import STRATEGIES
from xengine_gui.solve.worker import SolverProcess

BATCH = 32
PERCENTS = (100, 70, 40)
LATE_S = 0.5


@dataclass(frozen=True)
class Row:
    """One run. `stop_s` is the time from the request to stop to the end, `None` where it ended before."""

    strategy: str
    graph: str
    percent: int
    outcome: str
    total_ms: float | None
    took_s: float
    stop_s: float | None
    fault: str
    reason: str


def graphs(only: str) -> Iterator[tuple[str, Problem]]:
    """The sample networks in training on the default devices, and the teaching toys."""
    for path in (*planner.sample_problems(), *planner.sample_networks()):
        if only and path.stem not in only.split(","):
            continue
        opened = planner.open_file(path, batch=BATCH if path.suffix == ".onnx" else None)
        if isinstance(opened, NetworkGraph):
            yield path.stem, planner.make_problem(opened, planner.DEFAULT_DEVICES)
        elif isinstance(opened, Problem):
            yield path.stem, opened


def limited(problem: Problem, percent: int) -> Problem:
    """The problem with each device at a share of what the whole graph takes."""
    limit_bytes = one_device_peak_bytes(problem) * percent // 100
    for device in problem.devices:
        problem = problem.with_limit(device.name, limit_bytes)
    return problem


def run(process: SolverProcess, chosen: Strategy, graph: str, percent: int, problem: Problem, stop_s: float) -> Row:
    """Plan once, ask for a stop after `stop_s` seconds, and judge what comes back."""
    declined = chosen.supports(problem)
    if declined:
        return Row(chosen.key, graph, percent, "declined", None, 0.0, None, "", sentence(declined))
    _warm(process, chosen)
    began = time.monotonic()
    stop = threading.Event()
    asked = threading.Timer(stop_s, stop.set)
    asked.start()
    try:
        for event in process.plan(problem, chosen.key, SolveOptions(time_limit_s=None), stop=stop):
            if isinstance(event, Finished):
                plan = event.plan
    except PlannerError as error:
        return Row(chosen.key, graph, percent, "failed", None, time.monotonic() - began, None, "failed", str(error))
    finally:
        asked.cancel()
    took_s = time.monotonic() - began
    late_s = took_s - stop_s if stop.is_set() else None
    reason = sentence(plan.explanation)
    if _is_dead(process):
        fault = "killed"
    elif plan.has_events:
        fault = "; ".join(verify(plan, problem).broken[:1])
    else:
        fault = "" if reason else "no reason"
    total_ms = None if plan.total_ns is None else plan.total_ns / 1e6
    outcome = "plan" if plan.has_events else str(plan.status)
    return Row(chosen.key, graph, percent, outcome, total_ms, took_s, late_s, fault, reason)


_WARM = dict[int | None, set[str]]()


def _warm(process: SolverProcess, chosen: Strategy) -> None:
    """Let a new child load what the strategy needs, as the window does ahead of need."""
    if not _is_dead(process) and chosen.key in _WARM.get(process.pid, ()):
        return
    toy = planner.open_file(planner.sample_problems()[0])
    assert isinstance(toy, Problem)
    for _ in process.plan(toy, chosen.key, SolveOptions(time_limit_s=None)):
        pass
    _WARM.setdefault(process.pid, set()).add(chosen.key)


def _is_dead(process: SolverProcess) -> bool:
    return all(child.pid != process.pid for child in multiprocessing.active_children())


HEAD = "| strategy | plans | proved infeasible | no plan, with a reason | declined | latest stop, s | killed |"


def told(key: str, rows: list[Row]) -> str:
    """A strategy's row of the table."""
    counts = [sum(row.outcome == outcome for row in rows) for outcome in ("plan", "infeasible", "unknown", "declined")]
    stops = [row.stop_s for row in rows if row.stop_s is not None]
    latest = f"{max(stops):.2f}" if stops else "\N{EN DASH}"
    killed = sum(row.fault == "killed" for row in rows)
    return f"| `{key}` | {' | '.join(str(count) for count in counts)} | {latest} | {killed} |"


def main() -> int:
    """Run all and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--stop", type=float, default=2.0, help="seconds after which a run is asked to stop")
    parser.add_argument("--strategies", default="", help="keys, separated by commas")
    parser.add_argument("--graphs", default="", help="names of samples, separated by commas")
    parser.add_argument("--rows", type=Path, help="a CSV file for all runs")
    options = parser.parse_args()
    chosen = [s for s in STRATEGIES if not options.strategies or s.key in options.strategies.split(",")]
    problems = [(name, p, limited(problem, p)) for name, problem in graphs(options.graphs) for p in PERCENTS]
    print(HEAD, "| --- " * HEAD.count(" | ") + "| --- |", sep="\n")
    process, every = SolverProcess(), []
    for strategy in chosen:
        rows = [run(process, strategy, name, p, problem, options.stop) for name, p, problem in problems]
        every.extend(rows)
        print(told(strategy.key, rows), flush=True)
        if options.rows is not None:
            with options.rows.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(field.name for field in fields(Row))
                writer.writerows(map(astuple, every))
    process.close()
    faults = [row for row in every if row.fault or (row.stop_s or 0) > LATE_S]
    for row in faults:
        late = "" if row.stop_s is None else f" {row.stop_s:.2f} s after the stop"
        print(f"- `{row.strategy}`, {row.graph} at {row.percent} %: {row.fault or 'late'}{late}. {row.reason}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
