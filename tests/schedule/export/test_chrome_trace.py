"""The trace, read back as Perfetto reads it: processes, threads, slices, counters and arrows."""

import gzip
import itertools
import json
from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from plans_fixed import MOVING, four_operators, plan_of_four
from problems import problems_with_steps
from problems_fixed import chain_problem

from xengine_gui.model.operator import Implementation
from xengine_gui.model.plan import Clock, Plan, Run, Transfer
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.export import ExportOptions, exporter, write_export
from xengine_gui.schedule.export.chrome_trace import microseconds
from xengine_gui.schedule.finish import finished_plan, on_clock

Rows = list[dict[str, Any]]


def trace_of(plan: Plan) -> Rows:
    """The events of the trace; times as they stand there."""
    content = b"".join(exporter("trace").parts(plan, ExportOptions()))
    data = json.loads(content, parse_float=Decimal, parse_constant=pytest.fail)
    rows: Rows = data["traceEvents"]
    return rows


def nanoseconds(value: int | Decimal) -> int:
    exact = Decimal(value) * 1000
    assert exact == int(exact)
    return int(exact)


def named(rows: Rows, kind: str) -> dict[tuple[int, int | None], str]:
    return {(row["pid"], row.get("tid")): row["args"]["name"] for row in rows if row["name"] == kind}


def slices(rows: Rows) -> dict[tuple[str, str], list[tuple[int, int, str, str]]]:
    """Per device and lane the slices: start, end, name, category."""
    process = {pid: name for (pid, _), name in named(rows, "process_name").items()}
    lane = named(rows, "thread_name")
    found = defaultdict(list)
    for row in rows:
        if row["ph"] == "X":
            start = nanoseconds(row["ts"])
            end = start + nanoseconds(row["dur"])
            found[process[row["pid"]], lane[row["pid"], row["tid"]]].append((start, end, row["name"], row["cat"]))
    return found


def test_a_plan_of_which_everything_is_known() -> None:
    rows = trace_of(plan_of_four(MOVING))
    assert slices(rows) == {
        ("gpu", "compute"): [
            (0, 10, "f0", "forward"),
            (10, 30, "f1", "forward"),
            (135, 165, "f2", "loss"),
            (270, 310, "b1", "backward"),
        ],
        ("gpu", "to cpu"): [(30, 135, "t0", "transfer")],
        ("cpu", "from gpu"): [(30, 135, "t0", "transfer")],
        ("cpu", "to gpu"): [(165, 270, "t0", "transfer")],
        ("gpu", "from cpu"): [(165, 270, "t0", "transfer")],
    }
    memory = [
        (row["pid"], nanoseconds(row["ts"]), row["args"]["bytes"])
        for row in rows
        if row["ph"] == "C" and row["name"] == "memory"
    ]
    gpu = [(0, 120), (10, 250), (30, 220), (135, 220), (165, 220), (270, 270), (310, 270)]
    assert [(time_ns, level) for pid, time_ns, level in memory if pid == 1] == gpu
    assert [(t, b) for pid, t, b in memory if pid == 2] == [(0, 0), (30, 100), (270, 0), (310, 0)]
    limits = {row["pid"]: row["args"]["bytes"] for row in rows if row["name"] == "memory limit"}
    assert limits == {1: 270, 2: 1000}


def test_a_recompute_has_a_name_and_a_category_of_its_own() -> None:
    rows = trace_of(plan_of_four())
    again = [row for row in rows if row["ph"] == "X" and row["cat"] == "recompute"]
    assert [(row["name"], row["args"]["operator"], nanoseconds(row["ts"])) for row in again] == [
        ("recompute f0", "f0", 60)
    ]
    first = next(row for row in rows if row["name"] == "f0")
    assert first["cname"] != again[0]["cname"]
    frees = [(row["name"], nanoseconds(row["ts"])) for row in rows if row["ph"] == "i"]
    assert frees == [("free t0", 30), ("free t1", 60), ("free t0", 110), ("free t2", 110)]


def test_arrows_bind_to_the_slices_of_their_transfer() -> None:
    rows = trace_of(plan_of_four(MOVING))
    for position, row in enumerate(rows):
        if row["ph"] in "sf":
            before = rows[position - 1]
            # Bound to the slice around them: on its thread, within its time, listed after it.
            assert before["ph"] == "X"
            assert (before["pid"], before["tid"]) == (row["pid"], row["tid"])
            assert before["ts"] <= row["ts"] < before["ts"] + before["dur"]
    starts = {row["id"]: row["pid"] for row in rows if row["ph"] == "s"}
    ends = {row["id"]: row["pid"] for row in rows if row["ph"] == "f" and row["bp"] == "e"}
    assert starts == {2: 1, 6: 2}
    assert ends == {2: 2, 6: 1}


def test_a_thread_number_stands_for_one_thread_and_never_for_a_process() -> None:
    rows = trace_of(plan_of_four(MOVING))
    threads = named(rows, "thread_name")
    numbers = [tid for _, tid in threads]
    assert len(set(numbers)) == len(numbers)
    assert not set(numbers) & {pid for pid, _ in threads}
    order = {row["tid"]: row["args"]["sort_index"] for row in rows if row["name"] == "thread_sort_index"}
    lanes = {
        pid: [threads[pid, tid] for tid in sorted(order, key=order.__getitem__) if (pid, tid) in threads]
        for pid in (1, 2)
    }
    assert lanes == {1: ["compute", "from cpu", "to cpu", "free"], 2: ["compute", "from gpu", "to gpu", "free"]}
    counters = [row for row in rows if row["ph"] == "C"]
    assert all("tid" not in row for row in counters)


@pytest.mark.parametrize(
    ("time_ns", "text"),
    [
        (0, "0"),
        (1, "0.001"),
        (1_500_000, "1500"),
        (1_234_560, "1234.56"),
        (1_700_000_000_123_456_789, "1700000000123456.789"),
    ],
)
def test_times_are_exact(time_ns: int, text: str) -> None:
    assert microseconds(time_ns) == text


def test_names_are_escaped_and_a_packed_file_holds_the_same(tmp_path: Path) -> None:
    plan = plan_of_four(problem=four_operators(names=("a\x00\x1b", '"quoted"', "模型 é", "</script>")))
    write_export(plan, tmp_path / "plan.json", exporter("trace"))
    write_export(plan, tmp_path / "plan.json.gz", exporter("trace"))
    plain = (tmp_path / "plan.json").read_bytes()
    assert gzip.decompress((tmp_path / "plan.json.gz").read_bytes()) == plain
    assert plain.isascii()
    names = {row["name"] for row in json.loads(plain)["traceEvents"] if row["ph"] == "X"}
    assert {"a\x00\x1b", '"quoted"', "模型 é", "</script>"} <= names


Bar = tuple[int, int, str]
"""A slice: start, end, name."""


def imported(rows: Rows) -> tuple[dict[tuple[int, int], list[Bar]], dict[int, tuple[Bar, Bar]]]:
    """Slices per thread, and the ends of arrows, as Perfetto's importer of JSON takes them up.

    It reads times as floating point and rounds microseconds to nanoseconds; sorts by time, what is alike as it stands
    in the file; lets a slice only begin within one that ends no sooner; and binds an arrow's end, with `bp: e`, to
    the slice that has begun last on its thread.
    """
    threads: dict[tuple[int, int], list[Bar]] = defaultdict(list)
    open_bars: dict[tuple[int, int], list[Bar]] = defaultdict(list)
    begun: dict[tuple[int, str, str], Bar] = {}
    arrows: dict[int, tuple[Bar, Bar]] = {}
    timed = [(round(float(row["ts"]) * 1000), row) for row in rows if row["ph"] != "M"]
    for time_ns, row in sorted(timed, key=lambda pair: pair[0]):
        thread = row["pid"], row.get("tid", row["pid"])
        if row["ph"] == "X":
            bar = time_ns, time_ns + round(float(row["dur"]) * 1000), row["name"]
            stack = [b for b in open_bars[thread] if b[1] > time_ns]
            assert all(bar[1] <= b[1] for b in stack), "a slice that overlaps another is left out"
            open_bars[thread] = [*stack, bar]
            threads[thread].append(bar)
        elif row["ph"] == "s":
            begun[row["id"], row["cat"], row["name"]] = open_bars[thread][-1]
        elif row["ph"] == "f":
            assert row["bp"] == "e"
            arrows[row["id"]] = begun.pop((row["id"], row["cat"], row["name"])), open_bars[thread][-1]
        elif row["ph"] == "C":
            assert "tid" not in row
            assert all(isinstance(value, int) for value in row["args"].values())
        else:
            assert (row["ph"], row["s"]) == ("i", "t")
    assert not begun
    return threads, arrows


def check_as_imported(plan: Plan, rows: Rows) -> None:
    """That all slices are there, none within another, and that arrows join the two slices of their transfer."""
    threads, arrows = imported(rows)
    assert sum(map(len, threads.values())) == sum(row["ph"] == "X" for row in rows)
    for bars in threads.values():
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(bars))
    transfers = {i: e for i, e in enumerate(plan.events) if isinstance(e, Transfer) and e.end_ns > e.start_ns}
    assert arrows == {i: ((e.start_ns, e.end_ns, e.tensor),) * 2 for i, e in transfers.items()}
    names = named(rows, "thread_name")
    assert {(row["pid"], row["tid"]) for row in rows if row["ph"] in "Xisf"} <= set(names)
    assert {row["pid"] for row in rows} <= {pid for pid, _ in named(rows, "process_name")}


@pytest.mark.parametrize("length_ns", [1, 29, 333, 1001, 4_294_967_297, 7_777_777_777_777])
def test_odd_times_stay_whole_nanoseconds_when_they_are_read_as_floating_point(length_ns: int) -> None:
    plan = finished_plan(even_chain(length_ns), "test", [Run(0, o) for o in range(200)])
    threads, _ = imported(trace_of(plan))
    assert [(e.start_ns, e.end_ns) for e in plan.events] == [bar[:2] for bars in threads.values() for bar in bars]


def even_chain(length_ns: int) -> Problem:
    """A chain of 200 operators that take so long each."""
    chain = chain_problem(length=200)
    way = {"gpu": (Implementation(length_ns),)}
    return replace(chain, operators=tuple(replace(o, costs=way) for o in chain.operators))


@settings(deadline=None, max_examples=60)
@given(given_=problems_with_steps())
def test_durations_add_up_peaks_are_reached_and_slices_never_overlap_partly(given_: tuple[Any, list[Any]]) -> None:
    problem, steps = given_
    serial = finished_plan(problem, "test", steps)
    for plan in (serial, on_clock(serial, Clock.OVERLAPPED)):
        rows = trace_of(plan)
        check_as_imported(plan, rows)
        lanes = slices(rows)
        worked = sum(
            end - start for (_, lane), row in lanes.items() for start, end, *_ in row if not lane.startswith("from")
        )
        assert worked == serial.total_ns
        assert sum(len(row) for (_, lane), row in lanes.items() if lane.startswith("from")) == sum(
            isinstance(event, Transfer) for event in plan.events
        )
        for row in lanes.values():
            in_order = sorted(row)
            assert all(a[1] <= b[0] for a, b in itertools.pairwise(in_order))
        process = {name: pid for (pid, _), name in named(rows, "process_name").items()}
        for name, peak in plan.peak_bytes.items():
            levels = [r["args"]["bytes"] for r in rows if r["name"] == "memory" and r["pid"] == process[name]]
            assert max(levels) == peak
