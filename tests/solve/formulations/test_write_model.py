"""Models as files: what HiGHS reads back is the same model, and what cannot be written is told."""

import re
from pathlib import Path

import highspy
import numpy as np
import pytest
from problems_fixed import chain_problem, training_chain
from scipy.sparse import csc_array

from xengine_gui.cli import main
from xengine_gui.errors import InputError
from xengine_gui.model.device import Device, TransferTime
from xengine_gui.model.operator import Implementation
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import write_problem
from xengine_gui.solve.formulations.write_model import ModelForm, write_model
from xengine_gui.solve.highs import SilentHighs
from xengine_gui.solve.strategies import strategy

KEYS = ("checkmate", "checkmate-rounding", "xengine", "xengine-paper")


def two_devices() -> Problem:
    """Three operators, each ten times faster on one of two devices than on the other; a copy takes 3 ns."""
    chain = chain_problem(300, 3)
    times = [(1, 10), (10, 1), (1, 10)]
    return Problem(
        name="two",
        devices=(*chain.devices, Device("cpu", "cpu", 300)),
        operators=tuple(
            type(o)(
                o.name,
                o.kind,
                o.phase,
                o.inputs,
                o.outputs,
                costs={"gpu": (Implementation(fast),), "cpu": (Implementation(slow),)},
            )
            for o, (fast, slow) in zip(chain.operators, times, strict=True)
        ),
        tensors=chain.tensors,
        transfers=tuple(
            TransferTime(t.name, a, b, 3) for t in chain.tensors for a, b in (("gpu", "cpu"), ("cpu", "gpu"))
        ),
    )


def read(path: Path) -> highspy.Highs:
    highs = SilentHighs()
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    return highs


def names(highs: highspy.Highs) -> list[str]:
    return [highs.getColName(i)[1] for i in range(highs.getNumCol())]


@pytest.mark.parametrize("suffix", [".lp", ".mps"])
@pytest.mark.parametrize("key", KEYS)
def test_the_linear_model_has_the_strategy_s_optimum(key: str, suffix: str, tmp_path: Path) -> None:
    write_model(strategy(key), two_devices(), tmp_path / f"model{suffix}")
    highs = read(tmp_path / f"model{suffix}")
    highs.run()
    # On both devices 1 + 3 + 1 + 3 + 1, on the gpu alone 1 + 10 + 1.
    best = 9 if key.startswith("xengine") else 12
    assert highs.getInfo().objective_function_value == pytest.approx(best)


@pytest.mark.parametrize("suffix", [".lp", ".mps"])
@pytest.mark.parametrize("key", ["xengine", "xengine-paper"])
def test_the_quadratic_model_costs_what_the_linear_one_costs(key: str, suffix: str, tmp_path: Path) -> None:
    for form in ModelForm:
        write_model(strategy(key), two_devices(), tmp_path / f"{form}{suffix}", form)
    linear, quadratic = read(tmp_path / f"linear{suffix}"), read(tmp_path / f"quadratic{suffix}")
    linear.run()
    value = dict(zip(names(linear), linear.getSolution().col_value, strict=True))
    x = np.array([value[name] for name in names(quadratic)])
    model = quadratic.getModel()
    hessian = csc_array(
        (model.hessian_.value_, model.hessian_.index_, model.hessian_.start_), shape=(len(x), len(x))
    ).toarray()
    full = hessian + hessian.T - np.diag(np.diag(hessian))  # HiGHS keeps the lower triangle
    products = x @ full @ x / 2
    assert products == pytest.approx(6)
    assert np.array(model.lp_.col_cost_) @ x + products == pytest.approx(9)


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    chain = chain_problem(200)
    with pytest.raises(InputError, match="'greedy' has no model"):
        write_model(strategy("greedy"), chain, tmp_path / "model.lp")
    with pytest.raises(InputError, match="'checkmate' is linear"):
        write_model(strategy("checkmate"), chain, tmp_path / "model.lp", ModelForm.QUADRATIC)
    with pytest.raises(InputError, match=re.escape("written as .lp or .mps")):
        write_model(strategy("checkmate"), chain, tmp_path / "model.txt")
    with pytest.raises(InputError, match="'o1' fits on no device"):
        write_model(strategy("xengine"), chain_problem(199), tmp_path / "model.lp")
    with pytest.raises(InputError, match="fits on no device even alone with its results"):
        write_model(strategy("xengine-paper"), chain_problem(99), tmp_path / "model.lp")
    assert not list(tmp_path.iterdir())


def test_plan_writes_the_model_and_plans(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_problem(training_chain(2, 300), tmp_path / "chain.json")
    words = ["plan", str(tmp_path / "chain.json"), "--strategy", "xengine", "--model-form", "quadratic"]
    assert main([*words, "--write-model", str(tmp_path / "model.mps")]) == 0
    assert "QUADOBJ" not in (tmp_path / "model.mps").read_text()  # one device has nothing to copy
    assert "The quadratic model of xengine is in" in capsys.readouterr().out
    assert main([*words, "--write-model", str(tmp_path / "model.txt")]) == 2
