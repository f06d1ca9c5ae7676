"""A second plan below the first, aligned by operator: where one is looked at, the other shows the same operators."""

import numpy as np
from PySide6.QtWidgets import QWidget

from xengine_gui.language import tr
from xengine_gui.model.plan import Compute, Free, Plan
from xengine_gui.schedule.align import TimeMap
from xengine_gui.schedule.finish import on_clock
from xengine_gui.ui.background import Background
from xengine_gui.ui.ghost import Ghost
from xengine_gui.ui.panels.parts import ElidedLabel, column, row, text_label
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.timeline.details import printable
from xengine_gui.ui.timeline.view import TimelineView
from xengine_gui.units import format_duration


class BesideView(QWidget):
    """The other plan in a timeline of its own, which follows the first and leads it."""

    def __init__(self, first: TimelineView) -> None:
        super().__init__()
        self._first = first
        self._ghost: Ghost | None = None
        self._wanted = False
        self._follows = False
        self._background = Background(self)
        self.title = ElidedLabel("", "heading")
        self.total = text_label("", "small")
        self.view = TimelineView()
        self.view.setAccessibleName(tr("Timeline of the other plan"))
        head = row(self.title, self.total, spacing=10)
        head.setStretch(0, 1)
        head.setContentsMargins(14, 6, 14, 0)
        layout = column(head, self.view, spacing=0)
        layout.setStretch(1, 1)
        self.setLayout(layout)
        first.view_changed.connect(lambda *_: self._lead(self._first))
        self.view.view_changed.connect(lambda *_: self._lead(self.view))
        first.event_selected.connect(lambda event: self._select(event, self._first))
        self.view.event_selected.connect(lambda event: self._select(event, self.view))
        self.hide()

    def set_wanted(self, wanted: bool) -> None:  # noqa: FBT001 - as Qt's setters are
        """Show the second plan below, or not."""
        self._wanted = wanted
        self._show()

    def show_ghost(self, ghost: Ghost | None) -> None:
        """Another pair of plans, or none."""
        self._ghost = ghost
        self._show()

    def end(self) -> None:
        """The window closes."""
        self._background.close()

    def _show(self) -> None:
        ghost = self._ghost
        self.setVisible(self._wanted and ghost is not None)
        if ghost is None or not self._wanted:
            return
        name = printable(ghost.before_name)
        self.title.setText(name[:1].upper() + name[1:])
        self.total.setText(
            tr("total {total_ns} (serial)", total_ns=format_duration(ghost.before.plan.total_ns or 0, fine=True))
        )
        clock = ghost.after.plan.clock
        if ghost.before.plan.clock is clock:
            self._put(ghost, ghost.before)
        else:
            self._background.run(
                lambda: ShownPlan.of(on_clock(ghost.before.plan, clock)),
                lambda shown: self._put(ghost, shown),
                lambda _sentence: None,
            )

    def _put(self, ghost: Ghost, shown: ShownPlan) -> None:
        if ghost is self._ghost:
            if self.view.timeline() is not shown.timeline:
                self.view.set_timeline(shown.timeline)
            self._lead(self._first)

    def _lead(self, leader: TimelineView) -> None:
        """Have the other view show the same operators."""
        ghost = self._ghost
        if self._follows or ghost is None or self.isHidden() or self.view.timeline() is None:
            return
        follower = self.view if leader is self._first else self._first
        shown = leader.view_range()
        ends = _aligned(ghost.times, np.array([shown.start_ns, shown.end_ns]), forwards=leader is self.view)
        self._follows = True
        try:
            follower.zoom_to(*ends)
        finally:
            self._follows = False

    def _select(self, event: int, leader: TimelineView) -> None:
        """Select the same thing in the other view, where it has one."""
        follower = self.view if leader is self._first else self._first
        one, other = leader.timeline(), follower.timeline()
        if self._follows or self.isHidden() or one is None or other is None:
            return
        self._follows = True
        try:
            follower.select_event(_counterpart(one.plan, event, other.plan))
        finally:
            self._follows = False


def _aligned(times: TimeMap, ends: np.ndarray, *, forwards: bool) -> tuple[int, int]:
    start_ns, end_ns = (times.to_other(ends) if forwards else times.to_one(ends)).tolist()
    return start_ns, max(end_ns, start_ns + 1)


def _counterpart(one: Plan, event: int, other: Plan) -> int:
    """The event of another plan that does the same, by preference as often before; -1 where none does."""
    if not 0 <= event < len(one.events):
        return -1
    wanted = one.events[event]

    def same(i: int, plan: Plan) -> bool:
        found = plan.events[i]
        if isinstance(wanted, Compute):
            return isinstance(found, Compute) and (found.operator, found.again) == (wanted.operator, wanted.again)
        if isinstance(found, Compute) or isinstance(found, Free) != isinstance(wanted, Free):
            return False
        return found.tensor == wanted.tensor

    place = sum(same(i, one) for i in range(event))
    there = [i for i in range(len(other.events)) if same(i, other)]
    return there[min(place, len(there) - 1)] if there else -1
