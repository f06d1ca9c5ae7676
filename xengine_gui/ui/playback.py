"""Playing a plan event by event: where it is, how fast it goes on; the shared selection shows it everywhere."""

import math

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

from xengine_gui.language import tr
from xengine_gui.ui.selection import Kind, SelectionModel
from xengine_gui.ui.shown_plan import ShownPlan

_SHORTEST_MS = 50
_IN_ALL_S = 20.0
_EARLY = 0.01

SPEEDS: tuple[tuple[str, float], ...] = (
    (tr("1 event a second"), 1.0),
    (tr("3 events a second"), 3.0),
    (tr("10 events a second"), 10.0),
    (tr("30 events a second"), 30.0),
    (tr("all in 20 seconds"), 0.0),
)
"""What the speeds are called, and events per second; 0 is as fast as it takes to be through in 20 seconds."""


class Playback(QObject):
    """The present event of a plan, -1 before the first one. While it does not play no timer runs."""

    moved = Signal()
    state_changed = Signal()
    """It has begun or ended to play, or there is another plan."""

    def __init__(self, selection: SelectionModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._selection = selection
        self._shown: ShownPlan | None = None
        self._position = -1
        self._speed = SPEEDS[1][1]
        self._timer = QTimer(self)
        self._clock = QElapsedTimer()
        self._due = 0.0
        self._timer.timeout.connect(self._tick)
        selection.changed.connect(self._follow)

    # ---- what holds

    @property
    def shown(self) -> ShownPlan | None:
        """The plan that is played."""
        return self._shown

    @property
    def count(self) -> int:
        """How many events there are."""
        return 0 if self._shown is None else len(self._shown.plan.events)

    @property
    def position(self) -> int:
        """The present event."""
        return self._position

    @property
    def playing(self) -> bool:
        """Whether it goes on by itself."""
        return self._timer.isActive()

    @property
    def events_per_s(self) -> float:
        """How fast it plays."""
        return self._speed or max(self.count / _IN_ALL_S, 1.0)

    # ---- what is asked of it

    def set_plan(self, shown: ShownPlan | None) -> None:
        """Play another plan; the same events keep their place."""
        same = shown is not None and self._shown is not None and shown.timeline is self._shown.timeline
        self._shown = shown
        if same:
            return
        self._timer.stop()
        self._position = -1
        self.moved.emit()
        self.state_changed.emit()

    def play(self) -> None:
        """Go on by itself, after the end from the beginning."""
        if not self.count or self.playing:
            return
        if self._position >= self.count - 1:
            self._position = -1
        self._start_timer()
        self.step(1)
        self.state_changed.emit()

    def pause(self) -> None:
        """Stay where it is."""
        if self.playing:
            self._timer.stop()
            self.state_changed.emit()

    def toggle(self) -> None:
        """Play where it stays, stay where it plays."""
        if self.playing:
            self.pause()
        else:
            self.play()

    def step(self, by: int) -> None:
        """Go some events on or back, as far as there are any."""
        self.go_to(min(max(self._position + by, 0), self.count - 1))

    def go_to(self, event: int) -> None:
        """Go to an event, and select it."""
        if not 0 <= event < self.count or event == self._position:
            return
        self._position = event
        self._selection.select_event(event)
        self.moved.emit()

    def set_speed(self, events_per_s: float) -> None:
        """Play at another speed, from now on."""
        self._speed = events_per_s
        if self.playing:
            self._start_timer()

    # ---- its own

    def _start_timer(self) -> None:
        self._timer.start(max(_SHORTEST_MS, round(1000 / self.events_per_s)))
        self._clock.start()
        self._due = 0.0

    def _tick(self) -> None:
        """As many events as are due: several at once where they come faster than they can be shown."""
        self._due += self._clock.restart() / 1000 * self.events_per_s + _EARLY
        events = math.floor(self._due)
        self._due -= events
        if events:
            self.step(events)
        if self._position >= self.count - 1:
            self.pause()

    def _follow(self) -> None:
        """What is selected elsewhere is where it goes on from."""
        current = self._selection.current
        if current.kind is Kind.EVENT and 0 <= current.event < self.count and current.event != self._position:
            self._position = current.event
            self.moved.emit()
