"""`xengine sweep` and the clock of `xengine plan`: what is printed and written."""

import importlib.util
import json
from pathlib import Path

import pytest
from problems_fixed import training_chain

from xengine_gui.cli import main
from xengine_gui.model.plan import Clock
from xengine_gui.model.plan_file import read_plan
from xengine_gui.model.problem_file import write_problem
from xengine_gui.schedule.verify import verify

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def chain_file(tmp_path: Path) -> Path:
    """A training chain that needs 300 bytes, and 700 without recomputation."""
    write_problem(training_chain(), tmp_path / "chain.json")
    return tmp_path / "chain.json"


def run(*words: str | Path | int) -> int:
    return main([str(word) for word in words])


def sweep(chain_file: Path, *words: str | Path | int) -> int:
    return run("sweep", chain_file, "--workers", 0, *words)


def test_a_sweep_is_a_table_with_the_smallest_limit_and_the_knee(chain_file: Path, capsys: Captured) -> None:
    assert sweep(chain_file, "--device-limit", "gpu", "--from", "200", "--to", "800", "--points", 7) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "training chain: 7 limits of gpu"
    rows = [line.split() for line in lines[3:10]]
    assert [row[0] for row in rows] == ["200", "300", "400", "500", "600", "700", "800"]
    assert "infeasible" in rows[0]
    assert rows[1][-2:] == ["smallest", "feasible"]
    assert sum("knee" in row for row in rows) == 1
    assert "At 200 B:" in lines[11]
    assert "100 B are missing" in lines[11]


def test_by_default_it_goes_from_one_operator_to_everything(chain_file: Path, capsys: Captured) -> None:
    assert sweep(chain_file, "--points", 2, "--limit", "gpu=400") == 0
    rows = [line.split()[0] for line in capsys.readouterr().out.splitlines()[3:5]]
    assert rows == ["300", "700"]
    assert sweep(chain_file, "--from", "50%", "--to", "100%", "--points", 1) == 0
    assert capsys.readouterr().out.splitlines()[3].split()[0] == "700"


@pytest.mark.parametrize("suffix", ["csv", "json", "svg", "png"])
def test_a_sweep_is_written_as_what_the_suffix_says(chain_file: Path, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"sweep.{suffix}"
    assert sweep(chain_file, "--from", "200", "--points", 4, "-o", path) == 0
    content = path.read_bytes()
    if suffix == "json":
        assert json.loads(content)["smallest_feasible_bytes"] == 366
    else:
        assert content.startswith({"csv": b"limit_bytes,", "svg": b"<?xml", "png": b"\x89PNG"}[suffix])


def test_where_nothing_fits_the_status_says_so(chain_file: Path, tmp_path: Path, capsys: Captured) -> None:
    assert sweep(chain_file, "--from", "100", "--to", "250", "--points", 3) == 3
    assert sweep(chain_file, "--from", "100", "--to", "250", "--points", 3, "-o", tmp_path / "a.svg") == 2
    assert "nothing to draw" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--device-limit", "tpu"], "there is no device 'tpu'"),
        (["--from", "800", "--to", "300"], "--from (800 B) is more than --to (300 B)"),
        (["--to", "none"], "a sweep ends at a size"),
        (["-o", "sweep.xlsx"], "a sweep is written as .csv"),
        (["--points", "0"], "is not a whole number above 0"),
        (["--strategy", "magic"], "no strategy 'magic'"),
    ],
)
def test_bad_input_is_a_sentence(chain_file: Path, capsys: Captured, words: list[str], sentence: str) -> None:
    assert sweep(chain_file, *words) == 2
    printed = capsys.readouterr().err
    assert sentence in printed
    assert "Traceback" not in printed


def test_two_limited_devices_must_be_told_apart(shared_folder: Path, capsys: Captured) -> None:
    path = shared_folder / "instances" / "derived" / "vgg19_cpu50_gpu30.json"
    assert sweep(path) == 2
    assert "--device-limit: cpu, gpu" in capsys.readouterr().err


def test_a_plan_is_written_on_the_clock_that_is_asked_for(
    shared_folder: Path, tmp_path: Path, capsys: Captured
) -> None:
    spec = importlib.util.spec_from_file_location("check_plan", shared_folder / "tools" / "check_plan.py")
    assert spec is not None
    assert spec.loader is not None
    check_plan = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check_plan)
    toy = Path(__file__).resolve().parents[2] / "sample_graphs" / "two_devices.json"
    totals = {}
    for clock in ("serial", "overlapped"):
        path = tmp_path / f"{clock}.json"
        assert run("plan", toy, "--clock", clock, "-o", path) == 0
        printed = capsys.readouterr().out
        assert "one thing after the other (serial clock)" in printed
        assert "side by side (overlapped)" in printed
        assert f"on the {clock} clock" in printed
        plan = read_plan(path)
        assert plan.clock is Clock(clock)
        assert verify(plan).ok
        written = json.loads(path.read_text())
        assert check_plan.check(written, written["problem"])["broken"] == []
        totals[clock] = plan.total_ns
    assert totals["overlapped"] <= totals["serial"]
