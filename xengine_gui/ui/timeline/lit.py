"""What belongs to a selected operator or tensor, lit while the rest is veiled: its events and its stays in memory."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from xengine_gui.language import tr
from xengine_gui.schedule.timeline import Category, Int64Array
from xengine_gui.ui.timeline.bars import fill_runs, hatch_runs, paint_names
from xengine_gui.ui.timeline.details import printable
from xengine_gui.ui.timeline.frame import Frame
from xengine_gui.ui.timeline.geometry import Runs
from xengine_gui.ui.timeline.index import TimelineIndex
from xengine_gui.ui.timeline.lanes import categories_among
from xengine_gui.ui.timeline.layout import Band
from xengine_gui.ui.timeline.primitives import TEXT_LEFT, draw_rects
from xengine_gui.units import format_size

_VEIL_ALPHA = 205
_LEAST_STAY = 4.0
_LEAST_FREE = 2.0


class Part(IntEnum):
    """What an event has to do with what is selected."""

    MADE = 0
    AGAIN = 1
    READ = 2
    TRANSFER = 3
    FREE = 4


PART_WORDS = {
    Part.MADE: tr("computed"),
    Part.AGAIN: tr("recomputed"),
    Part.READ: tr("read by"),
    Part.TRANSFER: tr("transferred"),
    Part.FREE: tr("freed"),
}


@dataclass(frozen=True, slots=True)
class Stay:
    """A tensor in a device's memory; `end_ns` is `None` where it stays to the end."""

    tensor: str
    device: str
    size_bytes: int
    start_ns: int
    end_ns: int | None


@dataclass(frozen=True)
class Lit:
    """The events of something, by their positions in the plan, with what each has to do with it, and its stays."""

    events: Mapping[int, Part] = field(default_factory=dict)
    stays: tuple[Stay, ...] = ()


@dataclass(frozen=True)
class _Lane:
    device: int
    lane: str
    position: Int64Array
    start_ns: Int64Array
    end_ns: Int64Array
    category: Int64Array
    part: Int64Array


class LitIndex:
    """Where the lit events of one timeline are drawn, found once for all repaints."""

    def __init__(self, index: TimelineIndex, lit: Lit) -> None:
        self._index = index
        self.lit = lit

    @cached_property
    def lanes(self) -> tuple[_Lane, ...]:
        """The lit bars of each lane."""
        found: dict[tuple[int, str], list[tuple[int, Part]]] = {}
        for event, part in self.lit.events.items():
            for place in self._index.places(event):
                found.setdefault((place.device, place.lane), []).append((place.position, part))
        return tuple(self._lane(*key, sorted(rows)) for key, rows in found.items())

    def _lane(self, device: int, lane: str, rows: Iterable[tuple[int, Part]]) -> _Lane:
        position, part = (np.array(values, np.int64) for values in zip(*rows, strict=True))
        index = self._index.devices[device]
        if lane == "free":
            moments = index.device.free_ns[position]
            return _Lane(device, lane, position, moments, moments, np.zeros_like(moments), part)
        bars = index.lane(lane).bars
        return _Lane(
            device, lane, position, bars.start_ns[position], bars.end_ns[position], bars.category[position], part
        )

    @cached_property
    def transfers(self) -> frozenset[int]:
        """The lit transfers."""
        return frozenset(event for event, part in self.lit.events.items() if part is Part.TRANSFER)


def paint_lit(painter: QPainter, frame: Frame, lit: LitIndex) -> None:
    """Veil the lanes and paint over the veil what is lit."""
    veil = QColor(frame.theme.card)
    veil.setAlpha(_VEIL_ALPHA)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    for card in frame.layout.cards:
        for band in (card.compute, card.incoming, card.outgoing, card.frees):
            if band is not None and band.height:
                painter.fillRect(QRectF(frame.layout.left, band.top, frame.layout.plot_width, band.height), veil)
    for lane in lit.lanes:
        _lane(painter, frame, lane)
    for stay in lit.lit.stays:
        _stay(painter, frame, stay)


def _lane(painter: QPainter, frame: Frame, lane: _Lane) -> None:
    card = frame.layout.cards[lane.device]
    band = {"compute": card.compute, "incoming": card.incoming, "outgoing": card.outgoing, "free": card.frees}[
        lane.lane
    ]
    seen = (lane.end_ns >= frame.view.start_ns) & (lane.start_ns <= frame.view.end_ns)
    if band is None or not seen.any():
        return
    first = np.clip(np.floor(frame.columns.position(lane.start_ns[seen])), 0, frame.layout.columns - 1)
    stop = np.clip(np.ceil(frame.columns.position(lane.end_ns[seen])), first + 1, frame.layout.columns)
    painter.setPen(Qt.PenStyle.NoPen)
    if lane.lane == "free":
        painter.setBrush(QColor(frame.theme.free))
        pixel = frame.layout.column_width
        draw_rects(painter, frame.layout.left + first * pixel - 1, band.top, _LEAST_FREE + 1, band.height)
        return
    runs, category, part = Runs(first.astype(np.int64), stop.astype(np.int64)), lane.category[seen], lane.part[seen]
    for number in categories_among(category):
        chosen = category == number
        some = Runs(runs.first[chosen], runs.stop[chosen])
        fill_runs(painter, frame, some, band, frame.theme.category(Category(number)), least_width=2.5)
        if number == Category.RECOMPUTE:
            hatch_runs(painter, frame, some, band)
    if lane.lane == "compute":
        paint_names(painter, frame, frame.index.devices[lane.device].compute, lane.position[seen], band)
    for run in range(len(runs)):
        _mark(painter, frame, int(runs.first[run]), int(runs.stop[run]), band, Part(int(part[run])))


def _mark(painter: QPainter, frame: Frame, first: int, stop: int, band: Band, part: Part) -> None:
    """A frame around a lit bar: thick around what makes the tensor, thin around what reads it."""
    pixel = frame.layout.column_width
    box = QRectF(frame.layout.left + first * pixel, band.top, max((stop - first) * pixel, 2.5), band.height)
    is_making = part in (Part.MADE, Part.AGAIN)
    pen = QPen(QColor(frame.theme.highlight), 2.0 if is_making else 1.0)
    pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    # Outside the bar, so that its colour is seen however narrow it is.
    painter.drawRect(box.adjusted(-1.5, -1.5, 1.5, 1.5) if is_making else box.adjusted(-1, -1, 0, 0))
    painter.setPen(Qt.PenStyle.NoPen)


def _stay(painter: QPainter, frame: Frame, stay: Stay) -> None:
    """The share of a tensor in its device's memory, at the foot of the curve, for as long as it is there."""
    position = next((i for i, d in enumerate(frame.index.devices) if d.name == stay.device), None)
    end_ns = frame.index.timeline.end_ns if stay.end_ns is None else stay.end_ns
    if position is None or end_ns < frame.view.start_ns or stay.start_ns > frame.view.end_ns:
        return
    scale = frame.memory_scale(position)
    left, right = max(frame.x(stay.start_ns), frame.layout.left), min(frame.x(end_ns), frame.layout.right)
    height = max(scale.band.bottom - scale.y(stay.size_bytes), _LEAST_STAY)
    box = QRectF(left, scale.band.bottom - height, max(right - left, 2.0), height)
    fill = QColor(frame.theme.accent)
    fill.setAlpha(150)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    painter.fillRect(box, fill)
    painter.setPen(QPen(QColor(frame.theme.highlight), 1))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(box.adjusted(0, 0, -1, -1))
    _label(painter, frame, box, f"{printable(stay.tensor)} {format_size(stay.size_bytes)}")


def _label(painter: QPainter, frame: Frame, box: QRectF, text: str) -> None:
    metrics = frame.fonts.small_metrics
    room = box.width() - 8
    if room < metrics.horizontalAdvance("mmmm"):
        return
    shown = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, room)
    height = metrics.height()
    inside = box.height() >= height + 2
    place = QRectF(box.left() + 4, box.top() + 1 if inside else box.top() - height - 1, room, height)
    plate = QColor(frame.theme.card)
    plate.setAlpha(215)
    painter.fillRect(QRectF(place.left() - 2, place.top(), metrics.horizontalAdvance(shown) + 4, height), plate)
    painter.setFont(frame.fonts.small)
    painter.setPen(QColor(frame.theme.text))
    painter.drawText(place, TEXT_LEFT, shown)
