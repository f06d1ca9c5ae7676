"""Work of a second or so, such as reading a file, done beside the window."""

import itertools
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal

from xengine_gui.errors import PlannerError
from xengine_gui.language import tr

_CLOSE_WITHIN_S = 3.0
_Result = TypeVar("_Result")


class Background(QObject):
    """One job at a time: a new one supersedes the last, whose result is then never told."""

    busy_changed = Signal(bool)
    _ended = Signal(int, object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._numbers = itertools.count(1)
        self._current = 0
        self._done: Callable[[Any], None] = _nothing
        self._failed: Callable[[str], None] = _nothing
        self._threads: list[threading.Thread] = []
        self._ended.connect(self._tell, Qt.ConnectionType.QueuedConnection)

    @property
    def busy(self) -> bool:
        """Whether a job is under way."""
        return self._current != 0

    def run(self, job: Callable[[], _Result], done: Callable[[_Result], None], failed: Callable[[str], None]) -> None:
        """Do `job` in a thread, then call `done` with its result or `failed` with one sentence, in this thread."""
        was_busy = self.busy
        self._current = next(self._numbers)
        self._done, self._failed = done, failed
        thread = threading.Thread(target=self._work, args=(self._current, job), name="background", daemon=True)
        self._threads = [t for t in self._threads if t.is_alive()] + [thread]
        thread.start()
        if not was_busy:
            self.busy_changed.emit(self.busy)

    def forget(self) -> None:
        """Give up the job in progress; its result is never told."""
        if self._current:
            self._current = 0
            self.busy_changed.emit(self.busy)

    def close(self) -> None:
        """Forget the job in progress and wait a little for its thread."""
        self._current = 0
        for thread in self._threads:
            thread.join(_CLOSE_WITHIN_S)

    def _work(self, number: int, job: Callable[[], object]) -> None:
        result: object = None
        sentence: str | None = None
        try:
            result = job()
        except PlannerError as error:
            sentence = str(error)
        except Exception as error:  # noqa: BLE001 - a fault in a thread would be lost, and the window would wait for ever
            sentence = tr("this went wrong inside the planner: {name}: {error}", name=type(error).__name__, error=error)
        self._ended.emit(number, result, sentence)

    def _tell(self, number: int, result: object, sentence: str | None) -> None:
        if number != self._current:
            return
        self._current = 0
        self.busy_changed.emit(self.busy)
        if sentence is None:
            self._done(result)
        else:
            self._failed(sentence)


def _nothing(_result: object) -> None:
    pass
