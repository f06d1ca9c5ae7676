"""A scroll area that takes no more room than what is in it."""

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QScrollArea, QSizePolicy, QWidget

from xengine_gui.language import tr

_LEAST_HEIGHT = 72


class Fitting(QScrollArea):
    """As high as its content where there is room, and scrolled where there is not."""

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        self.setAccessibleName(tr("What is selected"))
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._content = content
        self.setWidget(content)
        content.installEventFilter(self)

    def sizeHint(self) -> QSize:
        """The content's size, as high as it is at the present width."""
        width = self.viewport().width()
        hint = self._content.sizeHint()
        frame = self.height() - self.viewport().height()
        return QSize(hint.width(), (max(self._content.heightForWidth(width), 0) or hint.height()) + frame)

    def minimumSizeHint(self) -> QSize:
        """A few lines, where there are that many."""
        return QSize(0, min(_LEAST_HEIGHT, self.sizeHint().height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width, another height."""
        super().resizeEvent(event)
        self.updateGeometry()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ask for another height when the content has changed."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)
