"""The plot of a sweep: points tell what they are, and a click shows their plan."""

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolTip, QWidget

from xengine_gui.language import tr
from xengine_gui.solve.sweep_points import Limits, Sweep
from xengine_gui.ui.sweep_drawing import SweepDrawing, SweepHit
from xengine_gui.ui.sweep_picture import drawing_of
from xengine_gui.ui.theme import current_theme
from xengine_gui.ui.timeline.details import printable
from xengine_gui.ui.timeline.frame import Fonts
from xengine_gui.units import format_duration, format_gap, format_size

_MARGIN = 4


class SweepView(QWidget):
    """Paints a sweep; arrow keys go from point to point, Enter shows the plan."""

    chosen = Signal(object)
    """A `SweepHit` that was clicked."""

    def __init__(self) -> None:
        super().__init__()
        self._sweep: Sweep | None = None
        self._current: Limits | None = None
        self._pointed: SweepHit | None = None
        self._message = ""
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Totals over memory limits"))

    def sizeHint(self) -> QSize:
        """As wide as it may be."""
        return QSize(520, 180)

    def minimumSizeHint(self) -> QSize:
        """Small enough for a small window."""
        return QSize(180, 90)

    @property
    def sweep(self) -> Sweep | None:
        """What is drawn."""
        return self._sweep

    @property
    def message(self) -> str:
        """What stands where the plot will be; empty while there is one."""
        return self._message if self._sweep is None else ""

    def show_sweep(self, sweep: Sweep | None, message: str = "") -> None:
        """Draw a sweep, or say why there is none."""
        self._sweep, self._message = sweep, message
        self._point_at(None)
        self.update()

    def show_current(self, limits: Limits | None) -> None:
        """Mark the limits that hold now."""
        if limits != self._current:
            self._current = limits
            self.update()

    def place_of(self, hit: SweepHit) -> QPointF | None:
        """Where a point is drawn."""
        drawing = self._drawing()
        return None if drawing is None else drawing.place(hit)

    def _drawing(self) -> SweepDrawing | None:
        if self._sweep is None:
            return None
        area = QRectF(self.rect()).adjusted(0, _MARGIN, -_MARGIN, 0)
        return drawing_of(
            self._sweep, area, current_theme(), Fonts(self.font()), current=self._current, pointed=self._pointed
        )

    # --- painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw it, or the message."""
        painter = QPainter(self)
        try:
            drawing = self._drawing()
            if drawing is not None:
                drawing.paint(painter)
            else:
                painter.setPen(QColor(current_theme().text_muted))
                box = self.rect().adjusted(24, 0, -24, 0)
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self._message)
            if self.hasFocus():
                painter.setPen(QColor(current_theme().focus))
                painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        finally:
            painter.end()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.update()

    # --- pointing

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell what is under the pointer."""
        drawing = self._drawing()
        self._point_at(None if drawing is None else drawing.hit(event.position()), event.globalPosition().toPoint())

    def leaveEvent(self, _event: QEvent) -> None:
        """Nothing is under the pointer."""
        self._point_at(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Show the plan that is clicked."""
        drawing = self._drawing()
        hit = None if drawing is None else drawing.hit(event.position())
        if event.button() is Qt.MouseButton.LeftButton and hit is not None and hit.point.plan is not None:
            self.chosen.emit(hit)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right go through the points of the fastest plans, Enter shows one."""
        steps = {Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1}
        step = steps.get(Qt.Key(event.key()))
        if step is not None and self._sweep is not None:
            self._step(step)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._pointed is not None:
            self.chosen.emit(self._pointed)
        else:
            super().keyPressEvent(event)

    def _step(self, step: int) -> None:
        assert self._sweep is not None  # noqa: S101 - asked by the caller
        hits = [hit for hit in _fastest(self._sweep) if hit.point.plan is not None]
        if not hits:
            return
        limits = [hit.point.limits_bytes for hit in hits]
        here = self._pointed.point.limits_bytes if self._pointed is not None else None
        place = limits.index(here) + step if here in limits else 0
        hit = hits[min(max(place, 0), len(hits) - 1)]
        where = self.place_of(hit)
        self._point_at(hit, None if where is None else self.mapToGlobal(where.toPoint()))

    def _point_at(self, hit: SweepHit | None, where: QPoint | None = None) -> None:
        if hit == self._pointed:
            return
        self._pointed = hit
        can_show = hit is not None and hit.point.plan is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if can_show else Qt.CursorShape.ArrowCursor)
        if hit is None or where is None or self._sweep is None:
            QToolTip.hideText()
        else:
            QToolTip.showText(where + QPoint(12, 12), told_of(self._sweep, hit), self)
        self.update()


def told_of(sweep: Sweep, hit: SweepHit) -> str:
    """What is known of a point, in plain lines."""
    point = hit.point
    limits = (
        f"{printable(axis.device)} {format_size(limit)}"
        for axis, limit in zip(sweep.axes, point.limits_bytes, strict=True)
    )
    lines = [", ".join(limits)]
    if point.total_ns is None:
        lines += [f"{point.status}: {printable(point.explanation)}" if point.is_final else tr("not planned yet")]
    else:
        gap = "" if point.gap_ratio is None else tr(", gap {gap_ratio}", gap_ratio=format_gap(point.gap_ratio))
        lines += [
            tr(
                "{total_ns} by {title}{gap}",
                total_ns=format_duration(point.total_ns, fine=True),
                title=hit.title,
                gap=gap,
            ),
            tr("Click to show this plan."),
        ]
    return "\n".join(lines)


def _fastest(sweep: Sweep) -> list[SweepHit]:
    hits = []
    for i, point in enumerate(sweep.best()):
        curve = next((c for c in sweep.curves if c.points[i].total_ns == point.total_ns), sweep.curves[0])
        hits.append(SweepHit(curve.strategy, curve.title, point))
    return hits
