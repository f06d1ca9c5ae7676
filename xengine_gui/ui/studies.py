"""Comparison and sweep in the window: their panels, and what runs them."""

from PySide6.QtCore import QObject, Signal

from xengine_gui.solve.strategies import STRATEGIES
from xengine_gui.ui.comparing import Comparing
from xengine_gui.ui.document import Document
from xengine_gui.ui.panels.compare import ComparePanel
from xengine_gui.ui.panels.sweep import SweepPanel
from xengine_gui.ui.planning import Planning
from xengine_gui.ui.sweeping import Sweeping


class Studies(QObject):
    """Owns both; the window gives its panels a place."""

    told = Signal(str)
    """A line for the log."""
    refused = Signal(str)
    """One sentence on why something was not done."""

    def __init__(self, document: Document, planning: Planning, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.compare, self.sweep = ComparePanel(STRATEGIES), SweepPanel(STRATEGIES)
        self.comparing = Comparing(document, planning, self.compare, self)
        self.sweeping = Sweeping(document, planning, self.sweep, STRATEGIES, self)
        for study in (self.comparing, self.sweeping):
            study.told.connect(self.told)
            study.refused.connect(self.refused)

    def close(self) -> None:
        """End both."""
        self.comparing.close()
        self.sweeping.close()
