"""The tables, read back by the csv module."""

import csv
import io
from typing import Any

import pytest
from hypothesis import given, settings
from plans_fixed import MOVING, four_operators, plan_of_four
from problems import problems_with_steps

from xengine_gui.model.plan import Plan
from xengine_gui.schedule.export import ExportOptions, exporter
from xengine_gui.schedule.export.csv_text import Cell, safe_cell
from xengine_gui.schedule.finish import finished_plan

PLAIN = ExportOptions()


def table(key: str, plan: Plan, options: ExportOptions = PLAIN) -> list[dict[str, str]]:
    text = b"".join(exporter(key).parts(plan, options)).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=options.separator))


def test_events_of_a_plan_of_which_everything_is_known() -> None:
    rows = table("events", plan_of_four(MOVING))
    assert [(r["kind"], r["operator"] or r["tensor"], r["start_ns"], r["end_ns"]) for r in rows] == [
        ("compute", "f0", "0", "10"),
        ("compute", "f1", "10", "30"),
        ("transfer", "t0", "30", "135"),
        ("free", "t0", "135", "135"),
        ("compute", "f2", "135", "165"),
        ("free", "t1", "165", "165"),
        ("transfer", "t0", "165", "270"),
        ("free", "t0", "270", "270"),
        ("compute", "b1", "270", "310"),
    ]
    assert (rows[2]["source"], rows[2]["destination"]) == ("gpu", "cpu")
    assert [r["bytes"] for r in rows] == ["100", "100", "100", "100", "100", "100", "100", "100", "50"]
    assert rows[8]["phase"] == "backward"


def test_memory_of_a_plan_of_which_everything_is_known() -> None:
    rows = table("memory", plan_of_four())
    gpu = [(int(r["time_ns"]), int(r["level_bytes"])) for r in rows if r["device"] == "gpu"]
    assert gpu == [(0, 120), (10, 250), (30, 220), (60, 220), (70, 270), (110, 70)]
    assert {(r["device"], r["limit_bytes"]) for r in rows} == {("gpu", "270"), ("cpu", "1000")}


@pytest.mark.parametrize("name", ["=cmd|calc!A0", "+1+1", "-2", "@SUM(A1)", "\t=1", " =1", "\r=1", "\uff1d1"])
def test_what_a_spreadsheet_would_run_becomes_text(name: str) -> None:
    rows = table("events", plan_of_four(problem=four_operators(names=(name, "f1", "f2", "b1"))))
    assert rows[0]["operator"] == f"'{name}"


@pytest.mark.parametrize("cell", [-5, 0, -1.5, None, "plain", "a=b", ""])
def test_everything_else_stays(cell: Cell) -> None:
    assert safe_cell(cell) == cell


def test_separator_and_byte_order_mark() -> None:
    plan = plan_of_four(problem=four_operators(names=("a;b", 'c"d', "e\nf", "模型")))
    options = ExportOptions(separator=";", byte_order_mark=True)
    content = b"".join(exporter("events").parts(plan, options))
    assert content.startswith(b"\xef\xbb\xbfevent;kind;")
    assert [row["operator"] for row in table("events", plan, options) if row["operator"]] == [
        "a;b", 'c"d', "e\nf", "a;b", "模型",
    ]  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(given_=problems_with_steps())
def test_columns_add_up_to_the_totals(given_: tuple[Any, list[Any]]) -> None:
    plan = finished_plan(given_[0], "test", given_[1])
    rows = table("events", plan)
    assert len(rows) == len(plan.events)
    assert sum(int(row["duration_ns"]) for row in rows) == plan.total_ns
    for name, peak in plan.peak_bytes.items():
        assert max(int(r["level_bytes"]) for r in table("memory", plan) if r["device"] == name) == peak
