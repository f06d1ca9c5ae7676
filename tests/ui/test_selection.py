"""The selection itself, and what belongs to a selected thing."""

import pytest
from pytestqt.qtbot import QtBot
from timelines import plan_of

from xengine_gui.model.plan import Compute, Event, Free, Transfer
from xengine_gui.ui.selection import NOTHING, Kind, Selection, SelectionModel
from xengine_gui.ui.selection_traces import Traces
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.timeline.lit import Part, Stay

EVENTS: list[Event] = [
    Compute("conv_1", "gpu", 0, 400),
    Transfer("conv_1 out", "gpu", "host", 400, 450),
    Free("conv_1 out", "gpu", 450),
    Compute("loss_1", "host", 450, 500),
    Compute("conv_1", "gpu", 500, 600, again=True),
    Compute("grad_1", "gpu", 600, 1000),
]


@pytest.fixture
def shown() -> ShownPlan:
    plan = plan_of(
        EVENTS,
        {"gpu": 1000, "host": None},
        sizes={"conv_1": 100, "loss_1": 4, "grad_1": 50},
        inputs={"loss_1": ("conv_1 out",), "grad_1": ("conv_1 out",)},
    )
    return ShownPlan.of(plan, with_makespan=False)


@pytest.fixture
def model(qtbot: QtBot, shown: ShownPlan) -> SelectionModel:
    model = SelectionModel()
    model.set_work(shown.plan.problem)
    model.set_plan(shown)
    return model


def test_selecting_tells_once(model: SelectionModel) -> None:
    told: list[Selection] = []
    model.changed.connect(lambda: told.append(model.current))
    model.select_tensor("conv_1 out")
    model.select_tensor("conv_1 out")
    model.select_event(1)
    model.select_range(10, 20)
    model.clear()
    assert told == [
        Selection(Kind.TENSOR, "conv_1 out"),
        Selection(Kind.EVENT, "conv_1 out", "host", 1, 400),
        Selection(Kind.RANGE, time_ns=10, end_ns=20),
        NOTHING,
    ]
    assert not model.current


@pytest.mark.parametrize("event", [-1, 6])
def test_an_event_that_the_plan_does_not_have_is_none(model: SelectionModel, event: int) -> None:
    model.select_tensor("conv_1 out")
    model.select_event(event)
    assert model.current == NOTHING


@pytest.mark.parametrize(
    ("event", "kept"),
    [(4, Selection(Kind.OPERATOR, "conv_1")), (2, Selection(Kind.TENSOR, "conv_1 out"))],
)
def test_an_event_of_an_old_plan_becomes_what_it_is_of(model: SelectionModel, event: int, kept: Selection) -> None:
    model.select_event(event)
    assert model.shown is not None
    model.set_plan(ShownPlan.of(model.shown.plan, with_makespan=False))
    assert model.current == kept


def test_what_another_problem_does_not_have_is_not_selected(model: SelectionModel) -> None:
    model.select_operator("loss_1")
    other = plan_of(EVENTS[:1], {"gpu": None})
    model.set_work(other.problem)
    assert model.current == NOTHING
    model.select_operator("conv_1")
    model.set_work(plan_of(EVENTS[:1], {"gpu": 5}).problem)
    assert model.current == Selection(Kind.OPERATOR, "conv_1")


def test_a_moment_beyond_the_end_of_a_shorter_plan_is_let_go(model: SelectionModel) -> None:
    model.select_moment(900, "gpu")
    model.set_plan(ShownPlan.of(plan_of(EVENTS[:3], {"gpu": None, "host": None}), with_makespan=False))
    assert model.current == NOTHING


def test_a_tensor_lights_maker_recompute_readers_transfers_and_frees(shown: ShownPlan) -> None:
    lit = Traces(shown).lit(Selection(Kind.TENSOR, "conv_1 out"))
    assert lit is not None
    assert dict(lit.events) == {
        0: Part.MADE,
        1: Part.TRANSFER,
        2: Part.FREE,
        3: Part.READ,
        4: Part.AGAIN,
        5: Part.READ,
    }
    assert sorted(lit.stays, key=lambda s: s.start_ns) == [
        Stay("conv_1 out", "gpu", 100, 0, 450),
        Stay("conv_1 out", "host", 100, 400, None),
        Stay("conv_1 out", "gpu", 100, 500, None),
    ]


def test_an_event_lights_what_its_tensor_does(shown: ShownPlan) -> None:
    traces = Traces(shown)
    tensor = traces.lit(Selection(Kind.TENSOR, "conv_1 out"))
    assert traces.lit(Selection(Kind.EVENT, "conv_1 out", "gpu", 2, 450)) == tensor
    assert traces.lit(Selection(Kind.OPERATOR, "conv_1")) == tensor
    assert traces.lit(Selection(Kind.MOMENT, time_ns=5)) is None
    assert [row.event for row in traces.rows(Selection(Kind.OPERATOR, "grad_1"))] == [5]
