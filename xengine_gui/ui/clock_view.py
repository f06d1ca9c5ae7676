"""Which of the two clocks the timeline shows: one event at a time, or devices and links side by side."""

from PySide6.QtCore import QObject, Signal

from xengine_gui.language import tr
from xengine_gui.model.plan import Clock
from xengine_gui.schedule.finish import on_clock
from xengine_gui.ui.background import Background
from xengine_gui.ui.shown_plan import ShownPlan

CLOCKS = {
    Clock.SERIAL.value: tr("Serial: one event at a time"),
    Clock.OVERLAPPED.value: tr("Overlapped: devices and links side by side"),
}
"""The clocks and what menus call them."""


class ClockView(QObject):
    """The plan of the document on the clock that was chosen; another clock is computed beside the window."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clock = Clock.SERIAL
        self._plan: ShownPlan | None = None
        self._moved: ShownPlan | None = None
        self._background = Background(self)

    @property
    def clock(self) -> Clock:
        """The clock that was chosen."""
        return self._clock

    @property
    def shown(self) -> ShownPlan | None:
        """What the timeline shows; until a plan is there on the chosen clock, the plan as it is."""
        return self._moved or self._plan

    def set_plan(self, plan: ShownPlan | None) -> None:
        """The document has another plan."""
        same = plan is not None and self._plan is not None and plan.timeline is self._plan.timeline
        self._plan = plan
        if not same:
            self._move()

    def set_clock(self, clock: Clock) -> None:
        """Another clock was chosen."""
        if clock is not self._clock:
            self._clock = clock
            self._move()

    def close(self) -> None:
        """End what is being computed."""
        self._background.close()

    def _move(self) -> None:
        self._moved = None
        plan, clock = self._plan, self._clock
        if plan is None or plan.plan.clock is clock:
            self._background.forget()
            self.changed.emit()
            return

        def done(moved: ShownPlan) -> None:
            self._moved = moved
            self.changed.emit()

        self._background.run(lambda: ShownPlan.of(on_clock(plan.plan, clock)), done, lambda _sentence: None)
