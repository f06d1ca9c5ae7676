"""Work of minutes beside the window, with news on the way and a stop."""

import itertools
import threading
from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from xengine_gui.errors import PlannerError
from xengine_gui.language import tr

_DRAIN_MS = 60
_CLOSE_WITHIN_S = 4.0

Work = Callable[[Callable[[object], None], threading.Event], object]
"""Given somebody who listens to news, and an event that is set when it shall end, it gives a result."""


class LongJob(QObject):
    """One job at a time, told by signals in the thread of the window; a new one supersedes the last.

    Nothing is told of a job that was superseded or abandoned.
    """

    news = Signal(list)
    """What the job has told since the last time, in order."""
    finished = Signal(object)
    failed = Signal(str)
    state_changed = Signal()
    """It has begun, was asked to stop, or has ended."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._numbers = itertools.count(1)
        self._current = 0
        self._stop = threading.Event()
        self._told: deque[tuple[int, str, object]] = deque()
        self._threads: list[threading.Thread] = []
        self._timer = QTimer(self, interval=_DRAIN_MS)
        self._timer.timeout.connect(self._drain)

    @property
    def running(self) -> bool:
        """Whether a job is under way."""
        return self._current != 0

    @property
    def stopping(self) -> bool:
        """Whether the job was asked to end, and has not yet."""
        return self.running and self._stop.is_set()

    def start(self, work: Work) -> None:
        """Begin a job; one in progress is abandoned."""
        self._stop.set()
        self._stop = threading.Event()
        self._current = next(self._numbers)
        thread = threading.Thread(target=self._work, args=(self._current, work, self._stop), name="study", daemon=True)
        self._threads = [t for t in self._threads if t.is_alive()] + [thread]
        thread.start()
        self._timer.start()
        self.state_changed.emit()

    def stop(self) -> None:
        """Ask the job to end with what it has."""
        if self.running and not self._stop.is_set():
            self._stop.set()
            self.state_changed.emit()

    def abandon(self) -> None:
        """End the job and tell nothing more of it."""
        self._stop.set()
        self._timer.stop()
        if self._current:
            self._current = 0
            self.state_changed.emit()

    def close(self) -> None:
        """Abandon the job and wait a little for its thread."""
        self._stop.set()
        self._timer.stop()
        self._current = 0
        for thread in self._threads:
            thread.join(_CLOSE_WITHIN_S)

    def _work(self, number: int, work: Work, stop: threading.Event) -> None:
        try:
            result = work(lambda item: self._told.append((number, "news", item)), stop)
        except PlannerError as error:
            self._told.append((number, "failed", str(error)))
        except Exception as error:  # noqa: BLE001 - a fault in a thread would be lost, and the window would wait for ever
            sentence = tr("This went wrong inside the planner: {name}: {error}", name=type(error).__name__, error=error)
            self._told.append((number, "failed", sentence))
        else:
            self._told.append((number, "finished", result))

    def _drain(self) -> None:
        told = [self._told.popleft() for _ in range(len(self._told))]
        mine = [(kind, item) for number, kind, item in told if number == self._current]
        news = [item for kind, item in mine if kind == "news"]
        if news:
            self.news.emit(news)
        for kind, item in mine:
            if kind != "news":
                self._end(kind, item)

    def _end(self, kind: str, item: object) -> None:
        self._current = 0
        self._timer.stop()
        if kind == "failed":
            self.failed.emit(str(item))
        else:
            self.finished.emit(item)
        self.state_changed.emit()
