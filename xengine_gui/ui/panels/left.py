"""The panel on the left: devices, links, constraints, legend, each of which can be folded."""

from collections.abc import Collection

from PySide6.QtWidgets import QPushButton, QWidget

from xengine_gui.language import tr
from xengine_gui.ui.panels.constraints import ConstraintsPanel
from xengine_gui.ui.panels.devices import DevicesPanel
from xengine_gui.ui.panels.legend import LegendPanel
from xengine_gui.ui.panels.links import LinksPanel
from xengine_gui.ui.panels.parts import SidePanel, column


class LeftPanel(SidePanel):
    """Four sections one below the other."""

    def __init__(self) -> None:
        super().__init__("left-panel", least_width=220)
        self.setAccessibleName(tr("Devices, links and constraints"))
        self.devices = DevicesPanel()
        self.links = LinksPanel()
        self.constraints = ConstraintsPanel()
        self.legend = LegendPanel()
        self.sections = {
            "devices": Section(tr("Devices"), self.devices),
            "links": Section(tr("Links"), self.links),
            "constraints": Section(tr("Constraints"), self.constraints),
            "legend": Section(tr("Legend"), self.legend),
        }
        for section in self.sections.values():
            self.column.addWidget(section)
            self.column.addSpacing(8)
        self.column.addStretch(1)

    @property
    def folded(self) -> tuple[str, ...]:
        """The sections of which only the title is shown."""
        return tuple(name for name, section in self.sections.items() if not section.title.isChecked())

    def fold(self, names: Collection[str]) -> None:
        """Fold these sections and unfold the others."""
        for name, section in self.sections.items():
            section.title.setChecked(name not in names)


class Section(QWidget):
    """A title that folds what is below it."""

    def __init__(self, title: str, part: QWidget) -> None:
        super().__init__()
        self.title = QPushButton()
        self.title.setAccessibleName(title)
        self.title.setProperty("section", True)  # noqa: FBT003 - Qt's own signature
        self.title.setCheckable(True)
        self.title.setChecked(True)
        self._part, self._name = part, title
        self.title.toggled.connect(self._show)
        self.setLayout(column(self.title, part, spacing=5))
        self._show()

    def _show(self) -> None:
        is_open = self.title.isChecked()
        self.title.setText(f"{self._name.upper()}  {'▾' if is_open else '▸'}")
        self.title.setToolTip(f"{'Fold' if is_open else 'Unfold'} {self._name.lower()}")
        self._part.setVisible(is_open)
