"""What holds for every exporter, and how one is chosen."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from plans_fixed import MOVING, plan_of_four
from problems_fixed import chain_problem

from xengine_gui.errors import InputError
from xengine_gui.model.device import Device
from xengine_gui.model.plan import Plan, Run, Status
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.export import EXPORTERS, Exporter, ExportOptions, exporter, exporter_for, write_export
from xengine_gui.schedule.export.base import write_parts
from xengine_gui.schedule.finish import finished_plan

every_exporter = pytest.mark.parametrize("one", EXPORTERS, ids=lambda one: one.key)


@every_exporter
def test_a_plan_is_written_the_same_each_time(one: Exporter, tmp_path: Path) -> None:
    plan = plan_of_four(MOVING)
    for suffix in one.suffixes:
        paths = [tmp_path / f"{number}{suffix}" for number in range(2)]
        for path in paths:
            write_export(plan, path, one)
        assert paths[0].read_bytes() == paths[1].read_bytes() != b""


@every_exporter
def test_an_empty_plan_is_written(one: Exporter, tmp_path: Path) -> None:
    plan = finished_plan(Problem("", (Device("gpu"),), (), ()), "test", [])
    write_export(plan, tmp_path / "plan", one)
    assert (tmp_path / "plan").stat().st_size > 0


@every_exporter
def test_what_cannot_be_written_leaves_the_old_file(one: Exporter, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: its folder does not exist"):
        write_export(plan_of_four(), tmp_path / "none" / "plan", one)
    (tmp_path / "old").write_text("old")
    with pytest.raises(InputError, match="there is nothing to export: no time"):
        write_export(Plan(plan_of_four().problem, "x", Status.UNKNOWN, explanation="no time"), tmp_path / "old", one)
    assert (tmp_path / "old").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_a_failure_on_the_way_leaves_the_old_file(tmp_path: Path) -> None:
    def parts() -> Iterator[bytes]:
        yield b"half"
        raise InputError("", "the other half is missing")

    (tmp_path / "old").write_text("old")
    with pytest.raises(InputError, match="the other half"):
        write_parts(tmp_path / "old", parts())
    assert (tmp_path / "old").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_keys_are_unique_and_each_exporter_has_a_suffix_that_chooses_it() -> None:
    assert len({one.key for one in EXPORTERS}) == len(EXPORTERS)
    for one in EXPORTERS:
        assert exporter(one.key) is one
        assert exporter_for(Path(f"plan{one.suffixes[0]}")) is one


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("a.json", "trace"),
        ("a.csv", "events"),
        ("A.MEMORY.CSV", "memory"),
        ("a.csv.gz", "events"),
        ("x.htm", "report"),
        ("x.pkl", "snapshot"),
    ],
)
def test_the_suffix_chooses(name: str, key: str) -> None:
    assert exporter_for(Path(name)).key == key


@pytest.mark.parametrize("name", ["plan", "plan.txt", ".json"])
def test_a_suffix_that_says_nothing_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"does not tell what to write; there are \.trace\.json, \.json"):
        exporter_for(Path(name))


@every_exporter
def test_the_size_of_a_file_is_known_roughly_before(one: Exporter) -> None:
    plan = finished_plan(chain_problem(length=2000), "test", [Run(0, o) for o in range(2000)])
    size = sum(map(len, one.parts(plan, ExportOptions())))
    assert size < 2 * one.bytes_per_event * len(plan.events) + 20_000
