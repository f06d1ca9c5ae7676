"""Where times and sizes come from, in the window: measured costs, device presets, the report of what was assumed."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QWidget

from xengine_gui.language import tr
from xengine_gui.ui.dialogs.measure import MeasureDialog
from xengine_gui.ui.dialogs.presets import PresetsDialog
from xengine_gui.ui.dialogs.report import ReportDialog
from xengine_gui.ui.document import Document
from xengine_gui.ui.measuring import why_not_measured
from xengine_gui.ui.panels.message_bar import MessageBar
from xengine_gui.units import format_count

_IMPLEMENTATIONS = tr("Let the plan choose each convolution's algorithm: faster ones take workspace")
_GIVEN = tr("A problem file has its implementations, so there is nothing to choose.")


class Costing(QObject):
    """Tells of what was assumed, for the status bar; the window gives it its actions."""

    presets_changed = Signal()
    report_changed = Signal(str, str)
    """How much was assumed, in a word or two and in a sentence; empty where nothing was."""

    def __init__(self, document: Document, window: QWidget) -> None:
        super().__init__(window)
        self._document, self._window = document, window
        self._note = ""
        self.measuring: MeasureDialog | None = None
        self.outdated = MessageBar("costs-bar", closable=True, inset=True)
        document.work_changed.connect(self._changed)

    def slots(self) -> Mapping[str, Callable[[], object]]:
        """What the actions do."""
        return {
            "load_costs": self.ask_for_costs,
            "drop_costs": self._document.drop_costs,
            "measure": self.measure,
            "implementations": self.toggle_implementations,
            "presets": self.edit_presets,
            "report": self.show_report,
        }

    def show_enabled(self, actions: Mapping[str, QAction]) -> None:
        """Enable the actions that have something to act on."""
        work = self._document.work
        actions["load_costs"].setEnabled(work is not None)
        actions["drop_costs"].setEnabled(work is not None and bool(work.costs))
        actions["report"].setEnabled(work is not None)
        why_not = why_not_measured(work)
        actions["measure"].setEnabled(not why_not)
        actions["measure"].setToolTip(why_not or tr("Run each operator on this machine's processor, and take its time"))
        given = work is not None and work.setup is None
        actions["implementations"].setEnabled(not given)
        actions["implementations"].setChecked(self._document.setup.implementations and not given)
        actions["implementations"].setToolTip(_GIVEN if given else _IMPLEMENTATIONS)

    def ask_for_costs(self) -> None:
        """Lay a table of measured times, which the user names, over the problem."""
        work = self._document.work
        if work is None:
            return
        filters = tr("Measured costs (*.csv *.tsv *.txt);;All files (*)")
        name, _ = QFileDialog.getOpenFileName(self._window, tr("Load costs"), str(work.path.parent), filters)
        if name:
            self._document.load_costs(Path(name))

    def toggle_implementations(self) -> None:
        """Let plans choose each convolution's algorithm, or take the usual one."""
        wanted = not self._document.setup.implementations
        text = tr("convolution algorithms") if wanted else tr("one algorithm per convolution")
        self._document.edit_setup(text, lambda setup: replace(setup, implementations=wanted))

    def measure(self) -> None:
        """Show the form that measures the network at hand; the window can be used beside it."""
        work = self._document.work
        if work is None or why_not_measured(work):
            return
        if self.measuring is not None:
            self.measuring.close()
            self.measuring.deleteLater()
        self.measuring = MeasureDialog(work, self._window)
        self.measuring.costs_asked.connect(self._lay_over)
        self.measuring.show()

    def close(self) -> None:
        """End what is being measured."""
        if self.measuring is not None:
            self.measuring.close()

    def _lay_over(self, path: Path) -> None:
        """Plan with times that were measured, unless the window has gone on to something else meanwhile."""
        if self.measuring is None or self.measuring.refuse(self._document.work):
            return
        self._document.load_costs(path)
        self.measuring.close()

    def edit_presets(self) -> None:
        """Show the editor of presets; what is open is priced anew where a preset of its devices has changed."""
        dialog = self.new_presets_dialog()
        dialog.exec()
        dialog.deleteLater()

    def new_presets_dialog(self) -> PresetsDialog:
        """The editor, which knows what the devices at hand are made of."""
        dialog = PresetsDialog({d.preset: d.name for d in self._document.setup.devices}, self._window)
        dialog.changed.connect(self._document.price_anew)
        dialog.changed.connect(self.presets_changed)
        return dialog

    def show_report(self) -> None:
        """Show everything that was assumed."""
        work = self._document.work
        if work is not None:
            ReportDialog(work.path.name, work.report, self._window).exec()

    def _changed(self) -> None:
        """Tell how much was assumed, and that measured times were taken off when an edit has made them untrue."""
        work = self._document.work
        count = 0 if work is None or work.network is None else len(work.report)
        if work is None or not count:
            self.report_changed.emit("", "")
        else:
            words, were = format_count(count, "assumption"), "was" if count == 1 else "were"
            self.report_changed.emit(
                words,
                tr(
                    "{words} {were} made while {name} was read: show the report",
                    words=words,
                    were=were,
                    name=work.path.name,
                ),
            )
        note = "" if work is None else work.note
        if work is None or not self._document.undo_stack.count() or not note or note == self._note:
            self.outdated.hide()
        else:
            self.outdated.show_message(note, "warning")
        self._note = note
