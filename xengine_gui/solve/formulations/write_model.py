"""Writes a strategy's model into a file that solvers read: LP or MPS, by its suffix."""

import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Any

from xengine_gui.errors import InputError
from xengine_gui.model.problem import Problem
from xengine_gui.model.whole_file import write_bytes
from xengine_gui.solve.base import Strategy
from xengine_gui.solve.working_set import single_operator_proof


class ModelForm(StrEnum):
    """How products of two binaries stand in a model."""

    LINEAR = "linear"
    QUADRATIC = "quadratic"


SUFFIXES = (".lp", ".mps")


def write_model(strategy: Strategy, problem: Problem, path: Path, form: ModelForm = ModelForm.LINEAR) -> None:
    """Write the model of a strategy for a problem; an `InputError` where it has none, or none of that form.

    Numbers in the names of its variables are positions in the problem; `FORMULATIONS.md` tells what they index.
    """
    check_model_file(path)
    model = _model(strategy, problem, form)
    # Loaded on first use: Pyomo takes a second to import.
    from pyomo.repn.plugins.lp_writer import LPWriter  # noqa: PLC0415
    from pyomo.repn.plugins.mps import ProblemWriter_mps  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"model{path.suffix.lower()}"
        if file.suffix == ".lp":
            with file.open("w", encoding="utf-8") as stream:
                LPWriter().write(model, stream, symbolic_solver_labels=True)
        else:
            ProblemWriter_mps()(model, str(file), lambda _capability: True, {"symbolic_solver_labels": True})
        write_bytes(path, file.read_bytes())


def check_model_file(path: Path) -> None:
    """Refuse a name of which the suffix says nothing."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(str(path), f"a model is written as {' or '.join(SUFFIXES)}, told by the suffix of its name")


def _model(strategy: Strategy, problem: Problem, form: ModelForm) -> Any:
    build = getattr(strategy, "model", None)
    if build is None:
        raise InputError("", f"the strategy {strategy.key!r} has no model that could be written")
    obstacle = strategy.supports(problem)
    if obstacle:
        raise InputError(problem.name, f"{strategy.title} cannot plan this: {obstacle}")
    hopeless: str = getattr(strategy, "why_no_model", _why_no_plan)(problem)
    if hopeless:
        raise InputError(problem.name, f"no model is written: {hopeless}")
    if form is ModelForm.LINEAR:
        return build(problem)
    if not getattr(strategy, "has_quadratic_model", False):
        raise InputError("", f"the model of the strategy {strategy.key!r} is linear, it has no quadratic form")
    return build(problem, quadratic=True)


def _why_no_plan(problem: Problem) -> str:
    proof = single_operator_proof(problem.indexed)
    return "" if proof is None else proof.sentence(problem)
