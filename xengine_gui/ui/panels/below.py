"""The panels below the timeline that share one place: summary, comparison, sweep, log."""

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTabWidget, QWidget

from xengine_gui.language import tr


class BelowTabs(QTabWidget):
    """A tab for each panel: `panels` holds by its key the title and the panel."""

    def __init__(self, panels: Mapping[str, tuple[str, QWidget]]) -> None:
        super().__init__()
        self.setObjectName("below-tabs")
        self.setAccessibleName(tr("Panels below"))
        self.setDocumentMode(True)
        self.tabBar().setDrawBase(False)
        self.tabBar().setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._keys = tuple(panels)
        for title, panel in panels.values():
            self.addTab(panel, title)

    @property
    def front(self) -> str:
        """The key of the panel in front."""
        return self._keys[self.currentIndex()]

    def bring_to_front(self, key: str) -> None:
        """Bring a panel to the front, if there is one of this key."""
        if key in self._keys:
            self.setCurrentIndex(self._keys.index(key))

    def show_panel(self, panel: QWidget) -> None:
        """Bring a panel to the front."""
        self.setCurrentWidget(panel)
