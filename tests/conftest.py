"""What all tests share: where the published instances are, and the judges beside them."""

import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from xengine_gui.model.plan import Plan
from xengine_gui.model.plan_file import plan_to_json
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import problem_to_json

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

Judge = Callable[[Plan, Problem | None], Mapping[str, Any]]


@pytest.fixture(scope="session", autouse=True)
def _nothing_of_the_user_is_touched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """The folder beside the checkout with instances and the independent judge; tests that want it skip without it."""
    folder = Path(os.environ.get("XENGINE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    if not (folder / "instances" / "FORMAT.md").is_file():
        pytest.skip("the shared instances are not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def exact_search(shared_folder: Path) -> ModuleType:
    """The brute-force search beside the instances."""
    return _tool(shared_folder, "exact_search")


@pytest.fixture(scope="session")
def judge(shared_folder: Path) -> Judge:
    """Judges a plan by the independent checker; what it cannot even read it rejects."""
    checker = _tool(shared_folder, "check_plan")

    def judged(plan: Plan, problem: Problem | None = None) -> Mapping[str, Any]:
        try:
            report: Mapping[str, Any] = checker.check(plan_to_json(plan), problem_to_json(problem or plan.problem))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            return {"ok": False, "broken": [repr(error)]}
        return report

    return judged


def _tool(shared_folder: Path, name: str) -> ModuleType:
    """A program of the shared folder, as a module; they import one another by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(shared_folder / "tools"))
        spec = importlib.util.spec_from_file_location(name, shared_folder / "tools" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module
