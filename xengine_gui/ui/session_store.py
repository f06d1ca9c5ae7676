"""Where work that nobody has saved is kept while the window lives, so that it outlives a crash."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from PySide6.QtCore import QLockFile

from xengine_gui import paths
from xengine_gui.errors import PlannerError
from xengine_gui.session import SUFFIX, Session, read_session, write_session

_OF = "autosave_of"
_CLOSED = "closed"
_KEPT_DAYS = 30


@dataclass(frozen=True)
class Leftover:
    """Work of a window that is gone: where it is kept, of when it is, and the session file that it was saved as.

    `crashed` tells whether that window ended without being closed.
    """

    path: Path
    session: Session
    saved_as: Path | None
    when: datetime
    crashed: bool

    @property
    def name(self) -> str:
        """What the user knows it by."""
        return (self.saved_as or self.session.file).name

    def forget(self) -> None:
        """Delete it."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)


class SessionStore:
    """The place of one window's work. A lock tells other windows that this one still lives."""

    def __init__(self) -> None:
        self._lock: QLockFile | None = None
        self.path: Path | None = None
        with contextlib.suppress(OSError):
            folder = _folder()
            folder.mkdir(parents=True, exist_ok=True)
            for number in count():
                path = folder / f"{os.getpid()}-{number}{SUFFIX}"
                lock = _lock_of(path)
                if not path.exists() and lock.tryLock(0):
                    self.path, self._lock = path, lock
                    break
                if number > 1000:
                    break

    def write(self, session: Session, saved_as: Path | None, *, closed: bool = False) -> None:
        """Keep the work as it is now. What cannot be written is lost, and nobody is bothered about it."""
        if self.path is None:
            return
        about = {_OF: str(saved_as)} if saved_as is not None else {}
        if closed:
            about[_CLOSED] = "yes"
        with contextlib.suppress(PlannerError, OSError):
            write_session(replace(session, unknown={**session.unknown, **about}), self.path)

    def forget(self) -> None:
        """Nothing is to be kept."""
        if self.path is not None:
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """The window ends; what is kept stays."""
        if self._lock is not None:
            self._lock.unlock()
            self._lock = None
        self.path = None

    def leftovers(self) -> list[Leftover]:
        """The work of windows that are gone, the latest first; what is unreadable or very old is deleted."""
        return sorted(self._leftovers(), key=lambda left: left.when, reverse=True)

    def _leftovers(self) -> Iterator[Leftover]:
        for path in sorted(_folder().glob(f"*{SUFFIX}")):
            if path == self.path:
                continue
            lock = _lock_of(path)
            if not lock.tryLock(0):
                continue
            try:
                leftover = _read(path)
                if leftover is not None:
                    yield leftover
            finally:
                lock.unlock()


def _read(path: Path) -> Leftover | None:
    try:
        when = datetime.fromtimestamp(path.stat().st_mtime, UTC).astimezone()
        session = read_session(path)
        age_days = (datetime.now(UTC) - when).days
    except (PlannerError, OSError):
        age_days = _KEPT_DAYS + 1
    if age_days > _KEPT_DAYS:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        return None
    about = {key: value for key, value in session.unknown.items() if key in (_OF, _CLOSED)}
    plain = replace(session, unknown={k: v for k, v in session.unknown.items() if k not in about})
    saved_as = Path(str(about[_OF])) if _OF in about else None
    return Leftover(path, plain, saved_as, when, crashed=_CLOSED not in about)


def _lock_of(path: Path) -> QLockFile:
    lock = QLockFile(str(path.with_suffix(".lock")))
    # Held by a process that lives, a lock never gets old; one of a process that is gone is no lock.
    lock.setStaleLockTime(0)
    return lock


def _folder() -> Path:
    return paths.state_folder() / "sessions"
