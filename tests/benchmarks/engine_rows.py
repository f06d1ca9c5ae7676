"""The engine's benchmark: time to the first plan, to 1 % and to 0.1 %, and memory, each row in a process of its own.

    PYTHONPATH=tests python tests/benchmarks/engine_rows.py [--set samples] [--time 60] [--judge FILE]

prints a Markdown table of one set: samples, published, derived or transformers. The published and derived instances
are looked for in the folder that the environment variable XENGINE_SHARED names; the others need nothing. `--judge`
names a script that is called with each plan file and must exit 0.
"""

import argparse
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from transformer_graphs import transformer

from xengine_gui.model.plan_file import write_plan
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import read_problem
from xengine_gui.planner import DEFAULT_DEVICES, make_problem, open_file, sample_networks
from xengine_gui.schedule.peak import one_device_peak_bytes
from xengine_gui.solve.base import Bound, Incumbent, SolveContext, SolveEvent, SolveOptions
from xengine_gui.solve.strategies import strategy

GAP_RATIO = 0.001


@dataclass(frozen=True)
class Row:
    """One measured row; times in seconds, `None` where it was not reached."""

    name: str
    operators: int
    devices: int
    first_s: float | None
    to_1_percent_s: float | None
    to_01_percent_s: float | None
    gap_ratio: float | None
    total_ms: float | None
    peak_mib: int

    def markdown(self) -> str:
        """The row of the table."""
        cells = [self.name, f"{self.operators:,}, {self.devices}"]
        cells += [_seconds(s) for s in (self.first_s, self.to_1_percent_s, self.to_01_percent_s)]
        cells.append(NOT_REACHED if self.gap_ratio is None else f"{100 * self.gap_ratio:.3f} %")
        cells.append(NOT_REACHED if self.total_ms is None else f"{self.total_ms:,.2f}")
        return f"| {' | '.join([*cells, f'{self.peak_mib:,}'])} |"


NOT_REACHED = "\N{EN DASH}"
HEAD = (
    "| instance | operators, devices | first plan, s | 1 %, s | 0.1 %, s | gap at the end | total, ms | memory, MiB |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- |"
)


def _seconds(value: float | None) -> str:
    return NOT_REACHED if value is None else f"{value:.2f}"


class _Watch:
    """Notes when each mark was reached."""

    def __init__(self) -> None:
        self.total_ns: int | None = None
        self.bound_ns = 0
        self.reached: dict[str, float] = {}

    def __call__(self, event: SolveEvent) -> None:
        if isinstance(event, Incumbent):
            self.total_ns = event.plan.total_ns
        elif isinstance(event, Bound):
            self.bound_ns = event.lower_bound_ns
        if self.total_ns is None:
            return
        self.reached.setdefault("first", event.elapsed_s)
        for name, ratio in (("1", 0.01), ("0.1", GAP_RATIO + 1e-8)):
            if self.total_ns - self.bound_ns <= ratio * self.total_ns:
                self.reached.setdefault(name, event.elapsed_s)


def measure(name: str, problem: Problem, key: str, time_s: float, plan_path: Path | None = None) -> Row:
    """Plan one problem in this process; what is imported on first use is there before the clock starts."""
    importlib.import_module("xengine_gui.solve.watchpoints.search")
    watch = _Watch()
    plan = strategy(key).plan(problem, SolveContext(SolveOptions(GAP_RATIO, time_s), emit=watch))
    if plan_path is not None and plan.has_events:
        write_plan(plan, plan_path)
    return Row(
        name=name,
        operators=len(problem.operators),
        devices=len(problem.devices),
        first_s=watch.reached.get("first"),
        to_1_percent_s=watch.reached.get("1"),
        to_01_percent_s=watch.reached.get("0.1"),
        gap_ratio=plan.gap_ratio,
        total_ms=None if plan.total_ns is None else plan.total_ns / 1e6,
        peak_mib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    )


def instances(which: str) -> Iterator[tuple[str, "partial[Problem]"]]:
    """The rows of a set: a name, and what makes its problem."""
    if which == "samples":
        for path in sample_networks():
            yield f"{path.stem}, batch 32, 40 %", partial(_sample, path)
    elif which == "transformers":
        for layers, share in ((48, 0.4), (160, 0.4), (640, 0.4), (48, 0.15)):
            yield f"transformer, {layers} layers, {share:.0%}", partial(transformer, layers, share)
    elif which == "published":
        for path in sorted((_shared() / "published").glob("*.json")):
            for known in json.loads(path.read_text(encoding="utf-8"))["known"]["published"]:
                name = f"{path.stem.removesuffix('_p100_training')}, {known['limit_gb']} GB"
                yield name, partial(_limited, path, {"gpu": known["limit_bytes"]})
    else:
        for path in sorted((_shared() / "derived").glob("*.json")):
            yield path.stem, partial(read_problem, path)
        both = {"cpu": 1_449_885_696, "gpu": 1_449_885_696}
        yield "resnet50, both 30 %", partial(_limited, _shared() / "derived" / "resnet50_gpu40.json", both)


def _shared() -> Path:
    return Path(os.environ["XENGINE_SHARED"]) / "instances"


def _sample(path: Path) -> Problem:
    """A sample network in training, the second device at 40 % of the one-device peak."""
    network = open_file(path, batch=32)
    assert not isinstance(network, Problem)
    problem = make_problem(network, DEFAULT_DEVICES)
    return problem.with_limit(problem.devices[-1].name, int(0.4 * one_device_peak_bytes(problem)))


def _limited(path: Path, limits: dict[str, int]) -> Problem:
    problem = read_problem(path)
    for device, limit_bytes in limits.items():
        problem = problem.with_limit(device, limit_bytes)
    return problem


def _one(which: str, number: int, key: str, time_s: float, plan_path: Path | None) -> None:
    name, make = list(instances(which))[number]
    print(json.dumps(asdict(measure(name, make(), key, time_s, plan_path))))


def _all(which: str, only: str, key: str, time_s: float, judge: Path | None) -> None:
    print(HEAD)
    for number, (name, _) in enumerate(instances(which)):
        if only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            plan_path = Path(folder) / "plan.json"
            command = [sys.executable, __file__, "--set", which, "--time", str(time_s), "--row", str(number)]
            command += ["--strategy", key, "--plan", str(plan_path)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            print(Row(**json.loads(done.stdout)).markdown(), flush=True)
            if judge is not None and plan_path.exists():
                subprocess.run([sys.executable, str(judge), str(plan_path)], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", default="samples", choices=("samples", "published", "derived", "transformers"))
    parser.add_argument("--only", default="", help="rows whose name has this in it")
    parser.add_argument("--strategy", default="optimal")
    parser.add_argument("--time", type=float, default=60.0)
    parser.add_argument("--judge", type=Path)
    parser.add_argument("--row", type=int)
    parser.add_argument("--plan", type=Path)
    options = parser.parse_args()
    if options.row is None:
        _all(options.set, options.only, options.strategy, options.time, options.judge)
    else:
        _one(options.set, options.row, options.strategy, options.time, options.plan)


if __name__ == "__main__":
    main()
