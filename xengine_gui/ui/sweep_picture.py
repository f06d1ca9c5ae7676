"""A sweep as a picture file: curves over one device's limits, or a heat map over two."""

from pathlib import Path

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter

from xengine_gui.errors import InputError
from xengine_gui.language import tr
from xengine_gui.solve.sweep_points import Limits, Sweep
from xengine_gui.ui.picture import picture_fonts, write_drawing
from xengine_gui.ui.sweep_chart import CurveChart
from xengine_gui.ui.sweep_drawing import SweepDrawing, SweepHit
from xengine_gui.ui.sweep_map import HeatMap
from xengine_gui.ui.theme import Theme, ThemeName, load_theme
from xengine_gui.ui.timeline.details import printable
from xengine_gui.ui.timeline.frame import Fonts
from xengine_gui.units import format_names

_MARGIN = 18.0


def drawing_of(
    sweep: Sweep,
    area: QRectF,
    theme: Theme,
    fonts: Fonts,
    *,
    current: Limits | None = None,
    pointed: SweepHit | None = None,
) -> SweepDrawing:
    """A sweep laid out in an area, as what suits it."""
    kind: type[SweepDrawing] = CurveChart if len(sweep.axes) == 1 else HeatMap
    return kind(sweep, area, theme, fonts, current=current, pointed=pointed)


def render_sweep(sweep: Sweep, path: Path, *, width: int = 960, height: int = 540, theme: ThemeName = "light") -> None:
    """Write the picture of a sweep to `path`, whose suffix says what it is: .svg, .png or .pdf.

    Raises `InputError` for another suffix, and where no limit has a plan.
    """
    if all(point.total_ns is None for point in sweep.best()):
        raise InputError("", "there is nothing to draw: no limit of the sweep has a plan")
    write_drawing(path, lambda _is_vector: _SweepPicture(sweep, QSize(width, height), load_theme(theme)))


def title_of(sweep: Sweep) -> str:
    """What a sweep is about, in a line."""
    devices = " and ".join(printable(axis.device) for axis in sweep.axes)
    return tr("{name}: what memory on {devices} buys", name=printable(sweep.name or "problem"), devices=devices)


def facts_of(sweep: Sweep) -> str:
    """What is drawn, in a line."""
    names = format_names(printable(curve.title) for curve in sweep.curves)
    if len(sweep.axes) > 1:
        of = tr("the fastest plan of {names}", names=names) if len(sweep.curves) > 1 else names
        return tr("total on the serial clock, {of}; hatched: proved to have no plan", of=of)
    by = "" if len(sweep.curves) > 1 else tr(" by {names}", names=names)
    return tr("total on the serial clock over the memory limit{by}; dashed green: no plan is below", by=by)


class _SweepPicture:
    """The picture, laid out: a title, a line of facts, the drawing."""

    def __init__(self, sweep: Sweep, size: QSize, theme: Theme) -> None:
        self.title = title_of(sweep)
        self.size = size
        self._facts, self._theme, self._fonts = facts_of(sweep), theme, picture_fonts()
        top = self._fonts.line_height * 3.6
        area = QRectF(_MARGIN, top, size.width() - 2 * _MARGIN, size.height() - top - _MARGIN)
        self._drawing = drawing_of(sweep, area, theme, self._fonts)

    def paint(self, painter: QPainter) -> None:
        """Paint it all, in pixels from the painter's origin."""
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        painter.fillRect(QRectF(0, 0, self.size.width(), self.size.height()), QColor(self._theme.surface))
        fonts, room, line = self._fonts, self.size.width() - 2 * _MARGIN, self._fonts.line_height
        painter.setFont(fonts.title)
        painter.setPen(QColor(self._theme.text))
        title = fonts.title_metrics.elidedText(self.title, Qt.TextElideMode.ElideMiddle, room)
        painter.drawText(QPointF(_MARGIN, line * 1.6), title)
        painter.setFont(fonts.regular)
        painter.setPen(QColor(self._theme.text_muted))
        facts = fonts.regular_metrics.elidedText(self._facts, Qt.TextElideMode.ElideRight, room)
        painter.drawText(QPointF(_MARGIN, line * 2.8), facts)
        self._drawing.paint(painter)
