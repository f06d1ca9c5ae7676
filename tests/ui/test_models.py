from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from xengine_gui import planner
from xengine_gui.model.plan import Compute, Free, Transfer
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import SolveOptions
from xengine_gui.ui.models.event_details import EventDescriber, EventDetails
from xengine_gui.ui.models.memory_model import HeldTensor, MemoryModel, held_at
from xengine_gui.ui.shown_plan import ShownPlan, UnlimitedTotal


@pytest.fixture
def shown(toy_file: Path) -> ShownPlan:
    problem = planner.open_file(toy_file)
    assert isinstance(problem, Problem)
    return ShownPlan.of(planner.plan(problem, "optimal", SolveOptions(time_limit_s=20.0)))


def test_the_memory_model_is_a_sound_model(qtbot: QtBot, shown: ShownPlan) -> None:
    model = MemoryModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    device = shown.plan.problem.devices[0].name
    for time_ns in (0, shown.timeline.end_ns // 2, shown.timeline.end_ns):
        model.set_rows(held_at(shown, device, time_ns))
    model.set_rows([])
    assert model.rowCount() == 0
    assert tester.model() is model


def test_the_rows_are_the_largest_first_and_exact_in_the_tooltip(qtbot: QtBot) -> None:
    model = MemoryModel()
    model.set_rows([HeldTensor("big", 3 * 2**20 + 1, None), HeldTensor("small", 5, 1_500_000)])
    cells = [[model.data(model.index(r, c)) for c in range(3)] for r in range(2)]
    assert cells == [["big", "3.00 MiB", "end"], ["small", "5 B", "1.50 ms"]]
    assert model.data(model.index(0, 1), Qt.ItemDataRole.ToolTipRole) == "3,145,729 bytes"
    assert model.headerData(1, Qt.Orientation.Horizontal) == "size"
    assert model.total_bytes == 3 * 2**20 + 6


def test_what_is_held_adds_up_to_the_memory_curve(shown: ShownPlan) -> None:
    for device in shown.timeline.devices:
        times = [int(t) for t in device.memory_ns[:-1]]
        for time_ns, level in zip(times, device.memory_bytes, strict=False):
            if times.count(time_ns) > 1:
                continue  # an instant that holds more than what is left after it
            rows = held_at(shown, device.device, time_ns)
            assert [r.size_bytes for r in rows] == sorted((r.size_bytes for r in rows), reverse=True)
            running = [
                e
                for e in shown.plan.events
                if isinstance(e, Compute) and e.device == device.device and e.start_ns <= time_ns < e.end_ns
            ]
            workspace = sum(_workspace(shown, e) for e in running)
            assert sum(r.size_bytes for r in rows) + workspace == level


def _workspace(shown: ShownPlan, event: Compute) -> int:
    operator = next(o for o in shown.plan.problem.operators if o.name == event.operator)
    return next(w.workspace_bytes for w in operator.costs[event.device] if w.name == event.implementation)


def facts(details: EventDetails) -> dict[str, str]:
    return {fact.label: fact.value for fact in details.facts}


def test_every_event_is_described(shown: ShownPlan) -> None:
    describer = EventDescriber(shown)
    verbs = {Compute: "computed on", Transfer: "transferred from", Free: "freed on"}
    for i, event in enumerate(shown.plan.events):
        details = describer.describe(i)
        assert details.title == (event.operator if isinstance(event, Compute) else event.tensor)
        verb = "recomputed on" if isinstance(event, Compute) and event.again else verbs[type(event)]
        assert details.subtitle.startswith(verb)
        assert describer.device_of(i) in {d.name for d in shown.plan.problem.devices}
        if isinstance(event, Compute):
            operator = next(o for o in shown.plan.problem.operators if o.name == event.operator)
            assert [f.label for f in details.inputs] == list(operator.inputs)
            assert facts(details)["kind"] == operator.kind


def test_stages_end_with_first_computations(shown: ShownPlan) -> None:
    describer = EventDescriber(shown)
    first = [i for i, e in enumerate(shown.plan.events) if isinstance(e, Compute) and not e.again]
    count = len(shown.plan.problem.operators)
    assert [facts(describer.describe(i))["stage"] for i in first] == [f"{t} of {count}" for t in range(1, count + 1)]


def test_the_unlimited_total_is_kept_while_only_limits_change(chain: Callable[..., Problem]) -> None:
    unlimited = UnlimitedTotal()
    problem = chain(4, 8)
    assert unlimited.known(problem) is None
    assert unlimited.of(problem) == 40
    assert unlimited.known(problem.with_limit("cpu", 100)) == 40
    assert unlimited.known(chain(4, 8)) is None
