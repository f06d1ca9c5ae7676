"""The panels below the timeline that share one place: summary, comparison, sweep, log."""

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTabWidget, QWidget


class BelowTabs(QTabWidget):
    """A tab for each panel."""

    def __init__(self, panels: Mapping[str, QWidget]) -> None:
        super().__init__()
        self.setObjectName("below-tabs")
        self.setAccessibleName("Panels below")
        self.setDocumentMode(True)
        self.tabBar().setDrawBase(False)
        self.tabBar().setFocusPolicy(Qt.FocusPolicy.TabFocus)
        for title, panel in panels.items():
            self.addTab(panel, title)

    def show_panel(self, panel: QWidget) -> None:
        """Bring a panel to the front."""
        self.setCurrentWidget(panel)
