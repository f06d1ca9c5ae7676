"""An answer that cannot be written is told, and never looks like a verdict."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from problems_fixed import chain_problem

from xengine_gui.cli.status import BROKEN_PLAN
from xengine_gui.model.plan import Run
from xengine_gui.model.plan_file import write_plan
from xengine_gui.schedule.finish import finished_plan

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")

CLOSED, FULL = "it is closed", "No space left on device"


def shell(words: str, *, unbuffered: bool = False) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    if unbuffered:
        environment["PYTHONUNBUFFERED"] = "1"
    line = f"{shlex.quote(sys.executable)} -m xengine_gui {words}"
    return subprocess.run(["sh", "-c", line], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize("command", ["devices", "--help"])
@pytest.mark.parametrize(("where", "why"), [(">&-", CLOSED), (">/dev/full", FULL)])
def test_an_answer_that_is_lost_is_told(command: str, where: str, why: str, unbuffered: bool) -> None:
    done = shell(f"{command} {where}", unbuffered=unbuffered)
    assert done.stderr == f"cannot write to the standard output: {why}.\n"
    assert done.returncode == 2


@pytest.mark.parametrize(
    "command", ["devices >/dev/full 2>/dev/full", "devices >&- 2>&-", "plan none.json 2>/dev/full"]
)
def test_what_nobody_can_be_told_is_still_in_the_status(command: str) -> None:
    done = shell(command)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 2)


def test_a_reader_that_leaves_early_changes_no_verdict(tmp_path: Path) -> None:
    write_plan(finished_plan(chain_problem(), "test", [Run(0, 0)]), tmp_path / "bad.json")
    plan = shlex.quote(str(tmp_path / "bad.json"))
    done = shell(f"verify {plan} | true")
    assert (done.stdout, done.stderr) == ("", "")
    assert shell(f"verify {plan} 2>&-").returncode == BROKEN_PLAN
    assert shell(f"verify {plan} >/dev/full").returncode == 2


def test_files_are_written_even_where_the_answer_is_lost(tmp_path: Path) -> None:
    graph = Path(__file__).resolve().parents[2] / "sample_graphs" / "chain.json"
    out = tmp_path / "problem.json"
    assert shell(f"problem {shlex.quote(str(graph))} -o {shlex.quote(str(out))} >&-").returncode == 2
    assert out.stat().st_size > 100


def test_a_pipe_is_written_into() -> None:
    graph = Path(__file__).resolve().parents[2] / "sample_graphs" / "chain.json"
    done = shell(f"problem {shlex.quote(str(graph))} -o /dev/stdout | cat")
    assert done.stderr == ""
    assert done.stdout.startswith('{\n "format": "xengine-problem"')


def test_ctrl_c_while_loading_is_quiet() -> None:
    code = (
        "import sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'xengine_gui.cli.arguments': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from xengine_gui.cli import main\n"
        "sys.exit(main(['devices']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 130)
