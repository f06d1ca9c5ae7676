"""The panel on the left: devices, links, constraints, legend."""

from xengine_gui.ui.panels.constraints import ConstraintsPanel
from xengine_gui.ui.panels.devices import DevicesPanel
from xengine_gui.ui.panels.legend import LegendPanel
from xengine_gui.ui.panels.links import LinksPanel
from xengine_gui.ui.panels.parts import SidePanel, column, section_label


class LeftPanel(SidePanel):
    """Four sections one below the other."""

    def __init__(self) -> None:
        super().__init__("left-panel", least_width=220)
        self.devices = DevicesPanel()
        self.links = LinksPanel()
        self.constraints = ConstraintsPanel()
        self.legend = LegendPanel()
        for title, section in (
            ("Devices", self.devices),
            ("Links", self.links),
            ("Constraints", self.constraints),
            ("Legend", self.legend),
        ):
            self.column.addLayout(column(section_label(title), section, spacing=8))
            self.column.addSpacing(10)
        self.column.addStretch(1)
