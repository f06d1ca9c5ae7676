from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QMainWindow, QSplitter, QWidget
from pytestqt.qtbot import QtBot

from xengine_gui.model.device import Link
from xengine_gui.ui.panels.links import link_lines
from xengine_gui.ui.panels.log import LogPanel
from xengine_gui.ui.panels.message_bar import MessageBar
from xengine_gui.ui.panels.messages import Messages
from xengine_gui.ui.panels.parts import ElidedLabel, column
from xengine_gui.ui.panels.size_field import SizeField
from xengine_gui.ui.settings import Settings, load_settings, save_settings
from xengine_gui.ui.window_place import put_in_place, reachable

GIB = 2**30


def type_into(field: SizeField, text: str, qtbot: QtBot) -> list[object]:
    """What the field tells when somebody types and presses Enter."""
    told: list[object] = []
    field.size_edited.connect(told.append)
    field.edit.selectAll()
    qtbot.keyClicks(field.edit, text)
    qtbot.keyClick(field.edit, Qt.Key.Key_Return)
    field.size_edited.disconnect(told.append)
    return told


@pytest.fixture
def field(qtbot: QtBot) -> SizeField:
    field = SizeField(GIB)
    qtbot.addWidget(field)
    field.show()
    return field


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("8 GiB", 8 * GIB),
        ("8GB", 8 * 10**9),
        ("8g", 8 * GIB),
        ("0.5 GiB", GIB // 2),
        ("8589934592", 8589934592),
        ("8_000 MB", 8 * 10**9),
        (" 8  gib ", 8 * GIB),
        ("unlimited", None),
    ],
)
def test_sizes_are_taken_in_any_sensible_unit(
    field: SizeField, qtbot: QtBot, text: str, size_bytes: int | None
) -> None:
    assert type_into(field, text, qtbot) == [size_bytes]
    assert field.size_bytes == size_bytes
    assert field.hint.isHidden()


@pytest.mark.parametrize(("text", "size_bytes"), [("50 %", 500), ("37.5%", 375), ("12,5 %", 125), ("130%", 1300)])
def test_a_share_of_the_whole_is_a_size_where_there_is_one(
    field: SizeField, qtbot: QtBot, text: str, size_bytes: int
) -> None:
    assert type_into(field, text, qtbot) == []
    assert "no unit of size" in field.hint.text()
    field.whole_bytes = lambda: 1000
    assert type_into(field, text, qtbot) == [size_bytes]
    assert field.hint.isHidden()
    assert type_into(field, "0 %", qtbot) == []
    assert field.size_bytes == size_bytes


def test_on_a_small_screen_the_timeline_gets_most_of_the_height(qtbot: QtBot) -> None:
    for height, most in ((600, 160), (760, 195), (1000, 251)):
        window, rows = QMainWindow(), QSplitter(Qt.Orientation.Vertical)
        qtbot.addWidget(window)
        rows.addWidget(QWidget())
        rows.addWidget(QWidget())
        rows.resize(800, height)
        window.setCentralWidget(rows)
        window.setFixedHeight(height)
        window.show()
        put_in_place(window, {"rows": rows}, Settings(geometry=(0, 0, 790, height)))
        assert 100 < rows.sizes()[1] <= most


@pytest.mark.parametrize("text", ["1Gib", "1 Gb", "1,5 GiBs", "-1 GiB", "0", "", "inf", "nan", "8 GiB/s", "abc"])
def test_anything_else_is_refused_in_place_and_the_old_size_holds(field: SizeField, qtbot: QtBot, text: str) -> None:
    field.edit.clear()
    assert type_into(field, text, qtbot) == []
    assert field.size_bytes == GIB
    assert field.edit.property("invalid") is True
    assert field.hint.isVisible()
    assert field.hint.text().endswith((".", "?"))
    assert field.edit.text() == text
    qtbot.keyClick(field.edit, Qt.Key.Key_Escape)
    assert field.edit.text() == "1.00 GiB"
    assert field.edit.property("invalid") is False
    assert field.hint.isHidden()


def test_the_same_size_again_is_no_edit(field: SizeField, qtbot: QtBot) -> None:
    assert type_into(field, "1.00 GiB", qtbot) == []
    assert type_into(field, "1024 MiB", qtbot) == []


def test_a_size_that_is_rounded_for_showing_is_not_changed_by_leaving_the_field(field: SizeField, qtbot: QtBot) -> None:
    field.set_size(GIB + 1)
    assert type_into(field, field.edit.text(), qtbot) == []
    assert field.size_bytes == GIB + 1
    assert "1,073,741,825 bytes" in field.edit.toolTip()


def test_exact_bytes_are_echoed_while_typing(field: SizeField, qtbot: QtBot) -> None:
    field.edit.clear()
    qtbot.keyClicks(field.edit, "8 G")
    assert "8,589,934,592 bytes" in field.hint.text()
    assert "GiB" in field.hint.text()


def test_links_that_differ_only_in_direction_share_a_line() -> None:
    links = (Link("a", "b", 10**9, 10), Link("b", "a", 10**9, 10), Link("a", "c", 10**9), Link("c", "a", 2 * 10**9))
    lines = list(link_lines(links))
    assert (lines[0].devices, lines[0].speed) == ("a ⇄ b", "1 GB/s · 10 ns")
    assert [line.devices for line in lines[1:]] == ["a → c", "c → a"]


def test_a_long_name_is_elided_and_whole_in_the_tooltip(qtbot: QtBot) -> None:
    label = ElidedLabel("n" * 300)
    qtbot.addWidget(label)
    label.resize(80, 20)
    label.show()
    assert label.toolTip() == "n" * 300
    label.setText("n")
    assert label.toolTip() == ""


def test_the_log_shows_the_newest_line_unless_somebody_reads_an_older_one(qtbot: QtBot) -> None:
    log = LogPanel()
    qtbot.addWidget(log)
    log.resize(200, 120)
    log.show()
    for i in range(100):
        log.add(f"line {i} which is too long for a narrow panel and wraps", i / 10)
    bar = log.view.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    bar.setValue(3)
    log.add("one more")
    assert bar.value() == 3


SCREEN = QRect(0, 0, 1920, 1080)


@pytest.mark.parametrize(
    "wanted",
    [(-4000, -3000, 1280, 800), (5000, 5000, 1280, 800), (0, 0, 10, 10), (100, 1070, 1280, 800), (0, 0, 99999, 99999)],
)
def test_a_window_is_always_reachable(wanted: tuple[int, int, int, int]) -> None:
    rect = reachable(wanted, [SCREEN], (1440, 900))
    assert SCREEN.contains(rect)
    assert rect.width() >= 720
    assert rect.height() >= 480


def test_a_window_on_the_second_screen_stays_there() -> None:
    second = QRect(1920, 0, 1280, 1024)
    assert reachable((2000, 50, 1000, 700), [SCREEN, second], (1440, 900)) == QRect(2000, 50, 1000, 700)
    assert SCREEN.contains(reachable((2000, 50, 1000, 700), [SCREEN], (1440, 900)))


def test_settings_are_read_back(own_settings: Path) -> None:
    settings = Settings(theme="dark", geometry=(1, 2, 800, 600), splitters={"rows": (500, 200)}, bindings={"N": 4})
    settings = (
        settings.with_recent(Path("/a/one.onnx")).with_recent(Path("/a/two.onnx")).with_recent(Path("/a/one.onnx"))
    )
    save_settings(settings)
    assert load_settings() == settings
    assert [Path(r).name for r in settings.recent] == ["one.onnx", "two.onnx"]
    assert settings.without_recent(Path("/a/one.onnx")).recent == settings.recent[1:]
    assert [f.name for f in own_settings.iterdir()] == ["window.json"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00\x01garbage",
        "[]",
        '{"version": 99, "theme": "dark"}',
        '{"version": 1, "theme": 3, "recent": "x", "geometry": [1, 2, "a", null], "splitters": {"rows": 5}}',
        '{"version": 1, "geometry": [1e999, 0, 0, 0], "bindings": {"N": -1}}',
        "[" * 100_000,
    ],
)
def test_settings_that_cannot_be_read_are_the_defaults(own_settings: Path, text: str) -> None:
    own_settings.mkdir(parents=True)
    (own_settings / "window.json").write_text(text, encoding="utf-8")
    assert load_settings() == Settings()


def test_settings_that_cannot_be_written_bother_nobody(own_settings: Path) -> None:
    own_settings.write_text("a file where a folder should be", encoding="utf-8")
    save_settings(Settings(theme="dark"))
    assert load_settings() == Settings()


def test_messages_take_one_line_until_all_are_asked_for(qtbot: QtBot) -> None:
    urgent, second = (MessageBar(name, closable=True, inset=True) for name in ("urgent", "second"))
    place, window = Messages((urgent, second)), QWidget()
    qtbot.addWidget(window)
    window.setLayout(column(place, 1))
    window.resize(600, 200)
    window.show()
    assert place.isHidden()
    second.show_message("This can wait.", "warning")
    assert place.isVisible()
    qtbot.waitUntil(lambda: place.height() == second.height() == second.sizeHint().height())
    one_line = second.height()
    assert place.more.isHidden()
    urgent.show_message("This cannot.", "error")
    assert place.more.text() == "1 more"
    assert second.text == "This can wait."
    qtbot.waitUntil(lambda: second.height() == 0)
    qtbot.waitUntil(lambda: place.height() < 1.5 * one_line)
    place.more.click()
    qtbot.waitUntil(lambda: abs(second.height() - one_line) <= 4)
    assert place.height() >= 2 * one_line - 8
    urgent.hide()
    assert place.more.isHidden()
    assert second.isVisible()
    second.hide()
    assert place.isHidden()


def test_a_message_tells_all_of_it_when_asked(qtbot: QtBot) -> None:
    bar, done = MessageBar("bar", closable=False, inset=True), []
    qtbot.addWidget(bar)
    bar.resize(500, 60)
    bar.show_message("Short.", "error", button="Do it")
    assert bar.more.isHidden()
    bar.show_message("Short.", "error", details="More.", offers=(("Do that", "why", lambda: done.append(1)),))
    other = bar.offer_button("Do that")
    assert not other.isVisible()
    bar.more.click()
    assert other.isVisible()
    other.click()
    assert done == [1]
    assert bar.details == "More."
    bar.show_message("A sentence of many words " * 12, "error")
    assert not bar.more.isChecked()
    qtbot.waitUntil(bar.more.isVisible)
    qtbot.waitUntil(lambda: bar.sizeHint().height() < 60)
    bar.more.click()
    qtbot.waitUntil(lambda: bar.heightForWidth(500) > 60 + bar.fontMetrics().height())


def test_a_field_says_what_can_be_typed_while_nothing_is(field: SizeField, qtbot: QtBot) -> None:
    field.whole_bytes = lambda: 2**30
    field.window().activateWindow()
    qtbot.waitUntil(field.window().isActiveWindow)
    field.edit.clearFocus()
    field.edit.setFocus(Qt.FocusReason.TabFocusReason)
    assert "50 %" in field.hint.text()
    qtbot.keyClicks(field.edit, "25 %")
    field.edit.selectAll()
    qtbot.keyClicks(field.edit, "25 %")
    assert field.hint.text() == "25 % of 1.00 GiB (everything retained): 268,435,456 bytes"
    qtbot.keyClick(field.edit, Qt.Key.Key_Escape)
    field.edit.clearFocus()
    assert field.hint.isHidden()
    field.edit.setFocus(Qt.FocusReason.MouseFocusReason)
    assert not field.hint.isHidden()
    field.edit.clearFocus()
    assert field.hint.isHidden()
