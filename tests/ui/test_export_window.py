"""Exports through the window, and what the selection panel says of why."""

import gzip
import json
import pickle
from pathlib import Path

import pytest
from plans_fixed import MOVING, RECOMPUTING, plan_of_four
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLabel
from pytestqt.qtbot import QtBot

from xengine_gui.model.plan_file import write_plan
from xengine_gui.schedule.export import EXPORTERS, exporter
from xengine_gui.ui.exporting import choices_of
from xengine_gui.ui.main_window import MainWindow
from xengine_gui.ui.models.memory_model import Column

WITHIN_MS = 20_000


def open_plan(window: MainWindow, path: Path, steps: object, qtbot: QtBot) -> None:
    window.planning.plan_on_change = False
    write_plan(plan_of_four(steps), path)  # type: ignore[arg-type]
    with qtbot.waitSignal(window.document.opened, timeout=WITHIN_MS):
        window.open_file(path)


def answer(monkeypatch: pytest.MonkeyPatch, name: Path, chosen: str = "") -> list[tuple[str, str, str]]:
    asked: list[tuple[str, str, str]] = []

    def ask(_parent: object, title: str, proposal: str, filters: str) -> tuple[str, str]:
        asked.append((title, proposal, filters))
        return str(name), chosen

    monkeypatch.setattr(QFileDialog, "getSaveFileName", ask)
    return asked


@pytest.mark.parametrize("one", EXPORTERS, ids=lambda one: one.key)
def test_every_exporter_is_in_the_menu_and_writes_what_is_shown(
    one: object, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    key: str = one.key  # type: ignore[attr-defined]
    assert not window.exporting.menu.isEnabled()
    open_plan(window, tmp_path / "plan.json", RECOMPUTING, qtbot)
    assert window.exporting.menu.isEnabled()
    asked = answer(monkeypatch, tmp_path / "out")
    with qtbot.waitSignal(window.exporting.said, timeout=WITHIN_MS):
        window.exporting.actions[key].trigger()
    path = tmp_path / f"out{exporter(key).suffixes[0]}"
    assert path.stat().st_size > 100
    qtbot.waitUntil(lambda: window.status.activity.text() == "ready", timeout=WITHIN_MS)
    assert asked[0][1] == str(tmp_path / f"four{exporter(key).suffixes[0]}")
    assert str(path) in window.log.view.toPlainText()


def test_a_report_of_the_window_has_both_pictures(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    open_plan(window, tmp_path / "plan.json", MOVING, qtbot)
    answer(monkeypatch, tmp_path / "out.html")
    with qtbot.waitSignal(window.exporting.said, timeout=WITHIN_MS):
        window.exporting.actions["report"].trigger()
    assert (tmp_path / "out.html").read_text().count("<svg") == 2


def test_filters_choose_separator_mark_and_packing(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    open_plan(window, tmp_path / "plan.json", RECOMPUTING, qtbot)
    excel = next(label for label in choices_of(exporter("events")) if "Excel" in label)
    answer(monkeypatch, tmp_path / "table.csv", excel)
    with qtbot.waitSignal(window.exporting.said, timeout=WITHIN_MS):
        window.exporting.actions["events"].trigger()
    assert (tmp_path / "table.csv").read_bytes().startswith(b"\xef\xbb\xbfevent;kind")
    packed = next(label for label in choices_of(exporter("trace")) if "packed" in label)
    answer(monkeypatch, tmp_path / "t.trace.json", packed)
    with qtbot.waitSignal(window.exporting.said, timeout=WITHIN_MS):
        window.exporting.actions["trace"].trigger()
    assert json.loads(gzip.decompress((tmp_path / "t.trace.json.gz").read_bytes()))["traceEvents"]


def test_what_cannot_be_written_is_told_and_a_thought_better_of_writes_nothing(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    open_plan(window, tmp_path / "plan.json", RECOMPUTING, qtbot)
    answer(monkeypatch, tmp_path / "none" / "out.pickle")
    with qtbot.waitSignal(window.exporting.failed, timeout=WITHIN_MS):
        window.exporting.actions["snapshot"].trigger()
    assert "its folder does not exist" in window.centre.error.text
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("", ""))
    window.exporting.actions["snapshot"].trigger()
    assert not window.exporting.busy
    answer(monkeypatch, tmp_path / "out.pickle")
    with qtbot.waitSignal(window.exporting.said, timeout=WITHIN_MS):
        window.exporting.actions["snapshot"].trigger()
    assert pickle.loads((tmp_path / "out.pickle").read_bytes())["devices"] == ["gpu", "cpu"]  # noqa: S301 - our own


def why_of(window: MainWindow) -> list[str]:
    return [label.text() for label in window.selection.why.findChildren(QLabel)]


def test_the_panel_says_why(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    open_plan(window, tmp_path / "plan.json", RECOMPUTING, qtbot)
    window.centre.timeline.event_selected.emit(5)
    qtbot.waitUntil(lambda: bool(why_of(window)), timeout=WITHIN_MS)
    assert why_of(window)[:3] == [
        "Why",
        "t0 was freed on gpu at 30 ns, when 220 B were held.",
        "Had it stayed, gpu would have held 320 B with f2 at 30 ns: 50 bytes above its limit of 270 B.",
    ]
    window.centre.timeline.event_selected.emit(2)
    qtbot.waitUntil(lambda: why_of(window)[1:2] == ["Its last use on gpu was f1."], timeout=WITHIN_MS)
    window.centre.timeline.event_selected.emit(0)
    assert why_of(window) == []


def test_a_tensor_in_memory_says_why_it_is_there(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    open_plan(window, tmp_path / "plan.json", MOVING, qtbot)
    panel = window.selection
    panel.device.setCurrentText("cpu")
    panel.follow(140)
    qtbot.waitUntil(lambda: panel.memory_title.text() == "In memory at 140 ns", timeout=WITHIN_MS)
    index = panel.memory.index(0, Column.TENSOR)

    def tip() -> str:
        return str(panel.memory.data(index, Qt.ItemDataRole.ToolTipRole))

    assert tip().startswith("t0")
    qtbot.waitUntil(lambda: "\n" in tip(), timeout=WITHIN_MS)
    waits = "It waits for the transfer of t0 to gpu."
    assert tip() == f"t0\n{waits} Dropping it until then would cost 100 ns (computing f0)."
