"""Measuring the network on this machine: what is asked before, how far it is, and what becomes of the table."""

import os
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFileDialog,
    QFormLayout,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QSpinBox,
    QWidget,
)

from xengine_gui import planner
from xengine_gui.language import tr
from xengine_gui.ui.measuring import Measurement, Measuring
from xengine_gui.ui.panels.parts import ElidedLabel, column, row, text_label
from xengine_gui.ui.theme import set_style_property
from xengine_gui.ui.work import Work
from xengine_gui.units import format_count

_MOST_RUNS = 10_000
_WIDTH = 520
_SENTENCE = tr(
    "Each operator is run alone with ONNX Runtime on this machine's processor, warmed up and some times over; the "
    "median is its time. The window can be used meanwhile, though work beside it makes times longer."
)

_OF_ANOTHER = tr(
    "Not laid over the graph: another network, batch, mode or optimizer is at hand by now. The table stays, and Load "
    "costs takes it."
)


class MeasureDialog(QDialog):
    """Asks, measures and offers to lay the times over the graph. Closing it ends the measurement."""

    costs_asked = Signal(object)
    """The table whose times are to lie over the graph."""

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Measure this network on this machine"))
        self._work = work
        self.measuring = Measuring(self)
        self.device = QComboBox()
        self.device.addItems([device.name for device in work.problem.devices])
        kinds = [device.kind for device in work.problem.devices]
        self.device.setCurrentIndex(kinds.index("cpu") if "cpu" in kinds else 0)
        self.runs = QSpinBox(minimum=1, maximum=_MOST_RUNS, value=15)
        self.processor_time = QCheckBox(tr("Count the time that one thread has the processor"))
        self.processor_time.setToolTip(tr("For a machine that has other work: it disturbs this count little"))
        self.file = QLineEdit(str(_proposal(work)))
        self.browse = QPushButton(tr("Choose…"))
        self.bar = QProgressBar(minimum=0, maximum=len(work.problem.operators), value=0, textVisible=False)
        self.last = ElidedLabel("", "small")
        self.message = text_label("", wrap=True)
        self.start_button, self.cancel_button = QPushButton(tr("Measure")), QPushButton(tr("Cancel"))
        self.use_button = QPushButton(tr("Lay the times over the graph"))
        self._arrange()
        self._connect()
        self._show_running()

    def _arrange(self) -> None:
        self.runs.lineEdit().setTextMargins(6, 0, 0, 0)
        self.start_button.setMinimumWidth(96)
        for widget, name, tip in (
            (self.device, tr("Device"), tr("Which device of the plan this machine's processor is")),
            (self.runs, tr("Samples of each operator"), tr("The median of so many samples is taken")),
            (self.file, tr("Table"), tr("The CSV file that is written")),
            (self.browse, tr("Choose the table"), tr("Choose where the table is written")),
            (self.start_button, tr("Measure"), tr("Begin; a few minutes for a large network")),
            (self.cancel_button, tr("Cancel"), tr("End the measurement; nothing is written")),
            (self.use_button, tr("Lay the times over the graph"), tr("Plan with the times that were measured")),
        ):
            widget.setAccessibleName(name)
            widget.setToolTip(tip)
        self.bar.setAccessibleName(tr("How many operators are measured"))
        form = QFormLayout()
        form.setSpacing(8)
        form.addRow(text_label(tr("This processor is")), self.device)
        form.addRow(text_label(tr("Samples of each operator")), self.runs)
        form.addRow(text_label(tr("Table")), row(self.file, self.browse))
        form.addRow(self.processor_time)
        buttons = row(self.use_button, 1, self.start_button, self.cancel_button)
        sentence = text_label(_SENTENCE, "muted", wrap=True)
        margins = (18, 16, 18, 14)
        self.setLayout(
            column(sentence, form, self.bar, self.last, self.message, 1, buttons, spacing=12, margins=margins)
        )
        self.setMinimumWidth(_WIDTH)

    def _connect(self) -> None:
        slots: dict[QPushButton, Callable[[], object]] = {
            self.browse: self._choose_file,
            self.start_button: self.start,
            self.cancel_button: self.cancel,
            self.use_button: lambda: self.costs_asked.emit(Path(self.file.text())),
        }
        for button, slot in slots.items():
            button.setAutoDefault(False)
            button.clicked.connect(lambda _checked=False, slot=slot: slot())
        self.start_button.setDefault(True)
        self.measuring.progressed.connect(self._show_progress)
        self.measuring.finished.connect(self._show_finished)
        self.measuring.failed.connect(self._show_failed)

    def start(self) -> None:
        """Begin to measure, unless the table cannot be written."""
        # A name that begins like that of a user whom there is not stays as it is.
        output = Path(os.path.expanduser(self.file.text().strip()))  # noqa: PTH111
        if not self.file.text().strip() or output.is_dir() or not output.absolute().parent.is_dir():
            self._tell(tr("Name a file for the table, in a folder that there is."), "error")
            self.file.setFocus()
            return
        self._tell("", "")
        self.bar.setValue(0)
        asked = Measurement(
            self.device.currentText(), output.absolute(), self.runs.value(), self.processor_time.isChecked()
        )
        self.file.setText(str(asked.output))
        self.measuring.start(self._work, asked)
        self._show_running(running=True)

    def refuse(self, now: Work | None) -> bool:
        """Whether the times are not of the network at hand, as it is now; then that is told."""
        then, setup = self._work, None if now is None else now.setup
        if now is not None and now.path == then.path and setup and then.setup and setup.runs_like(then.setup):
            return False
        self._tell(_OF_ANOTHER, "error")
        return True

    def cancel(self) -> None:
        """End the measurement, or close where there is none."""
        if not self.measuring.running:
            self.reject()
            return
        self.measuring.cancel()
        self._tell(tr("Cancelled; nothing was written."), "muted")
        self._show_running()

    def closeEvent(self, event: QCloseEvent) -> None:
        """End the measurement too."""
        self.measuring.cancel()
        super().closeEvent(event)

    def reject(self) -> None:
        """Close, and end the measurement."""
        self.measuring.cancel()
        super().reject()

    def _choose_file(self) -> None:
        name, _ = QFileDialog.getSaveFileName(
            self, tr("Table of costs"), self.file.text(), tr("Measured costs (*.csv)")
        )
        if name:
            self.file.setText(name if Path(name).suffix else f"{name}.csv")

    def _show_running(self, *, running: bool = False, done: bool = False) -> None:
        for widget in (self.device, self.runs, self.processor_time, self.file, self.browse, self.start_button):
            widget.setEnabled(not running)
        self.bar.setVisible(running)
        self.last.setVisible(running)
        self.use_button.setVisible(done)
        self.cancel_button.setText(tr("Cancel") if running else tr("Close"))

    def _show_progress(self, number: int, count: int, what: str) -> None:
        self.bar.setMaximum(count)
        self.bar.setValue(number)
        self.last.setText(what)

    def _show_finished(self, path: Path) -> None:
        counted = format_count(self.bar.value(), "operator")
        self._tell(tr("{counted} measured; the times are in {path}.", counted=counted, path=path), "success")
        self._show_running(done=True)
        self.use_button.setFocus()

    def _show_failed(self, sentence: str) -> None:
        self._tell(tr("Not measured: {sentence}", sentence=sentence), "error")
        self._show_running()

    def _tell(self, sentence: str, role: str) -> None:
        self.message.setText(sentence)
        self.message.setVisible(bool(sentence))
        set_style_property(self.message, "role", role)


def _proposal(work: Work) -> Path:
    """A table beside the network where that folder can be written to, else here."""
    samples = {path.parent for path in planner.sample_networks()}
    folder = work.path.absolute().parent
    return (Path.cwd() if folder in samples else folder) / f"{work.path.stem}.costs.csv"
