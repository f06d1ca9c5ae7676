"""The independent judge of plan files, which lies beside the checkout."""

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from xengine_gui.model.plan import Plan
from xengine_gui.model.plan_file import plan_to_json
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import problem_to_json

Judge = Callable[[Plan, Problem | None], Mapping[str, Any]]


@pytest.fixture(scope="session")
def judge(shared_folder: Path) -> Judge:
    """Judges a plan by the independent checker; what it cannot even read it rejects."""
    spec = importlib.util.spec_from_file_location("check_plan", shared_folder / "tools" / "check_plan.py")
    assert spec is not None
    assert spec.loader is not None
    checker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checker)

    def judged(plan: Plan, problem: Problem | None = None) -> Mapping[str, Any]:
        try:
            report: Mapping[str, Any] = checker.check(plan_to_json(plan), problem_to_json(problem or plan.problem))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            return {"ok": False, "broken": [repr(error)]}
        return report

    return judged
