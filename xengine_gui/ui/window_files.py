"""What the window asks for files and about them: what to open, sizes that are missing, where to save."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from xengine_gui.importers.costed.fields import MappingWantedError
from xengine_gui.language import tr
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.session import SUFFIX as SESSION
from xengine_gui.ui import file_actions
from xengine_gui.ui.dialogs.mapping import MappingDialog
from xengine_gui.ui.dialogs.sizes import SizesDialog
from xengine_gui.ui.session_work import proposed_file
from xengine_gui.ui.shown_plan import ShownPlan

if TYPE_CHECKING:
    from xengine_gui.ui.main_window import MainWindow


class WindowFiles(QObject):
    """The dialogs of one window, and what follows from an answer."""

    def __init__(self, window: "MainWindow") -> None:
        super().__init__(window)
        self._window = window

    def ask_for_file(self) -> None:
        """Ask what to open."""
        work = self._window.document.work
        path = file_actions.ask_for_file(self._window, Path.cwd() if work is None else work.path.parent)
        if path is not None:
            self._window.open_file(path)

    def open_failed(self, path: Path, sentence: str) -> None:
        """A file was not opened."""
        window = self._window
        window.settings = window.settings.without_recent(path)
        window.submenus.show_recent(window.settings.recent)
        told = sentence if path.name in sentence else f"{path}: {sentence}"
        window.centre.error.show_message(told, "error")
        window.log.add(tr("not opened: {told}", told=told))
        window.shown.state()

    def opened(self, path: Path) -> None:
        """A file was opened: remember it, and tell what was assumed."""
        window = self._window
        self._remember(path)
        work = window.document.work
        window.log.add(tr("opened {path}", path=path))
        if work is not None and work.note:
            window.centre.error.show_message(work.note, "warning")
            window.log.add(work.note)
        if work is not None and work.network is not None:
            for note in work.report:
                window.log.add(note)

    def ask_for_sizes(self, path: Path | None = None, network: NetworkGraph | None = None) -> None:
        """Ask for free dimensions and unknown sizes: of a network that is being opened, or of the one at hand."""
        window = self._window
        work, again = window.document.work, network is None
        if network is None and work is not None:
            path, network = work.path, work.network
        if path is None or network is None:
            return
        dialog = SizesDialog(network, {} if again else window.settings.bindings, window)
        if dialog.exec():
            window.settings = replace(window.settings, bindings={**window.settings.bindings, **dialog.bindings})
            setup = window.document.setup if again else window.document.setup.for_another_file()
            sizes = {**setup.sizes, **dialog.sizes}
            window.document.open(path, replace(setup, bindings=dialog.bindings, sizes=sizes, mapping={}))

    def ask_for_mapping(self, path: Path, wanted: MappingWantedError) -> None:
        """Ask which attributes of a graph are its costs."""
        dialog = MappingDialog(wanted, path.name, self._window)
        if dialog.exec():
            setup = self._window.document.setup
            given = replace(setup, batch=None, bindings={}, sizes={}, mapping=dialog.mapping)
            self._window.document.open(path, given)

    def save_plan(self) -> None:
        """Ask where to write the plan that is shown."""
        shown, work = self._window.document.shown, self._window.document.work
        if shown is not None and work is not None:
            self._window.exporting.ask_for_plan_file(shown, work.path.parent)

    def to_export(self) -> tuple[ShownPlan, Path] | None:
        """The plan as the timeline shows it, and the folder to propose."""
        shown, work = self._window.clock_view.shown, self._window.document.work
        return None if shown is None or work is None else (shown, work.path.parent)

    def save_session(self) -> None:
        """Write the session to its file, or ask for one."""
        sessions = self._window.sessions
        if sessions.path is None:
            self.save_session_as()
        else:
            sessions.save(sessions.path)

    def save_session_as(self) -> None:
        """Ask where to write the session."""
        sessions = self._window.sessions
        draft = sessions.draft()
        if draft is None:
            return
        proposal = sessions.path or proposed_file(draft.session, SESSION)
        path = file_actions.ask_for_session_file(self._window, proposal)
        if path is not None:
            sessions.save(path)
            self._remember(path)

    def _remember(self, path: Path) -> None:
        window = self._window
        window.settings = window.settings.with_recent(path)
        window.submenus.show_recent(window.settings.recent)
        window.choices.keep()
