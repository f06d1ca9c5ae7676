"""Measuring a network on this machine: `xengine profile` in a process of its own, with news on the way."""

import re
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, Signal

from xengine_gui.language import tr
from xengine_gui.ui.work import Work

HOW_TO_INSTALL = tr("Measuring needs ONNX Runtime: pip install 'xengine-gui[profile]'")
_ROW = re.compile(r"\s*(\d+) of (\d+)\s+(.*)")
_KILLED_WITHIN_MS = 2000


@dataclass(frozen=True, slots=True)
class Measurement:
    """What is to be measured: for which device, how often, on which clock, and into which table."""

    device: str
    output: Path
    runs: int = 15
    processor_time: bool = False

    def words(self, work: Work) -> list[str]:
        """The words of the command line that measure the network of the work at hand."""
        setup = work.setup
        words = ["profile", str(work.path.absolute()), "--device", self.device, "--runs", str(self.runs)]
        if setup is not None:
            words += [] if setup.training else ["--inference"]
            words += ["--optimizer", setup.optimizer]
            words += [] if setup.batch is None else ["--batch", str(setup.batch)]
            for name, value in setup.bindings.items():
                words += ["--bind", f"{name}={value}"]
            for name, size in setup.sizes.items():
                words += ["--size", f"{name}={size}"]
        words += ["--processor-time"] if self.processor_time else []
        return [*words, "--progress", "-o", str(self.output)]


def why_not_measured(work: Work | None) -> str:
    """Why a network cannot be measured, in one sentence; empty where it can."""
    if find_spec("onnxruntime") is None:
        return HOW_TO_INSTALL
    if work is None:
        return tr("Open a network first: its operators are measured.")
    return (
        "" if work.setup is not None else tr("Only the operators of a network can be measured, and this is a problem.")
    )


class Measuring(QObject):
    """One measurement at a time; `cancel` ends it, and then nothing is written."""

    progressed = Signal(int, int, str)
    """How many operators were measured, of how many, and what of the last one."""
    finished = Signal(object)
    """The table that was written."""
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._output = Path()
        self._rest, self._mistake = "", ""
        self._cancelled = False
        self._process = QProcess(self)
        self._process.setProcessChannelMode(QProcess.ProcessChannelMode.SeparateChannels)
        self._process.readyReadStandardError.connect(self._read)
        self._process.finished.connect(self._ended)
        self._process.errorOccurred.connect(self._went_wrong)

    @property
    def running(self) -> bool:
        """Whether something is being measured."""
        return self._process.state() != QProcess.ProcessState.NotRunning

    def start(self, work: Work, measurement: Measurement) -> None:
        """Begin to measure; one measurement ends before the next begins."""
        self.cancel()
        self._output, self._rest, self._mistake, self._cancelled = measurement.output, "", "", False
        self._process.start(sys.executable, ["-m", "xengine_gui", *measurement.words(work)])

    def cancel(self) -> None:
        """End what is being measured; nothing more is told of it."""
        if self.running:
            self._cancelled = True
            self._process.kill()
            self._process.waitForFinished(_KILLED_WITHIN_MS)

    def _read(self) -> None:
        text = self._rest + bytes(self._process.readAllStandardError().data()).decode(errors="replace")
        *lines, self._rest = text.split("\n")
        for line in lines:
            row = _ROW.fullmatch(line)
            if row is None:
                self._mistake = line.strip() or self._mistake
            elif not self._cancelled:
                self.progressed.emit(int(row[1]), int(row[2]), row[3])

    def _ended(self, status: int, how: QProcess.ExitStatus) -> None:
        if self._cancelled:
            return
        self._read()
        if how is QProcess.ExitStatus.NormalExit and status == 0:
            self.finished.emit(self._output)
        else:
            self.failed.emit(self._mistake or tr("The measuring process ended without an answer."))

    def _went_wrong(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart and not self._cancelled:
            self.failed.emit(
                tr("The measuring process could not be started: {process}.", process=self._process.errorString())
            )
