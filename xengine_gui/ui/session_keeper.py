"""The session of a window: saved, taken up again, kept against a crash, and told when its network has changed."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from xengine_gui.language import tr
from xengine_gui.session import Session, View, read_session, write_session
from xengine_gui.ui.background import Background
from xengine_gui.ui.clock_view import ClockView
from xengine_gui.ui.document import Document
from xengine_gui.ui.planning import Planning
from xengine_gui.ui.session_store import Leftover, SessionStore
from xengine_gui.ui.session_work import Draft, draft_of, opened
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.theme import chosen_theme
from xengine_gui.ui.timeline.view import TimelineView
from xengine_gui.ui.window_layout import PanelLayout
from xengine_gui.ui.work import Work

_AUTOSAVE_MS = 10_000
_SETTLED_MS = 400
_WORTH_KEEPING_S = 10.0
_Signature = tuple[int, int]


@dataclass
class _Opening:
    """A session that is being read."""

    told_as: Path
    saved_as: Path | None
    leftover: Leftover | None = None
    session: Session | None = None


class SessionKeeper(QObject):
    """Knows what is saved of the work at hand, and where."""

    taken = Signal(object)
    """A session was opened: its options and its view are to be put on."""
    state_changed = Signal()
    """Another name, or saved or not."""
    said = Signal(str)
    """Something was done, in a sentence."""
    failed = Signal(str)
    """Something was not done, in a sentence."""
    file_changed = Signal(object)
    """The file that is open has changed on disk."""

    def __init__(
        self,
        document: Document,
        planning: Planning,
        clock_view: ClockView,
        timeline: TimelineView,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._document, self._planning = document, planning
        self._clock_view, self._timeline = clock_view, timeline
        self.path: Path | None = None
        self.panels: Callable[[], PanelLayout] = PanelLayout
        """Who is asked which panels are open."""
        self._store = SessionStore()
        self._writer = Background(self)
        self._autosaver = Background(self)
        self._base: Session | None = None
        self._saved: Draft | None = None
        self._restored: Leftover | None = None
        self._autosaved: Draft | None = None
        self._opening: _Opening | None = None
        self._times_opened = 0
        self._zoom: View | None = None
        self._seen: _Signature | None = None
        self.file_has_changed = False
        self._settle = QTimer(self, interval=_SETTLED_MS, singleShot=True)
        self._settle.timeout.connect(self._look_at_file)
        self._watcher = QFileSystemWatcher(self)
        self._watcher.fileChanged.connect(lambda _path: self._settle.start())
        self._tick = QTimer(self, interval=_AUTOSAVE_MS)
        self._tick.timeout.connect(self.autosave)
        self._tick.start()
        document.opened.connect(self._opened)
        document.open_failed.connect(lambda *_: self._give_up())
        document.sizes_wanted.connect(lambda *_: self._give_up())
        document.mapping_wanted.connect(lambda *_: self._give_up())
        document.plan_changed.connect(self.state_changed)
        document.undo_stack.indexChanged.connect(lambda _index: self.state_changed.emit())
        planning.runner.finished.connect(lambda _outcome: QTimer.singleShot(0, self, self.autosave))
        clock_view.changed.connect(self._restore_zoom)

    # ---- what is there

    @property
    def name(self) -> str:
        """What the work is called; empty where nothing is open."""
        work = self._document.work
        return self.path.name if self.path is not None else "" if work is None else work.path.name

    @property
    def modified(self) -> bool:
        """Whether there is something that is in no file: edits, or with a session file a plan or an option."""
        draft = self.draft()
        if draft is None:
            return False
        in_no_file = self._edited or self._restored is not None
        return in_no_file if self.path is None else not draft.is_like(self._saved)

    @property
    def _edited(self) -> bool:
        plan = self._document.shown
        return self._document.undo_stack.count() > 0 or (plan is not None and plan.plan.runtime_s > _WORTH_KEEPING_S)

    def draft(self) -> Draft | None:
        """The work at hand, `None` where nothing is open."""
        planning = self._planning
        return draft_of(self._document, planning.strategy, planning.options, self._view(), self._base)

    def leftovers(self) -> list[Leftover]:
        """Work of windows that are gone, the latest first."""
        return self._store.leftovers()

    # ---- opening and saving

    def open(self, path: Path) -> None:
        """Open a session file, beside the window."""
        self._open(_Opening(path, path), lambda: read_session(path))

    def restore(self, leftover: Leftover) -> None:
        """Take up the work of a window that is gone; what was kept of it is deleted once this window keeps it."""

        def read() -> Session:
            return leftover.session

        told_as = leftover.saved_as or leftover.session.file
        self._open(_Opening(told_as, leftover.saved_as, leftover), read)

    def reload(self) -> None:
        """Read the file again that has changed on disk, and plan it as before."""
        draft = self.draft()
        if draft is not None:
            told_as = self.path or draft.session.file
            self._open(_Opening(told_as, self.path), draft.finished)

    def save(self, path: Path) -> None:
        """Write the session, beside the window."""
        draft = self.draft()
        if draft is None or self._writer.busy:
            return
        times_opened = self._times_opened

        def done(_result: None) -> None:
            if self._times_opened == times_opened:  # else the file is not that of the work at hand
                self.path, self._saved, self._restored = path, draft, None
            self.said.emit(tr("The session was written to {path}.", path=path))
            self.state_changed.emit()

        self._writer.run(lambda: write_session(draft.finished(), path), done, self.failed.emit)

    def autosave(self) -> None:
        """Keep the work at hand if there is anything new about it, beside the window."""
        draft = self.draft()
        if draft is None or self._autosaver.busy or self._opening is not None or draft.is_same(self._autosaved):
            return
        store, saved_as, times_opened = self._store, self.path, self._times_opened

        def done(_result: None) -> None:
            if self._times_opened != times_opened:
                return
            self._autosaved = draft
            if self._restored is not None:
                self._restored.forget()

        self._autosaver.run(lambda: store.write(draft.finished(), saved_as), done, lambda _sentence: None)

    def close(self) -> None:
        """The window closes: what is in no file is kept for the next start."""
        self._tick.stop()
        self._settle.stop()
        self._writer.close()
        self._autosaver.close()
        draft = self.draft()
        if draft is not None and self.modified:
            self._store.write(draft.finished(), self.path, closed=True)
        else:
            self._store.forget()
        self._store.close()

    # ---- inside

    def _view(self) -> View:
        timeline = self._timeline
        view, shown = timeline.view_range(), timeline.timeline()
        everything = shown is None or (view.start_ns <= 0 and view.end_ns >= shown.end_ns)
        start_ns, end_ns = (None, None) if everything else (view.start_ns, view.end_ns)
        panels = self.panels()
        return View(
            start_ns,
            end_ns,
            self._clock_view.clock,
            chosen_theme(),
            centre=panels.centre,
            below=panels.below,
            folded=panels.folded,
        )

    def _open(self, opening: _Opening, read: Callable[[], Session]) -> None:
        self._opening = opening

        def job() -> tuple[Work, ShownPlan | None]:
            opening.session = read()
            return opened(opening.session)

        self._document.open_by(opening.told_as, job)

    def _opened(self, path: Path) -> None:
        """Something was opened: a session of ours, or a plain file."""
        opening, self._opening = self._opening, None
        self._times_opened += 1
        work = self._document.work
        if opening is not None and opening.session is not None and opening.told_as is path:
            self.path, self._base = opening.saved_as, opening.session
            self._zoom = opening.session.view
            self.taken.emit(opening.session)
            self._restore_zoom()
            self._saved = self.draft() if opening.leftover is None else None
            self._restored = opening.leftover
        else:
            self.path = self._base = self._zoom = self._saved = self._restored = None
        self._autosaved = None
        self._watch(None if work is None else work.path)
        self.file_has_changed = False
        self.state_changed.emit()
        if self._restored is not None:
            self.autosave()

    def _give_up(self) -> None:
        self._opening = None

    def _restore_zoom(self) -> None:
        """Look at the stretch of time that the session was left at, once its plan is there on its clock."""
        view, shown = self._zoom, self._clock_view.shown
        if view is None or shown is None or shown.plan.clock is not view.clock:
            return
        self._zoom = None
        if view.start_ns is not None and view.end_ns is not None:
            self._timeline.zoom_to(view.start_ns, view.end_ns)

    def _watch(self, path: Path | None) -> None:
        if self._watcher.files():
            self._watcher.removePaths(self._watcher.files())
        self._seen = None if path is None else _signature(path)
        if path is not None and path.is_file():
            self._watcher.addPath(str(path))

    def _look_at_file(self) -> None:
        work = self._document.work
        if work is None:
            return
        now = _signature(work.path)
        if now is None or now == self._seen:
            return
        # A file that was replaced by another one of its name is no longer watched.
        self._watch(work.path)
        self.file_has_changed = True
        self.file_changed.emit(work.path)


def _signature(path: Path) -> _Signature | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
