"""How the curves of several strategies are told apart: by colour and by the shape of their points."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from xengine_gui.ui.theme import Theme

# Fields of the theme that stay apart for colour-blind eyes; the colour of the bound is left to the bound.
_COLOURS = ("plot_line", "plot_incumbent", "loss", "backward", "free", "text_muted")
_SIZE = 3.2


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """The look of one curve."""

    colour: str
    shape: int

    def paint_point(self, painter: QPainter, at: QPointF, *, scale: float = 1.0) -> None:
        """Paint a point of the curve, filled."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self.colour))
        _SHAPES[self.shape](painter, at, _SIZE * scale)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def pen(self, width: float = 2.0) -> QPen:
        """The pen of the curve's line."""
        pen = QPen(QColor(self.colour), width)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        return pen


def series_style(theme: Theme, place: int) -> SeriesStyle:
    """The look of the curve that stands at `place`; with all shapes used up they begin anew."""
    colour = getattr(theme, _COLOURS[place % len(_COLOURS)])
    # Each round through the colours has another shape, and so have neighbours.
    return SeriesStyle(colour, (place + place // len(_COLOURS)) % len(_SHAPES))


def _circle(painter: QPainter, at: QPointF, size: float) -> None:
    painter.drawEllipse(at, size, size)


def _square(painter: QPainter, at: QPointF, size: float) -> None:
    painter.drawRect(QRectF(at.x() - size * 0.9, at.y() - size * 0.9, size * 1.8, size * 1.8))


def _diamond(painter: QPainter, at: QPointF, size: float) -> None:
    reach = size * 1.3
    corners = ((0, -reach), (reach, 0), (0, reach), (-reach, 0))
    painter.drawPolygon(QPolygonF([QPointF(at.x() + x, at.y() + y) for x, y in corners]))


def _triangle(painter: QPainter, at: QPointF, size: float) -> None:
    reach = size * 1.25
    corners = ((0, -reach), (reach, reach * 0.8), (-reach, reach * 0.8))
    painter.drawPolygon(QPolygonF([QPointF(at.x() + x, at.y() + y) for x, y in corners]))


_SHAPES: tuple[Callable[[QPainter, QPointF, float], None], ...] = (_circle, _square, _diamond, _triangle)
