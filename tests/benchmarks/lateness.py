"""How late the event loop of a window is: a timer that should come every few milliseconds notes when it came late.

A busy machine makes a loop late that does nothing wrong, so three figures stand beside each other: wall time, the
CPU time of the window's thread, and the CPU time of the whole process. The second is what handlers take; the third
also holds threads beside the window that keep the interpreter's lock. What is in none of them is the machine's.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, QTimer

EVERY_MS = 5


@dataclass(frozen=True, order=True)
class Gap:
    """A time in which the loop did not turn, less the time between two turns."""

    wall_ms: float
    thread_ms: float
    process_ms: float

    @property
    def own_ms(self) -> float:
        """What of it this process has caused, in its window's thread or beside it."""
        return min(self.wall_ms, max(self.thread_ms, self.process_ms))


class LatenessMeter(QObject):
    """Notes the gaps while it runs, in the thread that made it."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.gaps: list[Gap] = []
        self._timer = QTimer(self, interval=EVERY_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._turn)
        self._last = self._now()

    @staticmethod
    def _now() -> tuple[float, float, float]:
        return time.perf_counter(), time.thread_time(), time.process_time()

    def start(self) -> None:
        """Begin anew."""
        self.gaps = []
        self._last = self._now()
        self._timer.start()

    def stop(self) -> None:
        """Note what is under way, and rest."""
        self._turn()
        self._timer.stop()

    @contextmanager
    def running(self) -> Iterator["LatenessMeter"]:
        """Measure what is done within."""
        self.start()
        try:
            yield self
        finally:
            self.stop()

    @property
    def worst(self) -> Gap:
        """The longest gap by the clock on the wall."""
        return max(self.gaps, default=Gap(0.0, 0.0, 0.0))

    @property
    def worst_own(self) -> Gap:
        """The longest gap of those that this process has caused."""
        return max(self.gaps, key=lambda gap: gap.own_ms, default=Gap(0.0, 0.0, 0.0))

    @property
    def worst_thread_ms(self) -> float:
        """The most CPU time that the window's thread has taken at a stretch."""
        return max((gap.thread_ms for gap in self.gaps), default=0.0)

    def _turn(self) -> None:
        now = self._now()
        wall, thread, process = (1000 * (a - b) for a, b in zip(now, self._last, strict=True))
        self.gaps.append(Gap(max(0.0, wall - EVERY_MS), thread, process))
        self._last = now
