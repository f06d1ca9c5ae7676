"""Cases from the field that want a whole process: closing in the middle of a search, dense screens, other languages."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from plans_fixed import MOVING, plan_of_four
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMainWindow
from pytestqt.qtbot import QtBot

from xengine_gui.cli import main
from xengine_gui.model.plan_file import write_plan
from xengine_gui.ui.settings import Settings
from xengine_gui.ui.window_place import put_in_place, with_place

ROOT = Path(__file__).parents[2]
EXPORTS = ("trace.json", "events.csv", "report.html")

CLOSING = """
import sys
from PySide6.QtCore import QTimer
from xengine_gui.ui import application, main_window

class Window(main_window.MainWindow):
    def __init__(self):
        super().__init__()
        self.planning.runner.started.connect(lambda: QTimer.singleShot(500, self.leave))

    def leave(self):
        print(self.planning.runner.process_id, flush=True)
        self.close()

if __name__ == "__main__":
    application.MainWindow = Window
    sys.exit(application.run_window([], demo=True))
"""

LAYOUT = """
import json, sys
from PySide6.QtGui import QFont
from xengine_gui.ui.application import make_application
from xengine_gui.ui.main_window import MainWindow
app = make_application()
window = MainWindow()
window.resize(1280, 800)
window.show()
app.processEvents()
image = window.grab().toImage()
parts = (window.left, window.centre, window.selection, window.progress, window.below, window.tools, window.status)
places = [[p.mapTo(window, p.rect().topLeft()).toTuple(), p.size().toTuple()] for p in parts]
print(json.dumps([image.devicePixelRatio(), image.width(), places]))
window.close()
"""


def run(program: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="asks for a process by its number")
def test_a_window_closed_in_the_middle_of_a_search_ends_well_and_leaves_no_process(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(CLOSING, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(program)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    numbers = [int(line) for line in done.stdout.split() if line.isdigit()]
    assert numbers
    for number in numbers:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


def test_dense_screens_get_the_same_layout_with_more_pixels(tmp_path: Path) -> None:
    looks = {
        scale: json.loads(run(LAYOUT, QT_SCALE_FACTOR=scale, XDG_STATE_HOME=str(tmp_path / scale)).stdout)
        for scale in ("1", "2")
    }
    ratio, width, places = looks["2"]
    assert ratio == 2
    assert width == pytest.approx(2 * looks["1"][1], abs=2)
    for mine, usual in zip(places, looks["1"][2], strict=True):
        # Letters are a little wider or narrower at other sizes.
        assert mine[0] == pytest.approx(usual[0], abs=24)
        assert mine[1] == pytest.approx(usual[1], abs=24)


def test_exports_are_the_same_in_every_language(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    write_plan(plan_of_four(MOVING), plan)
    program = (
        "import sys\nfrom PySide6.QtCore import QLocale\nQLocale.setDefault(QLocale('de_DE'))\n"
        "from xengine_gui.cli import main\n"
        "for name in sys.argv[2:]:\n    assert main(['export', sys.argv[1], '-o', name]) == 0\n"
    )
    done = run(
        program, str(plan), *(str(tmp_path / f"de-{e}") for e in EXPORTS), LANG="de_DE.UTF-8", LC_ALL="de_DE.UTF-8"
    )
    assert done.returncode == 0, done.stderr
    for export in EXPORTS:
        assert main(["export", str(plan), "-o", str(tmp_path / f"en-{export}")]) == 0
        assert (tmp_path / f"de-{export}").read_bytes() == (tmp_path / f"en-{export}").read_bytes()


def test_where_windows_do_not_know_their_place_only_the_size_is_kept(
    monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    settings = Settings(geometry=(200, 100, 900, 600))
    window.resize(1000, 700)
    monkeypatch.setattr(QGuiApplication, "platformName", staticmethod(lambda: "wayland"))
    kept = with_place(settings, window, {})
    assert kept.geometry == (200, 100, 1000, 700)
    window.move(11, 12)
    put_in_place(window, {}, settings)
    assert window.pos().toTuple() == (11, 12)
