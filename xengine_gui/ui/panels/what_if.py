"""Below the reasons of a recompute: the question by how much the limit would have to rise, and its answer."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from xengine_gui.language import tr
from xengine_gui.solve.vanishing import Vanishing
from xengine_gui.ui.panels.parts import column, row, text_label
from xengine_gui.ui.timeline.details import printable

_QUESTION = tr("What would make it vanish?")
_TIP = tr(
    "Plan again under other limits, until the smallest is found at which this need not be recomputed and all takes no "
    "longer. Takes some seconds to some minutes, beside the window."
)


class WhatIfPanel(QWidget):
    """A button that asks, progress with a stop, and the answer with a button that takes it."""

    asked = Signal()
    stop_asked = Signal()
    plan_asked = Signal(object)
    """The `Vanishing` whose plan is to be shown."""

    def __init__(self) -> None:
        super().__init__()
        self._answer: Vanishing | None = None
        self.ask = QPushButton(_QUESTION)
        self.ask.setToolTip(_TIP)
        self.ask.clicked.connect(self.asked)
        self.progress = text_label("", "small", wrap=True)
        self.stop = QPushButton(tr("Stop"))
        self.stop.setToolTip(tr("End the search with what is known"))
        self.stop.clicked.connect(self.stop_asked)
        self.answer = text_label("", wrap=True)
        self.answer.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.take = QPushButton()
        self.take.clicked.connect(self._taken)
        running = row(self.progress, self.stop)
        running.setStretch(0, 1)
        self._running = QWidget()
        self._running.setLayout(running)
        lines = column(row(self.ask, 1), self._running, self.answer, row(self.take, 1), spacing=4)
        lines.setContentsMargins(12, 0, 12, 0)
        self.setLayout(lines)
        self.show_idle()
        self.hide()

    def show_idle(self) -> None:
        """Nothing has been asked about what is selected."""
        self._show(ask=True)

    def show_progress(self, words: str) -> None:
        """The answer is being looked for."""
        self.progress.setText(printable(words))
        self._show(running=True)

    def show_answer(self, found: Vanishing) -> None:
        """The answer."""
        self._answer = found
        self.answer.setText(printable(found.sentence))
        rise = found.rise_bytes
        self.take.setText(
            tr("Show that plan") if not rise else tr("Set {device} to that limit", device=printable(found.device))
        )
        self._show(answer=True, take=found.plan is not None)

    def show_failed(self, sentence: str) -> None:
        """Why there is no answer."""
        self.answer.setText(printable(sentence))
        self._show(ask=True, answer=True)

    def _show(self, *, ask: bool = False, running: bool = False, answer: bool = False, take: bool = False) -> None:
        self.ask.setVisible(ask)
        self._running.setVisible(running)
        self.answer.setVisible(answer)
        self.take.setVisible(take)

    def _taken(self) -> None:
        if self._answer is not None:
            self.plan_asked.emit(self._answer)
