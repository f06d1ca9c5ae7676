"""What is painted: colours at places, rare events that never vanish, peaks that are never averaged away."""

import sys
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QImage, QPainter
from pytestqt.qtbot import QtBot
from timelines import crowded_timeline, timeline_of

from xengine_gui.model.plan import Compute, Event, Free, Transfer
from xengine_gui.schedule.timeline import Category, Timeline
from xengine_gui.ui.theme import load_theme
from xengine_gui.ui.timeline.frame import Fonts, Frame
from xengine_gui.ui.timeline.geometry import TimeRange
from xengine_gui.ui.timeline.hits import limit_at
from xengine_gui.ui.timeline.index import TimelineIndex
from xengine_gui.ui.timeline.layout import Band, arrange
from xengine_gui.ui.timeline.memory import limit_label
from xengine_gui.ui.timeline.painting import paint_axis, paint_timeline, title_of

S = 10**9
pytestmark = pytest.mark.usefixtures("qapp")


def frame_of(
    timeline: Timeline, *, view: TimeRange | None = None, theme: str = "light", scale: float = 1.0, **options: object
) -> Frame:
    font = QFont()
    font.setPixelSize(13)
    fonts = Fonts(font)
    layout = arrange(
        timeline.devices, width=1000.0, height=600.0, line_height=fonts.line_height, gutter=fonts.gutter, scale=scale
    )
    index = TimelineIndex(timeline)
    return Frame(index, view or index.whole, layout, load_theme(theme), fonts, **options)  # type: ignore[arg-type]


def painted(frame: Frame, scale: float = 1.0) -> np.ndarray:
    """The picture as rows of columns of red, green, blue."""
    image = QImage(int(1000 * scale), int(max(frame.layout.height, 600) * scale), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    image.fill(QColor(frame.theme.window))
    painter = QPainter(image)
    paint_timeline(painter, frame)
    paint_axis(painter, frame, frame.theme.window)
    painter.end()
    return np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.width(), 4)[:, :, 2::-1].copy()


def rgb(colour: str) -> tuple[int, int, int]:
    return QColor(colour).red(), QColor(colour).green(), QColor(colour).blue()


def is_colour(pixels: np.ndarray, colour: str, tolerance: int = 0) -> np.ndarray:
    return (np.abs(pixels.astype(int) - np.array(rgb(colour))) <= tolerance).all(axis=-1)


def row_of(pixels: np.ndarray, band: Band | None, scale: float = 1.0) -> np.ndarray:
    """One row of pixels just below the upper edge of a band, where no letters are."""
    assert band is not None
    return pixels[int((band.top + 2) * scale)]


def one(events: Sequence[Event], limits: Mapping[str, int | None] | None = None) -> Timeline:
    return timeline_of(events, limits or {"gpu": None})


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_bars_have_their_colours_where_they_are(theme: str, scale: float) -> None:
    events = [
        Compute("conv", "gpu", 0, 4 * S),
        Compute("loss", "gpu", 4 * S, 5 * S),
        Compute("grad_conv", "gpu", 5 * S, 8 * S),
        Compute("update_conv", "gpu", 8 * S, 9 * S),
    ]
    frame = frame_of(one(events), theme=theme, scale=scale)
    row = row_of(painted(frame, scale), frame.layout.cards[0].compute, scale)
    for moment, category in (
        (2, Category.FORWARD),
        (4.5, Category.LOSS),
        (6, Category.BACKWARD),
        (8.5, Category.UPDATE),
    ):
        x = int(frame.x(int(moment * S)) * scale)
        assert is_colour(row[x - 3 : x + 3], frame.theme.category(category)).all()
    assert not is_colour(row[int(frame.x(10 * S) * scale) + 3 :], frame.theme.update).any()


def test_a_recompute_is_hatched() -> None:
    frame = frame_of(one([Compute("conv", "gpu", 0, S), Compute("conv", "gpu", S, 2 * S, again=True)]))
    band = frame.layout.cards[0].compute
    assert band is not None
    block = painted(frame)[int(band.top) : int(band.bottom), int(frame.x(3 * S // 2)) : int(frame.x(2 * S))]
    plain = is_colour(block, frame.theme.recompute, 3).mean()
    stripes = is_colour(block, frame.theme.recompute_hatch, 3).mean()
    assert 0.2 < plain < 0.8
    assert 0.1 < stripes < 0.6


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_recompute_of_one_nanosecond_is_seen_among_long_events(scale: float) -> None:
    events: list[Event] = [Compute("a", "gpu", 0, 1800 * S), Compute("a", "gpu", 1800 * S, 1800 * S + 1, again=True)]
    events.append(Compute("grad_a", "gpu", 1800 * S + 1, 3600 * S))
    frame = frame_of(one(events), scale=scale)
    row = row_of(painted(frame, scale), frame.layout.cards[0].compute, scale)
    seen = np.flatnonzero(is_colour(row, frame.theme.recompute))
    assert len(seen) >= scale
    assert abs(seen.mean() / scale - frame.x(1800 * S)) < 2


def test_a_transfer_and_a_free_of_an_instant_are_seen() -> None:
    events: list[Event] = [
        Compute("a", "gpu", 0, 1800 * S),
        Transfer("a out", "gpu", "host", 1800 * S, 1800 * S + 1),
        Free("a out", "gpu", 1800 * S + 1),
        Compute("grad_b", "gpu", 1800 * S + 1, 3600 * S),
        Free("grad_b out", "gpu", 3600 * S),
    ]
    frame = frame_of(one(events, {"gpu": None, "host": None}))
    pixels = painted(frame)
    gpu, host = frame.layout.cards
    for band in (gpu.outgoing, host.incoming):
        assert is_colour(row_of(pixels, band), frame.theme.transfer).any()
    ticks = pixels[int(gpu.frees.top) : int(gpu.frees.bottom)]
    free_columns = np.flatnonzero(is_colour(ticks, frame.theme.free, 40).any(axis=0))
    assert abs(free_columns[free_columns < 900].mean() - frame.x(1800 * S)) < 2
    assert free_columns.max() >= frame.layout.right - 2


def test_the_arrow_joins_the_two_devices() -> None:
    events = [Compute("a", "gpu", 0, S), Transfer("a out", "gpu", "host", S, 2 * S), Compute("b", "host", 2 * S, 3 * S)]
    frame = frame_of(one(events, {"gpu": None, "host": None}))
    pixels = painted(frame)
    gap = int((frame.layout.cards[0].outer.bottom + frame.layout.cards[1].outer.top) / 2)
    columns = np.flatnonzero(is_colour(pixels[gap], frame.theme.transfer, 90))
    assert len(columns)
    assert frame.x(S) - 20 <= columns.min() <= columns.max() <= frame.x(2 * S) + 20


@pytest.mark.parametrize("span_ns", [10, 10_000, 10**9])
def test_a_long_bar_fills_the_view_on_deep_zoom(span_ns: int) -> None:
    timeline = one([Compute("a", "gpu", 0, 3600 * S), Compute("grad_a", "gpu", 3600 * S, 3600 * S + 1000)])
    frame = frame_of(timeline, view=TimeRange(1234 * S, 1234 * S + span_ns))
    row = row_of(painted(frame), frame.layout.cards[0].compute)
    plot = row[int(frame.layout.left) : int(frame.layout.right)]
    assert is_colour(plot, frame.theme.forward).all()


def test_a_peak_of_one_nanosecond_reaches_its_height() -> None:
    size = {"small": 2**20, "large": 2**30}
    events: list[Event] = [
        Compute("small", "gpu", 0, 1800 * S),
        Compute("large", "gpu", 1800 * S, 1800 * S + 1),
        Free("large out", "gpu", 1800 * S + 1),
        Compute("grad_small", "gpu", 1800 * S + 1, 3600 * S),
    ]
    frame = frame_of(timeline_of(events, {"gpu": None}, sizes=size))
    scale = frame.memory_scale(0)
    assert frame.index.devices[0].device.peak_bytes == 2**30 + 2**20
    pixels = painted(frame)
    x = int(frame.x(1800 * S))
    middle = int(scale.y(2**29))
    assert (is_colour(pixels[middle, x - 1 : x + 2], frame.theme.memory_line)).any()
    assert not is_colour(pixels[middle, x + 5 : x + 200], frame.theme.memory_fill).any()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_limit_is_a_line_with_a_label(theme: str) -> None:
    timeline = timeline_of([Compute("a", "gpu", 0, S)], {"gpu": 2**30}, sizes={"a": 2**29})
    frame = frame_of(timeline, theme=theme, is_live=True)
    label = limit_label(frame, 0)
    assert label is not None
    assert label.text == "↕ limit 1.00 GiB"
    assert label.line_y == pytest.approx(frame.memory_scale(0).y(2**30), abs=1)
    assert limit_at(frame, label.box.center()) == 0
    row = painted(frame)[int(label.line_y)]
    assert is_colour(row[int(frame.layout.left) : int(label.box.left())], frame.theme.limit, 60).mean() > 0.4


def test_what_is_over_the_limit_is_marked() -> None:
    timeline = timeline_of([Compute("a", "gpu", 0, S)], {"gpu": 2**28}, sizes={"a": 2**30})
    frame = frame_of(timeline)
    scale, pixels, x = frame.memory_scale(0), painted(frame), int(frame.x(S // 3))
    assert is_colour(pixels[int(scale.y(2**29)), x], frame.theme.over_limit)
    assert is_colour(pixels[int(scale.y(2**27)), x], frame.theme.memory_fill)


def test_a_limit_far_above_leaves_the_curve_its_height() -> None:
    timeline = timeline_of([Compute("a", "gpu", 0, S)], {"gpu": 2**40}, sizes={"a": 2**30})
    frame = frame_of(timeline)
    label = limit_label(frame, 0)
    assert label is not None
    assert label.text.endswith("↑")
    scale = frame.memory_scale(0)
    assert scale.band.bottom - scale.y(2**30) > scale.band.height / 8


def test_names_are_elided_and_never_leave_their_bar() -> None:
    events = [Compute("x" * 300, "gpu", 0, S), Compute("b", "gpu", 9 * S, 10 * S)]
    frame = frame_of(one(events))
    row = painted(frame)
    band = frame.layout.cards[0].compute
    assert band is not None
    beyond = row[int(band.top) : int(band.bottom), int(frame.x(S)) + 2 : int(frame.x(9 * S)) - 2]
    assert (is_colour(beyond, frame.theme.card) | is_colour(beyond, frame.theme.grid)).all()


def test_where_room_is_short_figures_go_before_the_name() -> None:
    font = QFont()
    font.setPixelSize(13)
    fonts = Fonts(font)
    titles = [title_of("gpu", 1.0, 62, 90, 100, fonts, room) for room in (2000.0, 300.0, 200.0)]
    assert [title.name for title in titles] == ["gpu"] * 3
    assert [title.facts.count("·") for title in titles] == sorted((t.facts.count("·") for t in titles), reverse=True)
    assert titles[0].facts == "busy 100.0 %  ·  62 recomputes  ·  peak 90.0 % of its limit"
    assert titles[-1].facts == "peak 90.0 % of its limit"
    assert all(t.name_width + t.facts_width <= room for t, room in zip(titles, (2000.0, 300.0, 200.0), strict=True))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_empty_device_and_an_empty_plan_are_painted(theme: str) -> None:
    painted(frame_of(one([], {"gpu": 2**30, "cpu": None}), theme=theme))
    painted(frame_of(one([Compute("a", "gpu", 0, 0)], {"gpu": 0}), theme=theme))
    painted(frame_of(timeline_of([Compute("a", "gpu", 0, 1)], {"gpu": 2**80}, sizes={"a": 2**70}), theme=theme))


def test_painting_twenty_thousand_items_keeps_none_alive() -> None:
    """A release of PySide6 lost a reference to None with each call that returns nothing, and died after thousands."""
    timeline = crowded_timeline(25_000, devices=2)
    frame = frame_of(timeline)
    painted(frame)
    image = QImage(100, 100, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    before = sys.getrefcount(None)
    for i in range(25_000):
        painter.fillRect(QRectF(i % 90, i % 80, 5, 5), QColor(i % 255, 0, 0))
    painter.end()
    if sys.version_info < (3, 12):
        assert sys.getrefcount(None) > before - 100


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal")
def test_void_calls_of_qt_do_not_lose_none(qtbot: QtBot) -> None:
    image = QImage(10, 10, QImage.Format.Format_RGB32)
    before = sys.getrefcount(None)
    for _ in range(2000):
        image.fill(0)
    assert sys.getrefcount(None) > before - 100
