"""Through the window: what would make a recompute vanish, and limits that would do where none is kept."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from problems_fixed import training_chain
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from xengine_gui.model.plan import Compute, Plan
from xengine_gui.model.problem_file import write_problem
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.vanishing import Vanishing
from xengine_gui.solve.worker import SolverProcess
from xengine_gui.ui.main_window import MainWindow
from xengine_gui.ui.models.rows_model import NAME_ROLE

WITHIN_MS = 60_000
Wait = Callable[[], None]


@pytest.fixture
def tight(window: MainWindow, tmp_path: Path, plan_awaited: Wait, kept_process: SolverProcess) -> MainWindow:
    """A window on a chain that has to recompute; the questions are answered by the process that is there."""
    path = tmp_path / "training.json"
    write_problem(training_chain(6, 400), path)
    window.what_if.make_process = lambda: kept_process
    window.open_file(path)
    plan_awaited()
    return window


def select_recompute(window: MainWindow) -> str:
    shown = window.document.shown
    assert shown is not None
    index, operator = next(
        (i, e.operator) for i, e in enumerate(shown.plan.events) if isinstance(e, Compute) and e.again
    )
    window.centre.timeline.select_event(index)
    return operator


def test_the_question_is_there_for_the_tensor_that_is_recomputed_too(tight: MainWindow) -> None:
    """A click on a name in the summary, or in the table of tensors, selects a tensor."""
    window, panel = tight, tight.what_if.panel
    operator = select_recompute(window)
    work = window.document.work
    assert work is not None
    made_by = {tensor: o.name for o in work.problem.operators for tensor in o.outputs}
    for tensor, maker in made_by.items():
        window.links.model.select_tensor(tensor)
        shown = window.document.shown
        assert shown is not None
        again = any(isinstance(e, Compute) and e.again and e.operator == maker for e in shown.plan.events)
        assert panel.isVisible() == again
    assert operator in made_by.values()


def test_what_would_make_a_recompute_vanish_is_asked_and_taken(
    tight: MainWindow, plan_awaited: Wait, qtbot: QtBot
) -> None:
    window, panel = tight, tight.what_if.panel
    assert panel.isHidden()
    operator = select_recompute(window)
    assert panel.isVisible()
    qtbot.mouseClick(panel.ask, Qt.MouseButton.LeftButton)
    assert panel.stop.isVisible()
    with qtbot.waitSignal(window.what_if.job.finished, timeout=WITHIN_MS) as blocker:
        pass
    found: Vanishing = blocker.args[0]
    assert found.operator == operator
    assert found.proved
    assert found.rise_bytes
    assert panel.answer.text() == found.sentence
    assert found.sentence in window.log.view.toPlainText()
    old_ns = found.target_ns
    qtbot.mouseClick(panel.take, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(
        lambda: (
            window.document.work is not None
            and window.document.work.problem.device("gpu").memory_limit_bytes == found.enough_bytes
        ),
        timeout=WITHIN_MS,
    )
    plan_awaited()
    shown = window.document.shown
    assert shown is not None
    assert verify(shown.plan).ok
    assert (shown.plan.total_ns or 0) <= old_ns
    assert operator not in {e.operator for e in shown.plan.events if isinstance(e, Compute) and e.again}


def test_the_question_is_only_there_for_a_recompute_and_is_given_up_with_the_selection(
    tight: MainWindow, qtbot: QtBot
) -> None:
    window, panel = tight, tight.what_if.panel
    select_recompute(window)
    qtbot.mouseClick(panel.ask, Qt.MouseButton.LeftButton)
    window.centre.timeline.select_event(0)
    assert panel.isHidden()
    assert not window.what_if.job.running


def test_for_limits_that_nothing_keeps_the_smallest_that_would_do_are_offered_and_set(
    tight: MainWindow, plan_awaited: Wait, qtbot: QtBot
) -> None:
    window = tight
    window.document.set_limit("gpu", 299)
    bar, mark = window.centre.trouble, window.shortages.mark
    qtbot.waitUntil(lambda: bar.offer_button().text() == "Set gpu to 300 B", timeout=WITHIN_MS)
    assert window.planning.infeasible
    assert bar.text.startswith("No plan fits gpu into 299 B: 300 B is the least that does (proved), forced by ")
    assert bar.text.count("300 B") == 1
    assert "(proved)" in bar.offer_button().toolTip()
    operator = bar.text.split("forced by ")[1].split(" with ")[0]
    assert mark.text == f"{operator} needs 300 B"
    shown = window.document.shown
    assert shown is not None
    assert mark.moment_ns() in {
        e.start_ns for e in shown.plan.events if isinstance(e, Compute) and e.operator == operator
    }
    qtbot.mouseClick(bar.more, Qt.MouseButton.LeftButton)
    assert window.planning.trouble in bar.details
    qtbot.mouseClick(bar.offer_button(), Qt.MouseButton.LeftButton)
    plan_awaited()
    shown = window.document.shown
    assert shown is not None
    assert shown.plan.peak_bytes["gpu"] == 300
    assert bar.isHidden()
    assert mark.moment_ns() is None
    window.document.undo_stack.undo()
    assert window.document.work is not None
    assert window.document.work.problem.device("gpu").memory_limit_bytes == 299


def test_the_tables_have_the_menu_of_constraints(tight: MainWindow, qtbot: QtBot) -> None:
    window = tight
    window.below.show_panel(window.links.operators)
    table = window.links.operators.table
    qtbot.waitUntil(lambda: table.model().rowCount() == 12, timeout=WITHIN_MS)
    name = table.model().index(0, 0).data(NAME_ROLE)
    menu = window.loop.menu_of_row(table, table.visualRect(table.model().index(0, 0)).center(), is_operator=True)
    assert menu is not None
    assert [a.text() for a in menu.actions() if a.data() is not None] == ["Never recompute it", "Retain it on gpu"]
    assert menu.actions()[0].text() == name


@pytest.mark.parametrize("tensor", [False, True])
def test_an_operator_and_its_tensor_tell_why_they_are_computed_again(
    tight: MainWindow, qtbot: QtBot, *, tensor: bool
) -> None:
    def reasons() -> list[str]:
        return [label.text() for label in tight.selection.why.findChildren(QLabel)]

    operator = select_recompute(tight)
    qtbot.waitUntil(lambda: bool(reasons()), timeout=WITHIN_MS)
    title, *sentences = reasons()
    assert title == "Why"
    shown, model = tight.document.shown, tight.links.model
    assert shown is not None
    if tensor:
        model.select_tensor(next(o.outputs[0] for o in shown.plan.problem.operators if o.name == operator))
    else:
        model.select_operator(operator)
    qtbot.waitUntil(lambda: bool(reasons()), timeout=WITHIN_MS)
    assert reasons() == ["Why it is computed again", *sentences]
    model.select_operator(next(o.name for o in shown.plan.problem.operators if not again(shown.plan, o.name)))
    qtbot.wait(50)
    assert reasons() == []


def again(plan: Plan, operator: str) -> bool:
    return any(isinstance(e, Compute) and e.again and e.operator == operator for e in plan.events)


def test_what_is_recomputed_most_is_one_click_away_with_its_why(tight: MainWindow, qtbot: QtBot) -> None:
    shown = tight.document.shown
    assert shown is not None
    again = Counter(e.operator for e in shown.plan.events if isinstance(e, Compute) and e.again)
    most = max(again.values())
    first = shown.most_recomputed[0]
    assert again[first.operator] == first.count == most
    assert sum(r.count for r in shown.most_recomputed) == sum(again.values())
    tight.below.show_panel(tight.summary)
    link = next(b for b in tight.summary.findChildren(QPushButton) if b.text() == first.tensor)
    link.click()
    assert tight.links.model.current.name == first.tensor
    qtbot.waitUntil(lambda: bool(tight.selection.why.findChildren(QLabel)), timeout=WITHIN_MS)
    tight.summary.table_asked.emit()
    table = tight.links.tensors.table
    assert table.isVisible()
    column = [table.model().headerData(i, Qt.Orientation.Horizontal) for i in range(9)].index("recomputed")
    assert table.model().index(0, column).data() == f"{most}×"  # noqa: RUF001
    assert table.model().headerData(column, Qt.Orientation.Horizontal, Qt.ItemDataRole.InitialSortOrderRole) == (
        Qt.SortOrder.DescendingOrder
    )
