"""The drawing of a graph as people use it: zoom, pan, hover, click, keys, menus."""

from enum import Enum

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QHelpEvent, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QToolTip, QWidget

from xengine_gui.ui.graph_view.camera import Camera
from xengine_gui.ui.graph_view.canvas import GraphCanvas
from xengine_gui.ui.graph_view.hits import edge_at, handle_at, neighbour, node_at
from xengine_gui.ui.graph_view.painting import Frame
from xengine_gui.ui.graph_view.telling import tell_edge, tell_node

_NOTCH = 120.0
_ZOOM_PER_NOTCH = 1.25
_PAN_PER_NOTCH = 60.0
_MOVED = 4.0
_TAB_REASONS = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)


class Way(Enum):
    """The directions of the arrow keys."""

    UP = (0, -1)
    DOWN = (0, 1)
    LEFT = (-1, 0)
    RIGHT = (1, 0)


_WAYS = {Qt.Key.Key_Up: Way.UP, Qt.Key.Key_Down: Way.DOWN, Qt.Key.Key_Left: Way.LEFT, Qt.Key.Key_Right: Way.RIGHT}


class GraphView(GraphCanvas):
    """A canvas that tells what is chosen on it."""

    node_chosen = Signal(int)
    edge_chosen = Signal(int)
    nothing_chosen = Signal()
    block_toggled = Signal(str)
    menu_asked = Signal(int, int, QPoint)
    """A menu for a node or an edge (-1: none) is wanted at a place of the screen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pressed: QPointF | None = None
        self._pressed_camera = Camera()
        self._dragging = False

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A drag or a click begins."""
        self._shows_focus = False
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._pressed, self._pressed_camera, self._dragging = event.position(), self._camera, False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the drawing, or see what the mouse is over."""
        if self._pressed is None:
            self._hover(event.position())
            return
        by = event.position() - self._pressed
        if self._dragging or by.manhattanLength() > _MOVED:
            self._dragging = True
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self._set_camera(self._pressed_camera.moved(by.x(), by.y()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click, where nothing was dragged."""
        pressed, dragged = self._pressed, self._dragging
        self._pressed, self._dragging = None, False
        self.unsetCursor()
        if pressed is not None and not dragged and event.button() == Qt.MouseButton.LeftButton:
            self._click(event.position())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open a closed block, or close the innermost one around an operator."""
        frame = self.frame()
        n = node_at(frame, event.position()) if frame is not None else -1
        if frame is not None and n >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self._toggle(frame, n)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the pointer; a touchpad and the wheel with shift or alt move the drawing."""
        angle, pixels = event.angleDelta(), event.pixelDelta()
        modifiers = event.modifiers()
        if not pixels.isNull() and not modifiers & Qt.KeyboardModifier.ControlModifier:
            self._set_camera(self._camera.moved(pixels.x(), pixels.y()))
        elif modifiers & Qt.KeyboardModifier.ShiftModifier:
            self._set_camera(self._camera.moved(0, angle.y() / _NOTCH * _PAN_PER_NOTCH))
        elif angle.x():
            self._set_camera(self._camera.moved(angle.x() / _NOTCH * _PAN_PER_NOTCH, 0))
        elif angle.y():
            self._zoom(_ZOOM_PER_NOTCH ** (angle.y() / _NOTCH), event.position())
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go from node to node, Enter opens and closes blocks; other keys go on to the parent."""
        frame = self.frame()
        key = Qt.Key(event.key())
        modified = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier & ~Qt.KeyboardModifier.ShiftModifier
        if frame is None or modified:
            event.ignore()
        elif key in _WAYS:
            n = neighbour(frame, self._lit.chosen, *_WAYS[key].value)
            if n >= 0:
                self.node_chosen.emit(n)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._lit.chosen >= 0:
            self._toggle(frame, self._lit.chosen)
        elif key == Qt.Key.Key_F:
            self.zoom_to_selected()
        elif key == Qt.Key.Key_Escape and self._lit.chosen >= 0:
            self.nothing_chosen.emit()
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            by = 0.8 * self.height() * (1 if key == Qt.Key.Key_PageUp else -1)
            self._set_camera(self._camera.moved(0, by))
        else:
            event.ignore()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """A menu for what is under the mouse, or for what is selected where a key has asked."""
        frame = self.frame()
        if frame is None:
            return
        by_key = event.reason() is QContextMenuEvent.Reason.Keyboard
        at = QPointF(event.pos())
        n = self._lit.chosen if by_key else node_at(frame, at)
        e = edge_at(frame, at) if n < 0 and not by_key else -1
        where = self.mapToGlobal(frame.box(n).center().toPoint()) if by_key and n >= 0 else event.globalPos()
        if n >= 0 or e >= 0:
            self.menu_asked.emit(n, e, where)

    def leaveEvent(self, event: QEvent) -> None:
        """Nothing is hovered any more."""
        super().leaveEvent(event)
        self._set_hovered(-1)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus where it came by keys."""
        super().focusInEvent(event)
        self._shows_focus = event.reason() in _TAB_REASONS
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The focus is gone."""
        super().focusOutEvent(event)
        self._shows_focus = False
        self.update()

    def event(self, event: QEvent) -> bool:
        """Tell what is under the mouse."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.told_at(QPointF(event.pos())), self)
            return True
        return super().event(event)

    def told_at(self, point: QPointF) -> str:
        """What there is to say about a place: its node, else its edge; empty beside both."""
        frame = self.frame()
        if frame is None or point.y() < frame.head:
            return ""
        n = node_at(frame, point)
        if n >= 0:
            return tell_node(frame.looks, n, frame.moment)
        e = edge_at(frame, point)
        return tell_edge(frame.looks, e) if e >= 0 else ""

    def _click(self, point: QPointF) -> None:
        frame = self.frame()
        if frame is None or point.y() < frame.head:
            return
        handle = handle_at(frame, point)
        n = node_at(frame, point)
        if handle:
            self.block_toggled.emit(handle)
        elif n >= 0:
            block = frame.looks.scene.nodes.nodes[n].block
            if block and point.x() < frame.box(n).left() + 20:
                self.block_toggled.emit(block)
            else:
                self.node_chosen.emit(n)
        else:
            e = edge_at(frame, point)
            if e >= 0:
                self.edge_chosen.emit(e)
            else:
                self.nothing_chosen.emit()

    def _toggle(self, frame: Frame, n: int) -> None:
        node = frame.looks.scene.nodes.nodes[n]
        inner = [key for key in frame.looks.scene.structure.chains[node.operators[0]] if key != node.block]
        opened = [key for key in inner if key in frame.looks.scene.expanded]
        block = node.block or (opened[-1] if opened else "")
        if block:
            self.block_toggled.emit(block)

    def _hover(self, point: QPointF) -> None:
        frame = self.frame()
        if frame is not None:
            is_handle = bool(handle_at(frame, point))
            self._set_hovered(node_at(frame, point) if point.y() >= frame.head else -1)
            over = is_handle or self._hovered >= 0
            self.setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor)

    def _set_hovered(self, n: int) -> None:
        if n != self._hovered:
            self._hovered = n
            self.update()
