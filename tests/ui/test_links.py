"""The links in the window: edited in their units, refused in place, undone, kept in sessions, planned anew."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from xengine_gui.cost import LINK_PRESETS
from xengine_gui.model.device import Link
from xengine_gui.model.problem_file import read_problem, write_problem
from xengine_gui.paths import sample_graphs
from xengine_gui.session import read_session
from xengine_gui.ui.main_window import MainWindow
from xengine_gui.ui.panels.links import LinkCard, LinksPanel, Shown, link_lines

Awaited = Callable[[], None]
PCIE3 = next(preset for preset in LINK_PRESETS if preset.key == "pcie3")


@pytest.fixture
def lenet(window: MainWindow, network_file: Path, plan_awaited: Awaited) -> MainWindow:
    window.open_file(network_file)
    plan_awaited()
    return window


def card_of(window: MainWindow, place: int = 0) -> LinkCard:
    return window.left.links.cards[place]


def enter(edit: QLineEdit, text: str) -> None:
    edit.setFocus()
    edit.selectAll()
    QTest.keyClicks(edit, text)
    QTest.keyClick(edit, Qt.Key.Key_Return)


def links_of(window: MainWindow) -> dict[tuple[str, str], tuple[int, int]]:
    work = window.document.work
    assert work is not None
    return {(k.source, k.destination): (k.bandwidth_bytes_per_s, k.latency_ns) for k in work.problem.links}


def test_a_bandwidth_is_typed_planned_undone_and_redone(lenet: MainWindow, plan_awaited: Awaited) -> None:
    before = links_of(lenet)
    card = card_of(lenet)
    assert card.title.text() == "cpu ⇄ gpu"
    enter(card.bandwidth.edit, "2 GB/s")
    assert links_of(lenet) == {ends: (2 * 10**9, latency) for ends, (_, latency) in before.items()}
    plan_awaited()
    assert lenet.document.undo_stack.undoText() == "link cpu ⇄ gpu"
    assert lenet.document.setup.links
    lenet.document.undo_stack.undo()
    assert links_of(lenet) == before
    assert not lenet.document.stale
    assert card_of(lenet).bandwidth.value == before["cpu", "gpu"][0]
    lenet.document.undo_stack.redo()
    assert card_of(lenet).bandwidth.edit.text() == "2 GB/s"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("2 Gbit/s", "bits"), ("fast", "is not"), ("0", "must be more than 0"), ("-1 GB/s", "negative"), ("", "nothing")],
)
def test_what_is_no_bandwidth_is_refused_in_place(lenet: MainWindow, text: str, sentence: str) -> None:
    before, card = links_of(lenet), card_of(lenet)
    enter(card.bandwidth.edit, text or " ")
    assert sentence in card.hint.text().lower()
    assert card.hint.isVisible()
    assert card.bandwidth.edit.property("invalid")
    assert links_of(lenet) == before
    QTest.keyClick(card.bandwidth.edit, Qt.Key.Key_Escape)
    assert card.bandwidth.edit.text()
    assert not card.hint.isVisible()
    assert not card.bandwidth.edit.property("invalid")


def test_a_latency_alone_and_one_direction_alone(lenet: MainWindow) -> None:
    before, card = links_of(lenet), card_of(lenet)
    enter(card.latency.edit, "1 ms")
    assert {latency for _, latency in links_of(lenet).values()} == {10**6}
    card._directions.trigger()
    assert [c.title.text() for c in lenet.left.links.cards] == ["cpu → gpu", "gpu → cpu"]
    enter(card_of(lenet, 1).latency.edit, "0")
    now = links_of(lenet)
    assert (now["cpu", "gpu"][1], now["gpu", "cpu"][1]) == (10**6, 0)
    card_of(lenet, 0)._directions.trigger()
    assert set(links_of(lenet).values()) == {(before["cpu", "gpu"][0], 10**6)}
    assert [c.title.text() for c in lenet.left.links.cards] == ["cpu ⇄ gpu"]


def test_a_preset_is_chosen_and_the_usual_link_taken_back(lenet: MainWindow) -> None:
    before = links_of(lenet)
    card = card_of(lenet)
    assert not card._usual.isEnabled()
    chosen = next(a for a in card.kind.menu().actions() if a.text().startswith("SD card"))
    chosen.trigger()
    assert set(links_of(lenet).values()) == {(80_000_000, 500_000)}
    assert card_of(lenet).kind.text() == "SD card"
    card_of(lenet)._usual.trigger()
    assert links_of(lenet) == before
    assert lenet.document.setup.links == ()


def test_links_go_with_the_session(lenet: MainWindow, tmp_path: Path, qtbot: QtBot, plan_awaited: Awaited) -> None:
    enter(card_of(lenet).bandwidth.edit, "3 GB/s")
    plan_awaited()
    path = tmp_path / "kept.xengine"
    lenet.sessions.save(path)
    qtbot.waitUntil(lambda: path.exists() and not lenet.sessions.modified)
    assert {k.bandwidth_bytes_per_s for k in read_session(path).problem().links} == {3 * 10**9}
    lenet.document.undo_stack.undo()
    lenet.open_file(path)
    qtbot.waitUntil(lambda: {rate for rate, _ in links_of(lenet).values()} == {3 * 10**9})
    assert card_of(lenet).bandwidth.edit.text() == "3 GB/s"


def test_links_of_a_problem_file_are_edited_and_kept(
    window: MainWindow, toy_file: Path, tmp_path: Path, qtbot: QtBot, plan_awaited: Awaited
) -> None:
    window.open_file(toy_file)
    plan_awaited()
    before = links_of(window)
    enter(card_of(window).bandwidth.edit, "1 GB/s")
    plan_awaited()
    path = tmp_path / "kept.xengine"
    window.sessions.save(path)
    qtbot.waitUntil(path.exists)
    qtbot.waitUntil(lambda: not window.sessions.modified)
    assert {k.bandwidth_bytes_per_s for k in read_session(path).problem().links} == {10**9}
    window.open_file(toy_file)
    qtbot.waitUntil(lambda: links_of(window) == before)
    window.open_file(path)
    qtbot.waitUntil(lambda: {rate for rate, _ in links_of(window).values()} == {10**9})
    card_of(window)._usual.trigger()
    assert links_of(window) == before


def test_links_that_differ_have_a_line_each(qtbot: QtBot) -> None:
    there, back = Link("a", "b", 10**9, 5), Link("b", "a", 10**9, 5)
    assert [line.devices for line in link_lines((there, back))] == ["a ⇄ b"]
    assert [line.devices for line in link_lines((there, replace(back, latency_ns=6)))] == ["a → b", "b → a"]
    assert [line.devices for line in link_lines((there, back), [frozenset("ab")])] == ["a → b", "b → a"]
    panel = LinksPanel()
    qtbot.addWidget(panel)
    panel.show_links(Shown(("a", "b"), (there,)))
    assert panel.cards[0].speed.text() == "1 GB/s · 5 ns"
    assert not panel.cards[0].kind.isVisibleTo(panel)


def test_a_link_that_is_not_there_is_added(window: MainWindow, tmp_path: Path, plan_awaited: Awaited) -> None:
    problem = read_problem(sample_graphs() / "two_devices.json")
    write_problem(replace(problem, links=()), tmp_path / "apart.json")
    window.open_file(tmp_path / "apart.json")
    plan_awaited()
    panel = window.left.links
    assert panel.cards == []
    assert panel.add_button.isVisible()
    panel.add_button.menu().actions()[0].trigger()
    assert links_of(window) == {("gpu", "cpu"): (24 * 10**9, 10_000), ("cpu", "gpu"): (24 * 10**9, 10_000)}
    assert not panel.add_button.isVisible()
    assert [card.title.text() for card in panel.cards] == ["gpu ⇄ cpu"]
    window.document.undo_stack.undo()
    assert links_of(window) == {}
    assert panel.add_button.isVisible()
