"""The import report: what was assumed on the way from a file to a problem."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QScrollArea, QWidget

from xengine_gui.language import tr
from xengine_gui.ui.panels.parts import Panel, column, text_label
from xengine_gui.ui.timeline.details import printable

_WIDTH, _HEIGHT = 560, 420
_NOTHING = tr("Nothing: every size and every kind is in the file.")


class ReportDialog(QDialog):
    """A sentence for everything that was assumed, in the order in which the file was read."""

    def __init__(self, name: str, report: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Import report"))
        self._report = tuple(report)
        page = Panel("report-page")
        lines = column(spacing=10, margins=(14, 12, 14, 12))
        for sentence in self._report or (_NOTHING,):
            label = text_label(printable(sentence), wrap=True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            lines.addWidget(label)
        lines.addStretch(1)
        page.setLayout(lines)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(page)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        self.copy_button = buttons.addButton(tr("Copy"), QDialogButtonBox.ButtonRole.ActionRole)
        self.copy_button.setAutoDefault(False)
        buttons.button(QDialogButtonBox.StandardButton.Close).setDefault(True)
        self.copy_button.clicked.connect(self._copy)
        head = text_label(tr("What was assumed while {name} was read", name=printable(name)), "heading", wrap=True)
        self.setLayout(column(head, area, buttons, spacing=12, margins=(18, 16, 18, 14)))
        self.resize(_WIDTH, _HEIGHT)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(self._report))
