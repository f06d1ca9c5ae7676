"""Mouse, wheel, touchpad and keys of the timeline.

In both styles shift-wheel and a touchpad's sideways swipe pan, the wheel over the names scrolls the cards, dragging
along the time axis selects a stretch of time, dragging a limit's line moves it, and Escape takes a drag back. As on a
map the wheel zooms at the cursor, dragging pans and shift-dragging selects; as in a trace viewer the wheel scrolls,
with Ctrl it zooms, dragging selects and shift-dragging pans.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QNativeGestureEvent, QWheelEvent
from PySide6.QtWidgets import QApplication

from xengine_gui.ui.timeline.geometry import TimeRange
from xengine_gui.ui.timeline.marks import MouseStyle
from xengine_gui.ui.timeline.navigation import panned

if TYPE_CHECKING:
    from xengine_gui.ui.timeline.view import TimelineView

_NOTCH = 120.0
_ZOOM_PER_NOTCH = 1.25
_PAN_PER_NOTCH = 0.08
_PAN_PER_KEY = 0.15
_TAB_REASONS = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)


class TimelineControls:
    """Turns input into calls of one timeline view."""

    def __init__(self, view: "TimelineView") -> None:
        self._view = view
        self._pressed_at: QPointF | None = None
        self._pressed_view = TimeRange(0, 1)
        self._button = Qt.MouseButton.NoButton
        self._shifted = False
        self._mode = ""
        self._stretch: tuple[int, int] | None = None
        self._limit_before: int | None = None
        self.dragged_device: str | None = None
        self.shows_focus = False
        self.style = MouseStyle.MAP

    @property
    def is_dragging(self) -> bool:
        """Whether the mouse drags something now."""
        return bool(self._mode)

    def cursor_ns(self) -> int | None:
        """The moment of the cursor line; none while a limit is dragged."""
        return None if self._mode == "limit" else self._view.time_under_mouse()

    def chosen_stretch(self) -> tuple[int, int] | None:
        """The stretch of time that is being drawn up."""
        return None if self._stretch is None else (min(self._stretch), max(self._stretch))

    def handle(self, event: QEvent) -> bool:
        """Handle an event of the view or its viewport; false leaves it to Qt."""
        handled = False
        if isinstance(event, QFocusEvent):
            self.shows_focus = event.gotFocus() and event.reason() in _TAB_REASONS
            self._view.viewport().update()
        elif event.type() == QEvent.Type.Leave:
            self._view.set_hover(None)
        elif self._view.timeline() is None:
            pass
        elif isinstance(event, QWheelEvent):
            handled = self._wheel(event)
        elif isinstance(event, QNativeGestureEvent):
            handled = self._gesture(event)
        elif isinstance(event, QKeyEvent):
            handled = event.type() == QEvent.Type.KeyPress and self._key(event)
        elif isinstance(event, QMouseEvent):
            handled = self._mouse(event)
        return handled

    # ---- mouse

    def _mouse(self, event: QMouseEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.MouseMove:
            self._move(event)
        elif kind == QEvent.Type.MouseButtonPress:
            if event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
                return False
            self._press(event)
        elif kind == QEvent.Type.MouseButtonRelease:
            if self._pressed_at is None:
                return False
            self._release(event)
        elif kind == QEvent.Type.MouseButtonDblClick:
            if event.button() != Qt.MouseButton.LeftButton:
                return False
            self._view.zoom_to_selected()
        else:
            return False
        event.accept()
        return True

    def _press(self, event: QMouseEvent) -> None:
        view = self._view
        self.shows_focus = False
        self._pressed_at, self._button = event.position(), event.button()
        self._shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self._pressed_view = view.view_range()
        device = view.limit_under(event.position()) if event.button() == Qt.MouseButton.LeftButton else None
        if device is not None:
            self._mode, self.dragged_device = "limit", device
            self._limit_before = self._shown_limit()
            self._drag_limit(event.position())

    def _drag_begins(self) -> None:
        """The mouse has moved far enough with its button held: pan, or draw up a stretch of time."""
        frame, start = self._view.frame(), self._pressed_at
        if frame is None or start is None:
            return
        selects = self._shifted is (self.style is MouseStyle.MAP) or start.y() < frame.layout.axis.bottom
        if selects and self._button == Qt.MouseButton.LeftButton:
            moment = frame.time_at(start.x())
            self._mode, self._stretch = "stretch", (moment, moment)
        else:
            self._mode = "pan"

    def _move(self, event: QMouseEvent) -> None:
        view, point = self._view, event.position()
        start = self._pressed_at if not self._mode else None
        if start is not None and (point - start).manhattanLength() >= QApplication.startDragDistance():
            self._drag_begins()
        if self._mode == "limit":
            self._drag_limit(point)
        elif self._mode == "pan" and self._pressed_at is not None:
            self._pan_to(point)
        view.set_hover(point)
        if self._mode == "stretch" and self._stretch is not None:
            self._stretch = self._stretch[0], view.time_under_mouse() or 0
        self._set_shape(point)

    def _release(self, event: QMouseEvent) -> None:
        view, mode = self._view, self._mode
        stretch, device = self.chosen_stretch(), self.dragged_device
        pressed = self._pressed_at
        limit = self._shown_limit()
        self._let_go()
        view.set_hover(event.position())
        if mode == "limit" and device is not None:
            view.hold_limit(device, None)
            if limit is not None and limit != self._limit_before:
                view.limit_dragged.emit(device, limit)
            elif (
                pressed is not None
                and (event.position() - pressed).manhattanLength() < QApplication.startDragDistance()
            ):
                # A peak often touches its limit: the line must not keep it from being clicked.
                view.click(event.position())
        elif mode == "stretch" and stretch is not None and stretch[1] > stretch[0]:
            view.choose_range(*stretch)
        elif not mode and event.button() == Qt.MouseButton.LeftButton:
            view.click(event.position())
        self._set_shape(event.position())

    def _let_go(self) -> None:
        self._pressed_at, self._mode, self._stretch, self.dragged_device = None, "", None, None

    def _pan_to(self, point: QPointF) -> None:
        frame = self._view.frame()
        if frame is None or self._pressed_at is None:
            return
        moved = point.x() - self._pressed_at.x()
        by_ns = -round(moved * self._pressed_view.span_ns / frame.layout.plot_width)
        self._view.show_range(panned(self._pressed_view, frame.index.whole, by_ns))

    def _set_shape(self, point: QPointF) -> None:
        shape = Qt.CursorShape.ArrowCursor
        if self._mode == "pan":
            shape = Qt.CursorShape.ClosedHandCursor
        elif self._mode == "limit" or (not self._mode and self._view.limit_under(point) is not None):
            shape = Qt.CursorShape.SizeVerCursor
        elif self._view.hovered_event() >= 0:
            shape = Qt.CursorShape.PointingHandCursor
        if self._view.viewport().cursor().shape() != shape:
            self._view.viewport().setCursor(shape)

    # ---- limits

    def _shown_limit(self) -> int | None:
        frame = self._view.frame()
        if frame is None:
            return None
        return next((frame.limit_bytes(d.device) for d in frame.index.devices if d.name == self.dragged_device), None)

    def _drag_limit(self, point: QPointF) -> None:
        frame, device = self._view.frame(), self.dragged_device
        if frame is None or device is None or self._pressed_at is None:
            return
        if self._limit_before is None:
            return
        if point == self._pressed_at and self._shown_limit() == self._limit_before:
            # A press alone moves nothing, though the label is larger than its line.
            self._view.hold_limit(device, self._limit_before)
            return
        position = next(i for i, d in enumerate(frame.index.devices) if d.name == device)
        scale = frame.memory_scale(position)
        grip = self._pressed_at.y() - scale.y(self._limit_before)
        limit = scale.bytes_at(point.y() - grip)
        self._view.hold_limit(device, limit)
        self._view.limit_dragging.emit(device, limit)

    def _escape(self) -> None:
        """Take a drag back, or where there is none the selection."""
        device, before, mode = self.dragged_device, self._limit_before, self._mode
        self._let_go()
        if not mode:
            self._view.clear_selection()
        if mode == "limit" and device is not None:
            self._view.hold_limit(device, before)
            self._view.hold_limit(device, None)
            self._view.limit_dragging.emit(device, before)
        self._view.viewport().update()

    # ---- wheel, touchpad, keys

    def _wheel(self, event: QWheelEvent) -> bool:
        frame = self._view.frame()
        if frame is None:
            return False
        along, turned = float(event.angleDelta().x()), float(event.angleDelta().y())
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and not along:
            along, turned = turned, 0.0
        point = event.position()
        if point.x() < frame.layout.left and not event.modifiers():
            bar = self._view.verticalScrollBar()
            bar.setValue(bar.value() - round(turned / _NOTCH * 3 * bar.singleStep()))
        elif abs(along) > abs(turned):
            self._pan(-along / _NOTCH * _PAN_PER_NOTCH)
        elif self.style is MouseStyle.TRACE and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            bar = self._view.verticalScrollBar()
            if bar.maximum():
                bar.setValue(bar.value() - round(turned / _NOTCH * 3 * bar.singleStep()))
            else:
                self._pan(-turned / _NOTCH * _PAN_PER_NOTCH)
        elif turned:
            self._view.zoom_by(_ZOOM_PER_NOTCH ** (turned / _NOTCH), frame.time_at(point.x()))
        event.accept()
        return True

    def _gesture(self, event: QNativeGestureEvent) -> bool:
        frame = self._view.frame()
        if frame is None or event.gestureType() != Qt.NativeGestureType.ZoomNativeGesture:
            return False
        self._view.zoom_by(max(0.2, 1.0 + event.value()), frame.time_at(event.position().x()))
        return True

    def _pan(self, part: float) -> None:
        self._view.pan_by(part)

    def _key(self, event: QKeyEvent) -> bool:
        view, key = self._view, Qt.Key
        bar = view.verticalScrollBar()
        plain = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        if plain:
            return False
        actions: dict[Qt.Key, Callable[[], None]] = {
            key.Key_Plus: view.zoom_in,
            key.Key_Equal: view.zoom_in,
            key.Key_Minus: view.zoom_out,
            key.Key_0: view.fit,
            key.Key_F: view.zoom_to_selected,
            key.Key_W: view.zoom_in,
            key.Key_S: view.zoom_out,
            key.Key_A: lambda: self._pan(-_PAN_PER_KEY),
            key.Key_D: lambda: self._pan(_PAN_PER_KEY),
            key.Key_Period: lambda: view.step(1),
            key.Key_Comma: lambda: view.step(-1),
            key.Key_BracketRight: lambda: view.step(1, stage=True),
            key.Key_BracketLeft: lambda: view.step(-1, stage=True),
            key.Key_Left: lambda: self._pan(-_PAN_PER_KEY),
            key.Key_Right: lambda: self._pan(_PAN_PER_KEY),
            key.Key_Home: lambda: self._pan(-1e9),
            key.Key_End: lambda: self._pan(1e9),
            key.Key_Up: lambda: bar.setValue(bar.value() - bar.singleStep()),
            key.Key_Down: lambda: bar.setValue(bar.value() + bar.singleStep()),
            key.Key_PageUp: lambda: bar.setValue(bar.value() - bar.pageStep()),
            key.Key_PageDown: lambda: bar.setValue(bar.value() + bar.pageStep()),
            key.Key_Escape: self._escape,
        }
        action = actions.get(Qt.Key(event.key()))
        if action is None:
            return False
        action()
        event.accept()
        return True
