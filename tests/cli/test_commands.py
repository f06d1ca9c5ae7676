"""Every command does its job, and tells bad input in a sentence with the right exit status."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from problems_fixed import chain_problem

from xengine_gui import planner
from xengine_gui.cli import main
from xengine_gui.cli.commands import COMMANDS
from xengine_gui.model.plan import Compute, Drop, Plan, Run, Status
from xengine_gui.model.plan_file import read_plan, write_plan
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import read_problem, write_problem
from xengine_gui.paths import sample_graphs
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.schedule.verify import verify
from xengine_gui.solve import strategies

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def chain_file(tmp_path: Path) -> Path:
    """A problem file: a chain of four operators that needs 200 bytes."""
    write_problem(chain_problem(), tmp_path / "chain.json")
    return tmp_path / "chain.json"


def run(*words: str | Path) -> int:
    return main([str(word) for word in words])


def test_plan_prints_the_figures_and_writes_the_plan(chain_file: Path, tmp_path: Path, capsys: Captured) -> None:
    assert run("plan", chain_file, "--limit", "gpu=200", "-o", tmp_path / "plan.json") == 0
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    words = printed.out.split()
    assert words[words.index("total") + 1] == "40"
    assert "proved optimal" in printed.out
    plan = read_plan(tmp_path / "plan.json")
    assert verify(plan).ok
    assert plan.total_ns == 40
    assert plan.peak_bytes == {"gpu": 200}


def test_plan_says_when_nothing_fits(chain_file: Path, tmp_path: Path, capsys: Captured) -> None:
    assert run("plan", chain_file, "--limit", "gpu=199", "-o", tmp_path / "plan.json") == 3
    told = capsys.readouterr().err
    assert told.startswith("Infeasible: ")
    assert told.endswith(f" Nothing is written to {tmp_path / 'plan.json'}.\n")
    assert not (tmp_path / "plan.json").exists()


class Late:
    """A strategy that never finds anything."""

    key, title, summary, proves = "late", "Late", "Finds nothing.", False

    def supports(self, _problem: Problem) -> str:
        return ""

    def plan(self, problem: Problem, _context: object) -> Plan:
        return Plan(problem, "late", Status.UNKNOWN, explanation="the time was too short")


def test_plan_says_when_the_time_was_too_short(
    chain_file: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(strategies, "STRATEGIES", (Late(),))
    (tmp_path / "plan.json").write_text("old")
    assert run("plan", chain_file, "--strategy", "late", "-o", tmp_path / "plan.json") == 4
    told = f"No plan: the time was too short. Nothing is written to {tmp_path / 'plan.json'}.\n"
    assert capsys.readouterr().err == told
    assert (tmp_path / "plan.json").read_text() == "old"


def test_a_share_is_of_the_peak_on_one_device(chain_file: Path, tmp_path: Path) -> None:
    assert run("problem", chain_file, "--limit", "gpu=40%", "-o", tmp_path / "small.json") == 0
    assert read_problem(tmp_path / "small.json").devices[0].memory_limit_bytes == 80


def test_a_limit_can_be_taken_away(tmp_path: Path) -> None:
    write_problem(chain_problem(5), tmp_path / "chain.json")
    assert run("problem", tmp_path / "chain.json", "--limit", "gpu=none", "-o", tmp_path / "large.json") == 0
    assert read_problem(tmp_path / "large.json").devices[0].memory_limit_bytes is None


def test_verify_passes_good_plans_and_fails_broken_ones(tmp_path: Path, capsys: Captured) -> None:
    good = finished_plan(chain_problem(), "test", [Run(0, o) for o in range(4)])
    write_plan(good, tmp_path / "good.json")
    assert run("verify", tmp_path / "good.json") == 0
    assert "keeps every rule" in capsys.readouterr().out
    write_plan(finished_plan(chain_problem(), "test", [Run(0, 0), Drop(0, 0), Run(0, 1)]), tmp_path / "bad.json")
    assert run("verify", tmp_path / "bad.json") == 1
    printed = capsys.readouterr().out
    assert "bad.json breaks 3 rules:" in printed
    assert "event 2: operator 'o1' needs 't0' on 'gpu', where it is not" in printed
    write_problem(chain_problem(150), tmp_path / "tight.json")
    assert run("verify", tmp_path / "good.json", tmp_path / "tight.json") == 1
    printed = capsys.readouterr().out
    assert "250 more than its limit of 150" in printed
    assert "another problem" not in printed


def test_verify_says_first_that_a_plan_was_made_for_another_problem(tmp_path: Path, capsys: Captured) -> None:
    chain = chain_problem()
    write_plan(finished_plan(chain, "test", [Run(0, o) for o in range(4)]), tmp_path / "plan.json")
    write_problem(replace(chain, name="other\x1b"), tmp_path / "renamed.json")
    assert run("verify", tmp_path / "plan.json", tmp_path / "renamed.json") == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.endswith("plan.json was made for another problem: its own is 'chain', not 'other\\x1b'.")
    fewer = replace(chain, operators=chain.operators[:3], tensors=chain.tensors[:3], keep=())
    write_problem(fewer, tmp_path / "fewer.json")
    assert run("verify", tmp_path / "plan.json", tmp_path / "fewer.json") == 1
    first, _, then = capsys.readouterr().out.splitlines()[:3]
    assert first.endswith("plan.json was made for another problem: its own has other operators.")
    assert "plan.json breaks" in then


def test_verify_lists_the_first_broken_rules_or_all(tmp_path: Path, capsys: Captured) -> None:
    events = [Run(0, 0), *[Drop(0, 0)] * 30]
    write_plan(finished_plan(chain_problem(), "test", events), tmp_path / "bad.json")
    assert run("verify", tmp_path / "bad.json") == 1
    first, *few = capsys.readouterr().out.splitlines()
    assert len(few) == 21
    more = int(first.split()[2]) - 20
    assert few[-1] == f"  and {more} more (--all lists them)"
    assert run("verify", tmp_path / "bad.json", "--all") == 1
    assert len(capsys.readouterr().out.splitlines()) == 21 + more


@pytest.mark.parametrize("size", [("--width", "320"), ("--width", "30000", "--height", "1")])
def test_every_size_that_a_picture_may_have_is_drawn(size: tuple[str, ...], tmp_path: Path) -> None:
    write_plan(finished_plan(chain_problem(), "test", [Run(0, o) for o in range(4)]), tmp_path / "plan.json")
    assert run("render", tmp_path / "plan.json", "-o", tmp_path / "plan.svg", *size) == 0


def test_inspect_prints_exactly_the_keys(chain_file: Path, capsys: Captured) -> None:
    assert run("inspect", chain_file, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "operators": 4,
        "tensors": 4,
        "activation_bytes": 400,
        "parameter_bytes": 0,
        "peak_bytes": 200,
        "unknown_tensors": [],
        "symbols": {},
        "notes": [],
    }
    assert run("inspect", chain_file) == 0
    lines = {line[:26].strip(): line[26:].split(maxsplit=2) for line in capsys.readouterr().out.splitlines()}
    assert lines["peak without recomputation"][:2] == ["200", "B"]
    assert lines["smallest limit"] == ["200", "B", "200 bytes, proved"]


def test_devices_and_strategies_are_listed(capsys: Captured) -> None:
    assert run("devices", "--sources") == 0
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) > 12
    assert printed.startswith("preset ")
    assert run("strategies") == 0
    assert "optimal" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_command_has_help(command: str, capsys: Captured) -> None:
    with pytest.raises(SystemExit) as caught:
        run(*([command] if command else []), "--help")
    assert caught.value.code == 0
    assert "Exit status" in capsys.readouterr().out


def test_several_mistakes_are_told_a_line_each(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "bad.json").write_text(
        '{"format": "xengine-problem", "version": 1, "devices": [{"name": "gpu", "memory_limit_bytes": -1}],'
        ' "tensors": [{"name": "x\\u001b[2J", "bytes": true}], "operators": []}'
    )
    assert run("plan", tmp_path / "bad.json") == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert all("bad.json: " in line for line in lines)
    assert "\x1b" not in "".join(lines)


def test_a_mistake_of_our_own_is_a_sentence_too(
    chain_file: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object, **_kwargs: object) -> Problem:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(planner, "open_file", broken)
    assert run("inspect", chain_file) == 2
    printed = capsys.readouterr().err
    assert "Something went wrong inside the planner (ZeroDivisionError: oh)" in printed
    assert "Traceback" not in printed
    monkeypatch.setenv("XENGINE_DEBUG", "1")
    assert run("inspect", chain_file) == 2
    assert "Traceback" in capsys.readouterr().err


def test_an_error_in_the_solver_is_told(chain_file: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(Late):
        def plan(self, _problem: Problem, _context: object) -> Plan:
            raise ZeroDivisionError("oh")

    monkeypatch.setattr(strategies, "STRATEGIES", (Failing(),))
    assert run("plan", chain_file, "--strategy", "late") == 2
    assert "ZeroDivisionError: oh" in capsys.readouterr().err


def test_a_plan_that_breaks_a_rule_is_not_drawn(tmp_path: Path, capsys: Captured) -> None:
    plan = finished_plan(chain_problem(), "test", [Run(0, o) for o in range(4)])
    write_plan(replace(plan, total_ns=1), tmp_path / "plan.json")
    assert run("render", tmp_path / "plan.json", "-o", tmp_path / "x.png") == 2
    assert "is not drawn, since it breaks a rule" in capsys.readouterr().err


def test_the_window_without_a_display_is_a_sentence(chain_file: Path) -> None:
    bare = {k: v for k, v in os.environ.items() if k not in {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}}
    done = subprocess.run(
        [sys.executable, "-m", "xengine_gui", "--demo"], env=bare, capture_output=True, text=True, check=False
    )
    if sys.platform.startswith("linux"):
        assert done.returncode == 2
        assert done.stderr.startswith("There is no display to open the window on")
        assert done.stderr.count("\n") == 1


def test_a_reader_that_leaves_early_is_no_error() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "xengine_gui", "devices"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


def test_plan_names_what_is_recomputed(tmp_path: Path, capsys: Captured) -> None:
    assert run("plan", sample_graphs() / "chain.json", "-o", tmp_path / "plan.json") == 0
    printed = capsys.readouterr().out
    again = [e.operator for e in read_plan(tmp_path / "plan.json").events if isinstance(e, Compute) and e.again]
    assert again
    assert f"Recomputed: {', '.join(again)}\n" in printed


def test_a_plan_that_may_not_be_the_best_says_so(tmp_path: Path, capsys: Captured) -> None:
    assert run("plan", sample_graphs() / "chain.json", "--strategy", "greedy") == 0
    assert "optimal" not in capsys.readouterr().out.split("planned by greedy")[1]
