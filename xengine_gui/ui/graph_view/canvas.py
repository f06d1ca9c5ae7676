"""The drawing of a graph as a widget: what is shown, where the view is, and how it is painted, all nodes at once.

Like the timeline it keeps what it has painted, and lays over it what follows the mouse and the selection.
"""

from dataclasses import replace

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QWidget

from xengine_gui.language import tr
from xengine_gui.ui.graph_view.camera import Camera, fitted, readable
from xengine_gui.ui.graph_view.lighting import Lit
from xengine_gui.ui.graph_view.looks import Looks, Moment
from xengine_gui.ui.graph_view.painting import Frame, edge_path, paint_frame_labels, paint_graph
from xengine_gui.ui.graph_view.painting_nodes import shape
from xengine_gui.ui.theme import Theme, current_theme
from xengine_gui.ui.timeline.frame import Fonts
from xengine_gui.ui.timeline.overlay import paint_message
from xengine_gui.units import format_count

_KEY_ZOOM = 1.4


class GraphCanvas(QWidget):
    """Shows one drawing. Nodes are named by their position in it; the panel around knows what they stand for."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._looks: Looks | None = None
        self._camera = Camera()
        self._was_moved = False
        self._message = ""
        self._moment: Moment | None = None
        self._lit = Lit()
        self._hovered = -1
        self._shows_focus = False
        self._theme = current_theme()
        self._fonts = Fonts(self.font())
        self._image: QPixmap | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Graph"))
        self.set_message("")

    # ---- what is shown

    @property
    def looks(self) -> Looks | None:
        """What is drawn."""
        return self._looks

    @property
    def lit(self) -> Lit:
        """What is marked."""
        return self._lit

    @property
    def moment(self) -> Moment | None:
        """What is so at the moment that is shown."""
        return self._moment

    @property
    def camera(self) -> Camera:
        """Where the view is."""
        return self._camera

    def set_looks(self, looks: Looks | None, *, keep_at: tuple[QPointF, QPointF] | None = None) -> None:
        """Show a drawing. `keep_at` is a place in pixels and the place of the drawing that is to stay there."""
        new = looks is None or self._looks is None or looks.scene.structure is not self._looks.scene.structure
        self._looks = looks
        self._hovered, self._lit = -1, Lit()
        if keep_at is not None and not new:
            pixel, place = keep_at
            now = self._camera.point(place.x(), place.y())
            self._camera = self._camera.moved(pixel.x() - now.x(), pixel.y() - now.y())
            self._was_moved = True
            self._stay_inside()
        elif new or not self._was_moved:
            self._look_at_first()
        self._describe()
        self.repaint_all()

    def set_message(self, message: str) -> None:
        """What stands in the middle while there is no drawing."""
        self._message = message
        self._describe()
        self.update()

    def set_moment(self, moment: Moment | None) -> None:
        """Show what is in memory and what runs at a moment."""
        if moment is not self._moment:
            self._moment = moment
            self.repaint_all()

    def set_lit(self, lit: Lit, *, reveal: bool = True) -> None:
        """Mark what is selected, and bring it into view."""
        if lit == self._lit:
            return
        self._lit = lit
        if reveal:
            self._reveal()
        self.update()

    def frame(self) -> Frame | None:
        """All that the present look is painted from."""
        if self._looks is None:
            return None
        return Frame(
            looks=self._looks,
            camera=self._camera,
            theme=self._theme,
            fonts=self._fonts,
            width=float(self.width()),
            height=float(self.height()),
            head=self._head,
            moment=self._moment,
        )

    @property
    def _head(self) -> float:
        return round(self._fonts.line_height * 1.7)

    # ---- where the view is

    def fit(self) -> None:
        """Show everything."""
        if self._looks is not None:
            bounds = self._looks.scene.placed.bounds
            self._set_camera(fitted(bounds, self.width(), self.height(), self._head + 12))
            self._was_moved = False

    def zoom_in(self) -> None:
        """Larger, in the middle."""
        self._zoom(_KEY_ZOOM, QPointF(self.width() / 2, self.height() / 2))

    def zoom_out(self) -> None:
        """Smaller."""
        self._zoom(1 / _KEY_ZOOM, QPointF(self.width() / 2, self.height() / 2))

    def zoom_to_selected(self) -> None:
        """Show the selected node so that it can be read, or everything where none is selected."""
        frame = self.frame()
        if frame is None or self._lit.chosen < 0:
            self.fit()
            return
        placed, n = frame.looks.scene.placed, self._lit.chosen
        x, y = placed.left[n] + placed.width[n] / 2, placed.top[n]
        camera = replace(self._camera, scale_x=max(self._camera.scale_x, 1.0), scale_y=max(self._camera.scale_y, 1.0))
        at = camera.point(x, y)
        self._set_camera(camera.moved(self.width() / 2 - at.x(), self.height() / 2 - at.y()))

    def _zoom(self, factor: float, at: QPointF) -> None:
        self._set_camera(self._camera.zoomed(factor, at))

    def _set_camera(self, camera: Camera) -> None:
        self._camera = camera
        self._was_moved = True
        self._stay_inside()
        self.repaint_all()

    def _stay_inside(self) -> None:
        if self._looks is not None:
            self._camera = self._camera.within(self._looks.scene.placed.bounds, self.width(), self.height())

    def _reveal(self) -> None:
        """Bring what is selected into view, without a change of scale."""
        frame, chosen = self.frame(), self._lit.chosen
        if frame is not None and 0 <= chosen < len(frame.boxes):
            box = frame.box(chosen).translated(0, -frame.head)
            moved = self._camera.showing(box, self.width(), self.height() - frame.head)
            if moved != self._camera:
                self._camera = moved
                self._image = None

    def _look_at_first(self) -> None:
        self._was_moved = False
        if self._looks is not None:
            bounds = self._looks.scene.placed.bounds
            self._camera = readable(bounds, self.width(), self.height(), self._head + 12)

    # ---- painting

    def repaint_all(self) -> None:
        """Paint everything anew at the next occasion."""
        self._image = None
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Use other colours."""
        self._theme = theme
        self.repaint_all()

    def sizeHint(self) -> QSize:
        """A size at which a small graph looks well."""
        return QSize(900, 560)

    def minimumSizeHint(self) -> QSize:
        """Small enough for any window."""
        return QSize(240, 100)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep showing everything where everything was shown."""
        super().resizeEvent(event)
        if not self._was_moved:
            self._look_at_first()
        self._reveal()
        self.repaint_all()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the application's colours and fonts."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self.set_theme(current_theme())
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.ApplicationFontChange):
            self._fonts = Fonts(self.font())
            self.repaint_all()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Lay marks over the kept image."""
        painter = QPainter(self)
        frame = self.frame()
        if frame is None:
            box = QRectF(self.rect())
            painter.fillRect(box, QColor(self._theme.window))
            paint_message(painter, self._theme, self._fonts, self._message, box)
        else:
            if self._image is None or self._image.devicePixelRatio() != self.devicePixelRatioF():
                self._image = self._painted(frame)
            painter.drawPixmap(0, 0, self._image)
            self._paint_marks(painter, frame)
        if self._shows_focus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(self._theme.focus), 2))
            painter.drawRect(QRectF(self.rect()).adjusted(1, 1, -1, -1))
        painter.end()

    def _painted(self, frame: Frame) -> QPixmap:
        ratio = self.devicePixelRatioF()
        image = QPixmap(self.size() * ratio)
        image.setDevicePixelRatio(ratio)
        painter = QPainter(image)
        paint_graph(painter, frame)
        painter.setClipRect(QRectF(0, frame.head, frame.width, frame.height - frame.head))
        paint_frame_labels(painter, frame)
        painter.end()
        return image

    def _paint_marks(self, painter: QPainter, frame: Frame) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        painter.setClipRect(QRectF(0, frame.head, frame.width, frame.height - frame.head))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        strong = QColor(self._theme.highlight)
        for e in self._lit.edges:
            painter.setPen(QPen(strong, 1.6))
            painter.drawPath(edge_path(frame, e))
        marks = [(n, 1.3, 1.5) for n in self._lit.nodes]
        marks += [(self._lit.chosen, 2.6, 2.5)] if self._lit.chosen >= 0 else []
        marks += [(self._hovered, 1.3, 1.5)] if self._hovered >= 0 else []
        for n, width, grow in marks:
            painter.setPen(QPen(strong, width))
            box = frame.box(n).adjusted(-grow, -grow, grow, grow)
            painter.drawPath(shape(box, int(frame.looks.style[n])))
        painter.setClipping(False)

    def _describe(self) -> None:
        if self._looks is None:
            self.setAccessibleDescription(self._message)
            return
        scene = self._looks.scene
        operators = format_count(len(scene.structure.sides), "operator")
        self.setAccessibleDescription(
            tr("{operators}, drawn as {nodes}", operators=operators, nodes=format_count(len(scene.nodes.nodes), "node"))
        )
