"""Painting of lanes: bars by category, hatches, borders, names, and the ticks of frees."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter, QPen, QPolygonF, QTransform

from xengine_gui.model.plan import Compute, Event
from xengine_gui.schedule.timeline import Category, Int64Array
from xengine_gui.ui.theme import Theme
from xengine_gui.ui.timeline.bar_words import wordings
from xengine_gui.ui.timeline.details import printable
from xengine_gui.ui.timeline.frame import Frame
from xengine_gui.ui.timeline.geometry import FloatArray, Runs
from xengine_gui.ui.timeline.labels import write_at
from xengine_gui.ui.timeline.lanes import LaneIndex
from xengine_gui.ui.timeline.layout import Band
from xengine_gui.ui.timeline.primitives import NO_PEN, brush_of, draw_lines, draw_rects, float_array, ink_of
from xengine_gui.ui.timeline.triangles import draw_triangles

RARE = (Category.LOSS, Category.RECOMPUTE)
# Logical pixels of the narrowest bar: a common one, and one that must strike the eye.
_LEAST_WIDTH = {False: 1.0, True: 1.5}
_HATCH_STEP = 7.0
_HATCH_WIDTH = 2.4
_LEAST_HATCHED_WIDTH = 5.0
_LEAST_BORDERED_WIDTH = 3.0
_BORDER_ALPHA = 190
_LEAST_NAMED_WIDTH = 22.0
_NAME_MARGIN = 3.5
_MOST_NAMES = 20_000
_FREE_STEP = 3.0


def paint_lane(painter: QPainter, frame: Frame, lane: LaneIndex, band: Band, *, names: bool) -> None:
    """Paint a lane's bars: the common ones, their borders, then the rare ones over them, then the names."""
    look = lane.look(frame.columns, _LEAST_BORDERED_WIDTH / frame.layout.column_width)
    if not look.runs:
        return
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    painter.setPen(NO_PEN)
    for category, runs in look.runs.items():
        if category not in RARE:
            colour = frame.theme.category(category)
            fill_runs(painter, frame, runs, band, colour, least_width=_LEAST_WIDTH[category is Category.TRANSFER])
    edges = _edges(frame, lane, look.wide)
    _borders(painter, frame, edges[0], band)
    painter.setPen(NO_PEN)
    for category, runs in look.runs.items():
        if category in RARE:
            fill_runs(painter, frame, runs, band, frame.theme.category(category), least_width=_LEAST_WIDTH[True])
            if category is Category.RECOMPUTE:
                hatch_runs(painter, frame, runs, band)
    if names:
        _names(painter, frame, lane, look.wide, edges, band)


def fill_runs(painter: QPainter, frame: Frame, runs: Runs, band: Band, colour: str, *, least_width: float) -> None:
    """Fill runs of columns; where a device pixel is very small, a lone one is widened to what can be seen."""
    pixel = frame.layout.column_width
    painter.setBrush(brush_of(colour))
    width = np.maximum((runs.stop - runs.first) * pixel, math.ceil(least_width / pixel) * pixel)
    left = np.minimum(frame.layout.left + runs.first * pixel, frame.layout.right - width)
    draw_rects(painter, left, band.top, width, band.height)


def _edges(frame: Frame, lane: LaneIndex, chosen: Int64Array) -> tuple[FloatArray, FloatArray]:
    """Where some bars begin and end, in columns."""
    bars = lane.bars
    return frame.columns.position(bars.start_ns[chosen]), frame.columns.position(bars.end_ns[chosen])


def _borders(painter: QPainter, frame: Frame, start: FloatArray, band: Band) -> None:
    """A thin line at the start of every bar that is wide enough, so that neighbours of one category stay apart."""
    position = np.floor(start[start > 0]) * frame.layout.column_width + frame.layout.left
    painter.setBrush(brush_of(frame.theme.card, _BORDER_ALPHA))
    draw_rects(painter, position, band.top, max(frame.layout.column_width, 0.75), band.height)


def hatch_runs(painter: QPainter, frame: Frame, runs: Runs, band: Band) -> None:
    """The stripes of what is computed again, where they are wide enough to be seen."""
    pixel = frame.layout.column_width
    left, width = frame.layout.left + runs.first * pixel, (runs.stop - runs.first) * pixel
    is_wide = width >= _LEAST_HATCHED_WIDTH
    left, width = left[is_wide], width[is_wide]
    if frame.is_vector:
        _stripes(painter, frame.theme, list(zip(left.tolist(), (left + width).tolist(), strict=True)), band)
    elif len(left):
        painter.setBrush(_hatch_brush(frame, band))
        draw_rects(painter, left, band.top, width, band.height)


def _hatch_brush(frame: Frame, band: Band) -> QBrush:
    """Stripes as an image that is repeated: cheaper than lines, but good for pixels only."""
    pixel = frame.layout.column_width
    brush = QBrush(_hatch_tile(frame.theme.recompute_hatch, pixel))
    brush.setTransform(QTransform().translate(frame.layout.left, band.top).scale(pixel, pixel))
    return brush


@lru_cache(maxsize=8)
def _hatch_tile(colour: str, pixel: float) -> QImage:
    size = round(_HATCH_STEP / pixel)
    tile = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
    tile.fill(Qt.GlobalColor.transparent)
    painter = QPainter(tile)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    painter.setPen(QPen(QColor(colour), _HATCH_WIDTH / pixel))
    for shift in (-size, 0, size):
        painter.drawLine(QPointF(shift - 1, size + 1), QPointF(shift + size + 1, -1))
    painter.end()
    return tile


def _stripes(painter: QPainter, theme: Theme, stretches: list[tuple[float, float]], band: Band) -> None:
    """Diagonal stripes, cut to each stretch by arithmetic: vector pictures know no clipping."""
    inset = _HATCH_WIDTH * 0.36
    lines: list[tuple[float, float, float, float]] = []
    bottom, height = band.bottom - inset, band.height - 2 * inset
    for begin, end in ((left + inset, right - inset) for left, right in stretches):
        first = math.ceil((begin - height) / _HATCH_STEP) * _HATCH_STEP
        for foot in np.arange(first, end, _HATCH_STEP).tolist():
            x1, x2 = max(begin, foot), min(end, foot + height)
            if x2 > x1:
                lines.append((x1, bottom - (x1 - foot), x2, bottom - (x2 - foot)))
    if not lines:
        return
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    painter.setPen(QPen(QColor(theme.recompute_hatch), _HATCH_WIDTH, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
    draw_lines(painter, *float_array(lines).T)
    painter.restore()


def paint_names(painter: QPainter, frame: Frame, lane: LaneIndex, wide: Int64Array, band: Band) -> None:
    """The names of some bars, by their positions in the lane, where they fit."""
    _names(painter, frame, lane, wide, _edges(frame, lane, wide), band)


def _names(
    painter: QPainter,
    frame: Frame,
    lane: LaneIndex,
    wide: Int64Array,
    edges: tuple[FloatArray, FloatArray],
    band: Band,
) -> None:
    events, fonts, layout, bars = frame.index.timeline.plan.events, frame.fonts, frame.layout, lane.bars
    start, end = (np.minimum(np.maximum(edge, 0), layout.columns) * layout.column_width for edge in edges)
    roomy = np.flatnonzero(end - start >= _LEAST_NAMED_WIDTH)
    if not len(roomy):
        return
    painter.setFont(fonts.small)
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing, on=True)
    baseline = band.middle + (fonts.small_metrics.ascent() - fonts.small_metrics.descent()) / 2
    inks = {int(c): ink_of(frame.theme.text_on(frame.theme.category(c))) for c in lane.categories}
    ink = -1
    rows = (start[roomy], end[roomy], bars.event[wide[roomy]], bars.category[wide[roomy]])
    for left, right, event, category in zip(*(row.tolist() for row in rows), strict=True):
        text = _name_within(frame, events, event, right - left - 2 * _NAME_MARGIN)
        if not text:
            continue
        margin = _NAME_MARGIN
        if category == Category.RECOMPUTE:
            # The hatch would cut the letters: they stand on a plate.
            margin, width = 6.0, min(fonts.small_width(text) + 6, right - left - 6)
            plate = QRectF(layout.left + left + 3, band.top + 3, width, band.height - 6)
            painter.fillRect(plate, brush_of(frame.theme.category(Category.RECOMPUTE)))
        if ink != category:
            painter.setPen(inks[category])
            ink = category
        write_at(painter, frame, fonts.small_face, layout.left + left + margin, baseline, text)


def _name_within(frame: Frame, events: Sequence[Event], position: int, width: float) -> str:
    """The best of an event's wordings that fits, else as much of the shortest as fits."""
    fonts = frame.fonts
    names = frame.index.names.get(position)
    if names is None:
        if len(frame.index.names) > _MOST_NAMES:
            frame.index.names.clear()
        names = frame.index.names[position] = _names_of(events[position], frame.index.kinds)
    texts = wordings(frame.labels, *names)
    for text in texts:
        if fonts.small_width(text) <= width:
            return text
    if not texts:
        return ""
    if names[1] is None:
        return fonts.small_metrics.elidedText(texts[-1], Qt.TextElideMode.ElideMiddle, width)
    short = fonts.small_metrics.elidedText(texts[-1], Qt.TextElideMode.ElideRight, width)
    return short if len(short) > 3 else ""


def _names_of(event: Event, kinds: Mapping[str, str]) -> tuple[str, str | None]:
    """What an event is called, and its operator's kind where it is a computation."""
    if isinstance(event, Compute):
        return printable(event.operator), printable(kinds.get(event.operator, event.operator))
    return printable(event.tensor), None


def paint_frees(painter: QPainter, frame: Frame, device_position: int) -> None:
    """A small triangle for each free; where they crowd, one for each few pixels that have any."""
    device = frame.index.devices[device_position]
    if not len(device.device.free_ns):
        return
    band = frame.layout.cards[device_position].frees
    pixel = frame.layout.column_width
    runs = device.frees.runs(frame.columns)
    step = max(1, round(_FREE_STEP / pixel))
    # Of each run its first column and every so many of those after it.
    count = -(-(runs.stop - runs.first) // step)
    filled = runs.first
    if len(filled) and int(count.max()) > 1:
        before = np.repeat(np.cumsum(count) - count, count)
        filled = np.repeat(filled, count) + (np.arange(len(before)) - before) * step
    place = filled // step
    is_first = np.ones(len(filled), np.bool_)
    is_first[1:] = place[1:] != place[:-1]
    filled = filled[is_first]
    at = float_array(frame.layout.left + (filled + 0.5) * pixel)
    draw_triangles(painter, frame, at, Band(band.top + 0.5, band.height * 0.86), band.height, frame.theme.free)


def paint_swatch(painter: QPainter, theme: Theme, box: QRectF, key: str) -> None:
    """The sign of a legend's entry: a category's name in small letters, `free`, `memory` or `limit`."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    painter.setPen(NO_PEN)
    if key == "limit":
        pen = QPen(QColor(theme.limit), 1.6)
        pen.setDashPattern([3.0, 1.8])
        painter.setPen(pen)
        painter.drawLine(QPointF(box.left(), box.center().y()), QPointF(box.right() + 2, box.center().y()))
    elif key == "free":
        painter.setBrush(QColor(theme.free))
        corners = [QPointF(box.center().x(), box.top() + 2), box.bottomRight() + QPointF(-1, -1)]
        painter.drawConvexPolygon(QPolygonF([*corners, box.bottomLeft() + QPointF(1, -1)]))
    elif key == "memory":
        painter.fillRect(box, QColor(theme.memory_fill))
        painter.fillRect(QRectF(box.left(), box.top(), box.width(), 1.6), QColor(theme.memory_line))
    else:
        painter.setBrush(QColor(getattr(theme, key)))
        painter.drawRoundedRect(box, 2, 2)
        if key == "recompute":
            _stripes(painter, theme, [(box.left(), box.right())], Band(box.top(), box.height()))
