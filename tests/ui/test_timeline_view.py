"""The timeline driven as a user does: wheel, drags, keys, clicks, limits."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from timelines import crowded_timeline, timeline_of

from xengine_gui.model.plan import Compute, Event, Free, Transfer
from xengine_gui.schedule.timeline import Timeline
from xengine_gui.ui.theme import apply_theme, load_theme
from xengine_gui.ui.timeline import TimelineView
from xengine_gui.ui.timeline.geometry import TimeRange
from xengine_gui.ui.timeline.memory import limit_label

MS = 10**6
EVENTS: list[Event] = [
    Compute("conv_1", "gpu", 0, 400 * MS),
    Transfer("conv_1 out", "gpu", "host", 400 * MS, 450 * MS),
    Free("conv_1 out", "gpu", 450 * MS),
    Compute("loss_1", "gpu", 450 * MS, 500 * MS),
    Compute("conv_1", "gpu", 500 * MS, 600 * MS, again=True),
    Compute("grad_1", "gpu", 600 * MS, 1000 * MS),
]
GIB = 2**30


def small() -> Timeline:
    return timeline_of(
        EVENTS,
        {"gpu": 2 * GIB, "host": None},
        sizes={"conv_1": GIB, "loss_1": 4, "grad_1": GIB // 2},
        inputs={"loss_1": ("conv_1 out",), "grad_1": ("conv_1 out", "loss_1 out")},
    )


@pytest.fixture
def view(qtbot: QtBot) -> TimelineView:
    view = TimelineView()
    qtbot.addWidget(view)
    view.resize(1000, 640)
    view.show()
    view.set_timeline(small())
    return view


def place(view: TimelineView, lane: str, moment_ns: int, device: int = 0) -> QPoint:
    """Where a moment is in a lane."""
    frame = view.frame()
    assert frame is not None
    card = frame.layout.cards[device]
    return QPoint(round(frame.x(moment_ns)), round(getattr(card, lane).middle))


def turn(view: TimelineView, at: QPoint, x: int = 0, y: int = 0, keys: Qt.KeyboardModifier | None = None) -> None:
    """Turn the wheel."""
    event = QWheelEvent(
        QPointF(at), QPointF(view.viewport().mapToGlobal(at)), QPoint(), QPoint(x, y), Qt.MouseButton.NoButton,
        keys or Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,  # noqa: FBT003 - Qt takes no name here
    )  # fmt: skip
    QApplication.sendEvent(view.viewport(), event)


def limit_place(view: TimelineView, device: int = 0) -> QPoint:
    frame = view.frame()
    assert frame is not None
    label = limit_label(frame, device)
    assert label is not None
    return QPoint(round(frame.layout.left) + 200, round(label.line_y))


Press = Callable[..., None]


@pytest.fixture
def drag(view: TimelineView, qtbot: QtBot) -> Press:
    """Drags from one place by some pixels, in steps."""

    def dragged(start: QPoint, by: QPoint, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        port = view.viewport()
        qtbot.mouseMove(port, start)
        qtbot.mousePress(port, Qt.MouseButton.LeftButton, keys, start)
        for part in (0.3, 0.7, 1.0):
            qtbot.mouseMove(port, start + by * part)
        qtbot.mouseRelease(port, Qt.MouseButton.LeftButton, keys, start + by)

    return dragged


def test_it_starts_with_a_message_and_takes_input_without_harm(qtbot: QtBot) -> None:
    view = TimelineView()
    qtbot.addWidget(view)
    view.show()
    view.set_message("Nothing here\nOpen a file.")
    assert view.timeline() is None
    assert "Nothing here" in view.accessibleDescription()
    view.fit()
    view.zoom_in()
    view.zoom_to(0, 5)
    view.select_event(3)
    assert view.selected_event() == -1
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton)
    qtbot.keyClick(view, Qt.Key.Key_Plus)
    turn(view, QPoint(50, 50), y=120)
    assert not view.grab().isNull()


def test_a_plan_is_shown_whole(view: TimelineView) -> None:
    assert view.view_range() == TimeRange(0, 1000 * MS)
    assert view.accessibleDescription() == "2 devices, 6 events, 1.00 s"
    view.set_timeline(None)
    assert view.timeline() is None


def test_the_wheel_zooms_at_the_mouse(view: TimelineView) -> None:
    at = place(view, "compute", 250 * MS)
    turn(view, at, y=120)
    frame = view.frame()
    assert frame is not None
    assert view.view_range().span_ns == 800 * MS
    assert frame.x(250 * MS) == pytest.approx(at.x(), abs=1)
    turn(view, at, y=-240)
    assert view.view_range() == TimeRange(0, 1000 * MS)


def test_shift_wheel_and_sideways_swipes_pan(view: TimelineView) -> None:
    view.zoom_to(300 * MS, 400 * MS)
    at = place(view, "compute", 350 * MS)
    turn(view, at, y=-120, keys=Qt.KeyboardModifier.ShiftModifier)
    assert view.view_range() == TimeRange(308 * MS, 408 * MS)
    turn(view, at, x=120)
    assert view.view_range() == TimeRange(300 * MS, 400 * MS)


def test_keys_zoom_pan_and_fit(view: TimelineView, qtbot: QtBot) -> None:
    qtbot.keyClick(view, Qt.Key.Key_Plus)
    assert view.view_range().span_ns == 625 * MS
    qtbot.keyClick(view, Qt.Key.Key_Minus)
    assert view.view_range().span_ns == 1000 * MS
    view.zoom_to(0, 100 * MS)
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert view.view_range() == TimeRange(15 * MS, 115 * MS)
    qtbot.keyClick(view, Qt.Key.Key_End)
    assert view.view_range() == TimeRange(900 * MS, 1000 * MS)
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert view.view_range() == TimeRange(0, 100 * MS)
    qtbot.keyClick(view, Qt.Key.Key_0)
    assert view.view_range() == TimeRange(0, 1000 * MS)
    view.select_event(4)
    qtbot.keyClick(view, Qt.Key.Key_F)
    assert view.view_range() == TimeRange(485 * MS, 615 * MS)
    qtbot.keyClick(view, Qt.Key.Key_Escape)
    assert view.selected_event() == -1


def test_dragging_pans_and_selects_nothing(view: TimelineView, drag: Press) -> None:
    view.zoom_to(500 * MS, 600 * MS)
    frame = view.frame()
    assert frame is not None
    drag(place(view, "compute", 550 * MS), QPoint(-100, 0))
    moved = 100 * 100 * MS / frame.layout.plot_width
    assert view.view_range().start_ns == pytest.approx(500 * MS + moved, abs=2)
    assert view.selected_event() == -1


def test_shift_dragging_selects_a_stretch_that_f_shows(view: TimelineView, drag: Press, qtbot: QtBot) -> None:
    start, end = place(view, "memory", 200 * MS), place(view, "memory", 300 * MS)
    with qtbot.waitSignal(view.range_selected) as told:
        drag(start, end - start, Qt.KeyboardModifier.ShiftModifier)
    assert told.args == pytest.approx([200 * MS, 300 * MS], abs=2 * MS)
    assert view.view_range() == TimeRange(0, 1000 * MS)
    qtbot.keyClick(view, Qt.Key.Key_F)
    assert view.view_range().start_ns == pytest.approx(185 * MS, abs=3 * MS)
    assert view.view_range().end_ns == pytest.approx(315 * MS, abs=3 * MS)
    qtbot.keyClick(view, Qt.Key.Key_Escape)
    assert view.marks().stretch_ns is None


@pytest.mark.parametrize(
    ("lane", "moment_ns", "device", "event"),
    [
        ("compute", 200 * MS, 0, 0),
        ("outgoing", 425 * MS, 0, 1),
        ("incoming", 425 * MS, 1, 1),
        ("frees", 450 * MS, 0, 2),
        ("compute", 550 * MS, 0, 4),
        ("memory", 200 * MS, 0, -1),
        ("incoming", 200 * MS, 1, -1),
    ],
)
def test_a_click_selects_what_is_under_it(
    view: TimelineView, qtbot: QtBot, lane: str, moment_ns: int, device: int, event: int
) -> None:
    view.select_event(5)
    at = place(view, lane, moment_ns, device)
    with qtbot.waitSignals([view.event_selected], check_params_cbs=[lambda found: found == event]):
        qtbot.mouseMove(view.viewport(), at)
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert view.selected_event() == event


def test_hovering_tells_event_time_and_details(view: TimelineView, qtbot: QtBot) -> None:
    hovered: list[int] = []
    times: list[int] = []
    view.event_hovered.connect(hovered.append)
    view.time_hovered.connect(times.append)
    qtbot.mouseMove(view.viewport(), place(view, "compute", 550 * MS))
    assert hovered == [4]
    assert times[-1] == pytest.approx(550 * MS, abs=2 * MS)
    details = view.hover_details()
    assert details is not None
    assert details.title == "recompute conv_1"
    assert dict(details.rows)["result"] == "1.00 GiB"
    assert details.why == "Its result was freed; grad_1 needs it at 600 ms."
    view.set_hover(None)
    assert hovered == [4, -1]
    assert times[-1] == -1
    assert view.hover_details() is None


def test_memory_is_told_from_the_replay(view: TimelineView, qtbot: QtBot) -> None:
    qtbot.mouseMove(view.viewport(), place(view, "memory", 200 * MS))
    details = view.hover_details()
    assert details is not None
    rows = dict(details.rows)
    assert rows["exactly"] == "1,073,741,824 bytes"
    assert rows["room left"] == "1.00 GiB"


def test_times_beyond_32_bits_arrive_whole(qtbot: QtBot) -> None:
    view = TimelineView()
    qtbot.addWidget(view)
    view.resize(800, 400)
    view.show()
    view.set_timeline(timeline_of([Compute("a", "gpu", 0, 10**15)], {"gpu": 2**60}))
    with qtbot.waitSignal(view.time_hovered) as told:
        view.set_hover(QPointF(600, 60))
    assert told.args[0] > 2**40


def test_a_limit_is_dragged_and_told_in_bytes(view: TimelineView, qtbot: QtBot, drag: Press) -> None:
    frame = view.frame()
    assert frame is not None
    scale = frame.memory_scale(0)
    moving: list[tuple[str, int]] = []
    done: list[tuple[str, int]] = []
    view.limit_dragging.connect(lambda device, size: moving.append((device, size)))
    view.limit_dragged.connect(lambda device, size: done.append((device, size)))
    drag(limit_place(view), QPoint(0, 40))
    expected = 2 * GIB - round(40 / scale.band.height * scale.top_bytes)
    assert [device for device, _ in done] == ["gpu"]
    assert done[0][1] == pytest.approx(expected, rel=0.01)
    assert moving[-1] == done[0]
    assert len(moving) >= 3
    shown = view.frame()
    assert shown is not None
    assert shown.limit_bytes(shown.index.devices[0].device) == done[0][1]
    assert view.selected_event() == -1


def test_a_press_on_a_limit_changes_nothing(view: TimelineView, qtbot: QtBot) -> None:
    told: list[object] = []
    view.limit_dragged.connect(lambda *values: told.append(values))
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=limit_place(view))
    assert told == []


def test_escape_takes_a_limit_back(view: TimelineView, qtbot: QtBot) -> None:
    told: list[object] = []
    view.limit_dragged.connect(lambda *values: told.append(values))
    at = limit_place(view)
    qtbot.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    qtbot.mouseMove(view.viewport(), at + QPoint(0, 50))
    qtbot.keyClick(view, Qt.Key.Key_Escape)
    qtbot.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=at + QPoint(0, 50))
    assert told == []
    frame = view.frame()
    assert frame is not None
    assert frame.limit_bytes(frame.index.devices[0].device) == 2 * GIB


def test_a_plan_that_comes_while_a_limit_is_held_leaves_it_in_the_hand(view: TimelineView, qtbot: QtBot) -> None:
    at = limit_place(view)
    qtbot.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    qtbot.mouseMove(view.viewport(), at + QPoint(0, 30))
    frame = view.frame()
    assert frame is not None
    held = frame.limit_bytes(frame.index.devices[0].device)
    view.set_timeline(small())
    view.set_limits({"gpu": 5})
    frame = view.frame()
    assert frame is not None
    assert frame.limit_bytes(frame.index.devices[0].device) == held != 2 * GIB
    qtbot.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=at)


def test_a_limit_that_is_let_go_of_over_another_file_holds_no_scale(view: TimelineView) -> None:
    def top_bytes() -> int:
        frame = view.frame()
        assert frame is not None
        return frame.memory_scale(0).top_bytes

    others = timeline_of(EVENTS, {"gpu": None, "host": None}, sizes={"conv_1": 5})
    view.set_timeline(others)
    wanted = top_bytes()
    view.set_timeline(small())
    device = small().devices[0].device
    view.hold_limit(device, GIB)
    view.set_timeline(None)
    view.hold_limit(device, None)
    view.set_timeline(others)
    assert top_bytes() == wanted


def test_limits_set_from_elsewhere_move_the_lines(view: TimelineView) -> None:
    before = limit_place(view).y()
    view.set_limits({"gpu": GIB})
    assert limit_place(view).y() > before
    view.set_limits({"gpu": None})
    frame = view.frame()
    assert frame is not None
    assert limit_label(frame, 0) is None


def test_a_zoomed_view_survives_a_new_plan(view: TimelineView) -> None:
    view.zoom_to(100 * MS, 200 * MS)
    view.select_event(3)
    view.set_timeline(small())
    assert view.view_range().span_ns == 100 * MS
    assert view.selected_event() == -1
    view.fit()
    view.set_timeline(timeline_of([Compute("a", "gpu", 0, 5 * MS)], {"gpu": None}))
    assert view.view_range() == TimeRange(0, 5 * MS)


def test_selecting_brings_an_event_into_view(view: TimelineView) -> None:
    view.zoom_to(0, 100 * MS)
    view.select_event(4)
    assert view.view_range() == TimeRange(500 * MS, 600 * MS)


def test_many_devices_are_scrolled(qtbot: QtBot) -> None:
    view = TimelineView()
    qtbot.addWidget(view)
    view.resize(600, 300)
    view.show()
    names = [f"device {i}" for i in range(12)]
    events: list[Event] = [Compute(f"op_{i}", name, i, i + 1) for i, name in enumerate(names)]
    view.set_timeline(timeline_of(events, dict.fromkeys(names)))
    bar = view.verticalScrollBar()
    assert bar.maximum() > 500
    turn(view, QPoint(20, 150), y=-120)
    assert bar.value() > 0
    view.select_event(11)
    frame = view.frame()
    assert frame is not None
    assert 0 <= frame.layout.cards[11].outer.top < 300
    view.resize(600, 3000)
    assert view.verticalScrollBar().maximum() == 0


def test_several_events_of_a_pixel_are_counted(qtbot: QtBot) -> None:
    view = TimelineView()
    qtbot.addWidget(view)
    view.resize(1000, 500)
    view.show()
    view.set_timeline(crowded_timeline(20_000, devices=1))
    qtbot.mouseMove(view.viewport(), place(view, "compute", view.view_range().end_ns // 2))
    details = view.hover_details()
    assert details is not None
    assert details.title.endswith("computations in this pixel")
    among = dict(details.rows)["among them"]
    counts = [int(part.split()[0]) for part in among.split(", ")]
    assert sum(counts) == int(details.title.split()[0].replace(",", "")) > 5


def test_it_follows_the_applications_theme_or_its_own(view: TimelineView, qapp: QApplication) -> None:
    apply_theme(qapp, "dark")
    try:
        assert view.theme().name == "dark"
        assert view.grab().toImage().pixelColor(2, 600).name() == load_theme("dark").window
        view.set_theme(load_theme("light"))
        assert view.theme().name == "light"
        view.set_theme(None)
        assert view.theme().name == "dark"
    finally:
        apply_theme(qapp, "light")
    assert view.theme().name == "light"


def test_moving_the_mouse_repaints_no_bar(view: TimelineView, qtbot: QtBot) -> None:
    view.grab()
    straight = view.grab().toImage()
    kept = view._image
    qtbot.mouseMove(view.viewport(), place(view, "compute", 550 * MS))
    view.grab()
    assert view._image is kept
    assert kept is not None
    view.set_hover(None)
    view.repaint_all()
    assert view.grab().toImage() == straight
    assert view._image is None


def test_focus_by_keys_is_shown(view: TimelineView, qtbot: QtBot) -> None:
    view.clearFocus()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(view.hasFocus)
    assert view.grab().toImage().pixelColor(1, 300).name() == view.theme().focus
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    assert view.grab().toImage().pixelColor(1, 300).name() != view.theme().focus
