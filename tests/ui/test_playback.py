from collections.abc import Callable
from pathlib import Path

import pytest
from plans_fixed import MOVING, plan_of_four
from PySide6.QtCore import Qt, QTimer
from pytestqt.qtbot import QtBot

from xengine_gui.ui.graph_wiring import CentreView
from xengine_gui.ui.main_window import MainWindow
from xengine_gui.ui.playback import SPEEDS, Playback
from xengine_gui.ui.playback_bar import PlaybackBar
from xengine_gui.ui.selection import Kind, SelectionModel
from xengine_gui.ui.shown_plan import ShownPlan

WITHIN_MS = 10_000
Wait = Callable[[], None]


@pytest.fixture(name="bar")
def make_bar(qtbot: QtBot) -> PlaybackBar:
    selection = SelectionModel()
    playback = Playback(selection, selection)
    bar = PlaybackBar(playback)
    selection.setParent(bar)
    qtbot.addWidget(bar)
    shown = ShownPlan.of(plan_of_four())
    selection.set_plan(shown)
    playback.set_plan(shown)
    bar.show()
    return bar


def selection_of(bar: PlaybackBar) -> SelectionModel:
    found = bar.findChild(SelectionModel)
    assert found is not None
    return found


def timers_running(bar: PlaybackBar) -> int:
    return sum(t.isActive() for t in bar.findChildren(QTimer))


def test_before_the_first_event_it_says_what_is_to_come(bar: PlaybackBar) -> None:
    assert bar.playback.position == -1
    assert bar.sentence.text() == "A training step of 4 operators in 9 events: 1 recomputation, 0 transfers."
    assert not bar.buttons["back"].isEnabled()


def test_steps_select_events_and_tell_their_sentences(bar: PlaybackBar, qtbot: QtBot) -> None:
    bar.buttons["on"].click()
    assert selection_of(bar).current.event == 0
    qtbot.waitUntil(lambda: bar.sentence.text().startswith("Compute f0 on gpu, 10 ns"), timeout=WITHIN_MS)
    for _ in range(5):
        bar.buttons["on"].click()
    assert bar.sentence.text() == "Recompute f0 on gpu, 10 ns: b1 needs t0, freed in stage 3."
    assert bar.place.text() == "6 of 9, at 60 ns"
    bar.buttons["back"].click()
    assert bar.sentence.text() == "Free t1 on gpu: its last use was f2."
    bar.buttons["first"].click()
    assert bar.playback.position == 0


def test_the_slider_goes_anywhere(bar: PlaybackBar) -> None:
    bar.slider.setValue(7)
    assert selection_of(bar).current.event == 7
    assert bar.slider.maximum() == 8
    bar.buttons["on"].click()
    assert bar.playback.position == 8
    assert not bar.buttons["on"].isEnabled()
    bar.playback.step(1)
    assert bar.playback.position == 8


def test_it_goes_on_from_what_is_selected_elsewhere(bar: PlaybackBar) -> None:
    selection_of(bar).select_event(4)
    assert bar.playback.position == 4
    assert bar.slider.value() == 4
    selection_of(bar).select_tensor("t0")
    assert bar.playback.position == 4
    bar.buttons["on"].click()
    assert selection_of(bar).current.event == 5


def test_it_plays_to_the_end_and_no_timer_runs_otherwise(bar: PlaybackBar, qtbot: QtBot) -> None:
    assert timers_running(bar) == 0
    bar.playback.set_speed(200.0)
    seen: list[int] = []
    selection_of(bar).changed.connect(lambda: seen.append(selection_of(bar).current.event))
    bar.buttons["play"].click()
    assert bar.playback.playing
    assert timers_running(bar) == 1
    assert bar.buttons["play"].accessibleName() == "Pause"
    qtbot.waitUntil(lambda: not bar.playback.playing, timeout=WITHIN_MS)
    assert bar.playback.position == 8
    assert seen == sorted(set(seen))
    assert timers_running(bar) == 0
    bar.buttons["play"].click()
    assert bar.playback.position == 0  # from the beginning again
    bar.buttons["play"].click()
    assert not bar.playback.playing
    assert bar.buttons["play"].accessibleName() == "Play"


def test_every_speed_is_one_that_can_be_followed(bar: PlaybackBar) -> None:
    for i, (_name, events_per_s) in enumerate(SPEEDS):
        bar.speed.setCurrentIndex(i)
        assert bar.playback.events_per_s == (events_per_s or 1.0)


def test_another_plan_stops_it(bar: PlaybackBar) -> None:
    bar.playback.play()
    bar.playback.set_plan(ShownPlan.of(plan_of_four(MOVING)))
    assert not bar.playback.playing
    assert bar.playback.position == -1
    bar.playback.set_plan(None)
    assert bar.isHidden()
    bar.playback.play()
    assert not bar.playback.playing


# ---- in the window


def test_timeline_graph_and_panel_move_along(
    window: MainWindow, toy_file: Path, plan_awaited: Wait, qtbot: QtBot
) -> None:
    assert not window.walk.bar.isVisible()
    assert not window.walk.tabs.isVisible()
    window.open_file(toy_file)
    plan_awaited()
    walk = window.walk
    assert walk.bar.isVisible()
    assert window.centre.timeline.isVisible()
    assert not walk.graph.isVisible()
    walk.show_view(CentreView.BOTH)
    assert window.centre.timeline.isVisible()
    qtbot.waitUntil(lambda: walk.graph.view.looks is not None and not walk.graph.busy, timeout=WITHIN_MS)
    for event in (0, walk.playback.count // 2, walk.playback.count - 1):
        walk.playback.go_to(event)
        assert window.links.model.current.event == event
        assert window.centre.timeline.selected_event() == event
        assert walk.graph.view.moment is not None
        assert walk.graph.view.lit.chosen >= 0
    shown = window.document.shown
    assert shown is not None
    last = shown.plan.events[-1]
    qtbot.waitUntil(lambda: last.kind in walk.bar.sentence.text().lower(), timeout=WITHIN_MS)
    walk.show_view(CentreView.GRAPH)
    assert not window.centre.timeline.isVisible()


def test_space_plays_and_pauses(window: MainWindow, toy_file: Path, plan_awaited: Wait, qtbot: QtBot) -> None:
    window.open_file(toy_file)
    plan_awaited()
    walk = window.walk
    walk.show_view(CentreView.BOTH)
    for view in (window.centre.timeline, walk.graph.view):
        qtbot.keyClick(view, Qt.Key.Key_Space)
        assert walk.playback.playing
        qtbot.keyClick(view, Qt.Key.Key_Space)
        assert not walk.playback.playing


def test_zooming_keys_are_for_the_view_that_is_looked_at(
    window: MainWindow, toy_file: Path, plan_awaited: Wait, qtbot: QtBot
) -> None:
    window.open_file(toy_file)
    plan_awaited()
    walk, timeline = window.walk, window.centre.timeline
    walk.show_view(CentreView.GRAPH)
    qtbot.waitUntil(lambda: walk.graph.view.looks is not None, timeout=WITHIN_MS)
    before, view = walk.graph.view.camera, timeline.view_range()
    window.actions_by_key["zoom_in"].trigger()
    assert walk.graph.view.camera.scale_y > before.scale_y
    assert timeline.view_range() == view
    window.actions_by_key["fit"].trigger()
    assert walk.graph.view.camera.scale_y < before.scale_y * 1.4
    walk.show_view(CentreView.TIMELINE)
    window.actions_by_key["zoom_in"].trigger()
    assert timeline.view_range() != view


def test_a_click_in_the_graph_is_told_in_the_panel_and_the_timeline(
    window: MainWindow, toy_file: Path, plan_awaited: Wait, qtbot: QtBot
) -> None:
    window.open_file(toy_file)
    plan_awaited()
    walk = window.walk
    walk.show_view(CentreView.BOTH)
    qtbot.waitUntil(lambda: walk.graph.view.looks is not None and not walk.graph.busy, timeout=WITHIN_MS)
    walk.graph.choose_node(2)
    current = window.links.model.current
    assert current.kind is Kind.OPERATOR
    assert walk.graph.scene is not None
    assert current.name == walk.graph.scene.nodes.nodes[2].title


def test_a_menu_in_the_graph_demands_and_opens(
    window: MainWindow, toy_file: Path, plan_awaited: Wait, qtbot: QtBot
) -> None:
    window.open_file(toy_file)
    plan_awaited()
    walk = window.walk
    walk.show_view(CentreView.GRAPH)
    qtbot.waitUntil(lambda: walk.graph.scene is not None and not walk.graph.busy, timeout=WITHIN_MS)
    view, scene = walk.graph.view, walk.graph.scene
    assert scene is not None
    view.menu_asked.emit(0, -1, view.mapToGlobal(view.rect().center()))
    assert walk.menu is not None
    texts = [a.text() for a in walk.menu.actions()]
    assert scene.nodes.nodes[0].title in texts
    assert "Never recompute it" in texts
    next(a for a in walk.menu.actions() if a.text() == "Never recompute it").trigger()
    assert window.document.work is not None
    assert len(window.document.work.constraints) == 1
    view.menu_asked.emit(-1, 0, view.mapToGlobal(view.rect().center()))
    assert any("Retain it" in a.text() for a in walk.menu.actions())
    walk.menu.close()
