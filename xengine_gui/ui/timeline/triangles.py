"""Many small triangles of one size: copies of one image on a screen, shapes in a vector picture."""

from functools import lru_cache

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPixmap, QPolygonF

from xengine_gui.ui.timeline.frame import Frame
from xengine_gui.ui.timeline.geometry import FloatArray
from xengine_gui.ui.timeline.layout import Band
from xengine_gui.ui.timeline.primitives import draw_stamps


def draw_triangles(
    painter: QPainter, frame: Frame, at: FloatArray, band: Band, width: float, colour: str, *, up: bool = True
) -> None:
    """Draw triangles in a band, their tips (upwards, or downwards) at the given places."""
    if not frame.is_vector:
        stamp = _stamp(frame.layout.column_width, width, band.height, colour, up=up)
        height = stamp.height() * frame.layout.column_width
        draw_stamps(painter, stamp, at, band.top + height / 2, frame.layout.column_width)
        return
    tip, foot = (0.0, band.height) if up else (band.height, 0.0)
    triangle = QPolygonF([QPointF(0, tip), QPointF(width / 2, foot), QPointF(-width / 2, foot)])
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
    # One by one: as a single path they would be cut at every crossing, which takes ten times as long.
    for x in at.tolist():
        painter.drawConvexPolygon(triangle.translated(x, band.top))


@lru_cache(maxsize=16)
def _stamp(pixel: float, width: float, height: float, colour: str, *, up: bool) -> QPixmap:
    """One triangle of an odd number of device pixels, so that its tip is on the middle of one."""
    columns, rows = 2 * int(width / pixel / 2) + 1, max(2, round(height / pixel))
    stamp = QPixmap(columns, rows)
    stamp.fill(Qt.GlobalColor.transparent)
    painter = QPainter(stamp)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
    tip, foot = (0.0, float(rows)) if up else (float(rows), 0.0)
    painter.drawConvexPolygon(QPolygonF([QPointF(columns / 2, tip), QPointF(columns, foot), QPointF(0, foot)]))
    painter.end()
    return stamp
