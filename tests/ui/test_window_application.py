import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from xengine_gui.errors import PlannerError
from xengine_gui.ui.application import check_display

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from xengine_gui.ui import application, main_window

class Window(main_window.MainWindow):
    def __init__(self):
        super().__init__()
        self.document.plan_changed.connect(self.tell)

    def tell(self):
        if self.document.shown is not None:
            print("shown", self.planning.runner.process_id, flush=True)

if __name__ == "__main__":
    application.MainWindow = Window
    sys.exit(application.run_window([Path(p) for p in sys.argv[1:]]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
def test_the_window_stays_until_it_is_interrupted_and_then_ends_well(tmp_path: Path, chain_file: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, str(program), str(chain_file)], env=environment, stdout=subprocess.PIPE, text=True
    ) as window:
        assert window.stdout is not None
        word, child = window.stdout.readline().split()
        assert word == "shown"
        time.sleep(0.3)
        assert window.poll() is None
        window.send_signal(signal.SIGINT)
        assert window.wait(timeout=20) == 0
    with pytest.raises(ProcessLookupError):
        os.kill(int(child), 0)


def test_without_a_display_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(PlannerError, match="there is no display"):
        check_display()
    monkeypatch.setenv("DISPLAY", ":4711")
    with pytest.raises(PlannerError, match="does not answer"):
        check_display()
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    check_display()


def test_an_empty_window_loads_neither_plots_nor_solvers(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from xengine_gui.ui.application import make_application\n"
        "from xengine_gui.ui.main_window import MainWindow\n"
        "app = make_application()\n"
        "window = MainWindow()\n"
        "window.show()\n"
        "app.processEvents()\n"
        "print([m for m in ('pyqtgraph', 'scipy', 'onnx', 'highspy') if m in sys.modules])\n"
        "window.close()\n"
    )
    environment = {
        **os.environ,
        "XDG_STATE_HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT),
        "QT_QPA_PLATFORM": "offscreen",
    }
    # A file and not -c: the solver's process imports the main module anew, under another name.
    path = tmp_path / "program.py"
    path.write_text("if __name__ == '__main__':\n" + "".join(f"    {line}\n" for line in program.splitlines()))
    done = subprocess.run(
        [sys.executable, str(path)], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]", done.stderr
