"""From one plan to the next bars slide, appear and go; not where that would be too much."""

import numpy as np
import pytest
from plans_fixed import MOVING, RECOMPUTING, plan_of_four
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from xengine_gui.model.plan import Compute, Transfer
from xengine_gui.schedule.timeline import Category, timeline
from xengine_gui.ui.theme import load_theme
from xengine_gui.ui.timeline import transition as module
from xengine_gui.ui.timeline.transition import Transition, bar_count, motion_between
from xengine_gui.ui.timeline.view import TimelineView

THEME = load_theme("light")


@pytest.fixture
def view(qtbot: QtBot) -> TimelineView:
    view = TimelineView()
    qtbot.addWidget(view)
    view.set_theme(THEME)
    view.resize(800, 500)
    view.set_timeline(timeline(plan_of_four(RECOMPUTING)))
    view.show()
    return view


@pytest.fixture
def transition(view: TimelineView, monkeypatch: pytest.MonkeyPatch) -> Transition:
    monkeypatch.setattr(QApplication, "mouseButtons", lambda: Qt.MouseButton.NoButton)  # whatever other tests have left
    made = Transition(view)
    made.is_wanted = True
    return made


def seen(view: TimelineView, category: Category) -> float:
    """The share of the picture that has a category's colour."""
    image = view.viewport().grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.width()) & 0xFFFFFF
    return float(np.mean(pixels == int(THEME.category(category)[1:], 16)))


def test_computations_and_transfers_are_matched_wherever_they_are() -> None:
    before, after = plan_of_four(RECOMPUTING), plan_of_four(MOVING)
    motion = motion_between(timeline(before), timeline(after))
    computed = [{e.operator for e in plan.events if isinstance(e, Compute)} for plan in (before, after)]
    again = sum(e.again for e in before.events if isinstance(e, Compute))
    moves = sum(isinstance(e, Transfer) for e in after.events)
    assert again
    assert moves
    assert len(motion.moved) == len(computed[0] & computed[1])
    assert [bar.category for bar in motion.vanished] == [Category.RECOMPUTE] * again
    assert sorted(bar.lane for bar in motion.appeared) == ["incoming"] * moves + ["outgoing"] * moves
    for then, now in motion.moved:
        assert then.end_ns - then.start_ns == now.end_ns - now.start_ns
    same = motion_between(timeline(before), timeline(before))
    assert (same.appeared, same.vanished) == ((), ())
    assert all(then == now for then, now in same.moved)
    assert len(same.moved) == bar_count(timeline(before))


def test_it_moves_for_a_moment_and_then_shows_the_plan(
    view: TimelineView, transition: Transition, qtbot: QtBot
) -> None:
    before = seen(view, Category.FORWARD)
    view.set_timeline(timeline(plan_of_four(MOVING)))
    assert transition.motion is not None
    assert seen(view, Category.FORWARD) == pytest.approx(before, rel=0.2)
    qtbot.waitUntil(lambda: transition.motion is None, timeout=2000)
    still = TimelineView()
    qtbot.addWidget(still)
    still.set_theme(THEME)
    still.resize(view.size())
    still.set_timeline(view.timeline())
    still.show()
    assert view.viewport().grab().toImage() == still.viewport().grab().toImage()


def test_it_does_not_move_where_nobody_could_follow(
    view: TimelineView, transition: Transition, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    plans = [timeline(plan_of_four(steps)) for steps in (MOVING, RECOMPUTING)]
    with monkeypatch.context() as patch:
        patch.setattr(module, "MOST_BARS", 3)
        view.set_timeline(plans[0])
        assert transition.motion is None
    with monkeypatch.context() as patch:
        patch.setattr(QApplication, "mouseButtons", lambda: Qt.MouseButton.LeftButton)
        view.set_timeline(plans[1])
        assert transition.motion is None
    view.setStyleSheet("* { widget-animation-duration: 0; }")  # as a system says that wants no motion
    view.set_timeline(plans[0])
    assert transition.motion is None
    view.setStyleSheet("")
    view.set_timeline(plans[1])
    assert transition.motion is not None
    view.set_timeline(plans[0])  # another one at once
    assert transition.motion is None
    view.set_timeline(plans[1])
    view.zoom_in()
    assert transition.motion is None
    view.set_timeline(None)
    view.set_timeline(plans[1])
    assert transition.motion is None
    transition.is_wanted = False
    view.set_timeline(plans[0])
    assert transition.motion is None
