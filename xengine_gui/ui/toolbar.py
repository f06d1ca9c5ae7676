"""The row of what is used most: open, plan, stop, strategy, mode, batch, find, clock, fit."""

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QPushButton, QSizePolicy, QSpinBox, QToolBar, QWidget

from xengine_gui.language import tr
from xengine_gui.ui.actions import icon
from xengine_gui.ui.panels.parts import fit_width
from xengine_gui.ui.theme import current_theme, set_style_property

_MOST_BATCH = 1_000_000


class ToolBar(QToolBar):
    """Buttons for actions, menus that show what holds, and the batch size."""

    batch_edited = Signal(int)

    def __init__(self, actions: Mapping[str, QAction], strategy: QMenu, mode: QMenu, clock: QMenu) -> None:
        super().__init__(tr("Tools"))
        self.setObjectName("tools")
        self.setMovable(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self._button(actions["open"], tr("Open…"))
        self.plan = self._button(actions["plan"], tr("Plan  F5"))
        set_style_property(self.plan, "primary", value=True)
        self.stop = self._button(actions["stop"], tr("Stop"))
        self.strategy = self._menu_button(strategy, tr("How the plan is looked for"))
        self.mode = self._menu_button(mode, tr("What is planned: a training step or an inference"))
        self.batch = QSpinBox(minimum=1, maximum=_MOST_BATCH, prefix=tr("Batch "))
        self.batch.setKeyboardTracking(False)
        self.batch.setToolTip(tr("Batch size of the network"))
        self.batch.setAccessibleName(tr("Batch size"))
        fit_width(self.batch, "Batch 000000", 44)
        self.batch.valueChanged.connect(self.batch_edited)
        self._network_actions = (self.actions()[-1], self.addWidget(self.batch))
        space = QWidget()
        space.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.batch.lineEdit().setTextMargins(6, 0, 0, 0)
        self.addWidget(space)
        self.search = self._button(actions["find"], tr("⌕  find operator or tensor   /"))
        set_style_property(self.search, "search", value=True)
        self.clock = self._menu_button(
            clock, tr("Which clock the timeline shows: one event at a time, or side by side")
        )
        self._button(actions["fit"], tr("Fit  0"))
        for button in (self.plan, self.stop):
            button.setIconSize(QSize(11, 11))
        self._dress()

    def show_strategy(self, title: str) -> None:
        """Say which strategy is used."""
        self.strategy.setText(tr("Strategy: {title}", title=title))

    def show_clock(self, title: str) -> None:
        """Say which clock the timeline shows."""
        self.clock.setText(tr("{title} clock", title=title))

    def show_setup(self, mode: str, batch: int | None, *, editable: bool) -> None:
        """Say what is planned; where a problem file has given it there is nothing to choose."""
        self.mode.setText(mode)
        shown = batch if batch is not None and 0 < batch <= _MOST_BATCH else None
        for action, visible in zip(self._network_actions, (editable, editable and shown is not None), strict=True):
            action.setVisible(visible)
        with QSignalBlocker(self.batch):
            self.batch.setValue(shown or 1)

    def changeEvent(self, event: QEvent) -> None:
        """Follow the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._dress()

    def _dress(self) -> None:
        theme = current_theme()
        self.plan.setIcon(icon("plan", theme.accent_text, theme.text_disabled))
        self.stop.setIcon(icon("stop", theme.text, theme.text_disabled))

    def _button(self, action: QAction, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setToolTip(action.toolTip())
        button.setAccessibleName(action.text())
        button.setEnabled(action.isEnabled())
        button.clicked.connect(action.trigger)
        action.enabledChanged.connect(button.setEnabled)
        self.addWidget(button)
        return button

    def _menu_button(self, menu: QMenu, tip: str) -> QPushButton:
        button = QPushButton()
        button.setToolTip(tip)
        button.setMenu(menu)
        self.addWidget(button)
        return button
