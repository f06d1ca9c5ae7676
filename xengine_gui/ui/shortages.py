"""For limits that no plan keeps: the smallest limits that would do, and a button that sets each."""

import threading
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QPushButton

from xengine_gui import planner
from xengine_gui.model.problem import Problem
from xengine_gui.solve.far import in_child
from xengine_gui.solve.feasibility import SmallestLimit, smallest_limits
from xengine_gui.solve.shortage import Shortage
from xengine_gui.ui.document import Document
from xengine_gui.ui.long_job import LongJob
from xengine_gui.ui.panels.devices import DevicesPanel
from xengine_gui.ui.panels.parts import Panel, row, text_label
from xengine_gui.ui.planning import Planning
from xengine_gui.ui.timeline.details import printable
from xengine_gui.units import format_size, format_size_exact

_TIME_S = 8.0


class ShortageBar(Panel):
    """A line above the timeline with a button for each device whose limit can be set to what would do."""

    set_asked = Signal(str, object)

    def __init__(self) -> None:
        super().__init__("shortage-bar")
        self.words = text_label("", "muted")
        self.buttons: dict[str, QPushButton] = {}
        self._line = row(self.words, 1, spacing=8)
        self._line.setContentsMargins(16, 8, 16, 0)
        self.setLayout(self._line)
        self.hide()

    def show_words(self, words: str) -> None:
        """Say something, without a button."""
        self._clear()
        self.words.setText(words)
        self.setVisible(bool(words))

    def show_limits(self, limits: tuple[SmallestLimit, ...]) -> None:
        """Offer limits that would do, each with the others as they are."""
        self.show_words("It would fit with one of:" if len(limits) > 1 else "It would fit with:")
        for place, small in enumerate(limits, start=1):
            button = QPushButton(button_text(small))
            button.setToolTip(button_tip(small))
            button.clicked.connect(lambda _checked=False, s=small: self.set_asked.emit(s.device, s.limit_bytes))
            self.buttons[small.device] = button
            self._line.insertWidget(place, button)

    def _clear(self) -> None:
        for button in self.buttons.values():
            self._line.removeWidget(button)
            button.hide()
            button.deleteLater()
        self.buttons = {}


def button_text(small: SmallestLimit) -> str:
    """What the button of a limit says."""
    return f"Set {printable(small.device)} to {format_size(small.limit_bytes or 0)}"


def button_tip(small: SmallestLimit) -> str:
    """What is known of a limit that would do."""
    exact = format_size_exact(small.limit_bytes or 0)
    if small.proved:
        return f"{exact}: the smallest limit that does, with the other devices as they are (proved)"
    return f"{exact}: the least known to do; that less than {format_size_exact(small.lower_bytes)} cannot is proved"


class Shortages(QObject):
    """Looks for the smallest limits once a problem is found to have no plan, in a process of its own."""

    def __init__(
        self, document: Document, planning: Planning, devices: DevicesPanel, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.bar = ShortageBar()
        self.job = LongJob(self)
        self._document, self._planning, self._devices = document, planning, devices
        self._problem: Problem | None = None
        planning.state_changed.connect(self._look)
        document.work_changed.connect(self._look)
        self.bar.set_asked.connect(document.set_limit)
        self.job.finished.connect(self._finished)
        self.job.failed.connect(lambda _sentence: self.bar.show_words(""))

    def close(self) -> None:
        """End what is being looked for."""
        self.job.close()

    def _look(self) -> None:
        work, planning = self._document.work, self._planning
        problem = work.problem if work is not None and planning.trouble and not planning.running else None
        if problem is self._problem:
            return
        self._problem = problem
        self._devices.show_enough({})
        self.job.abandon()
        if problem is None or all(d.memory_limit_bytes is None for d in problem.devices):
            self.bar.show_words("")
            return
        self.bar.show_words("Looking for the smallest limits that would do…")

        def find(_tell: Callable[[object], None], stop: threading.Event) -> Shortage | None:
            return in_child(shortage_of, problem, stop=stop)

        self.job.start(find)

    def _finished(self, found: Shortage | None) -> None:
        small = () if found is None else tuple(s for s in found.smallest if s.limit_bytes is not None)
        if not small:
            self.bar.show_words("")
            return
        self.bar.show_limits(small)
        self._devices.show_enough({s.device: (s.limit_bytes or 0, button_tip(s)) for s in small})


def shortage_of(problem: Problem) -> Shortage:
    """What a problem lacks, as far as it is found out in a few seconds."""
    found = planner.shortage(problem, time_s=_TIME_S)
    if found.smallest or found.plan is not None:
        return found
    return replace(found, smallest=smallest_limits(problem, None, _TIME_S, infeasible=found.proved))
