"""What the colours and hatches of the timeline mean."""

from PySide6.QtCore import QEvent, QPointF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QGridLayout, QWidget

from xengine_gui.schedule.timeline import Category
from xengine_gui.ui.panels.parts import text_label
from xengine_gui.ui.theme import CATEGORY_TITLES, current_theme

_ORDER = (Category.FORWARD, Category.LOSS, Category.BACKWARD, Category.UPDATE, Category.RECOMPUTE, Category.TRANSFER)


class LegendPanel(QWidget):
    """A sign and a word per kind of event, in two columns."""

    def __init__(self) -> None:
        super().__init__()
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(5)
        entries: list[tuple[Category | None, str]] = [(c, CATEGORY_TITLES[c]) for c in _ORDER]
        entries.append((None, "free"))
        half = (len(entries) + 1) // 2
        for i, (category, title) in enumerate(entries):
            line, place = i % half, 2 * (i // half)
            grid.addWidget(_Sign(category), line, place)
            grid.addWidget(text_label(title), line, place + 1)
        grid.setColumnStretch(1, 1)
        grid.setColumnStretch(3, 1)
        self.setLayout(grid)


class _Sign(QWidget):
    """A bar of a category as the timeline paints it; without a category the tick of a free."""

    def __init__(self, category: Category | None) -> None:
        super().__init__()
        self._category = category
        self.setFixedSize(QSize(12, 12))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if self._category is None:
            painter.setBrush(QColor(theme.free))
            painter.drawPolygon(QPolygonF([QPointF(1, 2), QPointF(11, 2), QPointF(6, 10.5)]))
            return
        area = self.rect()
        painter.setBrush(QColor(theme.category(self._category)))
        painter.drawRoundedRect(area, 2, 2)
        if self._category is Category.RECOMPUTE:
            painter.setBrush(QBrush(QColor(theme.recompute_hatch), Qt.BrushStyle.BDiagPattern))
            painter.drawRoundedRect(area, 2, 2)
