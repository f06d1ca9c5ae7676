"""All message bars of the window in one place: the most urgent is shown, the others when they are asked for."""

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QToolButton, QWidget

from xengine_gui.language import tr
from xengine_gui.ui.panels.message_bar import MessageBar
from xengine_gui.ui.panels.parts import column, row

_ANY_HEIGHT = 16_777_215


class Messages(QWidget):
    """Bars in the order of urgency; they come and go by themselves, and together take one line at first."""

    def __init__(self, bars: Iterable[MessageBar]) -> None:
        super().__init__()
        self._bars: list[MessageBar] = []
        self._column = column(spacing=0)
        self.more = QToolButton()
        self.more.setCheckable(True)
        self.more.setToolTip(tr("Show all messages, or only the most urgent"))
        self.more.toggled.connect(lambda _all: self._show_parts())
        line = row(spacing=0)
        line.addLayout(self._column, 1)
        line.addWidget(self.more)
        line.setContentsMargins(0, 0, 8, 0)
        self.setLayout(line)
        for bar in bars:
            self.add(bar)
        self._show_parts()

    def add(self, bar: MessageBar) -> None:
        """One more bar, less urgent than those that are there."""
        self._bars.append(bar)
        self._column.addWidget(bar)
        bar.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A message has come or gone."""
        if event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
            self._show_parts()
        return super().eventFilter(watched, event)

    def _show_parts(self) -> None:
        waiting = [bar for bar in self._bars if not bar.isHidden()]
        others = len(waiting) - 1
        if others < 1:
            self.more.setChecked(False)
        self.more.setVisible(others > 0)
        self.more.setText(tr("Only one") if self.more.isChecked() else tr("{others} more", others=others))
        for place, bar in enumerate(waiting):
            # Not hidden: each knows by that whether it has something to say.
            bar.setMaximumHeight(_ANY_HEIGHT if place == 0 or self.more.isChecked() else 0)
        self.setVisible(bool(waiting))
