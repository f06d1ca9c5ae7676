"""The graph as a file, as it is drawn in the window: SVG, PNG or PDF, with a title and a legend."""

from pathlib import Path

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter

from xengine_gui.errors import InputError
from xengine_gui.model.plan import Plan
from xengine_gui.schedule.timeline import Category
from xengine_gui.ui.graph_view.camera import Camera
from xengine_gui.ui.graph_view.facts import facts_of
from xengine_gui.ui.graph_view.legend import legend_entries, legend_places, paint_legend
from xengine_gui.ui.graph_view.looks import Looks
from xengine_gui.ui.graph_view.painting import Frame, paint_frame_labels, paint_graph
from xengine_gui.ui.graph_view.scene import scene_of
from xengine_gui.ui.graph_view.structure import structure_of
from xengine_gui.ui.picture import facts_of as words_of
from xengine_gui.ui.picture import picture_fonts, write_drawing
from xengine_gui.ui.picture_size import MOST_PIXELS
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.theme import Theme, ThemeName, load_theme
from xengine_gui.ui.timeline.details import printable

_MARGIN = 18.0
_SIDE = 90.0
"""Room beside the drawing for the names of open blocks."""
_LEAST_WIDTH = 520.0


def render_graph(plan: Plan, path: Path, *, expanded: frozenset[str] | None = None, theme: ThemeName = "light") -> None:
    """Write the graph of a plan to `path`, whose suffix says what it is: .svg, .png or .pdf.

    `expanded` are the blocks that are open, by default those that can be read at once. The file is written whole or not
    at all. Raises `InputError` for another suffix, or a plan without events.
    """
    if not plan.has_events:
        raise InputError("", f"there is nothing to draw: {plan.explanation or 'this plan has no events'}")
    structure = structure_of(plan.problem)
    scene = scene_of(structure, structure.default_expanded() if expanded is None else expanded)
    looks = Looks(scene, facts_of(ShownPlan.of(plan)))
    write_drawing(path, lambda _is_vector: _GraphPicture(plan, looks, load_theme(theme)))


class _GraphPicture:
    """A graph, laid out and ready to be painted on anything; a very tall one is made smaller."""

    def __init__(self, plan: Plan, looks: Looks, theme: Theme) -> None:
        self.title = printable(plan.problem.name or "graph")
        self._facts = words_of(plan)
        self._looks, self._theme, self._fonts = looks, theme, picture_fonts()
        left, top, right, bottom = looks.scene.placed.bounds
        width = max(right - left + 2 * _SIDE, _LEAST_WIDTH)
        phases = {Category(c) for c in looks.category.tolist()}
        devices = [(d.name, s) for d, s in zip(plan.problem.devices, looks.styles, strict=True)]
        self._entries = legend_entries(devices, phases, with_plan=True, with_moment=False)
        places = legend_places(self._entries, self._fonts, width)
        line = self._fonts.line_height
        self._head = line * 3.4 + (places[-1].bottom() if places else 0.0) + 8
        strip = round(line * 1.7)
        room = MOST_PIXELS - self._head - strip - 3 * _MARGIN
        scale = min(1.0, room / (bottom - top))
        size = QSize(round(width), round(self._head + strip + (bottom - top) * scale + 2 * _MARGIN))
        camera = Camera(1.0, scale, width / 2 - (left + right) / 2, strip + _MARGIN - top * scale)
        self.size = size
        self._frame = Frame(
            looks, camera, theme, self._fonts, float(size.width()), size.height() - self._head, float(strip)
        )

    def paint(self, painter: QPainter) -> None:
        """Paint it all, in pixels from the painter's origin."""
        theme, fonts, line = self._theme, self._fonts, self._fonts.line_height
        painter.fillRect(QRectF(0, 0, self.size.width(), self.size.height()), QColor(theme.window))
        room = self.size.width() - 2 * _MARGIN
        painter.setFont(fonts.title)
        painter.setPen(QColor(theme.text))
        title = fonts.title_metrics.elidedText(self.title, Qt.TextElideMode.ElideMiddle, room)
        painter.drawText(QPointF(_MARGIN, line * 1.6), title)
        painter.setFont(fonts.regular)
        painter.setPen(QColor(theme.text_muted))
        facts = fonts.regular_metrics.elidedText("  ·  ".join(self._facts), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QPointF(_MARGIN, line * 2.9), facts)
        painter.save()
        painter.translate(0, line * 3.4)
        paint_legend(painter, theme, fonts, self._entries, float(self.size.width()))
        painter.restore()
        painter.save()
        painter.translate(0, self._head)
        paint_graph(painter, self._frame)
        paint_frame_labels(painter, self._frame)
        painter.restore()
