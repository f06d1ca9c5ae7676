import csv
import gzip
import json
from pathlib import Path

import pytest
from plans_fixed import MOVING, plan_of_four
from problems_fixed import chain_problem

from xengine_gui.cli import main
from xengine_gui.model.plan import Drop, Run
from xengine_gui.model.plan_file import write_plan
from xengine_gui.paths import sample_graphs
from xengine_gui.schedule.export import EXPORTERS
from xengine_gui.schedule.finish import finished_plan

Captured = pytest.CaptureFixture[str]


def run(*words: object) -> int:
    return main([str(word) for word in words])


@pytest.fixture(name="plan_file")
def make_plan_file(tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    write_plan(plan_of_four(MOVING), path)
    return path


@pytest.mark.parametrize("one", EXPORTERS, ids=lambda one: one.key)
def test_every_export_is_written(one: object, plan_file: Path, tmp_path: Path, capsys: Captured) -> None:
    output = tmp_path / f"out{one.suffixes[0]}"  # type: ignore[attr-defined]
    assert run("export", plan_file, "-o", output) == 0
    assert output.stat().st_size > 100
    assert capsys.readouterr().out.startswith(f"{one.title}: {output} (")  # type: ignore[attr-defined]


def test_a_report_has_its_picture_in_both_themes(plan_file: Path, tmp_path: Path) -> None:
    assert run("export", plan_file, "-o", tmp_path / "out.html") == 0
    text = (tmp_path / "out.html").read_text()
    assert text.count("<svg") == 2
    assert "overhead" in text
    assert 'class="picture light"' in text
    assert 'class="picture dark"' in text


def test_a_picture_is_drawn(plan_file: Path, tmp_path: Path) -> None:
    assert run("export", plan_file, "-o", tmp_path / "out.svg") == 0
    assert "<svg" in (tmp_path / "out.svg").read_text()


def test_the_format_can_be_named_and_the_clock_chosen(plan_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    assert run("export", plan_file, "-o", out, "--format", "events", "--separator", "semicolon", "--bom") == 0
    assert out.read_bytes().startswith(b"\xef\xbb\xbfevent;")
    assert run("export", plan_file, "-o", out, "--format", "trace", "--clock", "overlapped") == 0
    trace = json.loads(out.read_text())
    assert trace["otherData"]["clock"] == "overlapped"
    assert max(row["ts"] for row in trace["traceEvents"]) * 1000 <= 310
    assert run("export", plan_file, "-o", tmp_path / "m.csv", "--format", "memory") == 0
    with (tmp_path / "m.csv").open(newline="") as file:
        assert next(csv.reader(file))[0] == "device"


def test_bad_input_is_a_sentence(plan_file: Path, tmp_path: Path, capsys: Captured) -> None:
    assert run("export", plan_file, "-o", tmp_path / "out.txt") == 2
    assert "does not tell what to write" in capsys.readouterr().err
    assert run("export", tmp_path / "none.json", "-o", tmp_path / "out.json") == 2
    assert capsys.readouterr().err.endswith("there is no such file.\n")
    assert run("export", plan_file, "-o", tmp_path / "none" / "out.json") == 2
    assert capsys.readouterr().err.endswith("its folder does not exist.\n")
    write_plan(finished_plan(chain_problem(), "test", [Run(0, 0), Drop(0, 0), Run(0, 1)]), tmp_path / "bad.json")
    assert run("export", tmp_path / "bad.json", "-o", tmp_path / "out.json") == 2
    assert "is not exported, since it breaks a rule: " in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_is_told(plan_file: Path, capsys: Captured) -> None:
    assert run("export", plan_file, "-o", "/dev/full", "--format", "trace") == 2
    assert capsys.readouterr().err == "/dev/full: cannot be written: No space left on device.\n"


@pytest.mark.parametrize("part", ["--memory", "--graph"])
@pytest.mark.parametrize(("suffix", "begin"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_memory_and_graph_are_drawn_alone(
    part: str, suffix: str, begin: bytes, plan_file: Path, tmp_path: Path
) -> None:
    out, whole = tmp_path / f"part.{suffix}", tmp_path / f"whole.{suffix}"
    assert run("render", plan_file, "-o", out, part) == 0
    assert run("render", plan_file, "-o", whole, "--clock", "overlapped") == 0
    assert out.read_bytes().startswith(begin)
    assert out.read_bytes() != whole.read_bytes()
    if suffix == "svg" and part == "--memory":
        words = out.read_text()
        assert "memory limit" in words
        assert "peak " in words
        assert ">compute<" not in words
        assert ">compute<" in whole.read_text()


def test_a_session_is_rendered_and_exported(tmp_path: Path) -> None:
    session = sample_graphs() / "lenet_cpu_and_gpu.xengine"
    assert run("render", session, "-o", tmp_path / "plan.svg", "--theme", "dark", "--width", "640") == 0
    assert run("export", session, "-o", tmp_path / "trace.json.gz") == 0
    assert json.loads(gzip.decompress((tmp_path / "trace.json.gz").read_bytes()))["traceEvents"]
