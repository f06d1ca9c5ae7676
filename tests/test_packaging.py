"""What is installed, and what importing it costs."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("PySide6", "pyqtgraph", "pyomo", "highspy", "onnx", "networkx", "scipy")


def loaded_by(code: str) -> list[str]:
    """The top-level packages that a fresh interpreter has loaded after running `code`."""
    tail = "; import sys, json; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    done = subprocess.run([sys.executable, "-c", code + tail], cwd=ROOT, capture_output=True, text=True, check=True)
    names = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(names, list)
    return names


@pytest.mark.parametrize("code", ["import xengine_gui", "import xengine_gui.planner", "import xengine_gui.cli"])
def test_importing_loads_neither_qt_nor_solvers_nor_onnx(code: str) -> None:
    assert not set(HEAVY) & set(loaded_by(code))


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import contextlib; from xengine_gui.cli import main\nwith contextlib.suppress(SystemExit): main(['-h'])\npass"
    )
    assert not ({*HEAVY, "numpy"} & set(loaded_by(code)))


def test_problem_files_are_planned_without_qt_or_onnx() -> None:
    code = (
        "from xengine_gui.cli import main; from xengine_gui.paths import sample_graphs; "
        "main(['plan', str(sample_graphs() / 'chain.json')])"
    )
    assert not {"PySide6", "pyqtgraph", "pyomo", "onnx", "networkx"} & set(loaded_by(code))


def test_the_wheel_carries_all_data(tmp_path: Path) -> None:
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    inside = set(zipfile.ZipFile(built).namelist())
    for folder in ("resources", "sample_graphs"):
        data = [p for p in (ROOT / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts]
        assert data
        for path in data:
            assert f"xengine_gui/_data/{path.relative_to(ROOT).as_posix()}" in inside
    assert "xengine_gui/cli/run.py" in inside
    assert not [name for name in inside if name.startswith("tests/")]
    (entry_points,) = [name for name in inside if name.endswith("entry_points.txt")]
    text = zipfile.ZipFile(built).read(entry_points).decode()
    assert "xengine = xengine_gui.cli:main" in text
    assert "xengine-gui = xengine_gui.cli:main_window" in text
