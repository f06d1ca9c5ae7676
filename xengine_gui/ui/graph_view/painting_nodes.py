"""Paints the nodes of a graph: colour says the phase, shape and filling the device, marks what the plan does."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPen

from xengine_gui.schedule.timeline import Category
from xengine_gui.ui.graph_view.structure import Side
from xengine_gui.ui.theme import Theme
from xengine_gui.ui.timeline.details import printable
from xengine_gui.ui.timeline.primitives import TEXT_LEFT, TEXT_RIGHT, draw_rects
from xengine_gui.units import format_size

if TYPE_CHECKING:
    from xengine_gui.ui.graph_view.painting import Frame

_LEAST_SHAPED = 7.5
_LEAST_NAMED_WIDTH = 26.0
_LEAST_SIDE_TEXT = 118.0
_MARK = 9.0
_GAUGE = 6.0
_FOOT = 4.0
_DIM = 0.78
_STRIPES = Qt.BrushStyle.Dense4Pattern
_FILLINGS = (
    Qt.BrushStyle.SolidPattern,
    Qt.BrushStyle.NoBrush,
    Qt.BrushStyle.HorPattern,
    Qt.BrushStyle.Dense6Pattern,
)


def paint_nodes(painter: QPainter, frame: "Frame") -> None:
    """All nodes in view."""
    painter.setPen(Qt.PenStyle.NoPen)
    if not len(frame.visible):
        return
    if frame.boxes[0, 3] < _LEAST_SHAPED:
        _paint_far(painter, frame)
        return
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    for n in frame.visible.tolist():
        _paint_near(painter, frame, n)


def _paint_far(painter: QPainter, frame: "Frame") -> None:
    """Nodes too low for a shape: rectangles by colour, with a light core on other devices and an orange end."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    looks, theme = frame.looks, frame.theme
    shown = frame.visible
    dim = np.zeros(len(shown), np.bool_) if frame.moment is None else ~frame.moment.is_live[shown]
    boxes = frame.boxes[shown]
    for category in np.unique(looks.category[shown]).tolist():
        for is_dim in (True, False):
            chosen = (looks.category[shown] == category) & (dim == is_dim)
            colour = theme.category(Category(category))
            painter.setBrush(QColor(dimmed(theme, colour)[0] if is_dim else colour))
            draw_rects(painter, *boxes[chosen].T)
    other = boxes[looks.style[shown] > 0]
    if len(other) and other[0, 3] >= 3:
        painter.setBrush(QColor(theme.card))
        draw_rects(painter, other[:, 0] + 2, other[:, 1] + 1, other[:, 2] - 4, np.maximum(other[:, 3] - 2, 1))
    again = boxes[looks.again[shown] > 0]
    if len(again):
        painter.setBrush(QColor(theme.recompute))
        width = np.maximum(again[:, 2] * 0.2, 2.0)
        draw_rects(painter, again[:, 0] + again[:, 2] - width, again[:, 1], width, np.maximum(again[:, 3], 2.0))


def _paint_near(painter: QPainter, frame: "Frame", n: int) -> None:
    looks, theme = frame.looks, frame.theme
    box = frame.box(n)
    node = looks.scene.nodes.nodes[n]
    colour = theme.category(Category(int(looks.category[n])))
    ground = theme.window
    if frame.moment is not None and not frame.moment.is_live[n]:
        colour = dimmed(theme, colour)[0]
    if node.block:
        # The sheet behind tells that there is more inside.
        painter.setPen(QPen(QColor(colour), 1))
        painter.setBrush(QColor(ground))
        painter.drawPath(shape(box.translated(3, 3), int(looks.style[n])))
    ink = paint_body(painter, theme, box, colour, looks.style_shares[n].tolist())
    if frame.moment is not None and n in frame.moment.running:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(theme.cursor), 2.4))
        painter.drawPath(shape(box.adjusted(-2.5, -2.5, 2.5, 2.5), int(looks.style[n])))
    right = box.right() - 6
    if looks.again[n]:
        right = _again(painter, frame, box, int(looks.again[n]))
    if looks.is_retained[n]:
        paint_retained(painter, theme, QPointF(box.right() + _MARK * 0.6, box.center().y()))
    _live_gauges(painter, frame, n, box)
    _texts(painter, frame, n, QRectF(box.left() + 7, box.top(), max(right - box.left() - 9, 0.0), box.height()), ink)


def paint_body(painter: QPainter, theme: Theme, box: QRectF, colour: str, shares: Sequence[float]) -> str:
    """The shape of a node with the filling of its devices' styles; the result is the colour of text on it."""
    main = max(range(len(shares)), key=shares.__getitem__, default=0)
    path = shape(box, main)
    ink = theme.text
    if main == 0:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colour))
        painter.drawPath(path)
        ink = theme.text_on(colour)
    else:
        _hollow(painter, theme, path, colour, main)
    others = [style for style, share in enumerate(shares) if share and style != main]
    if others:
        # A block that runs on several devices: its foot is in the other filling, as long as the other's share.
        foot = QRectF(box.left(), box.bottom() - _FOOT, box.width() * sum(shares[o] for o in others), _FOOT)
        painter.setPen(QPen(QColor(colour), 1))
        painter.setBrush(QColor(colour if others[0] == 0 else theme.card))
        painter.drawRect(foot)
    return ink


def _hollow(painter: QPainter, theme: Theme, path: QPainterPath, colour: str, device: int) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(mixed(colour, theme.card, 0.86)))
    painter.drawPath(path)
    filling = _FILLINGS[device % len(_FILLINGS)]
    painter.setBrush(QBrush(QColor(mixed(colour, theme.card, 0.6)), filling))
    painter.setPen(QPen(QColor(colour), 1.8))
    painter.drawPath(path)


def dimmed(theme: Theme, colour: str) -> tuple[str, str]:
    """The colour of a node of which nothing is in memory, and that of the text on it."""
    return mixed(colour, theme.window, _DIM), mixed(theme.text, theme.text_muted, 0.5)


def shape(box: QRectF, device: int) -> QPainterPath:
    """The outline of a device's nodes: rounded, cut corners, a pill, a plain rectangle."""
    path = QPainterPath()
    kind = device % 4
    if kind == 1:
        cut = min(6.0, box.height() / 3)
        x0, y0, x1, y1 = box.left(), box.top(), box.right(), box.bottom()
        path.moveTo(x0 + cut, y0)
        for x, y in (
            (x1 - cut, y0), (x1, y0 + cut), (x1, y1 - cut), (x1 - cut, y1),
            (x0 + cut, y1), (x0, y1 - cut), (x0, y0 + cut),
        ):  # fmt: skip
            path.lineTo(x, y)
        path.closeSubpath()
    elif kind == 3:
        path.addRect(box)
    else:
        radius = box.height() / 2 if kind == 2 else min(5.0, box.height() / 3)
        path.addRoundedRect(box, radius, radius)
    return path


def _again(painter: QPainter, frame: "Frame", box: QRectF, count: int) -> float:
    """The mark of recomputations at a node's right end; where it begins."""
    text = str(count) if count > 1 else ""
    metrics = frame.fonts.small_metrics
    is_tall = box.height() >= metrics.height() * 0.9
    wanted = 12.0 + (metrics.horizontalAdvance(text) + 5 if text and is_tall else 0.0)
    width = min(wanted, box.width() * 0.4)
    mark = QRectF(box.right() - width, box.top(), width, box.height())
    paint_again(painter, frame.theme, mark)
    if text and is_tall and width == wanted:
        plate = QRectF(mark.right() - wanted + 9, mark.top() + 2, wanted - 11, mark.height() - 4)
        painter.fillRect(plate, QColor(frame.theme.recompute))
        painter.setPen(QColor(frame.theme.text_on(frame.theme.recompute)))
        painter.setFont(frame.fonts.small)
        painter.drawText(plate, TEXT_RIGHT, text)
    return mark.left() - 4


def paint_again(painter: QPainter, theme: Theme, box: QRectF) -> None:
    """The mark of a recomputation: orange with stripes, as on the timeline."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(theme.recompute))
    painter.drawRoundedRect(box, 3, 3)
    painter.setBrush(QBrush(QColor(theme.recompute_hatch), Qt.BrushStyle.BDiagPattern))
    painter.drawRoundedRect(box, 3, 3)


def paint_retained(painter: QPainter, theme: Theme, at: QPointF) -> None:
    """The mark of a result that stays until its gradient reads it."""
    painter.setPen(QPen(QColor(theme.card), 1.5))
    painter.setBrush(QColor(theme.memory_line))
    painter.drawEllipse(at, _MARK / 2, _MARK / 2)


def paint_live(painter: QPainter, theme: Theme, box: QRectF, share: float, style: int) -> None:
    """A gauge of what is in memory: full on the busiest device, striped on others."""
    painter.setPen(QPen(QColor(theme.memory_line), 1))
    painter.setBrush(QColor(theme.card))
    painter.drawRect(box)
    level = QRectF(box)
    level.setTop(box.bottom() - max(2.0, box.height() * min(share, 1.0)))
    painter.setBrush(QBrush(QColor(theme.memory_line), Qt.BrushStyle.SolidPattern if style == 0 else _STRIPES))
    painter.drawRect(level)


def _live_gauges(painter: QPainter, frame: "Frame", n: int, box: QRectF) -> None:
    """Beside a node, on its outer side, how much of what it makes is in memory now: a gauge per device."""
    made = float(frame.looks.made_bytes[n])
    if frame.moment is None or made <= 0:
        return
    is_left = frame.looks.scene.nodes.nodes[n].side is Side.FORWARD
    at = 0
    for device, live in enumerate(frame.moment.live_bytes[n].tolist()):
        if live > 0:
            far = 4.0 + (_GAUGE + 2.0) * at
            left = box.left() - far - _GAUGE if is_left else box.right() + far
            gauge = QRectF(left, box.top(), _GAUGE, box.height())
            paint_live(painter, frame.theme, gauge, live / made, frame.looks.styles[device])
            at += 1


def _texts(painter: QPainter, frame: "Frame", n: int, box: QRectF, ink: str) -> None:
    metrics, looks = frame.fonts.small_metrics, frame.looks
    if box.width() < _LEAST_NAMED_WIDTH or box.height() < metrics.height() * 0.72:
        return
    node = looks.scene.nodes.nodes[n]
    painter.setFont(frame.fonts.small)
    if frame.moment is not None and not frame.moment.is_live[n]:
        ink = dimmed(frame.theme, ink)[1]
    painter.setPen(QColor(ink))
    room = box.width()
    right = _side_text(frame, n)
    needed = metrics.horizontalAdvance(right) + 10
    if right and room >= _LEAST_SIDE_TEXT and room - needed > 60:
        painter.drawText(box, TEXT_RIGHT, right)
        room -= needed
    name = printable(node.title)
    if node.side is Side.UPDATE:
        name = name.removesuffix("/update")  # the heading of the column says it
    if node.block:
        name = f"▸ {name}"
    painter.drawText(box, TEXT_LEFT, metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, room))


def _side_text(frame: "Frame", n: int) -> str:
    """At the right end: the bytes in memory at the moment, else the device, or how many operators a block has."""
    looks = frame.looks
    node = looks.scene.nodes.nodes[n]
    if frame.moment is not None:
        live = int(frame.moment.live_bytes[n].sum())
        return format_size(live) if live else ""
    if node.block:
        return str(len(node.operators))
    devices = looks.scene.structure.problem.devices
    return devices[int(looks.device[n])].name if looks.facts is not None and len(devices) > 1 else ""


def mixed(colour: str, other: str, share: float) -> str:
    """A colour with a share of another one in it."""
    a, b = QColor(colour), QColor(other)
    pairs = ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    red, green, blue = (round(x * (1 - share) + y * share) for x, y in pairs)
    return QColor(red, green, blue).name()
