"""A session may come from anybody: opening one runs no Python file that the user has not opened by name."""

import json
from pathlib import Path

import pytest

from xengine_gui import planner
from xengine_gui.cli import main
from xengine_gui.errors import InputError
from xengine_gui.session import read_session


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session whose network is made by a Python file, which leaves a trace where it is run."""
    monkeypatch.setattr("xengine_gui.paths.state_folder", lambda: tmp_path / "state")
    folder = tmp_path / "sent"
    folder.mkdir()
    trace = f"import pathlib\npathlib.Path({str(tmp_path / 'trace')!r}).touch()\ndef net():\n    return None\n"
    (folder / "net.py").write_text(trace)
    path = folder / "work.xengine"
    path.write_text(json.dumps({"format": "xengine-session", "version": 1, "file": "net.py:net"}))
    return path


@pytest.mark.parametrize("command", ["plan", "inspect", "verify", "render"])
def test_no_command_runs_it(session: Path, tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [command, str(session), *(["-o", str(tmp_path / "picture.svg")] if command == "render" else [])]
    assert main(words) == 2
    told = capsys.readouterr().err
    assert command == "verify" or "never opened by its name" in told  # a session is no plan to verify
    assert not (tmp_path / "trace").exists()


def test_what_was_opened_by_name_may_be_named_by_a_session(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match=r"net\.py:net, which was never opened"):
        read_session(session)
    monkeypatch.chdir(session.parent)
    with pytest.raises(InputError):  # it gives no module, if PyTorch is there to ask for one
        planner.open_file(Path("net.py:net"))
    assert read_session(session).file == session.parent / "net.py:net"
    (tmp_path / "state" / "modules.json").write_text("[")
    with pytest.raises(InputError, match="never opened"):
        read_session(session)
