"""Moving about and selecting through the whole window, as a user does: by keys, by the mouse, by typing."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from xengine_gui.model.plan import Compute
from xengine_gui.ui.dialogs.help import KeysDialog
from xengine_gui.ui.main_window import MainWindow
from xengine_gui.ui.models.memory_model import WHY_ROLE
from xengine_gui.ui.palette import Commands
from xengine_gui.ui.selection import NOTHING, Kind, Selection
from xengine_gui.ui.settings import load_settings
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.theme import apply_theme
from xengine_gui.ui.timeline.geometry import TimeRange
from xengine_gui.ui.timeline.lit import Part

Wait = Callable[[], None]
WITHIN_MS = 20_000


@pytest.fixture
def shown(window: MainWindow, toy_file: Path, plan_awaited: Wait, qtbot: QtBot) -> ShownPlan:
    window.planning.strategy = "greedy"
    with qtbot.waitSignal(window.document.opened, timeout=WITHIN_MS):
        window.open_file(toy_file)
    plan_awaited()
    window.activateWindow()
    window.centre.timeline.setFocus()
    shown = window.document.shown
    assert shown is not None
    return shown


def press(qtbot: QtBot, window: MainWindow, key: Qt.Key, keys: Qt.KeyboardModifier | None = None) -> None:
    qtbot.keyClick(window.centre.timeline, key, keys or Qt.KeyboardModifier.NoModifier)


def test_keys_move_select_and_fit(window: MainWindow, shown: ShownPlan, qtbot: QtBot) -> None:
    timeline, model = window.centre.timeline, window.links.model
    whole = timeline.view_range()
    press(qtbot, window, Qt.Key.Key_W)
    assert timeline.view_range().span_ns < whole.span_ns
    timeline.zoom_to(0, whole.end_ns // 4)
    press(qtbot, window, Qt.Key.Key_D)
    assert timeline.view_range().start_ns > 0
    press(qtbot, window, Qt.Key.Key_A)
    assert timeline.view_range().start_ns == 0
    press(qtbot, window, Qt.Key.Key_0)
    assert timeline.view_range() == whole
    press(qtbot, window, Qt.Key.Key_Period)
    press(qtbot, window, Qt.Key.Key_Period)
    assert model.current.event == timeline.selected_event() == 1
    press(qtbot, window, Qt.Key.Key_Comma)
    assert model.current.event == 0
    firsts = [i for i, e in enumerate(shown.plan.events) if isinstance(e, Compute) and not e.again]
    press(qtbot, window, Qt.Key.Key_BracketRight)
    press(qtbot, window, Qt.Key.Key_BracketRight)
    assert model.current.event == firsts[2]
    press(qtbot, window, Qt.Key.Key_BracketLeft)
    assert model.current.event == firsts[1]
    press(qtbot, window, Qt.Key.Key_F)
    event = shown.plan.events[firsts[1]]
    view = timeline.view_range()
    assert view.start_ns <= event.start_ns
    assert view.end_ns >= event.end_ns
    assert view.span_ns < whole.span_ns
    press(qtbot, window, Qt.Key.Key_Escape)
    assert model.current == NOTHING


def test_typing_finds_selects_as_it_goes_and_escape_takes_it_back(
    window: MainWindow, shown: ShownPlan, qtbot: QtBot
) -> None:
    model, finder = window.links.model, window.links.finder
    name = shown.plan.problem.operators[3].name
    press(qtbot, window, Qt.Key.Key_Slash)
    assert finder.isVisible()
    qtbot.keyClicks(finder.edit, name)
    assert finder.model.entry(0).title == name
    qtbot.keyClick(finder.edit, Qt.Key.Key_Down)
    qtbot.keyClick(finder.edit, Qt.Key.Key_Up)
    assert model.current == Selection(Kind.OPERATOR, name)
    qtbot.keyClick(finder.edit, Qt.Key.Key_Escape)
    assert finder.isHidden()
    assert model.current == NOTHING
    press(qtbot, window, Qt.Key.Key_Slash)
    qtbot.keyClicks(finder.edit, "no such thing")
    assert "no such thing" in finder.note.text()
    finder.edit.clear()
    qtbot.keyClicks(finder.edit, name)
    qtbot.keyClick(finder.edit, Qt.Key.Key_Return)
    assert model.current == Selection(Kind.OPERATOR, name)
    window.actions_by_key["show_operators"].trigger()
    table = window.links.operators
    assert table.isVisible()
    assert table.table.currentIndex().siblingAtColumn(1).data() == name


def test_a_selected_tensor_shows_everywhere(window: MainWindow, shown: ShownPlan, qtbot: QtBot) -> None:
    timeline, model = window.centre.timeline, window.links.model
    window.actions_by_key["show_tensors"].trigger()
    again = next(i for i, e in enumerate(shown.plan.events) if isinstance(e, Compute) and e.again)
    event = shown.plan.events[again]
    assert isinstance(event, Compute)
    tensor = next(o.outputs[0] for o in shown.plan.problem.operators if o.name == event.operator)
    table = window.links.tensors
    place = table.model.place(tensor)
    table.table.setCurrentIndex(table.model.index(place, 0))
    assert model.current == Selection(Kind.TENSOR, tensor)
    lit = timeline.marks().lit
    assert lit is not None
    assert lit.events[again] is Part.AGAIN
    assert {s.tensor for s in lit.stays} == {tensor}
    rows = window.selection.trace.rows
    told = [rows.data(rows.index(r, 0)) for r in range(rows.rowCount())]
    assert told.count("recomputed") >= 1
    assert told[0] == "computed"
    # A click on a line of its life goes to that event.
    line = told.index("recomputed")
    window.selection.trace.clicked.emit(rows.index(line, 0))
    assert model.current.event == again
    assert timeline.selected_event() == again


def test_the_rest_is_veiled_and_what_is_lit_keeps_its_colour(window: MainWindow, shown: ShownPlan) -> None:
    timeline = window.centre.timeline
    frame = timeline.frame()
    assert frame is not None
    index, card = frame.index, frame.layout.cards
    chosen, other = (p for p in (index.places(i)[0] for i in (0, _last_compute(shown))))
    points = []
    for place in (chosen, other):
        start, end = index.span(place)
        band = card[place.device].compute
        assert band is not None
        points.append(QPoint(round(frame.x((start + end) // 2)), round(band.bottom) - 3))
    before = [timeline.viewport().grab().toImage().pixelColor(p).name() for p in points]
    event = shown.plan.events[0]
    assert isinstance(event, Compute)
    window.links.model.select_operator(event.operator)
    after = [timeline.viewport().grab().toImage().pixelColor(p).name() for p in points]
    assert after[0] == before[0]
    assert after[1] != before[1]


def _last_compute(shown: ShownPlan) -> int:
    traces = {e.operator: i for i, e in enumerate(shown.plan.events) if isinstance(e, Compute)}
    first = shown.plan.events[0]
    assert isinstance(first, Compute)
    made = next(o.outputs for o in shown.plan.problem.operators if o.name == first.operator)
    readers = {o.name for o in shown.plan.problem.operators if set(o.inputs) & set(made)} | {first.operator}
    return max(i for name, i in traces.items() if name not in readers)


def test_a_click_on_a_peak_lists_what_is_in_memory_and_why(window: MainWindow, shown: ShownPlan, qtbot: QtBot) -> None:
    timeline, panel = window.centre.timeline, window.selection
    frame = timeline.frame()
    assert frame is not None
    position, device = max(enumerate(shown.timeline.devices), key=lambda d: d[1].peak_bytes)
    at = QPointF(frame.x(device.peak_ns), frame.memory_scale(position).y(device.peak_bytes)).toPoint()
    qtbot.mouseMove(timeline.viewport(), at)
    qtbot.mouseClick(timeline.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert window.links.model.current == Selection(Kind.MOMENT, device=device.device, time_ns=device.peak_ns)
    assert panel.device.currentText() == device.device
    memory = panel.memory
    held = [r.tensor for r in shown.replay.resident_at(device.device, device.peak_ns)]
    size = shown.tensor_bytes
    names = [memory.name(r) for r in range(memory.rowCount())]
    assert sorted(n for n in names if n != "parameters") == sorted(held)
    sizes = [size[n] for n in names if n != "parameters"]
    assert sizes == sorted(sizes, reverse=True)
    assert panel.table.is_explained
    qtbot.waitUntil(lambda: bool(memory.index(0, 0).data(WHY_ROLE)), timeout=WITHIN_MS)
    # The list stays while the mouse moves elsewhere, and a click in it lights the tensor at that moment.
    qtbot.mouseMove(timeline.viewport(), QPoint(at.x() // 2, at.y()))
    qtbot.wait(80)
    assert [memory.name(r) for r in range(memory.rowCount())] == names
    row = next(r for r, n in enumerate(names) if n != "parameters")
    panel.table.clicked.emit(memory.index(row, 0))
    current = window.links.model.current
    assert (current.kind, current.name, current.time_ns) == (Kind.TENSOR, names[row], device.peak_ns)
    assert timeline.marks().moment_ns == device.peak_ns


def test_p_goes_from_peak_to_peak(window: MainWindow, shown: ShownPlan, qtbot: QtBot) -> None:
    seen = set()
    for _ in shown.timeline.devices:
        press(qtbot, window, Qt.Key.Key_P)
        seen.add((window.links.model.current.device, window.links.model.current.time_ns))
    assert seen == {(d.device, d.peak_ns) for d in shown.timeline.devices if d.peak_bytes}


def test_a_dragged_range_is_summed(window: MainWindow, shown: ShownPlan, qtbot: QtBot) -> None:
    timeline = window.centre.timeline
    frame = timeline.frame()
    assert frame is not None
    port, y = timeline.viewport(), round(frame.layout.axis.middle)
    start, end = QPoint(round(frame.layout.left), y), QPoint(round(frame.layout.right), y)
    qtbot.mouseMove(port, start)
    qtbot.mousePress(port, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(port, QPoint((start.x() + end.x()) // 2, y))
    qtbot.mouseMove(port, end)
    qtbot.mouseRelease(port, Qt.MouseButton.LeftButton, pos=end)
    current = window.links.model.current
    assert (current.kind, current.time_ns) == (Kind.RANGE, 0)
    assert current.end_ns == pytest.approx(shown.timeline.end_ns, rel=0.01)
    table = window.selection.sums.model()
    rows = {table.index(r, 0).data(): r for r in range(table.rowCount())}
    assert {"idle", "peak", "moved in", "moved out", "computations"} <= set(rows)
    peaks = [table.index(rows["peak"], c).data(Qt.ItemDataRole.ToolTipRole) for c in range(1, table.columnCount())]
    assert peaks == [f"{d.peak_bytes:,} bytes" if d.peak_bytes else "none" for d in shown.timeline.devices]


def test_the_palette_has_every_command_and_runs_it(window: MainWindow, shown: ShownPlan, qtbot: QtBot) -> None:
    palette = window.links.palette
    commands = window.links._commands
    assert isinstance(commands, Commands)
    offered = {entry.value for entry in commands.find("")}
    assert set(window.actions_by_key.values()) <= offered
    shift_control = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    press(qtbot, window, Qt.Key.Key_P, shift_control)
    assert palette.isVisible()
    qtbot.keyClicks(palette.edit, "zoom in")
    assert palette.model.entry(0).title == "Zoom in"
    whole = window.centre.timeline.view_range()
    qtbot.keyClick(palette.edit, Qt.Key.Key_Return)
    assert palette.isHidden()
    assert window.centre.timeline.view_range().span_ns < whole.span_ns
    window.links.show_commands()
    qtbot.keyClicks(palette.edit, "overlapped")
    with qtbot.waitSignal(window.clock_view.changed, timeout=WITHIN_MS):
        qtbot.keyClick(palette.edit, Qt.Key.Key_Return)
    assert window.tools.clock.text() == "Overlapped clock"


def test_a_question_mark_shows_the_keys(
    window: MainWindow, shown: ShownPlan, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    monkeypatch.setattr(KeysDialog, "exec", lambda self: seen.append(self.windowTitle()))
    press(qtbot, window, Qt.Key.Key_Question)
    assert seen == ["Keys"]


def test_the_mouse_works_as_in_a_trace_viewer_where_that_is_chosen(
    window: MainWindow, shown: ShownPlan, qtbot: QtBot
) -> None:
    timeline = window.centre.timeline
    next(a for a in window.submenus.menus["mouse"].actions() if a.data() == "trace").trigger()
    assert load_settings().mouse == "trace"
    whole = timeline.view_range()
    frame = timeline.frame()
    assert frame is not None
    at = QPoint(round(frame.layout.left) + 200, round(frame.layout.cards[0].memory.middle))
    _turn(timeline.viewport(), at, Qt.KeyboardModifier.NoModifier)
    assert timeline.view_range() == whole
    _turn(timeline.viewport(), at, Qt.KeyboardModifier.ControlModifier)
    assert timeline.view_range().span_ns < whole.span_ns
    before = timeline.view_range()
    port = timeline.viewport()
    qtbot.mousePress(port, Qt.MouseButton.LeftButton, pos=at)
    qtbot.mouseMove(port, at + QPoint(40, 0))
    qtbot.mouseMove(port, at + QPoint(90, 0))
    qtbot.mouseRelease(port, Qt.MouseButton.LeftButton, pos=at + QPoint(90, 0))
    assert timeline.view_range() == before
    assert window.links.model.current.kind is Kind.RANGE


def _turn(port: object, at: QPoint, keys: Qt.KeyboardModifier) -> None:
    event = QWheelEvent(
        QPointF(at), QPointF(at), QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton, keys,
        Qt.ScrollPhase.NoScrollPhase, False,  # noqa: FBT003 - Qt takes no name here
    )  # fmt: skip
    QApplication.sendEvent(port, event)  # type: ignore[call-overload]


def test_m_tells_tensors_apart_under_the_curve_and_that_is_remembered(
    window: MainWindow, shown: ShownPlan, qtbot: QtBot
) -> None:
    timeline = window.centre.timeline
    assert timeline.is_stacked()
    frame = timeline.frame()
    assert frame is not None
    position, device = max(enumerate(shown.timeline.devices), key=lambda d: d[1].peak_bytes)
    scale = frame.memory_scale(position)
    at = QPointF(frame.x(device.peak_ns), scale.y(device.peak_bytes / 4))
    timeline.set_hover(at)
    details = timeline.hover_details()
    assert details is not None
    here = dict(details.rows)["here"]
    assert here in {*shown.tensor_bytes, "parameters"}
    with_layers = timeline.viewport().grab().toImage()
    press(qtbot, window, Qt.Key.Key_M)
    assert not timeline.is_stacked()
    assert timeline.viewport().grab().toImage() != with_layers
    timeline.set_hover(at)
    details = timeline.hover_details()
    assert details is not None
    assert "here" not in dict(details.rows)
    # A selected moment is told apart all the same.
    press(qtbot, window, Qt.Key.Key_P)
    timeline.set_hover(at)
    details = timeline.hover_details()
    assert details is not None
    assert "here" in dict(details.rows)
    window.close()
    assert load_settings().stack_memory is False


def test_text_grows_for_projectors(window: MainWindow, shown: ShownPlan) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    apply_theme(app, "light")
    usual = app.font().pointSizeF()
    window.actions_by_key["larger_text"].trigger()
    assert app.font().pointSizeF() > usual
    assert window.centre.timeline.font().pointSizeF() > usual
    window.actions_by_key["usual_text"].trigger()
    assert app.font().pointSizeF() == pytest.approx(usual)


def test_a_selection_outlives_another_plan(
    window: MainWindow, shown: ShownPlan, plan_awaited: Wait, qtbot: QtBot
) -> None:
    name = shown.plan.problem.operators[2].name
    window.links.model.select_operator(name)
    device = shown.plan.problem.devices[0]
    window.document.set_limit(device.name, (device.memory_limit_bytes or 2**30) * 2)
    plan_awaited()
    assert window.document.shown is not shown
    assert window.links.model.current == Selection(Kind.OPERATOR, name)
    lit = window.centre.timeline.marks().lit
    assert lit is not None
    assert set(lit.events.values()) & {Part.MADE, Part.AGAIN}


def test_every_panel_paints_in_light_and_dark(
    window: MainWindow, shown: ShownPlan, tmp_path: Path, qtbot: QtBot
) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    links = window.links
    for theme in ("light", "dark"):
        apply_theme(app, theme)
        for size in ((1280, 800), (1600, 940)):
            window.resize(*size)
            links.model.select_tensor(shown.plan.problem.tensors[0].name)
            for part in (window, links.operators, links.tensors, window.selection, window.centre.overview):
                picture = part.grab().toImage()
                assert not picture.isNull()
                colours = {
                    picture.pixelColor(x, y).name()
                    for x in range(0, picture.width(), 7)
                    for y in range(2, picture.height(), 5)
                }
                assert len(colours) > 1
    apply_theme(app, "light")
    assert window.centre.timeline.view_range() == TimeRange(0, shown.timeline.end_ns)
