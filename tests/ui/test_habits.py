"""Habits of a good window: names for who cannot see it, keys for who has no mouse, sharp on dense screens."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialogButtonBox,
    QHeaderView,
    QLineEdit,
    QMenuBar,
    QPlainTextEdit,
    QProgressBar,
    QSlider,
    QTabBar,
    QTableView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from xengine_gui.ui.actions import ACTIONS
from xengine_gui.ui.graph_wiring import CentreView
from xengine_gui.ui.main_window import MainWindow
from xengine_gui.ui.text_size import scale_text
from xengine_gui.ui.theme import apply_theme

Wait = Callable[[], None]

PARTS = (
    QAbstractButton, QAbstractItemView, QAbstractSpinBox, QComboBox, QLineEdit, QMenuBar, QPlainTextEdit, QProgressBar,
    QSlider, QTabBar,
)  # fmt: skip
"""What people use or read as one thing."""
WHOLE = (QAbstractSpinBox, QComboBox, QTabBar, QHeaderView, QDialogButtonBox, QMenuBar)
"""Parts whose own parts are theirs to name."""
TOLD = (QAbstractButton, QComboBox, QAbstractSpinBox, QSlider)
NO_TAB = {
    "menu bars are reached by Alt": QMenuBar,
    "bars only show": QProgressBar,
}


def is_inner(widget: QWidget) -> bool:
    parent = widget.parentWidget()
    if isinstance(parent, QAbstractScrollArea) and widget is parent.viewport():
        return True
    while parent is not None:
        if isinstance(parent, WHOLE) or (isinstance(widget, QAbstractButton) and isinstance(parent, QLineEdit)):
            return True
        if isinstance(widget, QAbstractButton) and isinstance(parent, QAbstractItemView):
            return True
        parent = parent.parentWidget()
    return isinstance(widget, QHeaderView) or widget.objectName().startswith("qt_")


def parts_of(window: QWidget) -> Iterator[QWidget]:
    for widget in window.findChildren(QWidget):
        focusable = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
        if widget.isVisible() and not is_inner(widget) and (focusable or isinstance(widget, PARTS)):
            yield widget


def place(widget: QWidget | None) -> str:
    names = []
    while widget is not None:
        names.append(widget.objectName() or type(widget).__name__)
        widget = widget.parentWidget()
    return " in ".join(names[:4])


@pytest.fixture
def full_window(window: MainWindow, toy_file: Path, plan_awaited: Wait, qtbot: QtBot) -> MainWindow:
    """A window with all that it can show at once."""
    window.resize(1600, 940)
    window.open_file(toy_file)
    plan_awaited()
    window.walk.show_view(CentreView.BOTH)
    window.walk.playback.go_to(2)
    qtbot.waitUntil(lambda: window.walk.graph.scene is not None)
    return window


def each_tab(window: MainWindow) -> Iterator[None]:
    for i in range(window.below.count()):
        window.below.setCurrentIndex(i)
        yield


def test_everything_has_an_accessible_name(full_window: MainWindow) -> None:
    nameless = set()
    for _ in each_tab(full_window):
        for widget in parts_of(full_window):
            interface = QAccessible.queryAccessibleInterface(widget)
            if interface is None or not interface.text(QAccessible.Text.Name):
                nameless.add(place(widget))
    assert nameless == set()


def test_everything_is_reached_by_keys(full_window: MainWindow) -> None:
    unreachable = set()
    for _ in each_tab(full_window):
        for widget in parts_of(full_window):
            focusable = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
            if not focusable and not isinstance(widget, tuple(NO_TAB.values())):
                unreachable.add(place(widget))
    assert unreachable == set()


def test_tab_goes_round_the_window_past_timeline_graph_and_playback(full_window: MainWindow, qtbot: QtBot) -> None:
    full_window.activateWindow()
    passed = []
    widget: QWidget = full_window.centre.timeline
    for _ in range(5000):
        widget = widget.nextInFocusChain()
        passed.append(widget)
        if widget is full_window.centre.timeline:
            break
    assert passed[-1] is full_window.centre.timeline
    walk = full_window.walk
    for wanted in (walk.graph.view, walk.tabs, walk.bar.slider, walk.bar.speed, *walk.bar.buttons.values()):
        assert wanted in passed


def test_buttons_and_fields_tell_what_they_do(full_window: MainWindow) -> None:
    silent = {
        place(widget)
        for _ in each_tab(full_window)
        for widget in parts_of(full_window)
        if isinstance(widget, TOLD) and not widget.toolTip()
    }
    assert silent == set()


def test_tooltips_of_actions_name_their_keys(full_window: MainWindow) -> None:
    for spec in ACTIONS:
        if spec.shortcuts:
            assert f"({spec.shortcuts[0]}" in full_window.actions_by_key[spec.key].toolTip()


PICTURE = """
import sys
from pathlib import Path
from PySide6.QtWidgets import QApplication
from xengine_gui.ui.application import make_application
from xengine_gui.ui.graph_view.panel import GraphPanel
from xengine_gui.ui.selection import SelectionModel
from xengine_gui import planner
app = make_application()
selection = SelectionModel()
panel = GraphPanel(selection)
panel.resize(600, 400)
panel.show_problem(planner.open_file(Path(sys.argv[1])))
panel.show()
while panel.busy or panel.scene is None:
    app.processEvents()
image = panel.view.grab().toImage()
image.save(sys.argv[2])
print(image.width(), image.height(), image.devicePixelRatio())
panel.close_jobs()
"""


def test_the_graph_is_as_sharp_as_the_screen(toy_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "graph.png"
    told = subprocess.run(
        [sys.executable, "-c", PICTURE, str(toy_file), str(out)],
        env={**os.environ, "QT_SCALE_FACTOR": "1.5", "XDG_STATE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert float(told[2]) == 1.5
    assert int(told[0]) == pytest.approx(900, abs=2)
    assert out.is_file()


def test_at_twice_the_size_of_text_the_window_fits_a_small_screen(
    full_window: MainWindow, qapp: QApplication, qtbot: QtBot
) -> None:
    full_window.walk.show_view(CentreView.TIMELINE)
    try:
        for _ in range(5):
            scale_text(1)
        qtbot.waitUntil(lambda: full_window.minimumSizeHint().width() <= 1280)
        full_window.resize(1280, 800)
        assert full_window.size().toTuple() == (1280, 800)
        for field in (card.limit.edit for card in full_window.left.devices.cards.values()):
            margins = field.textMargins()
            room = field.width() - margins.left() - margins.right()
            assert field.fontMetrics().horizontalAdvance(field.text()) < room
    finally:
        scale_text(0)


def test_text_that_is_smaller_again_leaves_rows_and_fields_as_they_were(full_window: MainWindow, qtbot: QtBot) -> None:
    tables = full_window.findChildren(QTableView)
    usual = [table.verticalHeader().sectionSize(0) for table in tables]
    assert sum(size > 0 for size in usual) > 2
    form = full_window.studies.sweep.form
    try:
        for _ in range(5):
            scale_text(1)
        qtbot.waitUntil(lambda: full_window.minimumSizeHint().width() <= 1280)
        assert form.width() >= form.minimumSizeHint().width()
    finally:
        scale_text(0)
    assert [table.verticalHeader().sectionSize(0) for table in tables] == usual


@pytest.mark.parametrize("view", [CentreView.TIMELINE, CentreView.BOTH])
def test_on_a_small_screen_all_of_two_devices_is_in_view_below_a_message(
    full_window: MainWindow, view: CentreView, qtbot: QtBot
) -> None:
    full_window.resize(1280, 800)
    full_window.centre.error.show_message("Something was not done, for a reason that is told here.", "error")
    full_window.walk.show_view(view)
    timeline = full_window.centre.timeline

    def in_view() -> bool:
        frame = timeline.frame()
        return frame is not None and frame.layout.cards[-1].outer.bottom <= timeline.viewport().height()

    qtbot.waitUntil(in_view)
    frame = timeline.frame()
    assert frame is not None
    line = frame.fonts.small_metrics.height()
    for card in frame.layout.cards:
        assert card.memory.height > line
        assert card.compute is None or card.compute.height >= line * 0.8
    busiest = max(range(2), key=lambda i: frame.index.devices[i].busy_ns)
    assert frame.layout.cards[busiest].memory.height >= 2 * line


def test_the_focus_is_seen_wherever_it_comes_by_keys(full_window: MainWindow, qapp: QApplication, qtbot: QtBot) -> None:
    apply_theme(qapp, "light")
    full_window.activateWindow()
    qtbot.waitUntil(full_window.isActiveWindow)
    unseen = set()
    for _ in each_tab(full_window):
        for widget in list(parts_of(full_window)):
            full_window.setFocus()
            qapp.processEvents()
            if not widget.isEnabled() or not widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
                continue
            area = QRect(widget.mapTo(full_window, QPoint(0, 0)), widget.size()).adjusted(-2, -2, 2, 2)
            before = full_window.grab(area).toImage()
            widget.setFocus(Qt.FocusReason.TabFocusReason)
            shown = full_window.grab(area).toImage()
            # The focus in a table selects a row, by which other parts may come or go.
            if widget.hasFocus() and not widget.visibleRegion().isEmpty() and shown == before:
                unseen.add(place(widget))
    assert not unseen, sorted(unseen)
