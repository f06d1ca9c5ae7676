"""The loop through the window: edits by drag, wheel and menu, ghosts, differences, two plans."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from problems_fixed import training_chain
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from xengine_gui import planner
from xengine_gui.model.constraints import Constraint, Rule
from xengine_gui.model.plan import Compute
from xengine_gui.model.plan_file import write_plan
from xengine_gui.model.problem_file import write_problem
from xengine_gui.schedule.verify import verify
from xengine_gui.session import read_session
from xengine_gui.solve.base import SolveOptions
from xengine_gui.solve.worker import SolverProcess
from xengine_gui.ui.main_window import MainWindow
from xengine_gui.ui.plan_runner import PlanRunner, instant_runner
from xengine_gui.ui.shown_plan import ShownPlan

WITHIN_MS = 20_000
Wait = Callable[[], None]


@pytest.fixture
def chain_window(window: MainWindow, tmp_path: Path, plan_awaited: Wait) -> MainWindow:
    """A window on a chain that has to recompute: twelve tensors of 100 bytes, room for six."""
    path = tmp_path / "training.json"
    write_problem(training_chain(6, 600), path)
    window.open_file(path)
    plan_awaited()
    return window


@pytest.fixture(scope="module")
def instant_process() -> Iterator[SolverProcess]:
    process = SolverProcess(library="xengine_gui.solve.instant")
    assert list(process.plan(training_chain(6, 700), "instant", SolveOptions()))  # by then it has started
    yield process
    process.close()


def total_of(window: MainWindow) -> int:
    shown = window.document.shown
    assert shown is not None
    assert not window.document.stale
    return shown.plan.total_ns or 0


def recomputed(window: MainWindow) -> list[str]:
    shown = window.document.shown
    assert shown is not None
    return [e.operator for e in shown.plan.events if isinstance(e, Compute) and e.again]


def picture(window: MainWindow) -> QImage:
    return window.centre.timeline.viewport().grab().toImage()


def ghost_awaited(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.loop.ghosts.ghost is not None, timeout=WITHIN_MS)


# ---- dragging


def test_a_drag_is_planned_on_the_way_and_undone_as_one(
    chain_window: MainWindow, plan_awaited: Wait, qtbot: QtBot
) -> None:
    window = chain_window
    before = window.document.shown
    assert before is not None
    for limit in (650, 560, 550, 500):
        window.centre.timeline.limit_dragging.emit("gpu", limit)
        qtbot.wait(50)
    assert window.document.work is not None
    assert window.document.work.problem.device("gpu").memory_limit_bytes == 500
    window.centre.timeline.limit_dragged.emit("gpu", 500)
    plan_awaited()
    assert total_of(window) > (before.plan.total_ns or 0)
    assert window.document.undo_stack.count() == 1
    window.document.undo_stack.undo()
    assert window.document.shown is before
    assert not window.document.stale
    assert not window.planning.running


def test_lists_and_tables_follow_a_dragged_limit_once_it_rests(
    chain_window: MainWindow, plan_awaited: Wait, qtbot: QtBot
) -> None:
    window, timeline = chain_window, chain_window.centre.timeline
    timeline.set_stacked(True)
    window.links.model.select_operator("f3")
    assert timeline.is_stacked()
    before = window.document.shown
    told: list[bool] = []

    def look() -> None:
        shown = window.document.shown
        if shown is not before and shown is not None and not window.document.stale:
            told.append(timeline.timeline() is shown.timeline and window.links.model.shown is before)

    window.document.plan_changed.connect(look)
    timeline.limit_dragging.emit("gpu", 500)
    qtbot.waitUntil(lambda: bool(told), timeout=WITHIN_MS)
    assert told[0]  # the timeline shows the plan, and the lists still tell of the last one
    timeline.limit_dragged.emit("gpu", 500)
    plan_awaited()
    qtbot.waitUntil(lambda: window.links.model.shown is window.document.shown, timeout=WITHIN_MS)
    assert window.links.model.current.name == "f3"
    assert window.walk.playback.count == len(window.document.shown.plan.events)  # type: ignore[union-attr]
    timeline.grab()
    frame = timeline.frame()
    assert frame is not None
    assert set(frame.stacks) == {"gpu"}


def test_a_drag_that_is_taken_back_leaves_nothing_to_undo(chain_window: MainWindow, qtbot: QtBot) -> None:
    window = chain_window
    before = window.document.shown
    window.centre.timeline.limit_dragging.emit("gpu", 500)
    qtbot.wait(60)
    window.centre.timeline.limit_dragging.emit("gpu", 600)  # what the view tells when Escape is pressed
    qtbot.waitUntil(lambda: window.document.undo_stack.count() == 0, timeout=WITHIN_MS)
    assert window.document.shown is before
    assert not window.document.stale
    qtbot.waitUntil(lambda: not window.loop._drag.active, timeout=WITHIN_MS)


def test_of_all_stops_of_a_drag_none_shows_a_worse_plan_than_one_with_a_smaller_limit(
    chain_window: MainWindow, qtbot: QtBot
) -> None:
    window, best = chain_window, {}
    window.planning.use_instant(instant_runner(window))

    def shown() -> bool:
        return window.document.shown is not None and not window.document.stale

    for limit in (560, 500, 540, 520, 610, 660, 590, 500, 900, 580):
        window.centre.timeline.limit_dragging.emit("gpu", limit)
        qtbot.waitUntil(
            lambda limit=limit: window.document.work.problem.device("gpu").memory_limit_bytes == limit and shown(),  # type: ignore[union-attr]
            timeout=WITHIN_MS,
        )
        best[limit] = total_of(window)
        assert best[limit] <= min(total for smaller, total in best.items() if smaller <= limit)
    window.centre.timeline.limit_dragged.emit("gpu", 580)


def test_two_drags_are_two_steps(chain_window: MainWindow, plan_awaited: Wait) -> None:
    for limit in (550, 500):
        chain_window.centre.timeline.limit_dragged.emit("gpu", limit)
    plan_awaited()
    assert chain_window.document.undo_stack.count() == 2


def test_the_wheel_turns_the_limit_of_a_field_with_the_focus(chain_window: MainWindow, qtbot: QtBot) -> None:
    window = chain_window
    edit = window.left.devices.cards["gpu"].limit.edit

    def turn(notches: int) -> None:
        at = QPointF(edit.rect().center())
        event = QWheelEvent(
            at, edit.mapToGlobal(at), QPoint(), QPoint(0, 120 * notches), Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,  # noqa: FBT003 - Qt's own signature
        )  # fmt: skip
        QApplication.sendEvent(edit, event)

    turn(-3)
    assert window.document.undo_stack.count() == 0
    edit.setFocus()
    turn(-1)
    turn(-1)
    qtbot.wait(60)
    work = window.document.work
    assert work is not None
    limit = work.problem.device("gpu").memory_limit_bytes
    assert limit is not None
    assert 550 <= limit < 600
    assert window.document.undo_stack.count() == 1


def test_a_plan_at_once_is_shown_before_the_real_one(
    chain_window: MainWindow, instant_process: SolverProcess, plan_awaited: Wait, qtbot: QtBot
) -> None:
    window = chain_window
    runner = PlanRunner(process=lambda: instant_process, drain_ms=5)
    window.planning.use_instant(runner)
    strategies: list[tuple[str, bool]] = []
    window.document.plan_changed.connect(
        lambda: (
            window.document.shown and strategies.append((window.document.shown.plan.strategy, window.document.stale))
        )
    )
    window.centre.timeline.limit_dragging.emit("gpu", 500)
    qtbot.waitUntil(lambda: ("instant", False) in strategies, timeout=WITHIN_MS)
    shown = window.document.shown
    assert shown is not None
    assert verify(shown.plan).ok
    assert shown.plan.peak_bytes["gpu"] <= 500
    plan_awaited()
    qtbot.waitUntil(lambda: strategies[-1] == ("optimal", False), timeout=WITHIN_MS)


@pytest.mark.parametrize("strategy", ["optimal", "greedy", "chen-sqrt"])
def test_a_larger_limit_never_shows_a_worse_total(chain_window: MainWindow, plan_awaited: Wait, strategy: str) -> None:
    window = chain_window
    if strategy not in [a.data() for a in window.submenus.menus["strategy"].actions()]:
        pytest.skip("there is no such strategy")
    window.choices.strategy(strategy)
    totals = []
    for limit in (500, 550, 700, 900, 1200, 2000):
        window.document.set_limit("gpu", limit)
        plan_awaited()
        totals.append(total_of(window))
    assert totals == sorted(totals, reverse=True)
    if strategy != "chen-sqrt":  # which does the same whatever the limit
        assert totals[-1] == 120


# ---- the ghost and the difference


def test_an_undo_does_not_show_a_worse_plan_than_is_known_by_now(chain_window: MainWindow, plan_awaited: Wait) -> None:
    window, document = chain_window, chain_window.document
    slow = document.shown
    document.set_limit("gpu", 800)
    plan_awaited()
    work = document.work
    assert slow is not None
    assert work is not None
    # As a search that has no luck would have it: the plan for 600 bytes fits, and is slower than it need be.
    document.show_plan(ShownPlan.of(replace(slow.plan, problem=work.problem, lower_bound_ns=None)))
    window.planning._known.clear()
    document.set_limit("gpu", 700)
    plan_awaited()
    known_ns = total_of(window)
    assert known_ns < (slow.plan.total_ns or 0)
    document.undo_stack.undo()
    plan_awaited()
    assert total_of(window) <= known_ns


def test_the_plan_from_before_is_a_ghost_and_what_differs_is_listed(
    chain_window: MainWindow, plan_awaited: Wait, qtbot: QtBot
) -> None:
    window = chain_window
    before = window.document.shown
    assert before is not None
    window.centre.timeline.limit_dragged.emit("gpu", 500)
    plan_awaited()
    ghost_awaited(window, qtbot)
    ghost = window.loop.ghosts.ghost
    assert ghost is not None
    assert ghost.before is before
    assert ghost.before_name == "before, gpu 600 B"
    assert ghost.difference.cost_ns == total_of(window) - (before.plan.total_ns or 0)
    panel = window.loop.difference
    assert panel.pane.model.rowCount() > 0
    assert "→" in panel.state.text()
    qtbot.wait(350)
    with_ghost = picture(window)
    panel.ghost.click()
    assert picture(window) != with_ghost
    panel.ghost.click()
    assert picture(window) == with_ghost
    window.document.undo_stack.undo()
    qtbot.waitUntil(lambda: window.document.shown is before, timeout=WITHIN_MS)


def test_a_change_that_is_clicked_is_selected_on_the_timeline(
    chain_window: MainWindow, plan_awaited: Wait, qtbot: QtBot
) -> None:
    window = chain_window
    window.centre.timeline.limit_dragged.emit("gpu", 500)
    plan_awaited()
    ghost_awaited(window, qtbot)
    ghost = window.loop.ghosts.ghost
    assert ghost is not None
    more = ghost.difference.recomputed[0].operator
    model = window.loop.difference.pane.model
    row = next(r for r in range(model.rowCount()) if model.subject(r) == more)
    window.loop.difference.pane.list.clicked.emit(model.index(row, 0))
    shown = window.document.shown
    assert shown is not None
    event = shown.plan.events[window.centre.timeline.selected_event()]
    assert isinstance(event, Compute)
    assert event.operator == more


def test_the_ghost_of_a_long_drag_is_the_plan_from_before_it(
    chain_window: MainWindow, plan_awaited: Wait, qtbot: QtBot
) -> None:
    window = chain_window
    before = window.document.shown
    for limit in (590, 550, 500):
        window.centre.timeline.limit_dragging.emit("gpu", limit)
        plan_awaited()
    ghost_awaited(window, qtbot)
    qtbot.waitUntil(
        lambda: (
            window.loop.ghosts.ghost is not None
            and window.loop.ghosts.ghost.after.timeline is window.centre.timeline.timeline()
        ),
        timeout=WITHIN_MS,
    )
    assert window.loop.ghosts.ghost is not None
    assert window.loop.ghosts.ghost.before is before


# ---- constraints


def entries(window: MainWindow, operator: str) -> dict[str, object]:
    menu = window.loop.new_menu(window)
    assert menu is not None
    menu.add_for_operator(operator, "gpu")
    return {action.text(): action for action in menu.actions() if action.data() is not None}


def test_a_recompute_is_forbidden_by_the_menu_and_lifted_from_the_list(
    chain_window: MainWindow, plan_awaited: Wait, qtbot: QtBot
) -> None:
    window = chain_window
    free_ns, operator = total_of(window), recomputed(window)[0]
    entries(window, operator)["Never recompute it"].trigger()  # type: ignore[attr-defined]
    plan_awaited()
    assert operator not in recomputed(window)
    assert total_of(window) >= free_ns
    assert window.left.constraints.titles == (f"never recompute {operator}",)
    constraint = Constraint(Rule.COMPUTE_ONCE, operator)
    qtbot.mouseClick(window.left.constraints.lift_button(constraint), Qt.MouseButton.LeftButton)
    assert window.left.constraints.titles == ()
    assert total_of(window) == free_ns
    assert [window.document.undo_stack.text(i) for i in range(2)] == [
        f"never recompute {operator}",
        f"lift: never recompute {operator}",
    ]
    window.document.undo_stack.undo()
    assert window.left.constraints.titles == (f"never recompute {operator}",)
    assert operator not in recomputed(window)


def test_the_menu_opens_where_an_event_is_under_the_mouse(chain_window: MainWindow) -> None:
    window, view = chain_window, chain_window.centre.timeline
    frame = view.frame()
    assert frame is not None
    band = frame.layout.cards[0].compute
    assert band is not None
    view.set_hover(QPointF(frame.layout.left + 3, band.middle))
    menu = window.loop.menu_at(QPoint(int(frame.layout.left) + 3, int(band.middle)))
    assert menu is not None
    assert [a.text() for a in menu.actions() if a.data() is not None] == ["Never recompute it", "Retain f0 on gpu"]
    view.set_hover(QPointF(frame.layout.left + 3, 2.0))
    assert window.loop.menu_at(QPoint(int(frame.layout.left) + 3, 2)) is None


def test_an_operator_is_forced_to_another_device(window: MainWindow, toy_file: Path, plan_awaited: Wait) -> None:
    window.open_file(toy_file)
    plan_awaited()
    shown = window.document.shown
    assert shown is not None
    problem = shown.plan.problem
    able = {o.name: [d.name for d in problem.devices if o.costs.get(d.name)] for o in problem.operators}
    event = next(e for e in shown.plan.events if isinstance(e, Compute) and len(able[e.operator]) > 1)
    other = next(d.name for d in problem.devices if d.name != event.device)
    entries(window, event.operator)[f"Run it on {other} only"].trigger()  # type: ignore[attr-defined]
    plan_awaited()
    after = window.document.shown
    assert after is not None
    runs = {e.device for e in after.plan.events if isinstance(e, Compute) and e.operator == event.operator}
    assert runs == {other}
    # The links panel still shows the links as they are, whatever the constraint makes of them.
    assert window.document.work is not None
    assert window.document.work.free_problem.links == problem.links


def test_constraints_are_saved_with_the_session_and_come_back(
    chain_window: MainWindow, plan_awaited: Wait, tmp_path: Path, qtbot: QtBot
) -> None:
    window = chain_window
    operator = recomputed(window)[0]
    window.document.constrain(Constraint(Rule.COMPUTE_ONCE, operator))
    plan_awaited()
    total_ns, path = total_of(window), tmp_path / "s.xengine"
    with qtbot.waitSignal(window.sessions.said, timeout=WITHIN_MS):
        window.sessions.save(path)
    session = read_session(path)
    assert session.constraints == ({"compute_once": operator},)
    plan = planner.plan(session.problem())
    assert plan.total_ns == total_ns
    window.document.lift([Constraint(Rule.COMPUTE_ONCE, operator)])
    with qtbot.waitSignal(window.document.opened, timeout=WITHIN_MS):
        window.open_file(path)
    assert window.left.constraints.titles == (f"never recompute {operator}",)
    assert total_of(window) == total_ns


def test_what_cannot_be_demanded_is_refused_in_a_line(chain_window: MainWindow) -> None:
    chain_window.document.constrain(Constraint(Rule.RUN_ON, "f1", "tpu"))
    assert "there is no device 'tpu'" in chain_window.centre.error.text
    assert chain_window.document.undo_stack.count() == 0


# ---- two plans


def test_a_second_plan_is_compared_and_let_go(chain_window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    window = chain_window
    path = tmp_path / "second.json"
    write_plan(planner.plan(training_chain(6, 500)), path)
    window.loop.open_second(path)
    ghost_awaited(window, qtbot)
    ghost = window.loop.ghosts.ghost
    assert ghost is not None
    assert ghost.before_name == "second.json"
    assert ghost.difference.cost_ns < 0
    panel, beside = window.loop.difference, window.loop.beside
    panel.beside.click()
    assert beside.isVisible()
    assert beside.view.timeline() is ghost.before.timeline
    # Both show the same operators: the first half of one, what belongs to it of the other.
    end_ns = window.centre.timeline.timeline().end_ns  # type: ignore[union-attr]
    window.centre.timeline.zoom_to(0, end_ns // 2)
    seen = beside.view.view_range()
    assert seen.start_ns == 0
    assert abs(seen.end_ns - int(ghost.times.to_one([end_ns // 2])[0])) <= 1
    window.centre.timeline.select_event(0)
    assert beside.view.selected_event() == 0
    qtbot.mouseClick(panel.let_go, Qt.MouseButton.LeftButton)
    assert window.loop.ghosts.ghost is None
    assert not beside.isVisible()


def test_a_plan_of_another_graph_is_refused(chain_window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "other.json"
    write_plan(planner.plan(training_chain(4)), path)
    with qtbot.waitSignal(chain_window.loop.refused, timeout=WITHIN_MS) as blocker:
        chain_window.loop.open_second(path)
    assert "two different graphs" in blocker.args[0]
    assert chain_window.loop.ghosts.ghost is None


def test_of_two_rows_of_the_comparison_the_first_is_the_ghost_of_the_second(
    chain_window: MainWindow, qtbot: QtBot
) -> None:
    window = chain_window
    assert window.document.work is not None
    rows = {r.key: r for r in planner.compare(window.document.work.problem, ["greedy", "optimal"]).rows}
    window.studies.compare.pair_chosen.emit(rows["greedy"], rows["optimal"])
    ghost_awaited(window, qtbot)
    ghost = window.loop.ghosts.ghost
    assert ghost is not None
    assert ghost.before.plan is rows["greedy"].plan
    assert ghost.before_name == rows["greedy"].title


def test_many_edits_leave_as_many_threads_and_objects_as_a_few(
    chain_window: MainWindow, plan_awaited: Wait, qtbot: QtBot
) -> None:
    window = chain_window

    def drag(times: int) -> None:
        for i in range(times):
            window.centre.timeline.limit_dragging.emit("gpu", 500 + 10 * (i % 9))
            qtbot.wait(5)
        window.centre.timeline.limit_dragged.emit("gpu", 500)
        plan_awaited()

    drag(20)
    threads, layers = threading.active_count(), len(window.document.undo_stack.children())
    drag(60)
    assert window.document.undo_stack.count() <= 2
    qtbot.waitUntil(lambda: threading.active_count() <= threads, timeout=WITHIN_MS)
    assert len(window.document.undo_stack.children()) == layers
