"""The top of the window: its name, the menus, and what is open."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenuBar

from xengine_gui.language import tr
from xengine_gui.ui.panels.parts import ElidedLabel, Panel, row, text_label


class Head(Panel):
    """One line, with a menu bar in it."""

    def __init__(self) -> None:
        super().__init__("head")
        self.menu_bar = QMenuBar()
        self.menu_bar.setAccessibleName(tr("Menus"))
        self.description = ElidedLabel("", "small", Qt.TextElideMode.ElideLeft)
        self.description.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        line = row(text_label("XEngine planner", "heading"), self.menu_bar, self.description, spacing=10)
        line.setContentsMargins(14, 0, 14, 1)
        line.setStretch(2, 1)
        self.setLayout(line)
