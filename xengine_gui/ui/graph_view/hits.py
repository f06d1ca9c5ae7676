"""What of a drawing is under the mouse, and what is next to a node."""

import numpy as np
from PySide6.QtCore import QPointF

from xengine_gui.ui.graph_view.painting import Frame, frame_labels

_NEAR_EDGE = 5.0


def node_at(frame: Frame, point: QPointF) -> int:
    """The node under a pixel, -1 for none; what is very low can still be hit."""
    left, top, width, height = frame.boxes.T
    slack = np.maximum(0.0, 4.0 - height) / 2
    x, y = point.x(), point.y()
    hit = np.flatnonzero((left <= x) & (x <= left + width) & (top - slack <= y) & (y <= top + height + slack))
    return int(hit[-1]) if len(hit) else -1


def edge_at(frame: Frame, point: QPointF) -> int:
    """The edge nearest to a pixel, within some pixels; -1 for none."""
    x1, y1, x2, y2, edge = frame.looks.scene.segments
    if not len(edge):
        return -1
    camera = frame.camera
    ax, ay = x1 * camera.scale_x + camera.offset_x, y1 * camera.scale_y + camera.offset_y
    dx, dy = (x2 - x1) * camera.scale_x, (y2 - y1) * camera.scale_y
    length = np.maximum(dx * dx + dy * dy, 1e-9)
    along = np.clip(((point.x() - ax) * dx + (point.y() - ay) * dy) / length, 0.0, 1.0)
    away = np.hypot(point.x() - ax - along * dx, point.y() - ay - along * dy)
    nearest = int(np.argmin(away))
    return int(edge[nearest]) if away[nearest] <= _NEAR_EDGE else -1


def handle_at(frame: Frame, point: QPointF) -> str:
    """The open block whose handle is under a pixel; empty for none."""
    if point.y() < frame.head:
        return ""
    return next((block for block, place, _text, _left in frame_labels(frame) if place.contains(point)), "")


def neighbour(frame: Frame, node: int, dx: int, dy: int) -> int:
    """The nearest node in a direction, the straighter the better; the first one where none is given."""
    boxes = frame.boxes
    if not len(boxes):
        return -1
    if node < 0:
        return int(np.argmin(boxes[:, 1]))
    x, y = boxes[:, 0] + boxes[:, 2] / 2, boxes[:, 1] + boxes[:, 3] / 2
    to_x, to_y = x - x[node], y - y[node]
    ahead = to_x * dx + to_y * dy
    aside = np.abs(to_x * dy) + np.abs(to_y * dx)
    score = np.where(ahead > 0.5, ahead + 3 * aside, np.inf)
    best = int(np.argmin(score))
    return best if np.isfinite(score[best]) else -1
