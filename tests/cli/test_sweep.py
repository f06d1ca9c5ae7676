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
        assert content.startswith({"csv": b"strategy,limit_bytes gpu,", "svg": b"<?xml", "png": b"\x89PNG"}[suffix])


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


TOY = Path(__file__).resolve().parents[2] / "sample_graphs" / "two_devices.json"


def test_several_strategies_stand_beside_the_bound(capsys: Captured) -> None:
    words = ["--from", "240MiB", "--to", "600MiB", "--points", 4, "--strategies", "retain-all,optimal", "--gap", 0]
    assert sweep(TOY, "--device-limit", "gpu", *words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split() == ["limit", "retain-all", "optimal", "lower", "bound"]
    assert [line.split() for line in lines[3:7]] == [
        ["240", "MiB", "973.5", "ms", "863.0", "ms", "863.0", "ms", "smallest", "feasible"],
        ["360", "MiB", "544.5", "ms", "312.0", "ms", "312.0", "ms", "knee"],
        ["480", "MiB", "444.0", "ms", "291.0", "ms", "291.0", "ms"],
        ["600", "MiB", "281.0", "ms", "281.0", "ms", "281.0", "ms"],
    ]


def test_two_devices_are_a_map(tmp_path: Path, capsys: Captured) -> None:
    words = ["--from", "240MiB", "--to", "480MiB", "--points", 3, "--second-from", "0", "--second-to", "360MiB"]
    words += ["--second-device", "cpu", "--second-points", 2, "--gap", 0]
    for suffix in ("png", "svg", "csv"):
        assert sweep(TOY, *words, "-o", tmp_path / f"map.{suffix}") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "two devices: 6 pairs of limits of gpu and cpu"
    assert [line.split() for line in lines[2:5]] == [
        ["cpu", "\\", "gpu", "240", "MiB", "360", "MiB", "480", "MiB"],
        ["0", "B", "infeasible", "331.0", "ms", "291.0", "ms"],
        ["360", "MiB", "894.0", "ms", "312.0", "ms", "291.0", "ms"],
    ]
    assert "At 240 MiB and 0 B: " in lines[6]
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    assert b"hatched" in (tmp_path / "map.svg").read_bytes()


def test_a_second_range_wants_a_second_device(capsys: Captured) -> None:
    assert sweep(TOY, "--device-limit", "gpu", "--second-to", "1GiB") == 2
    assert "--second-to: has no meaning without --second-device" in capsys.readouterr().err
    assert sweep(TOY, "--device-limit", "gpu", "--second-device", "gpu") == 2
    assert "must differ" in capsys.readouterr().err


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
