"""The timeline in the window: one card per device on one time axis; zoom, pan, hover, selection, limits to drag.

A plain painted widget rather than plot items: pictures are painted by the very same functions, and what follows the
mouse is laid over a kept image, so that moving it repaints nothing else.
"""

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from xengine_gui.language import tr
from xengine_gui.schedule.timeline import Timeline
from xengine_gui.ui.timeline.canvas import WELCOME, TimelineCanvas
from xengine_gui.ui.timeline.controls import TimelineControls
from xengine_gui.ui.timeline.details import Details, DetailsSource
from xengine_gui.ui.timeline.frame import Frame
from xengine_gui.ui.timeline.hits import Hit, describe_point, hit_at, limit_at, moment_at
from xengine_gui.ui.timeline.index import Place, TimelineIndex
from xengine_gui.ui.timeline.lit import LitIndex
from xengine_gui.ui.timeline.marks import Marks, MouseStyle, next_event, span_of
from xengine_gui.ui.timeline.navigation import around, clamped, whole_range
from xengine_gui.ui.timeline.overlay import Overlay, paint_message, paint_overlay


class TimelineView(TimelineCanvas):
    """Shows a timeline. Events are named by their position in the plan's events, -1 for none; times are integers."""

    event_hovered = Signal(int)
    event_selected = Signal(int)
    time_hovered = Signal(object)
    """The moment under the mouse in nanoseconds, -1 when the mouse leaves."""
    limit_dragging = Signal(str, object)
    limit_dragged = Signal(str, object)
    moment_selected = Signal(object, str)
    """A moment in nanoseconds and a device: a place on a memory curve was clicked."""
    range_selected = Signal(object, object)
    """Start and end of a stretch of time that was drawn up."""

    def __init__(self, parent: QWidget | None = None) -> None:
        # Before anything else: Qt asks for them as soon as the viewport is touched.
        self._controls = TimelineControls(self)
        self._details: DetailsSource | None = None
        self._hit: Hit | None = None
        self._hover: QPointF | None = None
        self._selected: tuple[Place, ...] = ()
        self._selected_event = -1
        self._marks = Marks()
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.viewport().setAutoFillBackground(False)
        self.setAccessibleName(tr("Timeline"))
        self.set_message(WELCOME)

    def _moved(self) -> None:
        self._look_under_mouse()

    def set_timeline(self, timeline: Timeline | None) -> None:
        """Show a timeline, or with `None` the message; a view that was zoomed in stays where it is."""
        self._stack_source, self._stacks = None, {}
        self._marks, self._lit = Marks(), None
        was_whole = self._index is None or self._view == self._index.whole
        self._index = TimelineIndex(timeline) if timeline is not None else None
        self._details = DetailsSource(timeline) if timeline is not None else None
        dragged = self._controls.dragged_device
        self._limits = {name: limit for name, limit in self._limits.items() if name == dragged}
        whole = self._index.whole if self._index is not None else whole_range(0)
        self._view = whole if was_whole else clamped(self._view.start_ns, self._view.span_ns, whole)
        self._set_hit(None)
        self.select_event(-1)
        self._describe()
        self._arrange()
        self.timeline_changed.emit()

    def set_marks(self, marks: Marks) -> None:
        """Light and mark what is selected, in place of what was marked before."""
        if marks == self._marks:
            return
        lights = self._marks.lit is not marks.lit
        had_stacks = self._wants_stacks()
        self._marks = marks
        if lights:
            self._lit = LitIndex(self._index, marks.lit) if self._index is not None and marks.lit is not None else None
            self._forget_image()
        if had_stacks != self._wants_stacks():
            self._forget_image()
        self.viewport().update()

    def _wants_stacks(self) -> bool:
        """A selected moment is told apart too."""
        return self._is_stacked or self._marks.moment_ns is not None

    def marks(self) -> Marks:
        """What is marked."""
        return self._marks

    def set_mouse_style(self, style: MouseStyle) -> None:
        """What wheel and drag do: as on a map, or as in a trace viewer."""
        self._controls.style = style

    def set_limits(self, limits: Mapping[str, int | None]) -> None:
        """Move limit lines at once, ahead of the plan that will keep them; the next timeline brings its own.

        A line that the mouse holds stays with the mouse.
        """
        self._limits.update({name: limit for name, limit in limits.items() if name != self._controls.dragged_device})
        self.repaint_all()

    def zoom_to_selected(self) -> None:
        """Show the selected event with some time around it, or everything where none is selected."""
        if self._index is None:
            return
        span = self._marked_span()
        if span is None:
            self.fit()
        else:
            self.show_range(around(*span, self._index.whole))

    def _marked_span(self) -> tuple[int, int] | None:
        """From when to when what is selected lasts."""
        index, marks = self._index, self._marks
        if index is None:
            return None
        if marks.stretch_ns is not None:
            return marks.stretch_ns
        if self._selected:
            return index.span(self._selected[0])
        if marks.lit is not None and (marks.lit.events or marks.lit.stays):
            return span_of(index, marks.lit)
        if marks.moment_ns is not None:
            reach = max(1, self._view.span_ns // 8)
            return marks.moment_ns - reach, marks.moment_ns + reach
        return None

    def step(self, by: int, *, stage: bool = False) -> None:
        """Select the next event (by 1) or the previous one (by -1), or the one that ends the next or previous stage."""
        index = self._index
        if index is None:
            return
        at_ns = self._marks.moment_ns if self._marks.moment_ns is not None else self._view.start_ns
        found = next_event(index, self._selected_event, at_ns, forward=by > 0, stage=stage)
        if found is not None:
            self.select_event(found)

    def time_under_mouse(self) -> int | None:
        """The moment that the cursor line marks."""
        frame = self.frame()
        return frame.time_at(self._hover.x()) if frame is not None and self._hover is not None else None

    def selected_event(self) -> int:
        """The selected event, or -1."""
        return self._selected_event

    def select_event(self, event: int) -> None:
        """Select an event by its position in the plan's events (-1: none), and bring it into view."""
        if self._index is not None and not 0 <= event < len(self._index.timeline.plan.events):
            event = -1
        if self._index is None:
            event = -1
        changed = event != self._selected_event
        self._selected_event = event
        self._selected = tuple(self._index.places(event)) if self._index is not None and event >= 0 else ()
        self._show_selected()
        if changed:
            self.event_selected.emit(event)
        self.viewport().update()

    def click(self, point: QPointF) -> None:
        """Select what is at a point: an event, a moment of a memory curve, or nothing."""
        frame = self.frame()
        event = self.hovered_event()
        moment = moment_at(frame, point) if frame is not None and event < 0 else None
        if moment is None:
            self.clear_selection() if event < 0 else self.select_event(event)
            return
        self._selected_event, self._selected = -1, ()
        self.set_marks(Marks(moment_ns=moment[0]))
        self.event_selected.emit(-1)
        self.moment_selected.emit(*moment)

    def choose_range(self, start_ns: int, end_ns: int) -> None:
        """Select a stretch of time."""
        self._selected_event, self._selected = -1, ()
        self.set_marks(Marks(stretch_ns=(start_ns, end_ns)))
        self.range_selected.emit(start_ns, end_ns)

    def clear_selection(self) -> None:
        """Select nothing."""
        self.set_marks(Marks())
        if self._selected_event < 0:
            self.event_selected.emit(-1)
        self.select_event(-1)

    def hovered_event(self) -> int:
        """The event under the mouse, or -1."""
        return self._hit.event if self._hit is not None else -1

    def hover_details(self) -> Details | None:
        """What the card beside the mouse tells now."""
        frame = self.frame()
        if frame is None or self._hover is None or self._details is None or self._controls.is_dragging:
            return None
        return describe_point(self._details, frame, self._hover, self._hit)

    def set_hover(self, point: QPointF | None) -> None:
        """The mouse is here now (`None`: elsewhere)."""
        self._hover = point
        self._look_under_mouse()

    def limit_under(self, point: QPointF) -> str | None:
        """The device whose limit can be taken hold of here."""
        frame = self.frame()
        position = limit_at(frame, point) if frame is not None else None
        return None if frame is None or position is None else frame.index.devices[position].name

    def hold_limit(self, device: str, limit_bytes: int | None) -> None:
        """While a limit is dragged: show it there on a scale that stands still; `None` lets the scale go again."""
        if limit_bytes is None:
            self._tops.pop(device, None)  # also where another file has no such device
        frame = self.frame()
        position = next((i for i, d in enumerate(frame.index.devices) if d.name == device), None) if frame else None
        if frame is None or position is None:
            return
        if limit_bytes is not None:
            self._tops.setdefault(device, frame.memory_scale(position).top_bytes)
            self._limits[device] = limit_bytes
        self.repaint_all()

    def scrollContentsBy(self, dx: int, dy: int) -> None:  # noqa: ARG002 - Qt's signature
        """Scrolled by the bar or by keys."""
        self.repaint_all()
        self._look_under_mouse()

    def viewportEvent(self, event: QEvent) -> bool:
        """Mouse, wheel, touchpad and key go to the controls; the rest is Qt's."""
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._arrange()
        return self._controls.handle(event) or super().viewportEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus where it came by keys."""
        super().focusInEvent(event)
        self._controls.handle(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The focus is gone."""
        super().focusOutEvent(event)
        self._controls.handle(event)

    def keyPressEvent(self, event: QEvent) -> None:
        """Keys that the controls do not know go on to the parent."""
        if not self._controls.handle(event):
            event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Lay what follows the mouse over the kept image."""
        painter = QPainter(self.viewport())
        frame = self.frame()
        if frame is None:
            box = QRectF(self.viewport().rect())
            painter.fillRect(box, QColor(self._theme.window))
            paint_message(painter, self._theme, self._fonts, self._message, box)
        else:
            self._paint_look(painter, frame)
            self._paint_overlay(painter, frame)
        if self._controls.shows_focus:
            painter.setPen(QPen(QColor(self._theme.focus), 2))
            painter.drawRect(QRectF(self.viewport().rect()).adjusted(1, 1, -1, -1))
        painter.end()

    def _paint_overlay(self, painter: QPainter, frame: Frame) -> None:
        overlay = Overlay(
            selected=self._selected,
            hovered=self._hit.place if self._hit is not None else None,
            cursor_ns=self._controls.cursor_ns(),
            stretch_ns=self._controls.chosen_stretch(),
            mouse=self._hover,
            details=self.hover_details(),
            moment_ns=self._marks.moment_ns,
            chosen_ns=self._marks.stretch_ns,
        )
        paint_overlay(painter, frame, overlay, QRectF(self.viewport().rect()))

    def _look_under_mouse(self) -> None:
        frame = self.frame()
        if frame is None or self._hover is None:
            self._set_hit(None)
            self.time_hovered.emit(-1)
        else:
            self._set_hit(None if self._controls.is_dragging else hit_at(frame, self._hover))
            self.time_hovered.emit(frame.time_at(self._hover.x()))
        self.viewport().update()

    def _set_hit(self, hit: Hit | None) -> None:
        before = self.hovered_event()
        self._hit = hit
        if self.hovered_event() != before:
            self.event_hovered.emit(self.hovered_event())

    def _show_selected(self) -> None:
        """Bring the selected event into view without a change of scale."""
        if self._index is None or not self._selected:
            return
        start, end = self._index.span(self._selected[0])
        if end < self._view.start_ns or start > self._view.end_ns:
            middle = (start + end) // 2
            self.show_range(clamped(middle - self._view.span_ns // 2, self._view.span_ns, self._index.whole))
        frame = self.frame()
        if frame is not None:
            card = frame.layout.cards[self._selected[0].device].outer
            if card.bottom < frame.layout.axis.bottom or card.top > self.viewport().height():
                bar = self.verticalScrollBar()
                bar.setValue(bar.value() + round(card.top - frame.layout.axis.bottom))
