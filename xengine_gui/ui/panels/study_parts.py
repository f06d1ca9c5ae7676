"""What the panels of comparisons and sweeps share: run and stop, a bar for how far it is, and writing the outcome."""

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QFileDialog, QMenu, QProgressBar, QPushButton, QWidget

from xengine_gui.language import tr
from xengine_gui.ui.theme import set_style_property

TIMES_S: Mapping[str, float | None] = {
    tr("5 s each"): 5.0,
    tr("10 s each"): 10.0,
    tr("30 s each"): 30.0,
    tr("1 min each"): 60.0,
    tr("no limit"): None,
}
FILE_KINDS = {
    ".csv": tr("Table (*.csv)"),
    ".json": tr("Data (*.json)"),
    ".png": tr("Picture (*.png)"),
    ".svg": tr("Drawing (*.svg)"),
}


class RunButton(QPushButton):
    """Runs, and while it runs stops."""

    run_asked = Signal()
    stop_asked = Signal()

    def __init__(self, run: str) -> None:
        super().__init__(tr("Run"))
        self._tip = run
        self._running = False
        self.clicked.connect(self._ask)
        width = max(self.fontMetrics().horizontalAdvance(text) for text in (tr("Stopping…"), tr("Run"))) + 30
        self.setFixedWidth(width)
        self.show_state(running=False, stopping=False, possible=False)

    def show_state(self, *, running: bool, stopping: bool, possible: bool) -> None:
        """Say what a click does now."""
        self._running = running
        self.setText(tr("Stopping…") if stopping else tr("Stop") if running else tr("Run"))
        self.setToolTip(tr("End it and keep what there is") if running else self._tip)
        self.setAccessibleName(self.toolTip())
        self.setEnabled(not stopping and (running or possible))
        set_style_property(self, "primary", value=not running)

    def _ask(self) -> None:
        (self.stop_asked if self._running else self.run_asked).emit()


class ExportButton(QPushButton):
    """A menu of the kinds of files."""

    asked = Signal(str)
    """The suffix of the kind that was chosen."""

    def __init__(self) -> None:
        super().__init__(tr("Export"))
        self.setToolTip(tr("Write what there is as a table, data or a picture"))
        menu = QMenu(self)
        for suffix, title in FILE_KINDS.items():
            action = menu.addAction(title.replace("(*.", "(.").replace(" (", "  ("))
            action.triggered.connect(lambda _checked=False, suffix=suffix: self.asked.emit(suffix))
        self.setMenu(menu)
        self.setEnabled(False)


class TimeChoice(QComboBox):
    """How long each plan may take."""

    def __init__(self, default: str) -> None:
        super().__init__()
        self.addItems(list(TIMES_S))
        self.setCurrentText(default)
        self.setToolTip(tr("How long each plan may be looked for"))
        self.setAccessibleName(self.toolTip())

    @property
    def time_limit_s(self) -> float | None:
        """The time that is chosen."""
        return TIMES_S[self.currentText()]


class StudyProgress(QProgressBar):
    """A thin bar, seen only while something runs."""

    def __init__(self) -> None:
        super().__init__()
        self.setTextVisible(False)
        self.setFixedWidth(96)
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.setSizePolicy(policy)
        self.hide()

    def show_progress(self, done: int, count: int, *, running: bool) -> None:
        """So many of so many are done."""
        self.setRange(0, max(1, count))
        self.setValue(done)
        self.setVisible(running)


def ask_where(parent: QWidget, title: str, stem: str, suffix: str, folder: Path) -> Path | None:
    """A file to write, with the suffix; `None` where the user thinks better of it."""
    safe = "".join(c if c.isalnum() or c in "-_. " else "_" for c in stem).strip(" .")[:80] or title.lower()
    name, _ = QFileDialog.getSaveFileName(parent, title, str(folder / f"{safe}{suffix}"), FILE_KINDS[suffix])
    if not name:
        return None
    path = Path(name)
    return path if path.suffix.lower() == suffix else path.with_name(path.name + suffix)
