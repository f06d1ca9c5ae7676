"""A comparison as a picture: a bar for each strategy, made of what its time goes into, with its figures beside it."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen

from xengine_gui.errors import InputError
from xengine_gui.language import tr
from xengine_gui.schedule.summary import PlanSummary
from xengine_gui.solve.compare import ComparedStrategy, Comparison
from xengine_gui.ui.picture import picture_fonts, write_drawing
from xengine_gui.ui.theme import Theme, ThemeName, load_theme
from xengine_gui.ui.timeline.bars import paint_swatch
from xengine_gui.ui.timeline.details import printable
from xengine_gui.units import format_duration, format_gap, format_size

_MARGIN, _GAP = 18.0, 14.0
_LEAST_BAR = 180.0
_BAR_SHARE = 0.52
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
PARTS = (("forward", "compute"), ("recompute", "recompute"), ("transfer", "transfer"))
"""What a bar is made of: the keys of its swatches and their names."""


def render_comparison(comparison: Comparison, path: Path, *, width: int = 1080, theme: ThemeName = "light") -> None:
    """Write the picture of a comparison to `path`, whose suffix says what it is: .svg, .png or .pdf.

    Raises `InputError` for another suffix, and where nothing was compared.
    """
    if not comparison.rows:
        raise InputError("", "there is nothing to draw: no strategy was compared")
    write_drawing(path, lambda _is_vector: _ComparePicture(comparison, width, load_theme(theme)))


def bar_parts(figures: PlanSummary) -> tuple[int, int, int]:
    """Nanoseconds of first computations, recomputes and transfers; they add up to the total."""
    again, copies = figures.recompute_ns, figures.transfer_ns
    return figures.total_ns - again - copies, again, copies


def figures_of(comparison: Comparison, row: ComparedStrategy) -> tuple[str, ...]:
    """The figures of a row, in the order of `figure_titles`; dashes where there is no plan."""
    figures, gap = row.summary, comparison.gap_ratio(row)
    devices = [d.name for d in comparison.problem.devices]
    took = "–" if row.took_s is None else f"{row.took_s:.2f} s"  # noqa: RUF001
    if figures is None:
        return (*["–"] * (len(devices) + 5), took)  # noqa: RUF001
    overhead = figures.overhead_ratio
    return (
        format_duration(figures.total_ns, fine=True),
        "–" if overhead is None else f"{100 * overhead:+.1f} %",  # noqa: RUF001
        "–" if gap is None else format_gap(gap),  # noqa: RUF001
        f"{figures.recompute_count:,}",
        f"{figures.transfer_count:,}",
        *(format_size(figures.peak_bytes.get(device, 0)) for device in devices),
        took,
    )


def figure_titles(comparison: Comparison) -> tuple[str, ...]:
    """What the figures of a row are called."""
    peaks = (tr("{name} peak", name=printable(d.name)) for d in comparison.problem.devices)
    return ("total", tr("over unlimited"), "gap", "recomputes", "transfers", *peaks, "took")


class _ComparePicture:
    """The picture, laid out: a title, a legend, and a line for each strategy."""

    def __init__(self, comparison: Comparison, width: int, theme: Theme) -> None:
        name = printable(comparison.problem.name or "problem")
        self.title = tr("{name}: {rows} strategies side by side", name=name, rows=len(comparison.rows))
        self._comparison, self._theme, self._fonts = comparison, theme, picture_fonts()
        small = self._fonts.small_metrics
        rows = [figures_of(comparison, row) for row in comparison.rows]
        columns = zip(figure_titles(comparison), *rows, strict=True)
        self._widths = [max(small.horizontalAdvance(text) for text in column) + _GAP for column in columns]
        self._name_width = max(small.horizontalAdvance(row.title) for row in comparison.rows) + _GAP
        room = width - 2 * _MARGIN - self._name_width - sum(self._widths)
        self._bar_width = max(_LEAST_BAR, room)
        self._line = self._fonts.line_height * 1.75
        self._top = self._fonts.line_height * 6.4
        total_width = round(2 * _MARGIN + self._name_width + sum(self._widths) + self._bar_width)
        height = self._top + self._line * len(comparison.rows) + _MARGIN
        self.size = QSize(max(width, total_width), round(height))
        totals = [row.total_ns for row in comparison.rows if row.total_ns]
        self._longest_ns = max([*totals, comparison.unlimited_total_ns or 0, 1])

    def paint(self, painter: QPainter) -> None:
        """Paint it all, in pixels from the painter's origin."""
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        painter.fillRect(QRectF(0, 0, self.size.width(), self.size.height()), QColor(self._theme.surface))
        line = self._fonts.line_height
        self._words(painter, QRectF(_MARGIN, line * 0.7, self.size.width(), line * 1.5), self.title, self._fonts.title)
        self._words(painter, QRectF(_MARGIN, line * 2.2, self.size.width(), line), self._facts(), muted=True)
        self._paint_legend(painter, line * 3.9)
        left = _MARGIN + self._name_width + self._bar_width
        self._paint_figures(painter, left, self._top - self._line, figure_titles(self._comparison), muted=True)
        for i, row in enumerate(self._comparison.rows):
            self._paint_row(painter, row, self._top + i * self._line)
        self._paint_bound(painter)

    def _facts(self) -> str:
        limits = (
            f"{printable(d.name)} {'unlimited' if d.memory_limit_bytes is None else format_size(d.memory_limit_bytes)}"
            for d in self._comparison.problem.devices
        )
        return tr(
            "limits: {limits}; totals on the serial clock; gap over the highest bound of all", limits=", ".join(limits)
        )

    def _paint_legend(self, painter: QPainter, middle: float) -> None:
        left = _MARGIN + self._name_width
        for key, text in PARTS:
            paint_swatch(painter, self._theme, QRectF(left, middle - 6, 12, 12), key)
            left = self._entry(painter, left + 18, middle, text)
        if self._comparison.lower_bound_ns:
            painter.setPen(QPen(QColor(self._theme.plot_bound), 2.0, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(left + 6, middle - 8), QPointF(left + 6, middle + 8))
            self._entry(painter, left + 18, middle, tr("lower bound"))

    def _entry(self, painter: QPainter, left: float, middle: float, text: str) -> float:
        width, line = self._fonts.small_metrics.horizontalAdvance(text), self._fonts.line_height
        self._words(painter, QRectF(left, middle - line / 2, width + 4, line), text, muted=True)
        return left + width + 20

    def _paint_row(self, painter: QPainter, row: ComparedStrategy, top: float) -> None:
        painter.setPen(QPen(QColor(self._theme.grid), 1.0))
        painter.drawLine(QPointF(_MARGIN, top), QPointF(self.size.width() - _MARGIN, top))
        self._words(painter, QRectF(_MARGIN, top, self._name_width, self._line), row.title)
        left = _MARGIN + self._name_width
        if row.summary is None:
            room = self._bar_width + sum(self._widths[:-1]) - _GAP
            words = f"{row.status}: {printable(row.reason)}" if row.reason else row.status
            told = self._fonts.small_metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)
            self._words(painter, QRectF(left, top, room, self._line), told, muted=True)
            took = figures_of(self._comparison, row)[-1]
            box = QRectF(self.size.width() - _MARGIN - self._widths[-1], top, self._widths[-1], self._line)
            self._words(painter, box, took, side=_RIGHT)
            return
        for (key, _), (start, end) in zip(PARTS, _ends(bar_parts(row.summary)), strict=True):
            if end > start:
                x, right = (left + time_ns / self._longest_ns * self._bar_width for time_ns in (start, end))
                height = self._line * _BAR_SHARE
                box = QRectF(x, top + (self._line - height) / 2, right - x, height)
                paint_swatch(painter, self._theme, box, key)
        self._paint_figures(painter, left + self._bar_width, top, figures_of(self._comparison, row))

    def _paint_figures(
        self, painter: QPainter, left: float, top: float, texts: Sequence[str], *, muted: bool = False
    ) -> None:
        for text, width in zip(texts, self._widths, strict=True):
            self._words(painter, QRectF(left, top, width, self._line), text, side=_RIGHT, muted=muted)
            left += width

    def _paint_bound(self, painter: QPainter) -> None:
        bound = self._comparison.lower_bound_ns
        if not bound:
            return
        x = _MARGIN + self._name_width + min(1.0, bound / self._longest_ns) * self._bar_width
        painter.setPen(QPen(QColor(self._theme.plot_bound), 2.0, Qt.PenStyle.DashLine))
        for i, row in enumerate(self._comparison.rows):
            if row.summary is not None:  # a line through the words of a reason would cross them out
                top = self._top + i * self._line
                painter.drawLine(QPointF(x, top + 1), QPointF(x, top + self._line))

    def _words(
        self,
        painter: QPainter,
        box: QRectF,
        text: str,
        font: QFont | None = None,
        *,
        side: Qt.AlignmentFlag = _LEFT,
        muted: bool = False,
    ) -> None:
        painter.setFont(font or self._fonts.small)
        painter.setPen(QColor(self._theme.text_muted if muted else self._theme.text))
        painter.drawText(box, side, text)


def _ends(parts: Sequence[int]) -> list[tuple[int, int]]:
    """Start and end of each part of a bar."""
    ends, now = [], 0
    for part in parts:
        ends.append((now, now + part))
        now += part
    return ends
