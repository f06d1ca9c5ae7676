"""What the colours, shapes, lines and marks of the graph mean, in one strip that wraps."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from xengine_gui.language import tr
from xengine_gui.schedule.timeline import Category
from xengine_gui.ui.graph_view.facts import Fate
from xengine_gui.ui.graph_view.painting import fate_pen
from xengine_gui.ui.graph_view.painting_nodes import paint_again, paint_body, paint_live, paint_retained
from xengine_gui.ui.theme import CATEGORY_TITLES, Theme, current_theme
from xengine_gui.ui.timeline.details import printable
from xengine_gui.ui.timeline.frame import Fonts

_PHASES = (Category.FORWARD, Category.LOSS, Category.BACKWARD, Category.UPDATE)
_FATES = {Fate.RETAINED: "retained", Fate.RECOMPUTED: tr("freed and recomputed"), Fate.MOVED: "transferred"}
_SIGN = QSize(22, 12)
_LONG_SIGN = 34
_GAP = 16.0
_MARGIN = 12.0

Entry = tuple[str, int, str]
"""What kind of sign, which of its kind, and the words for it."""


class GraphLegend(QWidget):
    """Signs and words; devices are there once there is more than one, marks once there is a plan."""

    def __init__(self) -> None:
        super().__init__()
        self._entries: list[Entry] = []
        self._fonts = Fonts(self.font())
        self.setAccessibleName(tr("Legend of the graph"))
        self.show_legend((), phases=(), with_plan=False)

    @property
    def entries(self) -> list[str]:
        """The words of the legend."""
        return [text for _kind, _number, text in self._entries]

    def show_legend(self, devices: Sequence[tuple[str, int]], *, phases: Sequence[Category], with_plan: bool) -> None:
        """Explain these phases, and devices with the number of their style."""
        self._entries = legend_entries(devices, phases, with_plan=with_plan)
        self.setAccessibleDescription(", ".join(self.entries))
        self._fit_height()
        self.update()

    def sizeHint(self) -> QSize:
        """As high as its lines at the present width."""
        return QSize(400, self.heightForWidth(self.width()))

    def hasHeightForWidth(self) -> bool:
        """It wraps."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height of its lines."""
        places = legend_places(self._entries, self._fonts, float(width))
        return round((places[-1].bottom() if places else 0) + 7)

    def resizeEvent(self, _event: QEvent) -> None:
        """Another width, other lines."""
        self._fit_height()

    def changeEvent(self, event: QEvent) -> None:
        """Follow colours and fonts."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fonts = Fonts(self.font())
            self._fit_height()
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint signs and words."""
        paint_legend(QPainter(self), current_theme(), self._fonts, self._entries, float(self.width()))

    def _fit_height(self) -> None:
        self.setMaximumHeight(self.heightForWidth(self.width()))
        self.updateGeometry()


def legend_entries(
    devices: Sequence[tuple[str, int]], phases: Collection[Category], *, with_plan: bool, with_moment: bool = True
) -> list[Entry]:
    """The entries for these phases, and for devices with the number of their style."""
    entries: list[Entry] = [("phase", int(c), CATEGORY_TITLES[c]) for c in _PHASES if c in phases]
    if with_plan:
        if len(devices) > 1:
            entries += [("device", i, tr("on {name}", name=printable(name))) for name, i in devices]
            entries.append(("several", 0, tr("on several")))
        entries += [("fate", int(fate), text) for fate, text in _FATES.items()]
        if with_moment:
            entries.append(("live", 0, tr("in memory now")))
    return entries


def legend_places(entries: Sequence[Entry], fonts: Fonts, width: float) -> list[QRectF]:
    """Where each entry stands, in as many lines as a width makes necessary."""
    metrics = fonts.small_metrics
    line = metrics.height() + 4
    x, y = _MARGIN, 6.0
    places: list[QRectF] = []
    for entry in entries:
        wide = _wide(entry) + 6 + metrics.horizontalAdvance(entry[2])
        if places and x + wide > width - _MARGIN:
            x, y = _MARGIN, y + line
        places.append(QRectF(x, y, wide, line - 2))
        x += wide + _GAP
    return places


def paint_legend(painter: QPainter, theme: Theme, fonts: Fonts, entries: Sequence[Entry], width: float) -> None:
    """Paint signs and words."""
    painter.setFont(fonts.small)
    for entry, place in zip(entries, legend_places(entries, fonts, width), strict=True):
        sign = QRectF(place.left(), place.center().y() - _SIGN.height() / 2, _wide(entry), _SIGN.height())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        _paint_sign(painter, theme, sign, entry)
        painter.setPen(QColor(theme.text))
        painter.drawText(QPointF(sign.right() + 6, place.top() + fonts.small_metrics.ascent() + 1), entry[2])


def _wide(entry: Entry) -> int:
    return _LONG_SIGN if entry[0] == "fate" else _SIGN.width()


def _paint_sign(painter: QPainter, theme: Theme, box: QRectF, entry: Entry) -> None:
    kind, number, _text = entry
    if kind == "phase":
        paint_body(painter, theme, box, theme.category(Category(number)), [])
    elif kind == "device":
        paint_body(painter, theme, box, theme.text_muted, [float(i == number) for i in range(number + 1)])
    elif kind == "several":
        paint_body(painter, theme, box, theme.text_muted, [0.6, 0.4])
    elif kind == "live":
        paint_live(painter, theme, QRectF(box.center().x() - 3, box.top(), 6, box.height()), 0.7, 0)
    else:
        painter.setPen(fate_pen(theme, Fate(number), 2.2))
        painter.drawLine(QPointF(box.left() + 4, box.center().y()), QPointF(box.right(), box.center().y()))
        # What the nodes bear whose results go this way.
        if number == Fate.RETAINED:
            paint_retained(painter, theme, QPointF(box.left() + 5, box.center().y()))
        elif number == Fate.RECOMPUTED:
            paint_again(painter, theme, QRectF(box.left(), box.top(), 11, box.height()))
