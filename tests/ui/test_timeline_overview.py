"""The overview bar: its window moves, is drawn wider, drawn anew; a double click shows everything."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot
from timelines import timeline_of

from xengine_gui.model.plan import Compute
from xengine_gui.ui.timeline import TimelineView
from xengine_gui.ui.timeline.geometry import TimeRange
from xengine_gui.ui.timeline.overview import OverviewBar

END = 10**9


@pytest.fixture
def bar(qtbot: QtBot) -> Iterator[OverviewBar]:
    box = QWidget()
    qtbot.addWidget(box)
    view = TimelineView()
    bar = OverviewBar(view)
    layout = QVBoxLayout(box)
    layout.addWidget(bar)
    layout.addWidget(view)
    box.resize(1000, 500)
    box.show()
    events = [
        Compute(f"{kind}_{i}", "gpu", i * END // 20, (i + 1) * END // 20)
        for i, kind in enumerate(["conv", "grad"] * 10)
    ]
    view.set_timeline(timeline_of(events, {"gpu": 2**30}))
    qtbot.waitUntil(bar.isVisible)
    yield bar
    box.close()


def view_of(bar: OverviewBar) -> TimelineView:
    return bar._timeline


def at(bar: OverviewBar, part: float) -> QPoint:
    plot = bar._plot()
    return QPoint(round(plot.left() + part * plot.width()), round(plot.center().y()))


def drag(qtbot: QtBot, bar: OverviewBar, start: QPoint, end: QPoint) -> None:
    qtbot.mousePress(bar, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(bar, (start + end) / 2)
    qtbot.mouseMove(bar, end)
    qtbot.mouseRelease(bar, Qt.MouseButton.LeftButton, pos=end)


def test_without_a_plan_there_is_none(bar: OverviewBar) -> None:
    assert bar.isVisible()
    view_of(bar).set_timeline(None)
    assert not bar.isVisible()


def test_the_window_is_where_the_view_is(bar: OverviewBar) -> None:
    view_of(bar).zoom_to(END // 4, END // 2)
    box, plot = bar.window_box(), bar._plot()
    assert (box.left() - plot.left()) / plot.width() == pytest.approx(0.25, abs=0.002)
    assert (box.right() - plot.left()) / plot.width() == pytest.approx(0.5, abs=0.002)


def test_dragging_the_window_moves_the_view(bar: OverviewBar, qtbot: QtBot) -> None:
    view_of(bar).zoom_to(END // 4, END // 2)
    drag(qtbot, bar, at(bar, 0.375), at(bar, 0.575))
    view = view_of(bar).view_range()
    assert view.span_ns == END // 4
    assert view.start_ns == pytest.approx(0.45 * END, rel=0.01)


def test_dragging_an_edge_zooms(bar: OverviewBar, qtbot: QtBot) -> None:
    view_of(bar).zoom_to(END // 4, END // 2)
    drag(qtbot, bar, at(bar, 0.5), at(bar, 0.8))
    view = view_of(bar).view_range()
    assert view.start_ns == END // 4
    assert view.end_ns == pytest.approx(0.8 * END, rel=0.01)


def test_dragging_elsewhere_draws_a_new_window_and_a_click_brings_it(bar: OverviewBar, qtbot: QtBot) -> None:
    view_of(bar).zoom_to(0, END // 10)
    drag(qtbot, bar, at(bar, 0.6), at(bar, 0.7))
    assert view_of(bar).view_range().start_ns == pytest.approx(0.6 * END, rel=0.01)
    assert view_of(bar).view_range().end_ns == pytest.approx(0.7 * END, rel=0.01)
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=at(bar, 0.3))
    assert view_of(bar).view_range().start_ns == pytest.approx(0.25 * END, rel=0.02)
    qtbot.mouseDClick(bar, Qt.MouseButton.LeftButton, pos=at(bar, 0.9))
    assert view_of(bar).view_range() == TimeRange(0, END)


def test_the_plan_is_painted_in_the_colours_of_its_kinds(bar: OverviewBar) -> None:
    view_of(bar).zoom_to(0, END // 2)
    image = bar.grab().toImage()
    theme = view_of(bar).theme()
    y = round(bar._plot().top()) + 3
    seen = {image.pixelColor(at(bar, part).x(), y).name() for part in (0.025, 0.075, 0.125, 0.175)}
    assert seen == {theme.forward, theme.backward}
