"""What is told of events: right names, figures and reasons."""

import pytest
from timelines import timeline_of

from xengine_gui.model.plan import Compute, Event, Free, Transfer
from xengine_gui.ui.timeline.details import DetailsSource, printable, shortened
from xengine_gui.ui.timeline.index import TimelineIndex

MS = 10**6
EVENTS: list[Event] = [
    Compute("conv", "gpu", 0, 10 * MS),
    Compute("relu", "gpu", 10 * MS, 12 * MS),
    Transfer("relu out", "gpu", "cpu", 12 * MS, 15 * MS),
    Free("conv out", "gpu", 15 * MS),
    Compute("conv", "gpu", 15 * MS, 25 * MS, again=True, implementation="winograd"),
    Transfer("conv out", "gpu", "cpu", 25 * MS, 30 * MS),
    Compute("grad_relu", "cpu", 30 * MS, 40 * MS),
    Free("grad_relu out", "cpu", 40 * MS),
]


@pytest.fixture
def source() -> DetailsSource:
    inputs = {"relu": ("conv out",), "grad_relu": ("relu out", "conv out")}
    return DetailsSource(timeline_of(EVENTS, {"gpu": None, "cpu": None}, sizes={"conv": 3 * 2**20}, inputs=inputs))


@pytest.mark.parametrize(
    ("event", "lines"),
    [
        (0, ["conv", "operator: conv, forward", "device: gpu", "start: 0 ns", "takes: 10.0 ms", "result: 3.00 MiB"]),
        (2, ["transfer relu out", "from: gpu to cpu", "start: 12.0 ms", "takes: 3.00 ms", "size: 1.00 MiB",
             "grad_relu reads it on cpu at 30.0 ms."]),
        (3, ["free conv out", "device: gpu", "at: 15.0 ms", "size: 3.00 MiB",
             "Its last use here was relu at 10.0 ms."]),
        (4, ["recompute conv", "operator: conv, forward", "device: gpu", "by: winograd", "start: 15.0 ms",
             "takes: 10.0 ms", "result: 3.00 MiB"]),
        (7, ["free grad_relu out", "device: cpu", "at: 40.0 ms", "size: 1.00 MiB"]),
    ],
)  # fmt: skip
def test_events_are_told(source: DetailsSource, event: int, lines: list[str]) -> None:
    assert source.of_event(event).text.splitlines() == lines


def test_a_crowded_pixel_is_counted_with_its_longest(source: DetailsSource) -> None:
    told = source.of_events([0, 1], 0, "computations").text.splitlines()
    assert told[:2] == ["2 computations in this pixel", "longest: conv"]
    assert source.of_events([1], 1, "computations").title == "relu"


def test_names_are_shown_whatever_is_in_them() -> None:
    assert printable("conv\x00\n") == "conv\\x00\\n"
    assert printable("士大夫 é") == "士大夫 é"
    assert shortened("a" * 300) == "a" * 30 + "…" + "a" * 29
    assert shortened("short") == "short"


def test_events_are_found_where_they_are_drawn() -> None:
    index = TimelineIndex(timeline_of(EVENTS, {"gpu": None, "cpu": None}))
    assert [(p.device, p.lane) for p in index.places(2)] == [(0, "outgoing"), (1, "incoming")]
    assert [(p.device, p.lane) for p in index.places(3)] == [(0, "free")]
    assert [index.span(p) for p in index.places(4)] == [(15 * MS, 25 * MS)]
    assert index.places(99) == []
    [arrows] = index.arrows
    assert (arrows.source, arrows.destination, arrows.event.tolist()) == (0, 1, [2, 5])
    assert index.devices[0].recompute_count == 1
    assert index.devices[0].busy_ratio == pytest.approx(22 / 40)
