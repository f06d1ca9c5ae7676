import json
from dataclasses import replace
from pathlib import Path

import pytest
from plans_fixed import MOVING, four_operators, plan_of_four

from xengine_gui.cli import main
from xengine_gui.model.plan import Clock
from xengine_gui.model.plan_file import read_plan
from xengine_gui.model.problem_file import read_problem, write_problem
from xengine_gui.session import Session, View, saved_plan, write_session

Captured = pytest.CaptureFixture[str]


def run(*words: object) -> int:
    return main([str(word) for word in words])


@pytest.fixture(name="session_file")
def make_session_file(tmp_path: Path) -> Path:
    write_problem(four_operators(limit_bytes=None), tmp_path / "four.json")
    session = Session(
        tmp_path / "four.json",
        limits={"gpu": 270},
        strategy="greedy",
        view=View(clock=Clock.OVERLAPPED),
        plans=(saved_plan(plan_of_four(MOVING)),),
    )
    write_session(session, tmp_path / "four.xengine")
    return tmp_path / "four.xengine"


def test_a_session_is_planned_as_it_says(session_file: Path, tmp_path: Path, capsys: Captured) -> None:
    assert run("plan", session_file, "-o", tmp_path / "plan.json") == 0
    plan = read_plan(tmp_path / "plan.json")
    assert plan.strategy == "greedy"
    assert plan.problem.device("gpu").memory_limit_bytes == 270
    assert plan.total_ns == 110
    assert "planned by greedy" in capsys.readouterr().out
    assert run("plan", session_file, "--strategy", "optimal", "-o", tmp_path / "plan.json") == 0
    assert read_plan(tmp_path / "plan.json").strategy == "optimal"


def test_other_commands_take_its_problem(session_file: Path, tmp_path: Path) -> None:
    assert run("problem", session_file, "--limit", "cpu=1KiB", "-o", tmp_path / "p.json") == 0
    assert [d.memory_limit_bytes for d in read_problem(tmp_path / "p.json").devices] == [270, 1024]


def test_its_plan_is_exported(session_file: Path, tmp_path: Path) -> None:
    assert run("export", session_file, "-o", tmp_path / "t.json") == 0
    about = json.loads((tmp_path / "t.json").read_text())["otherData"]
    assert (about["clock"], about["strategy"]) == ("overlapped", "by hand")


def test_what_a_session_has_cannot_be_given_again(session_file: Path, tmp_path: Path, capsys: Captured) -> None:
    assert run("plan", session_file, "--batch", 4) == 2
    assert capsys.readouterr().err.endswith("is a session with its own devices and sizes, so --batch has no meaning.\n")
    write_session(replace(Session(tmp_path / "gone.onnx")), session_file)
    assert run("plan", session_file) == 2
    assert capsys.readouterr().err == f"{tmp_path / 'gone.onnx'}: there is no such file.\n"
    assert run("export", session_file, "-o", tmp_path / "x.json") == 2
    write_problem(four_operators(), tmp_path / "four.json")
    write_session(Session(tmp_path / "four.json"), session_file)
    capsys.readouterr()
    assert run("export", session_file, "-o", tmp_path / "x.json") == 2
    assert "holds no plan of its problem as it is now" in capsys.readouterr().err
