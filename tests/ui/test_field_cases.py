"""Cases from the field that people met in windows: which test shows each, and those that have no other place.

Many want a whole process: closing in the middle of a search, dense screens, other languages.
"""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from plans_fixed import MOVING, four_operators, plan_of_four
from PySide6.QtCore import QPoint, QPointF, QRect
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QMainWindow, QWidget
from pytestqt.qtbot import QtBot

from xengine_gui.cli import main
from xengine_gui.model.plan import Compute
from xengine_gui.model.plan_file import write_plan
from xengine_gui.model.problem_file import write_problem
from xengine_gui.ui.main_window import MainWindow
from xengine_gui.ui.models.rows_model import ColumnOf, RowsModel
from xengine_gui.ui.panels.inventory import InventoryPanel
from xengine_gui.ui.settings import Settings, load_settings
from xengine_gui.ui.theme import apply_theme, contrast_ratio
from xengine_gui.ui.timeline import bars
from xengine_gui.ui.window_place import put_in_place, with_place

ROOT = Path(__file__).parents[2]
BENCHMARKS = "../benchmarks/test_timeline_benchmark.py"
SHOWN_BY = {
    "G1": ("test_timeline_painting.py", "test_a_long_bar_fills_the_view_on_deep_zoom"),
    "G2": ("test_timeline_geometry.py", "test_very_late_times_keep_their_nanoseconds"),
    "G4": (BENCHMARKS, "test_full_repaint"),
    "G5": ("test_field_cases.py", "test_a_window_closed_in_the_middle_of_a_search_ends_well_and_leaves_no_process"),
    "G6": ("test_window_fields.py", "test_a_window_is_always_reachable"),
    "G7": ("test_field_cases.py", "test_where_windows_do_not_know_their_place_only_the_size_is_kept"),
    "G8": ("test_field_cases.py", "test_dense_screens_get_the_same_layout_with_more_pixels"),
    "G9": ("test_window_application.py", "test_without_a_display_there_is_one_sentence"),
    "G10": ("test_theme.py", "test_the_colours_of_a_lane_stay_apart_for_colour_blind_eyes"),
    "G11": ("test_field_cases.py", "test_what_is_written_can_be_read_after_the_theme_has_changed"),
    "G12": ("test_field_cases.py", "test_a_name_of_300_characters_is_cut_in_its_bar_and_told_whole"),
    "G13": ("test_field_cases.py", "test_the_last_of_very_many_rows_is_reached"),
    "G14": ("test_field_cases.py", "test_bars_have_the_words_that_are_chosen"),
}
"""Beside these: G6 `test_settings_that_cannot_be_read_are_the_defaults`, G10 `test_a_recompute_is_hatched` and
`test_what_is_told_by_colour_alone_stays_apart_in_grey`, G13 `test_the_envelope_has_the_exact_extremes_of_each_column`.
"""
SCALES = ("1", "1.25", "1.5", "2")
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
    with ThreadPoolExecutor(2) as pool:
        done = pool.map(
            lambda scale: run(LAYOUT, QT_SCALE_FACTOR=scale, XDG_STATE_HOME=str(tmp_path / scale)).stdout, SCALES
        )
        looks = dict(zip(SCALES, map(json.loads, done), strict=True))
    for scale in SCALES:
        ratio, width, places = looks[scale]
        assert ratio == float(scale)
        assert width == pytest.approx(float(scale) * looks["1"][1], abs=2)
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


def test_each_case_is_shown_by_a_test() -> None:
    for file, test in SHOWN_BY.values():
        assert f"def {test}(" in (Path(__file__).parent / file).read_text(encoding="utf-8")


def test_no_case_is_forgotten(shared_folder: Path) -> None:
    page = (shared_folder / "field_cases" / "CASES.md").read_text(encoding="utf-8")
    assert set(SHOWN_BY) == set(re.findall(r"^\| (G\d+) \|", page, re.MULTILINE))


def ink_and_ground(image: QImage) -> float:
    """The contrast of what is written on a picture with what it is written on."""
    points = ((x, y) for x in range(image.width()) for y in range(image.height()))
    colours = Counter(image.pixelColor(x, y).name() for x, y in points)
    ground = colours.most_common(1)[0][0]
    return max(contrast_ratio(ground, colour) for colour in colours)


def written(window: MainWindow) -> Iterator[tuple[str, QWidget]]:
    for widget in window.findChildren(QWidget):
        if not widget.isVisible() or not widget.isEnabled() or widget.visibleRegion().isEmpty():
            continue
        text = widget.text() if isinstance(widget, (QLabel, QAbstractButton, QLineEdit)) else ""
        if text.strip() and widget.height() > 6 and widget.width() > 6:
            yield text, widget


def test_what_is_written_can_be_read_after_the_theme_has_changed(
    window: MainWindow, toy_file: Path, plan_awaited: Callable[[], None], qapp: QApplication
) -> None:
    window.open_file(toy_file)
    plan_awaited()
    window.document.set_limit("gpu", 2)
    window.centre.error.show_message("Something is wrong with this.", "error", button="Do it")
    window.links.model.select_tensor(window.document.work.problem.tensors[0].name)  # type: ignore[union-attr]
    for theme in ("dark", "light"):
        apply_theme(qapp, theme)  # type: ignore[arg-type]
        qapp.processEvents()
        picture = window.grab().toImage()
        texts = list(written(window))
        assert len(texts) > 40
        for text, widget in texts:
            place = QRect(widget.mapTo(window, QPoint(0, 0)), widget.size()).intersected(window.rect())
            inner = place.adjusted(2, 2, -2, -2)
            assert ink_and_ground(picture.copy(inner)) >= 4.5, f"{text!r} in {theme}"


LONG_NAME = "block/" * 49 + "conv_1"


@pytest.fixture
def long_names(window: MainWindow, tmp_path: Path, plan_awaited: Callable[[], None]) -> MainWindow:
    path = tmp_path / "long.json"
    write_problem(four_operators(names=("f0", LONG_NAME, "f2", "b1")), path)
    window.open_file(path)
    plan_awaited()
    return window


def test_a_name_of_300_characters_is_cut_in_its_bar_and_told_whole(
    long_names: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    window, timeline = long_names, long_names.centre.timeline
    assert len(LONG_NAME) == 300
    shown, words = window.document.shown, words_in_bars(window, monkeypatch)
    assert shown is not None
    assert LONG_NAME not in words
    assert "Relu" in words  # what fits
    event = next(i for i, e in enumerate(shown.plan.events) if isinstance(e, Compute) and e.operator == LONG_NAME)
    frame = timeline.frame()
    assert frame is not None
    place = next(iter(frame.index.places(event)))
    middle = sum(frame.index.span(place)) // 2
    band = frame.layout.cards[place.device].compute
    assert band is not None
    timeline.set_hover(QPointF(frame.x(middle), band.middle))
    details = timeline.hover_details()
    assert details is not None
    assert details.title.endswith(LONG_NAME)
    assert not timeline.grab().isNull()
    timeline.select_event(event)
    titles = [label for label in window.selection.findChildren(QLabel) if LONG_NAME in label.accessibleName()]
    assert titles
    assert titles[0].text().replace("\u200b", "") == LONG_NAME
    qtbot.waitUntil(lambda: titles[0].width() < window.selection.width())


def words_in_bars(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is written in the bars of computations when they are painted."""
    words: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(bars, "write_at", lambda *arguments: words.append(arguments[-1]))
        window.centre.timeline.repaint_all()
        window.centre.timeline.grab()
    return words


def test_bars_have_the_words_that_are_chosen(long_names: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    window, menu = long_names, long_names.submenus.menus["labels"]
    found = {}
    for action in menu.actions():
        action.trigger()
        assert action.isChecked()
        assert window.settings.labels == action.data()
        found[action.data()] = set(words_in_bars(window, monkeypatch))
    assert {"f0", "f2", "b1"} <= found["names"]
    assert {"Conv", "Relu", "ConvGrad"} <= found["kinds"]
    assert "f2 · Conv" in found["both"]
    assert "b1 · ConvGrad" in found["both"]
    assert found["none"] == set()
    assert load_settings().labels == "none"


def test_the_last_of_very_many_rows_is_reached(qtbot: QtBot) -> None:
    count = 600_000
    columns = (ColumnOf[int]("number", str, lambda row: row),)
    panel = InventoryPanel("many", RowsModel(columns, name=str, words=str), word="row", by="number", stretched=0)
    qtbot.addWidget(panel)
    panel.resize(400, 300)
    panel.show_plan(lambda: range(count))
    panel.show()
    panel.select(str(count - 1))
    table = panel.table
    last = table.visualRect(table.model().index(count - 1, 0))
    assert table.viewport().rect().contains(last.center())
    assert table.model().index(count - 1, 0).data() == str(count - 1)
