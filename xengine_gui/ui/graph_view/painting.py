"""Paints a drawing of a graph: headings, frames of open blocks, edges, nodes. What lies outside is left out.

How much is painted of a node depends on its height in pixels: a colour, then its shape, then its name. So 2,000 nodes
take as long as those whose names can be read.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from xengine_gui.language import tr
from xengine_gui.ui.graph_view.camera import Camera
from xengine_gui.ui.graph_view.facts import Fate, Int64Array
from xengine_gui.ui.graph_view.looks import BoolArray, Looks, Moment
from xengine_gui.ui.graph_view.painting_nodes import mixed, paint_nodes
from xengine_gui.ui.graph_view.routes import NODE_HEIGHT, FloatArray
from xengine_gui.ui.graph_view.scene import BlockFrame
from xengine_gui.ui.graph_view.structure import Side
from xengine_gui.ui.theme import Theme
from xengine_gui.ui.timeline.frame import Fonts
from xengine_gui.ui.timeline.primitives import TEXT_CENTRE, TEXT_LEFT, TEXT_RIGHT, draw_lines

_MOST_PATHS = 700
_WIDEST_EDGE = 3.0
_LEAST_FRAMED_SCALE = 0.3
_LABEL_GAP = 14.0
_TITLES = {Side.FORWARD: tr("forward  ↓"), Side.BACKWARD: tr("backward  ↑"), Side.UPDATE: tr("update")}


@dataclass(frozen=True)
class Frame:
    """All that one painting needs; `lit_nodes` and `lit_edges` are what the selection marks, -1 is no node."""

    looks: Looks
    camera: Camera
    theme: Theme
    fonts: Fonts
    width: float
    height: float
    head: float
    moment: Moment | None = None
    lit_nodes: frozenset[int] = frozenset()
    lit_edges: frozenset[int] = frozenset()
    chosen: int = -1
    hovered: int = -1
    titles: tuple[str, ...] = ()

    @cached_property
    def boxes(self) -> FloatArray:
        """Left, top, width and height of each node in pixels."""
        placed, camera = self.looks.scene.placed, self.camera
        left = placed.left * camera.scale_x + camera.offset_x
        top = placed.top * camera.scale_y + camera.offset_y
        height = np.full(len(left), max(NODE_HEIGHT * camera.scale_y, 1.0))
        return np.stack([left, top, np.maximum(placed.width * camera.scale_x, 1.0), height], axis=1)

    @cached_property
    def visible(self) -> Int64Array:
        """The nodes that are in view."""
        left, top, width, height = self.boxes.T
        inside = (left + width > 0) & (left < self.width) & (top + height > 0) & (top < self.height)
        return np.flatnonzero(inside)

    def box(self, node: int) -> QRectF:
        """A node in pixels."""
        return QRectF(*self.boxes[node].tolist())

    def edges_in_view(self) -> BoolArray:
        """The edges of which something may be in view."""
        boxes = self.looks.scene.edge_boxes
        camera = self.camera
        x = boxes[:, (0, 2)] * camera.scale_x + camera.offset_x
        y = boxes[:, (1, 3)] * camera.scale_y + camera.offset_y
        return (x[:, 1] >= 0) & (x[:, 0] <= self.width) & (y[:, 1] >= 0) & (y[:, 0] <= self.height)


FATE_COLOURS = {Fate.RETAINED: "memory_line", Fate.RECOMPUTED: "recompute", Fate.MOVED: "transfer"}
FATE_DASHES: dict[Fate, list[float]] = {
    Fate.RETAINED: [],
    Fate.RECOMPUTED: [3.0, 2.2],
    Fate.MOVED: [6.0, 2.0, 1.0, 2.0],
}


def fate_pen(theme: Theme, fate: Fate, width: float) -> QPen:
    """The line of results that come by this fate: by colour and by dashes."""
    pen = QPen(QColor(str(getattr(theme, FATE_COLOURS[fate]))), width)
    if FATE_DASHES[fate]:
        pen.setDashPattern(FATE_DASHES[fate])
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    return pen


def paint_graph(painter: QPainter, frame: Frame) -> None:
    """Paint everything but what follows the mouse."""
    painter.fillRect(QRectF(0, 0, frame.width, frame.height), QColor(frame.theme.window))
    if not len(frame.looks.scene.nodes.nodes):
        return
    _frames(painter, frame)
    _edges(painter, frame)
    paint_nodes(painter, frame)
    _headings(painter, frame)


def _headings(painter: QPainter, frame: Frame) -> None:
    """The sides' names above them, on a strip that stays while the drawing moves below."""
    theme = frame.theme
    painter.fillRect(QRectF(0, 0, frame.width, frame.head), QColor(theme.window))
    painter.setPen(QPen(QColor(theme.border), 1))
    painter.drawLine(QPointF(0, frame.head - 0.5), QPointF(frame.width, frame.head - 0.5))
    painter.setFont(frame.fonts.bold)
    painter.setPen(QColor(theme.text_muted))
    sides = np.array([n.side for n in frame.looks.scene.nodes.nodes])
    left, _top, width, _height = frame.boxes.T
    columns = np.array(frame.looks.scene.grid.columns)
    for side, title in _TITLES.items():
        first = np.flatnonzero((sides == side) & (columns == 0))
        if not len(first):
            continue
        n = int(first[0])
        text = title if frame.looks.scene.is_training else tr("the network  ↓")
        needed = frame.fonts.bold_metrics.horizontalAdvance(text) + 4
        middle = left[n] + width[n] / 2
        painter.drawText(QRectF(middle - needed / 2, 0, needed, frame.head - 1), TEXT_CENTRE, text)


def _frames(painter: QPainter, frame: Frame) -> None:
    theme = frame.theme
    if frame.camera.scale_y < _LEAST_FRAMED_SCALE:
        return
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    painter.setPen(QPen(QColor(theme.border_strong), 1))
    painter.setBrush(QColor(theme.card))
    for _one, box in _frames_in_view(frame):
        painter.drawRoundedRect(box, 6, 6)


def _frames_in_view(frame: Frame) -> Iterator[tuple[BlockFrame, QRectF]]:
    """The frames of open blocks that are in view by their heights, in pixels."""
    scale, offset = frame.camera.scale_y, frame.camera.offset_y
    for one in frame.looks.scene.frames:
        if one.bottom * scale + offset > 0 and one.top * scale + offset < frame.height:
            yield one, frame.camera.box(one.left, one.top, one.right - one.left, one.bottom - one.top)


def frame_labels(frame: Frame) -> list[tuple[str, QRectF, str, bool]]:
    """Block, place, text and whether it is written from the left, of each open block's handle that is in view."""
    if frame.camera.scale_y < _LEAST_FRAMED_SCALE:
        return []
    metrics = frame.fonts.small_metrics
    found = []
    for one, box in _frames_in_view(frame):
        text = f"▾ {one.title}"
        width = min(metrics.horizontalAdvance(text) + 10, 190.0)
        to_left = one.side is Side.FORWARD
        left = box.left() - width - _LABEL_GAP if to_left else box.right() + _LABEL_GAP
        # Beside the frame where it begins, or as far down as it is in view.
        top = min(max(box.top(), frame.head + 2), box.bottom() - metrics.height())
        place = QRectF(left, top, width, metrics.height() + 3)
        if place.intersects(QRectF(0, 0, frame.width, frame.height)):
            found.append((one.block, place, metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, width), not to_left))
    return found


def paint_frame_labels(painter: QPainter, frame: Frame) -> None:
    """The handles of open blocks."""
    painter.setFont(frame.fonts.small)
    taken: list[QRectF] = []
    for _block, place, text, from_left in frame_labels(frame):
        if any(place.intersects(other) for other in taken):
            continue
        taken.append(place)
        painter.fillRect(place, QColor(frame.theme.window))
        painter.setPen(QColor(frame.theme.text_muted))
        painter.drawText(place, TEXT_LEFT if from_left else TEXT_RIGHT, text)


# ---- edges


def _edges(painter: QPainter, frame: Frame) -> None:
    scene, theme, looks = frame.looks.scene, frame.theme, frame.looks
    inside = frame.edges_in_view()
    few = int(inside.sum()) <= _MOST_PATHS
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=few)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    _lines(painter, frame, inside & ~scene.is_saved, QPen(QColor(_quiet(frame, theme.border_strong)), 1.2))
    saved = inside & scene.is_saved
    if looks.facts is None:
        _lines(painter, frame, saved, QPen(QColor(theme.border_strong), 1))
    elif not few:
        for fate in Fate:
            pen = fate_pen(theme, fate, 1)
            pen.setStyle(Qt.PenStyle.SolidLine)
            _lines(painter, frame, saved & (looks.fate_bytes[:, fate] > 0), pen)
    else:
        _fates(painter, frame, np.flatnonzero(saved).tolist())


def _quiet(frame: Frame, colour: str) -> str:
    return mixed(colour, frame.theme.window, 0.45) if frame.moment is not None else colour


def _fates(painter: QPainter, frame: Frame, edges: Iterable[int]) -> None:
    """Each saved edge as one line per fate, the thicker the more bytes come that way."""
    looks = frame.looks
    most = float(looks.fate_bytes.max(initial=1.0)) or 1.0
    moment = frame.moment
    for e in edges:
        there = [fate for fate in Fate if looks.fate_bytes[e, fate] > 0]
        path = edge_path(frame, e)
        source = looks.scene.placed.pairs[e][0]
        is_quiet = moment is not None and not moment.is_live[source]
        for i, fate in enumerate(there):
            width = 1.0 + (_WIDEST_EDGE - 1.0) * float(looks.fate_bytes[e, fate] / most) ** 0.5
            pen = fate_pen(frame.theme, fate, width)
            if is_quiet:
                pen.setColor(QColor(mixed(pen.color().name(), frame.theme.window, 0.6)))
            painter.setPen(pen)
            painter.drawPath(path.translated(0, 4.0 * i - 2.0 * (len(there) - 1)))


def edge_path(frame: Frame, edge: int) -> QPainterPath:
    """An edge in pixels."""
    placed, camera = frame.looks.scene.placed, frame.camera
    points = placed.points[placed.first[edge] : placed.first[edge + 1]]
    path = QPainterPath(camera.point(*points[0].tolist()))
    for point in points[1:].tolist():
        path.lineTo(camera.point(*point))
    return path


def _lines(painter: QPainter, frame: Frame, edges: BoolArray, pen: QPen) -> None:
    """Edges as plain lines."""
    x1, y1, x2, y2, edge = frame.looks.scene.segments
    chosen = edges[edge] if len(edge) else np.zeros(0, np.bool_)
    camera = frame.camera
    painter.setPen(pen)
    draw_lines(
        painter,
        x1[chosen] * camera.scale_x + camera.offset_x,
        y1[chosen] * camera.scale_y + camera.offset_y,
        x2[chosen] * camera.scale_x + camera.offset_x,
        y2[chosen] * camera.scale_y + camera.offset_y,
    )
