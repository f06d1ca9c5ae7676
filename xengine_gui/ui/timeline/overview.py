"""The whole plan in a bar, with what the timeline shows as a window that can be dragged and drawn wider."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from xengine_gui.language import tr
from xengine_gui.schedule.timeline import Category
from xengine_gui.ui.theme import Theme
from xengine_gui.ui.timeline.bars import RARE
from xengine_gui.ui.timeline.geometry import Columns, TimeRange
from xengine_gui.ui.timeline.index import DeviceIndex
from xengine_gui.ui.timeline.navigation import LEAST_SPAN_NS, clamped, panned, zoomed
from xengine_gui.ui.timeline.primitives import draw_rects, float_array

if TYPE_CHECKING:
    from xengine_gui.ui.timeline.view import TimelineView

_HEIGHT = 44
_GRIP_PX = 6.0
_LEAST_WINDOW = 8.0
_ZOOM_PER_NOTCH = 1.25
_MARGIN = 6.0
_TOP = 8.0


class OverviewBar(QWidget):
    """A strip per device: what it runs above, its memory as a share of limit or peak below.

    Dragging the window moves it, dragging an edge of it zooms, dragging elsewhere draws up a new one, a click there
    brings it, a double click shows everything.
    """

    def __init__(self, timeline: "TimelineView") -> None:
        super().__init__()
        self._timeline = timeline
        self._image: QPixmap | None = None
        self._drag = ""
        self._pressed_ns = 0
        self._pressed_view = timeline.view_range()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setAccessibleName(tr("Overview of the plan"))
        self.setToolTip(tr("The whole plan. Drag the window to move it, its edges to zoom; double-click shows all."))
        timeline.view_changed.connect(lambda _start, _end: self.update())
        timeline.timeline_changed.connect(self._changed)
        self._changed()

    def sizeHint(self) -> QSize:
        """A narrow bar."""
        return QSize(400, _HEIGHT)

    def window_box(self) -> QRectF:
        """Where the window is drawn."""
        view, whole = self._timeline.view_range(), self._whole()
        left = self._x(view.start_ns, whole)
        right = max(self._x(view.end_ns, whole), left + _LEAST_WINDOW)
        shift = min(0.0, self._plot().right() - right)
        return QRectF(left + shift, _TOP - 2.5, right - left, self.height() - _TOP + 1.0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Paint anew at another width."""
        super().resizeEvent(event)
        self._image = None

    def changeEvent(self, event: QEvent) -> None:
        """Follow the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._image = None
            self.update()

    # ---- painting

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        """The kept picture of the plan, and the window over it."""
        painter = QPainter(self)
        theme = self._timeline.theme()
        painter.fillRect(self.rect(), QColor(theme.window))
        if self._timeline.index() is not None:
            if self._image is None or self._image.devicePixelRatio() != self.devicePixelRatioF():
                self._image = self._painted(theme)
            painter.drawPixmap(0, 0, self._image)
            self._paint_window(painter, theme)
        painter.end()

    def _paint_window(self, painter: QPainter, theme: Theme) -> None:
        box, plot = self.window_box(), self._plot()
        veil = QColor(theme.window)
        veil.setAlpha(165)
        painter.fillRect(QRectF(plot.left(), plot.top(), box.left() - plot.left(), plot.height()), veil)
        painter.fillRect(QRectF(box.right(), plot.top(), plot.right() - box.right(), plot.height()), veil)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        painter.setPen(QPen(QColor(theme.accent), 1.6))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, 3, 3)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.accent))
        for edge in (box.left(), box.right()):
            painter.drawRoundedRect(QRectF(edge - 2, box.center().y() - 7, 4, 14), 2, 2)

    def _painted(self, theme: Theme) -> QPixmap:
        ratio = self.devicePixelRatioF()
        image = QPixmap(self.size() * ratio)
        image.setDevicePixelRatio(ratio)
        image.fill(Qt.GlobalColor.transparent)
        index, plot = self._timeline.index(), self._plot()
        if index is None:
            return image
        painter = QPainter(image)
        painter.setPen(QPen(QColor(theme.border), 1))
        painter.setBrush(QColor(theme.card))
        painter.drawRect(plot.adjusted(-1, 0, 0, -1))
        painter.setPen(Qt.PenStyle.NoPen)
        columns = Columns(index.whole, max(16, int(plot.width())))
        height = (plot.height() - 2) / max(1, len(index.devices))
        for i, device in enumerate(index.devices):
            box = QRectF(plot.left(), plot.top() + 1 + i * height, plot.width(), height - 1)
            _strip(painter, theme, device, columns, box)
        painter.end()
        return image

    # ---- mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of the window, of an edge, or begin a new one."""
        if event.button() != Qt.MouseButton.LeftButton or self._timeline.index() is None:
            return
        self._pressed_ns = self._time_at(event.position())
        self._pressed_view = self._timeline.view_range()
        self._drag = self._part_at(event.position())
        if self._drag == "new":
            span = self._pressed_view.span_ns
            self._timeline.show_range(clamped(self._pressed_ns - span // 2, span, self._whole()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag; without a button show what would be dragged."""
        if not self._drag:
            part = self._part_at(event.position())
            shapes = {"left": Qt.CursorShape.SizeHorCursor, "right": Qt.CursorShape.SizeHorCursor}
            self.setCursor(shapes.get(part, Qt.CursorShape.OpenHandCursor if part else Qt.CursorShape.ArrowCursor))
            return
        view, whole, moment = self._pressed_view, self._whole(), self._time_at(event.position())
        if self._drag == "window":
            self._timeline.show_range(panned(view, whole, moment - self._pressed_ns))
            return
        fixed = {"left": view.end_ns, "right": view.start_ns}.get(self._drag, self._pressed_ns)
        start, end = min(fixed, moment), max(fixed, moment)
        if self._drag != "new" or (end - start) * self._plot().width() / whole.span_ns >= _GRIP_PX:
            self._timeline.zoom_to(start, max(end, start + LEAST_SPAN_NS))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Let go."""
        self._drag = ""

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Show everything."""
        self._timeline.fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom the timeline at the mouse."""
        if self._timeline.index() is not None and event.angleDelta().y():
            factor = _ZOOM_PER_NOTCH ** (event.angleDelta().y() / 120)
            view = self._timeline.view_range()
            at_ns = min(max(self._time_at(event.position()), view.start_ns), view.end_ns)
            self._timeline.show_range(zoomed(view, self._whole(), factor, at_ns))
            event.accept()

    def _part_at(self, point: QPointF) -> str:
        if self._timeline.index() is None:
            return ""
        box = self.window_box()
        grip = min(_GRIP_PX, box.width() / 4)
        if abs(point.x() - box.left()) <= grip:
            return "left"
        if abs(point.x() - box.right()) <= grip:
            return "right"
        return "window" if box.left() < point.x() < box.right() else "new"

    # ---- geometry

    def _changed(self) -> None:
        self._image = None
        self.setVisible(self._timeline.index() is not None)
        self.update()

    def _whole(self) -> TimeRange:
        index = self._timeline.index()
        return index.whole if index is not None else self._timeline.view_range()

    def _plot(self) -> QRectF:
        frame = self._timeline.frame()
        left = frame.layout.left if frame is not None else _MARGIN
        right = frame.layout.right if frame is not None else self.width() - _MARGIN
        return QRectF(left, _TOP, max(right - left, 16.0), self.height() - _TOP - 4.0)

    def _x(self, time_ns: int, whole: TimeRange) -> float:
        plot = self._plot()
        return plot.left() + (time_ns - whole.start_ns) * plot.width() / whole.span_ns

    def _time_at(self, point: QPointF) -> int:
        plot, whole = self._plot(), self._whole()
        part = min(max((point.x() - plot.left()) / plot.width(), 0.0), 1.0)
        return whole.start_ns + round(part * whole.span_ns)


def _strip(painter: QPainter, theme: Theme, device: DeviceIndex, columns: Columns, box: QRectF) -> None:
    """One device: its memory as a shade behind, what it runs as a thin line over it."""
    data = device.device
    scale = box.width() / columns.count
    if len(device.memory):
        levels = device.memory.envelope(columns)
        top = float(max(data.peak_bytes, data.limit_bytes or 0, 1))
        height = float_array(levels.high) / top * box.height()
        painter.setBrush(QColor(theme.memory_fill))
        left = float_array(box.left() + float_array(range(columns.count)) * scale)
        draw_rects(painter, left, box.bottom() - height, scale, height)
    thick = max(3.0, box.height() * 0.34)
    for lane, at in (
        (device.compute, box.top()),
        (device.incoming, box.bottom() - 2),
        (device.outgoing, box.bottom() - 2),
    ):
        for category in sorted(lane.categories, key=lambda c: c in RARE):
            runs = lane.runs(category, columns)
            painter.setBrush(QColor(theme.category(category)))
            starts = float_array(box.left() + runs.first * scale)
            high = 2.0 if category is Category.TRANSFER else thick
            draw_rects(painter, starts, at, (runs.stop - runs.first) * scale, high)
