"""What the colours and hatches of the timeline mean."""

from PySide6.QtCore import QEvent, QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from xengine_gui.language import tr
from xengine_gui.schedule.timeline import Category
from xengine_gui.ui.panels.parts import text_label
from xengine_gui.ui.theme import CATEGORY_TITLES, current_theme
from xengine_gui.ui.timeline.bars import paint_swatch

_ORDER = (Category.FORWARD, Category.LOSS, Category.BACKWARD, Category.UPDATE, Category.RECOMPUTE, Category.TRANSFER)


class LegendPanel(QWidget):
    """A sign and a word per kind of event, in two columns."""

    def __init__(self) -> None:
        super().__init__()
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(5)
        entries = [(c.name.lower(), CATEGORY_TITLES[c]) for c in _ORDER]
        entries.append(("free", tr("free")))
        half = (len(entries) + 1) // 2
        for i, (key, title) in enumerate(entries):
            line, place = i % half, 2 * (i // half)
            grid.addWidget(_Sign(key), line, place)
            grid.addWidget(text_label(title), line, place + 1)
        grid.setColumnStretch(1, 1)
        grid.setColumnStretch(3, 1)
        self.setLayout(grid)


class _Sign(QWidget):
    """The sign of an entry as the timeline paints it."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self._key = key
        self.setFixedSize(QSize(12, 12))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_swatch(QPainter(self), current_theme(), QRectF(self.rect()), self._key)
