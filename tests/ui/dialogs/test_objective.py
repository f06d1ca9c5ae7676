"""The objective and the deadline in the window: for strategies that know them, and kept in sessions."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QDialog
from pytestqt.qtbot import QtBot

from xengine_gui import planner
from xengine_gui.cost import DeviceChoice
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.model.problem_file import write_problem
from xengine_gui.paths import sample_graphs
from xengine_gui.session import read_session
from xengine_gui.solve.objective import Objective
from xengine_gui.ui.dialogs.objective import ObjectiveDialog
from xengine_gui.ui.main_window import MainWindow

Awaited = Callable[[], None]
BOARD = (DeviceChoice("pi", "raspberry-pi-4", 400 * 2**10), DeviceChoice("card", "sd-card-rpi"))


@pytest.fixture(scope="module")
def board_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small network on a board with a memory card, whose powers are known."""
    network = planner.open_file(sample_graphs() / "lenet.onnx")
    assert isinstance(network, NetworkGraph)
    path = tmp_path_factory.mktemp("board") / "board.json"
    write_problem(planner.make_problem(network, BOARD, training=False), path)
    return path


def choose(window: MainWindow, strategy: str) -> None:
    menu = window.submenus.menus["strategy"]
    next(action for action in menu.actions() if action.data() == strategy).trigger()


def test_only_strategies_that_know_of_it_can_be_asked(window: MainWindow) -> None:
    action = window.actions_by_key["objective"]
    choose(window, "optimal")
    assert not action.isEnabled()
    assert "minimises time and knows no deadline" in action.toolTip()
    choose(window, "poet")
    assert action.isEnabled()
    window.objectives.choose(Objective.ENERGY, 20 * 10**9)
    assert action.text() == "Objective and deadline: energy, by 20.0 s…"
    choose(window, "greedy")
    assert window.planning.options.objective is Objective.TIME
    assert window.planning.options.deadline_ns is None
    assert action.text() == "Objective and deadline…"


def test_the_least_energy_is_planned_and_kept_in_the_session(
    window: MainWindow,
    board_file: Path,
    tmp_path: Path,
    qtbot: QtBot,
    plan_awaited: Awaited,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    choose(window, "poet")
    window.open_file(board_file)
    plan_awaited()

    def answer(dialog: ObjectiveDialog) -> int:
        assert dialog.choices[Objective.ENERGY].isEnabled()
        dialog.choices[Objective.ENERGY].setChecked(True)
        dialog.deadline.setText("20 s")
        dialog.accept()
        return dialog.result()

    monkeypatch.setattr(ObjectiveDialog, "exec", answer)
    with qtbot.waitSignal(window.planning.runner.finished):
        window.actions_by_key["objective"].trigger()
    assert window.document.shown is not None
    assert window.document.shown.plan.strategy == "poet"
    path = tmp_path / "kept.xengine"
    window.sessions.save(path)
    qtbot.waitUntil(path.exists)
    session = read_session(path)
    assert (session.objective, session.deadline_ns) == (Objective.ENERGY, 20 * 10**9)
    choose(window, "optimal")
    window.open_file(path)
    qtbot.waitUntil(lambda: window.planning.options.objective is Objective.ENERGY)
    assert window.planning.options.deadline_ns == 20 * 10**9
    assert window.actions_by_key["objective"].isEnabled()


def test_a_deadline_that_nothing_keeps_is_told(
    window: MainWindow, board_file: Path, qtbot: QtBot, plan_awaited: Awaited
) -> None:
    choose(window, "poet")
    window.open_file(board_file)
    plan_awaited()
    with qtbot.waitSignal(window.planning.runner.finished):
        window.objectives.choose(Objective.TIME, 1)
    assert "longer than the deadline of 1 ns" in window.planning.trouble


def test_energy_without_powers_is_grey_with_the_reason(
    window: MainWindow, chain_file: Path, plan_awaited: Awaited, qtbot: QtBot
) -> None:
    choose(window, "poet")
    window.open_file(chain_file)
    plan_awaited()
    dialog = window.objectives.new_dialog()
    qtbot.addWidget(dialog)
    assert not dialog.choices[Objective.ENERGY].isEnabled()
    assert "energies are not known" in dialog.choices[Objective.ENERGY].toolTip()


@pytest.mark.parametrize(
    ("text", "deadline_ns", "mistake"),
    [
        ("", None, ""),
        ("150 ms", 150 * 10**6, ""),
        ("0 s", None, "leaves no time"),
        ("soon", None, "is not a time"),
        ("-1 s", None, "negative"),
        ("8 GiB", None, "is no time"),
    ],
)
def test_a_deadline_is_a_time_or_nothing(qtbot: QtBot, text: str, deadline_ns: int | None, mistake: str) -> None:
    dialog = ObjectiveDialog(Objective.TIME, 5_000, {})
    qtbot.addWidget(dialog)
    assert dialog.deadline.text() == "5 µs"
    dialog.deadline.setText(text)
    dialog.accept()
    assert (dialog.result() == QDialog.DialogCode.Accepted) is not bool(mistake)
    assert mistake in dialog.mistake.text()
    if not mistake:
        assert dialog.deadline_ns == deadline_ns
