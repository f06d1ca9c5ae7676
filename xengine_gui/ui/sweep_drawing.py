"""What the drawings of sweeps have in common, over one device's limits or two."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from xengine_gui.solve.sweep_points import Limits, Sweep, SweepPoint
from xengine_gui.ui.theme import Theme
from xengine_gui.ui.timeline.frame import Fonts


@dataclass(frozen=True, slots=True)
class SweepHit:
    """A point that is pointed at: whose it is, and what is known there."""

    strategy: str
    title: str
    point: SweepPoint


class SweepDrawing(ABC):
    """A sweep laid out in a rectangle.

    `current` are the limits that hold now, which are marked; `pointed` is the point under the pointer.
    """

    def __init__(
        self,
        sweep: Sweep,
        area: QRectF,
        theme: Theme,
        fonts: Fonts,
        *,
        current: Limits | None = None,
        pointed: SweepHit | None = None,
    ) -> None:
        self._sweep, self._theme, self._fonts = sweep, theme, fonts
        self._current, self._pointed = current, pointed
        self._lay_out(area)

    @abstractmethod
    def paint(self, painter: QPainter) -> None:
        """Paint it, without a ground."""

    @abstractmethod
    def hit(self, at: QPointF) -> SweepHit | None:
        """What is at a place."""

    @abstractmethod
    def place(self, hit: SweepHit) -> QPointF:
        """Where a point is."""

    @abstractmethod
    def _lay_out(self, area: QRectF) -> None:
        """Find the places of everything."""

    def _words(self, painter: QPainter, box: QRectF, text: str, side: Qt.AlignmentFlag, *, faint: bool = False) -> None:
        painter.setFont(self._fonts.small)
        painter.setPen(QColor(self._theme.text_disabled if faint else self._theme.text_muted))
        painter.drawText(box, side, text)
