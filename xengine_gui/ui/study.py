"""What comparisons and sweeps have in common: a long job, plans that are shown of it, a file that it is written to."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from xengine_gui.language import tr
from xengine_gui.model.whole_file import write_text
from xengine_gui.ui.background import Background
from xengine_gui.ui.document import Document
from xengine_gui.ui.long_job import LongJob
from xengine_gui.ui.panels.study_parts import ExportButton, RunButton, ask_where
from xengine_gui.ui.planning import Planning
from xengine_gui.ui.study_plans import PlanShower


class StudyPanel(Protocol):
    """A panel with a button that runs and stops, and one that exports."""

    @property
    def run(self) -> RunButton:
        """Runs, and stops."""
        ...

    @property
    def export(self) -> ExportButton:
        """Exports."""
        ...


class Study(QObject):
    """Between a panel of studies and the document."""

    told = Signal(str)
    """A line for the log."""
    refused = Signal(str)
    """One sentence on why something was not done."""

    def __init__(self, document: Document, planning: Planning, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.job = LongJob(self)
        self._document, self._planning = document, planning
        self._plans = PlanShower(document, planning, self)
        self._writer = Background(self)

    def _serve(self, panel: StudyPanel) -> None:
        """Connect the panel, the job and the document; what is overridden must be ready."""
        panel.run.run_asked.connect(self.run)
        panel.run.stop_asked.connect(self.job.stop)
        panel.export.asked.connect(self._export)
        self.job.news.connect(self._hear)
        self.job.finished.connect(self._finished)
        self.job.failed.connect(self._failed)
        self.job.state_changed.connect(self._show_state)
        self._document.work_changed.connect(self._work_changed)

    @abstractmethod
    def run(self) -> None:
        """Begin what the panel says, on the problem at hand."""

    def close(self) -> None:
        """End everything."""
        self.job.close()
        self._plans.close()
        self._writer.close()

    @abstractmethod
    def _hear(self, news: list[Any]) -> None:
        """The job has told something."""

    @abstractmethod
    def _finished(self, result: Any) -> None:
        """The job has ended."""

    @abstractmethod
    def _failed(self, sentence: str) -> None:
        """The job has failed."""

    @abstractmethod
    def _export(self, suffix: str) -> None:
        """A file is asked for."""

    @abstractmethod
    def _work_changed(self) -> None:
        """The problem is another one."""

    @abstractmethod
    def _show_state(self) -> None:
        """What the panel may do has changed."""

    def _write(
        self, panel: QWidget, what: str, stem: str, suffix: str, writers: Mapping[str, Callable[[], str]],
        draw: Callable[[Path], None],
    ) -> None:  # fmt: skip
        """Ask where, and write beside the window: a text for a suffix of `writers`, else a picture."""
        work = self._document.work
        path = (
            None if work is None else ask_where(panel, tr("Export {what}", what=what), stem, suffix, work.path.parent)
        )
        if path is None:
            return
        text = writers.get(path.suffix.lower())
        self._writer.run(
            lambda: draw(path) if text is None else write_text(path, text()),
            lambda _result: self.told.emit(tr("The {what} was written to {path}.", what=what, path=path)),
            self.refused.emit,
        )
