"""`xengine compare`: strategies side by side, and two plans with what differs."""

import csv
import io
import json
import signal
import threading
from pathlib import Path

import pytest
from problems_fixed import training_chain

from xengine_gui.cli import main
from xengine_gui.cli.chosen_strategies import chosen_strategies
from xengine_gui.cli.compare import reasons_told_once
from xengine_gui.errors import InputError
from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import write_problem
from xengine_gui.solve import strategies
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.greedy.strategy import Greedy
from xengine_gui.solve.retain_all import RetainAll
from xengine_gui.solve.watchpoints.strategy import Optimal

Captured = pytest.CaptureFixture[str]
TOYS = Path(__file__).resolve().parents[2] / "sample_graphs"


class Refusing:
    """A strategy that plans no problem."""

    key, title, summary, proves = "refusing", "Refusing", "Plans nothing.", False

    def supports(self, _problem: Problem) -> str:
        return "it plans nothing"

    def plan(self, problem: Problem, _context: SolveContext) -> Plan:
        return Plan(problem, self.key, Status.UNKNOWN)


@pytest.fixture(autouse=True)
def few_strategies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three that are quick and one that refuses, so that the tests do not depend on which others there are."""
    monkeypatch.setattr(strategies, "STRATEGIES", (Optimal(), Greedy(), RetainAll(), Refusing()))


def run(*words: str | Path | int) -> int:
    return main([str(word) for word in words])


def compare(*words: str | Path | int) -> int:
    return run("compare", *words, "--in-process")


def test_every_strategy_is_a_row_with_its_figures(capsys: Captured) -> None:
    assert compare(TOYS / "two_devices.json", "--gap", "0") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "two devices: 4 strategies, gpu 360 MiB, cpu 1.95 GiB"
    rows = {line.split()[0]: line.split() for line in lines[2:7]}
    head = "strategy total overhead gpu peak cpu peak recomputes transfers gap took status"
    assert rows["strategy"] == head.split(" ")
    # One layer is recomputed (10 ms) and one result moved out and back (2 x 10.49576 ms) beside 281 ms of work.
    assert rows["optimal"][1:12] == ["312.0", "ms", "11.0", "%", "360", "MiB", "120", "MiB", "1", "2", "0.000"]
    assert rows["optimal"][-1] == "optimal"
    # Everything retained: 281 ms on the GPU alone would take 600 MiB, so layers run on the slow processor.
    assert rows["retain-all"][1:5] == ["544.5", "ms", "93.8", "%"]
    assert rows["retain-all"][9:12] == ["0", "5", "42.699"]
    assert rows["refusing"][-1] == "declined"
    assert "refusing: It plans nothing." in lines


@pytest.mark.parametrize("suffix", ["csv", "json", "svg", "png", "pdf"])
def test_a_comparison_is_written_as_what_the_suffix_says(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"comparison.{suffix}"
    assert compare(TOYS / "chain.json", "-o", path) == 0
    content = path.read_bytes()
    if suffix == "json":
        data = json.loads(content)
        assert [row["strategy"] for row in data["strategies"]] == ["optimal", "greedy", "retain-all", "refusing"]
        assert data["strategies"][0]["total_ns"] == data["lower_bound_ns"] == 151_000_000
        assert data["strategies"][3]["reason"] == "It plans nothing."
    elif suffix == "csv":
        rows = list(csv.DictReader(io.StringIO(content.decode())))
        assert [row["total_ns"] for row in rows] == ["151000000", "151000000", "", ""]
        assert rows[0]["peak_bytes gpu"] == str(400 * 2**20)
        assert "misses 200 MiB" in rows[2]["reason"]
    else:
        assert content.startswith({"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix])


def test_strategies_are_chosen_by_name(capsys: Captured) -> None:
    assert compare(TOYS / "chain.json", "--strategies", "retain-all, greedy,greedy") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[3:5]] == ["retain-all", "greedy"]
    assert chosen_strategies("ALL") == ["optimal", "greedy", "retain-all", "refusing"]
    with pytest.raises(InputError, match="name at least one"):
        chosen_strategies(" ,")


def test_a_process_of_its_own_tells_the_same(capsys: Captured) -> None:
    assert run("compare", TOYS / "chain.json", "--strategies", "optimal,retain-all") == 0
    there = capsys.readouterr().out
    assert compare(TOYS / "chain.json", "--strategies", "optimal,retain-all") == 0
    here = capsys.readouterr().out

    def without_times(text: str) -> list[str]:
        return [word for word in text.split() if "." not in word or "%" in word]

    assert without_times(there) == without_times(here)


def test_where_nothing_fits_the_status_says_so(tmp_path: Path, capsys: Captured) -> None:
    write_problem(training_chain(6, 250), tmp_path / "small.json")
    assert compare(tmp_path / "small.json") == 3
    printed = capsys.readouterr().out
    assert "infeasible" in printed
    assert "optimal: " in printed
    assert compare(tmp_path / "small.json", "--strategies", "refusing") == 4


def test_ctrl_c_keeps_what_there_is(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    class Endless(Greedy):
        key, title = "endless", "Endless"

        def plan(self, problem: Problem, context: SolveContext) -> Plan:
            plan = super().plan(problem, context)
            context.incumbent(plan)
            signal.raise_signal(signal.SIGINT)
            while not context.should_stop():
                context.stop.wait(0.01)
            return plan

    assert threading.current_thread() is threading.main_thread()
    monkeypatch.setattr(strategies, "STRATEGIES", (RetainAll(), Endless(), Optimal()))
    assert compare(TOYS / "two_devices.json", "--time", "none") == 0
    printed = capsys.readouterr()
    rows = {line.split()[0]: line.split() for line in printed.out.splitlines() if line}
    assert rows["retain-all"][1] == "544.5"
    assert rows["endless"][-1] == "feasible"
    assert rows["optimal"][-2:] == ["not", "run"]
    assert "optimal: The comparison was stopped before its turn." in printed.out
    assert "Stopping with what there is" in printed.err


def test_what_all_say_is_said_once(tmp_path: Path, capsys: Captured) -> None:
    write_problem(training_chain(6, 250), tmp_path / "small.json")
    assert compare(tmp_path / "small.json", "--strategies", "optimal,greedy,retain-all") == 3
    reasons = capsys.readouterr().out.partition("status\n")[2].split("\n\n")[1].splitlines()
    assert reasons[0].startswith("all 3: ")
    assert len(reasons) <= 2
    assert all(line.startswith("optimal: ") for line in reasons[1:])


def test_reasons_are_grouped_by_how_they_begin() -> None:
    reasons = {"a": "No. More is missing.", "b": "No.", "c": "Another.", "d": "No."}
    assert reasons_told_once(reasons) == [
        (["a", "b", "d"], "No."),
        (["c"], "Another."),
        (["a"], "More is missing."),
    ]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--strategies", "magic"], "no strategy 'magic'"),
        (["-o", "comparison.xlsx"], "a comparison is written as .csv"),
        (["a.json", "b.json"], "two plans are compared at a time, not 3"),
    ],
)
def test_bad_input_is_a_sentence(capsys: Captured, words: list[str], sentence: str) -> None:
    assert compare(TOYS / "chain.json", *words) == 2
    printed = capsys.readouterr().err
    assert sentence in printed
    assert "Traceback" not in printed


# -- two plans


@pytest.fixture
def two_plans(tmp_path: Path, capsys: Captured) -> tuple[Path, Path]:
    """The best plan of a toy, and the one that retains everything."""
    paths = tmp_path / "optimal.json", tmp_path / "retain-all.json"
    for path in paths:
        assert run("plan", TOYS / "two_devices.json", "--strategy", path.stem, "-o", path) == 0
    capsys.readouterr()
    return paths


def test_two_plans_are_told_apart(two_plans: tuple[Path, Path], capsys: Captured) -> None:
    assert run("compare", *two_plans) == 0
    printed = capsys.readouterr().out
    lines = printed.splitlines()
    assert lines[1].split() == ["total", "312.0", "ms", "544.5", "ms"]
    assert lines[2].split() == ["gpu", "peak", "360", "MiB", "360", "MiB"]
    assert "The second takes 232 ms longer (74.5 %): operators elsewhere +211 ms, recomputes -10.0 ms" in printed
    assert "is no longer recomputed (was once on gpu).  -10.0 ms" in printed
    assert "Transfers (" in printed
    assert run("compare", *reversed(two_plans)) == 0
    assert "The second takes 232 ms less" in capsys.readouterr().out
    assert run("compare", two_plans[0], two_plans[0]) == 0
    assert "Both plans do the same" in capsys.readouterr().out


def test_what_differs_is_written(two_plans: tuple[Path, Path], tmp_path: Path, capsys: Captured) -> None:
    assert run("compare", *two_plans, "-o", tmp_path / "diff.json") == 0
    assert run("compare", *two_plans, "-o", tmp_path / "diff.csv") == 0
    data = json.loads((tmp_path / "diff.json").read_text())
    costs = [change["cost_ns"] for change in data["changes"] if change["cost_ns"] is not None]
    assert sum(costs) == data["total_ns"][1] - data["total_ns"][0]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "diff.csv").read_text())))
    assert [row["sentence"] for row in rows] == [change["sentence"] for change in data["changes"]]
    assert run("compare", *two_plans, "-o", tmp_path / "diff.png") == 2
    assert "is written as .csv, .json" in capsys.readouterr().err


def test_what_is_no_plan_or_a_broken_one_is_refused(two_plans: tuple[Path, Path], capsys: Captured) -> None:
    assert run("compare", two_plans[0], TOYS / "two_devices.json") == 2
    assert "is no plan" in capsys.readouterr().err
    data = json.loads(two_plans[1].read_text())
    data["events"] = data["events"][1:]
    two_plans[1].write_text(json.dumps(data))
    assert run("compare", *two_plans) == 2
    assert "breaks a rule" in capsys.readouterr().err
