"""The tables of operators and tensors, and the search: sound models, sorted by meaning, filtered by words."""

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from xengine_gui import planner
from xengine_gui.model.plan import Compute
from xengine_gui.model.problem import Problem
from xengine_gui.paths import sample_graphs
from xengine_gui.solve.base import SolveOptions
from xengine_gui.ui.models.inventory import operator_model, operator_rows, tensor_model, tensor_rows
from xengine_gui.ui.models.range_model import range_model, range_rows
from xengine_gui.ui.models.rows_model import RowsModel
from xengine_gui.ui.panels.inventory import InventoryPanel
from xengine_gui.ui.panels.memory_list import short_reason
from xengine_gui.ui.search import NameSearch, rank
from xengine_gui.ui.search_popup import Entry, EntryModel
from xengine_gui.ui.selection import Kind
from xengine_gui.ui.selection_traces import Traces
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.timeline.index import TimelineIndex
from xengine_gui.ui.timeline.sums import sums_of

FATAL = QAbstractItemModelTester.FailureReportingMode.Fatal


@pytest.fixture(scope="module")
def shown() -> ShownPlan:
    problem = planner.open_file(sample_graphs() / "two_devices.json")
    assert isinstance(problem, Problem)
    return ShownPlan.of(planner.plan(problem, "greedy", SolveOptions(time_limit_s=5.0)))


def texts(model: RowsModel[Any], column: int) -> list[str]:
    return [str(model.index(r, column).data()) for r in range(model.rowCount())]


def test_the_models_are_sound(qtbot: QtBot, shown: ShownPlan) -> None:
    traces = Traces(shown)
    sums = [sums_of(d, 0, shown.timeline.end_ns, traces.transfer_bytes) for d in TimelineIndex(shown.timeline).devices]
    for model, rows in (
        (operator_model(), operator_rows(shown, traces)),
        (tensor_model(), tensor_rows(shown, traces)),
        (range_model([s.device for s in sums]), range_rows(sums)),
    ):
        tester = QAbstractItemModelTester(model, FATAL)
        model.set_rows(rows)  # type: ignore[attr-defined]
        for column in range(model.columnCount()):
            model.sort(column, Qt.SortOrder.DescendingOrder)
        model.set_filter("no such thing")
        assert model.rowCount() == 0
        model.set_filter("")
        assert model.rowCount() == len(rows)
        model.set_rows(())
        assert tester.model() is model


def test_the_figures_are_those_of_the_plan(shown: ShownPlan) -> None:
    traces = Traces(shown)
    operators, tensors = operator_rows(shown, traces), tensor_rows(shown, traces)
    assert sum(r.recomputes for r in operators) == shown.summary.recompute_count
    assert sum(r.again_ns for r in operators) == shown.summary.recompute_ns
    assert sum(r.time_ns for r in operators) == sum(shown.summary.busy_ns.values())
    assert sum(r.transfers for r in tensors) == shown.summary.transfer_count
    assert sum(r.stays for r in tensors) == len(shown.replay.residencies)
    ends = [(r.end_ns or shown.timeline.end_ns) - r.start_ns for r in shown.replay.residencies]
    assert sum(r.held_ns for r in tensors) == sum(ends)
    assert max(r.longest_ns for r in tensors) == max(ends)
    again = {e.operator for e in shown.plan.events if isinstance(e, Compute) and e.again}
    assert {r.name for r in operators if r.recomputes} == again


def test_rows_are_sorted_by_what_they_mean(qtbot: QtBot, shown: ShownPlan) -> None:
    model = tensor_model()
    model.set_rows(tensor_rows(shown, Traces(shown)))
    model.sort(2, Qt.SortOrder.DescendingOrder)
    sizes = [t.size_bytes for t in shown.plan.problem.tensors]
    shown_sizes = [model.row(r).size_bytes for r in range(model.rowCount())]
    assert shown_sizes == sorted(sizes, reverse=True)


def test_a_panel_filters_and_follows(qtbot: QtBot, shown: ShownPlan) -> None:
    panel = InventoryPanel("operators", operator_model(), word="operator", by="name", stretched=1)
    qtbot.addWidget(panel)
    asked: list[int] = []

    def make() -> list[object]:
        asked.append(1)
        return list(operator_rows(shown, Traces(shown)))

    panel.show_plan(make)
    assert asked == []
    panel.show()
    assert asked == [1]
    panel.hide()
    panel.show()
    assert asked == [1]
    names = [o.name for o in shown.plan.problem.operators]
    told: list[str] = []
    panel.chosen.connect(told.append)
    panel.select(names[2])
    assert panel.table.currentIndex().row() == 2
    assert told == []
    qtbot.keyClick(panel.table, Qt.Key.Key_Down)
    assert told == [names[3]]
    panel.filter.setText(names[1].upper())
    panel.apply_filter()
    assert names[1] in texts(panel.model, 1)
    assert panel.model.rowCount() < len(names)
    assert " of " in panel.count.text()
    qtbot.keyClick(panel.filter, Qt.Key.Key_Escape)
    panel.apply_filter()
    assert panel.model.rowCount() == len(names)
    panel.show_plan(None)
    assert panel.model.rowCount() == 0


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("conv", "conv", 0),
        ("conv1", "conv", 1),
        ("layer.conv", "conv", 2),
        ("myconv", "conv", 3),
        ("c.o.n", "con", 4),
        ("x", "y", 9),
    ],
)
def test_matches_are_ranked(text: str, query: str, expected: int) -> None:
    assert rank(text, query) == expected


def test_the_best_match_comes_first_and_kinds_are_found(chain: Callable[..., Problem]) -> None:
    problem = chain(12)
    search = NameSearch(problem)
    name = problem.operators[1].name
    found = search.find(name)
    assert found[0].title == name
    assert found[0].value.kind is Kind.OPERATOR
    assert {entry.value.kind for entry in search.find(problem.tensors[0].name)} >= {Kind.TENSOR}
    assert search.find("") == ()
    assert search.find("☃") == []
    kind = problem.operators[0].kind
    assert {e.value.name for e in search.find(kind)} >= {o.name for o in problem.operators}


def test_what_cannot_be_done_now_cannot_be_chosen(qtbot: QtBot) -> None:
    model = EntryModel()
    tester = QAbstractItemModelTester(model, FATAL)
    model.set_entries([Entry("a", "x", 1), Entry("b", "", 2, enabled=False)])
    assert model.flags(model.index(0, 0)) & Qt.ItemFlag.ItemIsSelectable
    assert model.flags(model.index(1, 0)) == Qt.ItemFlag.NoItemFlags
    assert model.rowCount(QModelIndex()) == 2
    assert tester.model() is model


def test_reasons_are_shortened() -> None:
    assert short_reason("It waits for b. Dropping it until then would cost 10 ns (computing a).") == (
        "for b · dropped: 10 ns"
    )
