"""Cases from the field about exports: which test shows each, and those that have no other place."""

import json
import pickle
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from problems_fixed import chain_problem

from xengine_gui import planner
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.model.plan import Plan, Run
from xengine_gui.schedule.export import EXPORTERS, Exporter, ExportOptions, exporter, write_export
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.solve.judge import plan_judged
from xengine_gui.solve.strategies import strategy

TESTS = Path(__file__).parents[2]
HERE = Path(__file__).name
SHOWN_BY = {
    "E1": ("schedule/export/test_chrome_trace.py", "test_times_are_exact"),
    "E2": (
        "schedule/export/test_chrome_trace.py",
        "test_durations_add_up_peaks_are_reached_and_slices_never_overlap_partly",
    ),
    "E4": ("schedule/export/test_chrome_trace.py", "test_a_plan_of_which_everything_is_known"),
    "E5": (
        "schedule/export/test_chrome_trace.py",
        "test_a_thread_number_stands_for_one_thread_and_never_for_a_process",
    ),
    "E6": (f"schedule/export/{HERE}", "test_odd_names_leave_every_file_valid"),
    "E7": (f"schedule/export/{HERE}", "test_a_long_file_is_written_in_small_parts"),
    "E8": (f"schedule/export/{HERE}", "test_a_name_that_a_spreadsheet_would_run_is_text_and_figures_stay"),
    "E9": ("ui/test_field_cases.py", "test_exports_are_the_same_in_every_language"),
    "E10": ("cli/test_export.py", "test_a_full_disk_is_told"),
    "E11": ("ui/test_picture.py", "test_png_has_the_size_asked_for"),
}
"""Beside these: E4 `test_odd_times_stay_whole_nanoseconds_when_they_are_read_as_floating_point`, E7
`test_the_size_of_a_file_is_known_roughly_before` and `test_filters_choose_separator_mark_and_packing`, E9
`test_separator_and_byte_order_mark`, E10 `test_what_cannot_be_written_leaves_the_old_file`, and for nothing to draw E11
`test_every_exporter_is_in_the_menu_and_writes_what_is_shown`.
"""
every_exporter = pytest.mark.parametrize("one", EXPORTERS, ids=lambda one: one.key)


def plan_of(shared_folder: Path, name: str) -> Plan:
    """A plan for the inference of a network among the field's files."""
    network = planner.open_file(shared_folder / "field_cases" / "files" / name)
    assert isinstance(network, NetworkGraph)
    problem = planner.make_problem(network, planner.DEFAULT_DEVICES, training=False)
    return plan_judged(strategy("retain-all"), problem, planner.SolveOptions())


@pytest.mark.parametrize("name", ["control_char_name.onnx", "unicode_names.onnx"])
def test_odd_names_leave_every_file_valid(shared_folder: Path, tmp_path: Path, name: str) -> None:
    plan = plan_of(shared_folder, name)
    content = {}
    for one in EXPORTERS:
        write_export(plan, tmp_path / one.key, one)
        content[one.key] = (tmp_path / one.key).read_bytes()
    rows = json.loads(content["trace"], parse_constant=pytest.fail)["traceEvents"]
    assert {o.name for o in plan.problem.operators} <= {row["name"] for row in rows}
    ET.fromstring(content["graphml"])  # noqa: S314 - it is our own
    assert pickle.loads(content["snapshot"])["segments"]  # noqa: S301 - it is our own
    for key in ("report", "events", "memory"):
        # Tabs and ends of lines apart, nothing that does not print is in a text.
        assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", content[key].decode()), key


def test_a_name_that_a_spreadsheet_would_run_is_text_and_figures_stay(shared_folder: Path) -> None:
    plan = plan_of(shared_folder, "unicode_names.onnx")
    risky = [o.name for o in plan.problem.operators if o.name.startswith("=")]
    assert risky
    text = b"".join(exporter("events").parts(plan, ExportOptions())).decode()
    assert all(f"'{name}" in text for name in risky)
    assert not re.search(r'(^|,)"?[=+@]', text, re.MULTILINE)
    assert not re.search(r"'-?[0-9]", text)


@every_exporter
def test_a_long_file_is_written_in_small_parts(one: Exporter) -> None:
    plan = finished_plan(chain_problem(length=4000), "test", [Run(0, o) for o in range(4000)])
    sizes = [len(part) for part in one.parts(plan, ExportOptions())]
    if one.key in ("trace", "events", "memory"):
        assert max(sizes) < sum(sizes) / 2
    else:
        assert sum(sizes) < 4000 * 2000  # they are made whole, and stay small


def test_each_case_is_shown_by_a_test() -> None:
    for file, test in SHOWN_BY.values():
        assert f"def {test}(" in (TESTS / file).read_text(encoding="utf-8")


def test_no_case_is_forgotten(shared_folder: Path) -> None:
    page = (shared_folder / "field_cases" / "CASES.md").read_text(encoding="utf-8")
    assert set(SHOWN_BY) == set(re.findall(r"^\| (E\d+) \|", page, re.MULTILINE))
