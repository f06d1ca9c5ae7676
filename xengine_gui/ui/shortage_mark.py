"""Marks on the timeline the operator that asks for more memory than a limit allows."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from xengine_gui.language import tr
from xengine_gui.model.plan import Compute
from xengine_gui.model.problem import Problem
from xengine_gui.solve.shortage import Shortage
from xengine_gui.ui.timeline.details import printable
from xengine_gui.ui.timeline.frame import Frame
from xengine_gui.ui.timeline.memory import paint_pill
from xengine_gui.ui.timeline.view import TimelineView
from xengine_gui.units import format_size


class ShortageMark:
    """A dashed line down the device's card where its operator runs in the plan that is shown, with what it needs."""

    def __init__(self, timeline: TimelineView) -> None:
        self._timeline = timeline
        self._device = self._operator = self.text = ""
        timeline.add_layer(self._paint)

    def show_moment(self, found: Shortage | None, problem: Problem | None = None) -> None:
        """Mark what forces the limit, `None` takes the mark away."""
        before, self.text = self.text, ""
        if found is not None and problem is not None and found.too_large is not None:
            needs = min(found.too_large.working_sets, key=lambda w: w.missing_bytes)
            self._device, self._operator = problem.devices[needs.device].name, problem.operators[needs.operator].name
            self._say((needs.limit_bytes or 0) + needs.missing_bytes)
        elif found is not None and found.smallest and found.closest.moment is not None:
            small = found.closest
            self._device, self._operator = small.device, small.moment.operator or ""  # type: ignore[union-attr]
            self._say(small.limit_bytes or small.lower_bytes)
        if self.text != before:
            self._timeline.repaint_all()

    def _say(self, needed_bytes: int) -> None:
        if self._operator:
            self.text = tr(
                "{operator} needs {needed_bytes}",
                operator=printable(self._operator),
                needed_bytes=format_size(needed_bytes),
            )

    def moment_ns(self) -> int | None:
        """When its operator begins in the plan that is shown, at best on its own device; `None` without a mark."""
        timeline = self._timeline.timeline()
        if not self.text or timeline is None:
            return None
        own = [e for e in timeline.plan.events if isinstance(e, Compute) and e.operator == self._operator]
        return next((e.start_ns for e in own if e.device == self._device), own[0].start_ns if own else None)

    def _paint(self, painter: QPainter, frame: Frame) -> None:
        moment = self.moment_ns()
        position = next((i for i, d in enumerate(frame.index.devices) if d.name == self._device), None)
        if moment is None or position is None or not frame.view.start_ns <= moment <= frame.view.end_ns:
            return
        card, x = frame.layout.cards[position], round(frame.x(moment)) + 0.5
        limit = frame.limit_bytes(frame.index.devices[position].device) or 0
        # Where the limit's own label is not.
        is_low = frame.memory_scale(position).y(limit) > card.memory.middle
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(QPen(QColor(frame.theme.error), 2.0, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, card.title.bottom), QPointF(x, card.memory.bottom))
        metrics, widest = frame.fonts.pill_metrics, frame.layout.plot_width * 0.7
        text = metrics.elidedText(self.text, Qt.TextElideMode.ElideMiddle, widest)
        width, height = metrics.horizontalAdvance(text) + 18, metrics.height() + 4
        left = min(max(x - width / 2, frame.layout.left), frame.layout.right - width)
        top = card.memory.top if is_low else card.memory.bottom - height
        paint_pill(painter, frame, QRectF(left, top, width, height), text, frame.theme.error)
