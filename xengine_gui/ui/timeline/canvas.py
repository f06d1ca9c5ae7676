"""The painted part of the timeline in the window: what is shown, from when to when, and the kept image of it."""

from collections.abc import Callable, Mapping

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from xengine_gui.language import tr
from xengine_gui.schedule.timeline import Timeline
from xengine_gui.ui.theme import Theme, current_theme
from xengine_gui.ui.timeline.bar_words import Labels
from xengine_gui.ui.timeline.frame import Fonts, Frame
from xengine_gui.ui.timeline.geometry import TimeRange
from xengine_gui.ui.timeline.ground import ground_key, paint_ground
from xengine_gui.ui.timeline.index import TimelineIndex
from xengine_gui.ui.timeline.layout import Band, Layout, arrange
from xengine_gui.ui.timeline.lit import LitIndex, paint_lit
from xengine_gui.ui.timeline.marks import StackSource
from xengine_gui.ui.timeline.navigation import clamped, panned, whole_range, zoomed
from xengine_gui.ui.timeline.painting import paint_axis, paint_plan
from xengine_gui.ui.timeline.stack import StackIndex
from xengine_gui.units import format_duration

_KEY_ZOOM = 1.6
WELCOME = tr("No plan yet\nOpen a network or a problem, then press Plan.")


class TimelineCanvas(QAbstractScrollArea):
    """Shows a stretch of a timeline, with whatever is lit in it; it knows nothing of mouse and keys."""

    view_changed = Signal(object, object)
    """Start and end of what is in view, in nanoseconds."""
    timeline_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._index: TimelineIndex | None = None
        self._message = WELCOME
        self._theme = current_theme()
        self._theme_is_own = False
        self._fonts = Fonts(self.font())
        self._layout: Layout | None = None
        self._view = whole_range(0)
        self._image: QPixmap | None = None
        self._is_painted = False
        self._canvas = QPixmap()
        self._ground = QPixmap()
        self._ground_key: object = None
        self._limits: dict[str, int | None] = {}
        self._tops: dict[str, int] = {}
        self._lit: LitIndex | None = None
        self._stacks: dict[str, StackIndex] = {}
        self._stack_source: StackSource | None = None
        self._is_stacked = False
        self._labels = Labels.NAMES
        self._layers: list[Callable[[QPainter, Frame], None]] = []
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def time_under_mouse(self) -> int | None:
        """The moment that the cursor line marks; none here, where no mouse is."""
        return None

    def _moved(self) -> None:
        """Other times, or other cards, are in view."""

    def timeline(self) -> Timeline | None:
        """What is shown, `None` while there is only a message."""
        return self._index.timeline if self._index is not None else None

    def index(self) -> TimelineIndex | None:
        """What is shown, prepared for looking at."""
        return self._index

    def set_stack_source(self, source: StackSource | None) -> None:
        """Who is asked for the tensors of the timeline that is shown, when they are first to be told apart."""
        if source == self._stack_source:
            return
        self._stack_source, self._stacks = source, {}
        if self._is_stacked:
            self.repaint_all()

    def is_stacked(self) -> bool:
        """Whether tensors are told apart under the memory curves."""
        return self._is_stacked

    def set_stacked(self, stacked: bool) -> None:  # noqa: FBT001 - as Qt's setters are
        """Tell tensors apart under the memory curves, or show the curves alone."""
        if stacked != self._is_stacked:
            self._is_stacked = stacked
            self.repaint_all()

    def set_labels(self, labels: Labels) -> None:
        """Let names, kinds, both or nothing stand in the bars."""
        if labels is not self._labels:
            self._labels = labels
            self.repaint_all()

    def add_layer(self, paint: Callable[[QPainter, Frame], None]) -> None:
        """Have something painted over the plan whenever it is painted; `repaint_all` asks for that."""
        self._layers.append(paint)

    def set_message(self, message: str) -> None:
        """What stands in the middle while there is no timeline: the first line large, the others below it."""
        self._message = message
        self._describe()
        if self._index is None:
            self.viewport().update()

    def set_theme(self, theme: Theme | None) -> None:
        """Use a theme of its own, or with `None` the application's, also when that changes."""
        self._theme_is_own = theme is not None
        self._theme = theme or current_theme()
        self.repaint_all()

    def theme(self) -> Theme:
        """The colours it paints with."""
        return self._theme

    def view_range(self) -> TimeRange:
        """What is in view."""
        return self._view

    def fit(self) -> None:
        """Show the whole plan."""
        if self._index is not None:
            self.show_range(self._index.whole)

    def zoom_in(self) -> None:
        """Zoom in at the cursor, or in the middle where the mouse is elsewhere."""
        self.zoom_by(_KEY_ZOOM)

    def zoom_out(self) -> None:
        """Zoom out."""
        self.zoom_by(1 / _KEY_ZOOM)

    def zoom_to(self, start_ns: int, end_ns: int) -> None:
        """Show a stretch of time, as much of it as the plan has."""
        if self._index is not None:
            self.show_range(clamped(start_ns, end_ns - start_ns, self._index.whole))

    def pan_by(self, part: float) -> None:
        """Move the view by a part of its length, later or with a negative one earlier."""
        if self._index is not None:
            self.show_range(panned(self._view, self._index.whole, round(part * self._view.span_ns)))

    def reveal(self, moment_ns: int) -> None:
        """Bring a moment into view without a change of scale."""
        if self._index is not None and not self._view.start_ns <= moment_ns <= self._view.end_ns:
            half = self._view.span_ns // 2
            self.show_range(clamped(moment_ns - half, self._view.span_ns, self._index.whole))

    def zoom_by(self, factor: float, at_ns: int | None = None) -> None:
        """Zoom in (above 1) or out at a moment; `None` is the cursor, or the middle where the mouse is elsewhere."""
        if self._index is None:
            return
        if at_ns is None:
            at_ns = self.time_under_mouse()
        if at_ns is None:
            at_ns = (self._view.start_ns + self._view.end_ns) // 2
        self.show_range(zoomed(self._view, self._index.whole, factor, at_ns))

    def show_range(self, view: TimeRange) -> None:
        """Show a range that lies within the plan."""
        if self._index is None or view == self._view:
            return
        self._view = view
        self.view_changed.emit(view.start_ns, view.end_ns)
        self.repaint_all()
        self._moved()

    def frame(self) -> Frame | None:
        """All that the present look is painted from, cards scrolled to where they are."""
        if self._index is None or self._layout is None:
            return None
        scrolled = self.verticalScrollBar().value()
        return Frame(
            self._index,
            self._view,
            self._layout.moved(-float(scrolled)) if scrolled else self._layout,
            self._theme,
            self._fonts,
            limits=self._limits,
            tops=self._tops,
            is_live=True,
            visible=Band(0.0, float(self.viewport().height())),
            stacks=self._told_apart(),
            is_veiled=self._lit is not None,
            labels=self._labels,
        )

    def _wants_stacks(self) -> bool:
        """Whether tensors are to be told apart now."""
        return self._is_stacked

    def _told_apart(self) -> Mapping[str, StackIndex]:
        if not self._wants_stacks() or self._stack_source is None:
            return {}
        if not self._stacks:
            self._stacks = dict(self._stack_source())
        return self._stacks

    def repaint_all(self) -> None:
        """Paint everything anew at the next occasion."""
        self._forget_image()
        self.viewport().update()

    def sizeHint(self) -> QSize:
        """A size at which two devices look well."""
        return QSize(900, 560)

    def minimumSizeHint(self) -> QSize:
        """Small enough for any window."""
        return QSize(320, 160)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Arrange the cards for the new size."""
        super().resizeEvent(event)
        self._arrange()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the application's colours and fonts."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange) and not self._theme_is_own:
            self._theme = current_theme()
            self.repaint_all()
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.ApplicationFontChange):
            self._fonts = Fonts(self.font())
            self._arrange()

    def _painted(self, frame: Frame) -> QPixmap:
        ratio = self.devicePixelRatioF()
        size = self.viewport().size() * ratio
        if self._canvas.size() != size or self._canvas.devicePixelRatio() != ratio:
            # Kept from one painting to the next: megabytes that are new want to be fetched page by page.
            self._canvas = QPixmap(size)
            self._canvas.setDevicePixelRatio(ratio)
        painter = QPainter(self._canvas)
        self._paint_all(painter, frame)
        painter.end()
        return self._canvas

    def _paint_look(self, painter: QPainter, frame: Frame) -> None:
        """Paint all but what follows the mouse: at first straight away, and from the second time on from a kept image.

        While the view is being moved nothing is painted twice, so that keeping it would only be a copy more.
        """
        ratio = self.devicePixelRatioF()
        if self._image is None and not self._is_painted and ratio.is_integer():
            # At other ratios only an image starts on a whole device pixel.
            painter.save()
            self._paint_all(painter, frame)
            painter.restore()
        else:
            if self._image is None or self._image.devicePixelRatio() != ratio:
                self._image = self._painted(frame)
            painter.drawPixmap(0, 0, self._image)
        self._is_painted = True

    def _paint_all(self, painter: QPainter, frame: Frame) -> None:
        painter.drawPixmap(0, 0, self._ground_of(frame))
        paint_plan(painter, frame)
        if self._lit is not None:
            paint_lit(painter, frame, self._lit)
        for paint in self._layers:
            paint(painter, frame)
        paint_axis(painter, frame, self._theme.window)

    def _forget_image(self) -> None:
        self._image, self._is_painted = None, False

    def _ground_of(self, frame: Frame) -> QPixmap:
        """What the plan is painted on, painted anew only when it is another."""
        ratio = self.devicePixelRatioF()
        size = self.viewport().size() * ratio
        key = ground_key(frame), size, ratio
        if key != self._ground_key:
            if self._ground.size() != size:
                self._ground = QPixmap(size)
            self._ground.setDevicePixelRatio(ratio)
            self._ground.fill(QColor(self._theme.window))
            painter = QPainter(self._ground)
            paint_ground(painter, frame)
            painter.end()
            self._ground_key = key
        return self._ground

    def _arrange(self) -> None:
        self._forget_image()
        if self._index is None:
            self._layout = None
            self.verticalScrollBar().setRange(0, 0)
        else:
            size = self.viewport().size()
            self._layout = arrange(
                [device.device for device in self._index.devices],
                width=float(size.width()),
                height=float(size.height()),
                line_height=self._fonts.line_height,
                gutter=self._fonts.gutter,
                scale=self.devicePixelRatioF(),
            )
            bar = self.verticalScrollBar()
            bar.setPageStep(size.height())
            bar.setSingleStep(round(self._fonts.line_height * 2))
            bar.setRange(0, max(0, round(self._layout.height) - size.height()))
        self.viewport().update()

    def _describe(self) -> None:
        if self._index is None:
            self.setAccessibleDescription(self._message)
            return
        timeline = self._index.timeline
        self.setAccessibleDescription(
            tr(
                "{devices} devices, {events} events, {end_ns}",
                devices=len(timeline.devices),
                events=len(timeline.plan.events),
                end_ns=format_duration(timeline.end_ns),
            )
        )
