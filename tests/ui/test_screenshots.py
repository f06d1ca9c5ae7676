"""Pictures of every panel, light and dark, at 100 % and 200 %, for people to look at.

They are written to the folder that XENGINE_SCREENSHOTS names, else to one of the test's own.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from plans_fixed import MOVING, plan_of_four
from PySide6.QtGui import QImage

from xengine_gui.model.plan_file import write_plan

ROOT = Path(__file__).parents[2]
THEMES = ("light", "dark")
SCALES = ("1", "2")
PANELS = (
    "window-timeline", "window-graph", "window-both", "left", "timeline", "graph", "playback", "selection", "progress",
    "below-summary", "below-operators", "below-tensors", "below-compare", "below-sweep", "below-log",
)  # fmt: skip

PROGRAM = """
import sys, time
from pathlib import Path
from xengine_gui.ui.application import make_application
from xengine_gui.ui.graph_wiring import CentreView
from xengine_gui.ui.main_window import MainWindow
from xengine_gui.ui.theme import apply_theme

def settle(app, done, seconds=90.0):
    until = time.monotonic() + seconds
    while not done() and time.monotonic() < until:
        app.processEvents()
        time.sleep(0.01)
    for _ in range(5):
        app.processEvents()
    assert done()

def main(file, folder):
    app = make_application()
    window = MainWindow()
    window.resize(1600, 940)
    window.show()
    window.planning.plan_on_change = False
    window.open_file(file)
    settle(app, lambda: window.document.shown is not None)
    window.planning.stop()
    walk = window.walk
    walk.playback.go_to(walk.playback.count // 2)
    walk.show_view(CentreView.GRAPH)
    settle(app, lambda: walk.graph.view.moment is not None and "…" not in walk.bar.sentence.text())
    for theme in ("light", "dark"):
        apply_theme(app, theme)
        for view in CentreView:
            walk.show_view(view)
            settle(app, lambda: not walk.graph.busy)
            window.grab().save(str(folder / f"window-{view.name.lower()}-{theme}.png"))
        parts = {
            "left": window.left, "timeline": window.centre.timeline, "graph": walk.graph, "playback": walk.bar,
            "selection": window.selection, "progress": window.progress,
        }
        for name, part in parts.items():
            part.grab().save(str(folder / f"{name}-{theme}.png"))
        for i in range(window.below.count()):
            window.below.setCurrentIndex(i)
            settle(app, lambda: True)
            name = window.below.tabText(i).lower()
            window.below.grab().save(str(folder / f"below-{name}-{theme}.png"))
    window.close()

if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
"""


@pytest.mark.timeout(240)
def test_every_panel_is_pictured(tmp_path: Path) -> None:
    out = Path(os.environ.get("XENGINE_SCREENSHOTS", tmp_path))
    program, plan = tmp_path / "program.py", tmp_path / "four.plan.json"
    program.write_text(PROGRAM, encoding="utf-8")
    write_plan(plan_of_four(MOVING), plan)
    for scale in SCALES:
        to = out / f"{scale}00"
        to.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [sys.executable, str(program), str(plan), str(to)],
            env={**os.environ, "PYTHONPATH": str(ROOT), "QT_SCALE_FACTOR": scale, "XDG_STATE_HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
            timeout=110,
        )
        assert done.returncode == 0, done.stderr
    for panel in PANELS:
        images = {(s, t): QImage(str(out / f"{s}00" / f"{panel}-{t}.png")) for s in SCALES for t in THEMES}
        for image in images.values():
            small = image.scaled(120, 90)
            colours = {small.pixelColor(x, y).name() for x in range(120) for y in range(0, 90, 3)}
            assert len(colours) >= 4  # something is there
        for theme in THEMES:
            assert images["2", theme].width() == pytest.approx(2 * images["1", theme].width(), rel=0.1)
        grounds = [images["1", theme].pixelColor(1, 1).lightness() for theme in THEMES]
        assert grounds[0] > grounds[1] + 100
