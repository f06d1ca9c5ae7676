"""After another plan has come: bars slide from where they were to where they are, new ones appear, old ones go.

Bars belong together that are the same computation of an operator or the same transfer of a tensor, counted from the
beginning; a computation that is now on another device slides there. It takes a quarter of a second, and does not happen
where there is too much to follow, while the mouse is held, or where the system asks for no motion.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QEasingCurve, QObject, QRectF, Qt, QVariantAnimation
from PySide6.QtGui import QColor, QGuiApplication, QPainter
from PySide6.QtWidgets import QApplication, QStyle

from xengine_gui.model.plan import Compute, Transfer
from xengine_gui.schedule.timeline import Category, DeviceTimeline, Timeline
from xengine_gui.ui.timeline.frame import Frame
from xengine_gui.ui.timeline.geometry import FloatArray, TimeRange
from xengine_gui.ui.timeline.index import LANES
from xengine_gui.ui.timeline.layout import Band
from xengine_gui.ui.timeline.primitives import NO_PEN, draw_rects
from xengine_gui.ui.timeline.view import TimelineView

_DURATION_MS = 250
MOST_BARS = 5000
_GAP_FROM = 4.0
_WATCHED_BY_NOBODY = ("offscreen", "minimal")
_Key = tuple[str, str, int]
"""The lane, what the bar is of, and the how manieth of these it is."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Where a bar is: its device by name, its lane, its times, and its category."""

    device: str
    lane: str
    start_ns: int
    end_ns: int
    category: int


@dataclass(frozen=True, slots=True)
class Motion:
    """Bars by what becomes of them; a pair is where a bar was and where it is."""

    moved: tuple[tuple[Bar, Bar], ...]
    appeared: tuple[Bar, ...]
    vanished: tuple[Bar, ...]

    @property
    def is_any(self) -> bool:
        """Whether anything is not where it was."""
        return bool(self.appeared or self.vanished) or any(then != now for then, now in self.moved)


def motion_between(before: Timeline, after: Timeline) -> Motion:
    """What becomes of each bar of one timeline in another."""
    old, new = dict(_keyed(before)), dict(_keyed(after))
    moved = tuple((old[key], bar) for key, bar in new.items() if key in old)
    appeared = tuple(bar for key, bar in new.items() if key not in old)
    return Motion(moved, appeared, tuple(bar for key, bar in old.items() if key not in new))


def _keyed(timeline: Timeline) -> Iterator[tuple[_Key, Bar]]:
    events = timeline.plan.events
    bars = [(bar, event) for device in timeline.devices for bar, event in _bars(device)]
    seen: dict[tuple[str, str], int] = {}
    for bar, at in sorted(bars, key=lambda pair: pair[0].start_ns):
        event = events[at]
        if isinstance(event, Compute):
            what = event.operator
        elif isinstance(event, Transfer):
            what = f"{event.tensor} {event.source} {event.destination}"
        else:
            continue
        count = seen[bar.lane, what] = seen.get((bar.lane, what), 0) + 1
        yield (bar.lane, what, count), bar


def _bars(device: DeviceTimeline) -> Iterator[tuple[Bar, int]]:
    for name in LANES:
        lane = getattr(device, name)
        for start, end, category, event in zip(
            lane.start_ns.tolist(), lane.end_ns.tolist(), lane.category.tolist(), lane.event.tolist(), strict=True
        ):
            yield Bar(device.device, name, start, end, category), event


def bar_count(timeline: Timeline) -> int:
    """How many bars there are on all devices."""
    return sum(len(getattr(device, name).start_ns) for device in timeline.devices for name in LANES)


class Transition(QObject):
    """Watches a timeline view, and paints the way from each plan to the next over it."""

    def __init__(self, view: TimelineView) -> None:
        super().__init__(view)
        self.is_wanted = QGuiApplication.platformName() not in _WATCHED_BY_NOBODY
        self._view = view
        self._last: Timeline | None = view.timeline()
        self._last_range = self._range_before = view.view_range()
        self._motion: Motion | None = None
        self._animation = QVariantAnimation(self, duration=_DURATION_MS, startValue=0.0, endValue=1.0)
        self._animation.setEasingCurve(QEasingCurve.Type.InOutCubic)
        self._animation.valueChanged.connect(lambda _value: view.repaint_all())
        self._animation.finished.connect(self._ended)
        view.add_layer(self._paint)
        view.timeline_changed.connect(self._changed)
        view.view_changed.connect(self._looked)

    @property
    def motion(self) -> Motion | None:
        """What is moving now."""
        return self._motion

    def _looked(self) -> None:
        """Another stretch of time is looked at: what moves would no longer be where it is painted."""
        self._last_range = self._view.view_range()
        self._animation.stop()
        self._motion = None

    def _changed(self) -> None:
        before, after = self._last, self._view.timeline()
        self._last, self._range_before = after, self._last_range
        self._last_range = self._view.view_range()
        is_under_way = self._motion is not None
        self._animation.stop()
        self._motion = None
        # A plan that follows at once is shown at once: something that never comes to rest cannot be read.
        if before is not None and after is not None and not is_under_way and self._may_move(before, after):
            motion = motion_between(before, after)
            if motion.is_any:
                self._motion = motion
                self._animation.start()

    def _may_move(self, before: Timeline, after: Timeline) -> bool:
        if not self.is_wanted or not self._view.isVisible() or QApplication.mouseButtons() != Qt.MouseButton.NoButton:
            return False
        duration = self._view.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, self._view)
        same = [o.name for o in before.plan.problem.operators] == [o.name for o in after.plan.problem.operators]
        return duration > 0 and same and max(bar_count(before), bar_count(after)) <= MOST_BARS

    def _ended(self) -> None:
        self._motion = None
        self._view.repaint_all()

    def _paint(self, painter: QPainter, frame: Frame) -> None:
        motion, part = self._motion, self._animation.currentValue()
        if motion is None or not isinstance(part, float):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(NO_PEN)
        self._clear_lanes(painter, frame)
        painter.setClipRect(QRectF(frame.layout.left, 0, frame.layout.plot_width, frame.layout.height))
        old = _Places(frame, self._range_before)
        new = _Places(frame, frame.view)
        painter.setOpacity(1.0 - part)
        _draw(painter, frame, motion.vanished, old.boxes(motion.vanished))
        painter.setOpacity(part)
        _draw(painter, frame, motion.appeared, new.boxes(motion.appeared))
        painter.setOpacity(1.0)
        then, now = tuple(pair[0] for pair in motion.moved), tuple(pair[1] for pair in motion.moved)
        _draw(painter, frame, now, old.boxes(then) * (1.0 - part) + new.boxes(now) * part)
        painter.restore()

    @staticmethod
    def _clear_lanes(painter: QPainter, frame: Frame) -> None:
        layout, theme = frame.layout, frame.theme
        for card in layout.cards:
            for band, colour in ((card.compute, theme.card), (card.incoming, theme.lane), (card.outgoing, theme.lane)):
                if band is not None:
                    painter.setBrush(QColor(colour))
                    painter.drawRect(round(layout.left), round(band.top), round(layout.plot_width), round(band.height))


class _Places:
    """Where bars are when a stretch of time is in view."""

    def __init__(self, frame: Frame, view: TimeRange) -> None:
        layout = frame.layout
        self._scale = layout.plot_width / view.span_ns
        self._left, self._start_ns = layout.left, view.start_ns
        self._bands: dict[tuple[str, str], Band | None] = {
            (device.name, lane): getattr(card, lane)
            for device, card in zip(frame.index.devices, layout.cards, strict=True)
            for lane in LANES
        }

    def boxes(self, bars: tuple[Bar, ...]) -> FloatArray:
        """Left, top, width and height of each bar; one whose lane is no longer there is nowhere, without height."""
        rows = np.zeros((len(bars), 4))
        for i, bar in enumerate(bars):
            band = self._bands.get((bar.device, bar.lane))
            if band is not None:
                rows[i, 1], rows[i, 3] = band.top, band.height
        # Whole nanoseconds until they are small: moments may be as large as those of a clock on a wall.
        times = np.array([(bar.start_ns, bar.end_ns) for bar in bars], dtype=np.int64).reshape(-1, 2) - self._start_ns
        rows[:, 0] = self._left + times[:, 0] * self._scale
        rows[:, 2] = np.maximum(1.0, (times[:, 1] - times[:, 0]) * self._scale)
        return rows


def _draw(painter: QPainter, frame: Frame, bars: tuple[Bar, ...], boxes: FloatArray) -> None:
    categories = np.array([bar.category for bar in bars])
    for category in np.unique(categories).tolist():
        some = boxes[categories == category]
        painter.setBrush(QColor(frame.theme.category(Category(category))))
        # A gap between neighbours, as the timeline has it, where that leaves most of a bar.
        width = np.where(some[:, 2] < _GAP_FROM, some[:, 2], some[:, 2] - 1.0)
        draw_rects(painter, some[:, 0], some[:, 1], width, some[:, 3])
