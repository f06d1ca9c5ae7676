"""How long the timeline takes to paint and to answer, up to a million events.

Times are reported, not asserted: only what does not hang on the machine is, that a million events cost little more
than ten thousand. Run with `--benchmark-only` for the table, `--benchmark-disable` for one round of each.
"""

import time

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPixmap
from pytest_benchmark.fixture import BenchmarkFixture
from pytestqt.qtbot import QtBot
from timelines import crowded_timeline

from xengine_gui.schedule.timeline import Category, DeviceTimeline, Timeline
from xengine_gui.ui.timeline import TimelineView
from xengine_gui.ui.timeline.lit import Lit, Part
from xengine_gui.ui.timeline.marks import Marks
from xengine_gui.ui.timeline.stack import StackIndex

ROUNDS = 7


@pytest.fixture(scope="module", params=[10_000, 100_000, 1_000_000], ids="{:.0e}".format)
def crowd(request: pytest.FixtureRequest) -> Timeline:
    return crowded_timeline(request.param)


def view_of(timeline: Timeline, qtbot: QtBot) -> TimelineView:
    view = TimelineView()
    qtbot.addWidget(view)
    view.resize(1600, 900)
    view.show()
    view.set_timeline(timeline)
    view.grab()
    return view


def repaint(view: TimelineView, onto: QPixmap) -> None:
    view.repaint_all()
    view.viewport().render(onto)


def test_full_repaint(crowd: Timeline, qtbot: QtBot, benchmark: BenchmarkFixture) -> None:
    view = view_of(crowd, qtbot)
    benchmark.pedantic(repaint, (view, QPixmap(view.viewport().size())), rounds=ROUNDS, warmup_rounds=1)


def test_zoomed_repaint(crowd: Timeline, qtbot: QtBot, benchmark: BenchmarkFixture) -> None:
    view = view_of(crowd, qtbot)
    middle = crowd.end_ns // 2
    view.zoom_to(middle, middle + 200_000)
    benchmark.pedantic(repaint, (view, QPixmap(view.viewport().size())), rounds=ROUNDS, warmup_rounds=1)


def test_repaint_with_a_hundred_events_lit(crowd: Timeline, qtbot: QtBot, benchmark: BenchmarkFixture) -> None:
    view = view_of(crowd, qtbot)
    chosen = np.linspace(0, len(crowd.plan.events) - 1, 100).astype(int).tolist()
    view.set_marks(Marks(Lit(dict.fromkeys(chosen, Part.READ))))
    benchmark.pedantic(repaint, (view, QPixmap(view.viewport().size())), rounds=ROUNDS, warmup_rounds=1)


def test_repaint_with_stacked_tensors(qtbot: QtBot, benchmark: BenchmarkFixture) -> None:
    crowd = crowded_timeline(100_000)
    view = view_of(crowd, qtbot)
    view.set_stacked(True)
    view.set_stack_source(lambda: {d.device: _stack(d) for d in crowd.devices})
    middle = crowd.end_ns // 2
    view.zoom_to(middle, middle + crowd.end_ns // 4)
    benchmark.pedantic(repaint, (view, QPixmap(view.viewport().size())), rounds=ROUNDS, warmup_rounds=1)


def _stack(device: DeviceTimeline) -> StackIndex:
    """Stays of some length that begin with the computations."""
    start = device.compute.start_ns
    end = start + np.random.default_rng(2).lognormal(13, 2.5, len(start)).astype(np.int64)
    names = [f"tensor {i}" for i in range(len(start))]
    return StackIndex(names, [Category.FORWARD] * len(start), start, end, np.full_like(start, 2**24), 2**30)


def test_next_event_and_its_place(crowd: Timeline, qtbot: QtBot, benchmark: BenchmarkFixture) -> None:
    view = view_of(crowd, qtbot)
    view.select_event(5)
    benchmark.pedantic(view.step, (1,), rounds=ROUNDS, warmup_rounds=1, iterations=3)


def test_hover(crowd: Timeline, qtbot: QtBot, benchmark: BenchmarkFixture) -> None:
    view = view_of(crowd, qtbot)
    frame = view.frame()
    assert frame is not None
    point = QPointF(800, frame.layout.cards[1].outer.top + 45)

    def hover() -> None:
        view.set_hover(point)

    benchmark.pedantic(hover, rounds=ROUNDS, warmup_rounds=1, iterations=3)


def test_set_timeline(crowd: Timeline, qtbot: QtBot, benchmark: BenchmarkFixture) -> None:
    view = view_of(crowd, qtbot)
    benchmark.pedantic(view.set_timeline, (crowd,), rounds=2)


def test_a_million_events_cost_little_more_than_ten_thousand(qtbot: QtBot) -> None:
    views = [view_of(crowded_timeline(count, transfers=500), qtbot) for count in (10_000, 1_000_000)]
    onto = QPixmap(views[0].viewport().size())
    best = [float("inf")] * 2
    for _ in range(ROUNDS):
        # Side by side, so that a busy machine slows both.
        for i, view in enumerate(views):
            start = time.perf_counter()
            repaint(view, onto)
            best[i] = min(best[i], time.perf_counter() - start)
    assert best[1] < 8 * best[0]
