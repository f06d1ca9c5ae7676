"""Measured costs on the command line."""

from pathlib import Path

import pytest
from problems_fixed import chain_problem

from xengine_gui.cli import main
from xengine_gui.model.problem_file import read_problem, write_problem
from xengine_gui.paths import sample_graphs

Captured = pytest.CaptureFixture[str]


def run(*words: str | Path) -> int:
    return main([str(word) for word in words])


def test_costs_lie_over_a_network_and_over_a_problem_file(tmp_path: Path) -> None:
    table, later = tmp_path / "costs.csv", tmp_path / "later.csv"
    table.write_text("operator,device,time_ns\nc1,cpu,1234567\nc1/grad,cpu,7\n")
    later.write_text("operator,device,time_ns\nc1,cpu,89\n")
    network = (sample_graphs() / "lenet.onnx", "--device", "cpu=i7-8700k")
    assert run("problem", *network, "--costs", table, "-o", tmp_path / "a.json") == 0
    a = read_problem(tmp_path / "a.json")
    times = {operator.name: operator.costs["cpu"][0].time_ns for operator in a.operators}
    assert (times["c1"], times["c1/grad"]) == (1234567, 7)
    assert run("problem", tmp_path / "a.json", "--costs", table, "--costs", later, "-o", tmp_path / "b.json") == 0
    b = read_problem(tmp_path / "b.json")
    assert {o.name for o, p in zip(a.operators, b.operators, strict=True) if o != p} == {"c1"}


@pytest.mark.parametrize("command", ["plan", "compare", "sweep"])
def test_a_row_without_a_place_is_bad_input(command: str, tmp_path: Path, capsys: Captured) -> None:
    problem, table = tmp_path / "chain.json", tmp_path / "costs.csv"
    write_problem(chain_problem(), problem)
    table.write_text("operator,device,time_ns\nghost,gpu,1\n")
    assert run(command, problem, "--costs", table) == 2
    told = capsys.readouterr().err
    assert "costs.csv: line 2: there is no operator 'ghost'" in told
    assert "Traceback" not in told
