"""What the strategies say while they work."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QTextOption
from PySide6.QtWidgets import QFrame, QPlainTextEdit

from xengine_gui.language import tr
from xengine_gui.ui.panels.parts import Panel, column, fit_text

_MOST_LINES = 5000


class LogPanel(Panel):
    """Lines with the seconds since their run began; the newest is below, the oldest are dropped."""

    def __init__(self) -> None:
        super().__init__("log-panel")
        self.view = QPlainTextEdit(readOnly=True, maximumBlockCount=_MOST_LINES)
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setAccessibleName(tr("Log"))
        self.view.setProperty("plain", True)  # noqa: FBT003 - Qt's own signature
        self.view.document().setDocumentMargin(0)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        fit_text(self, self._fit_font)
        self.view.setPlaceholderText(tr("Nothing has been planned yet."))
        self.setLayout(column(self.view, margins=(14, 12, 14, 10)))

    def _fit_font(self) -> None:
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(self.font().pointSizeF() * 0.9)
        self.view.setFont(font)

    def add(self, message: str, elapsed_s: float | None = None) -> None:
        """Add a line."""
        when = "" if elapsed_s is None else f"{elapsed_s:7.2f} s  "
        bar = self.view.verticalScrollBar()
        follows = bar.value() >= bar.maximum() - 1
        for line in message.splitlines() or [""]:
            self.view.appendPlainText(f"{when}{line}")
        if follows:
            bar.setValue(bar.maximum())
