"""The timeline as a file: the same painting as in the window, with a title and a legend, as SVG, PNG or PDF."""

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Protocol, cast

import numpy as np
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QGuiApplication,
    QImage,
    QImageWriter,
    QPageSize,
    QPaintDevice,
    QPainter,
    QPdfWriter,
)
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QApplication

from xengine_gui.errors import InputError
from xengine_gui.language import tr
from xengine_gui.model.plan import Clock, Plan, Status
from xengine_gui.model.whole_file import write_bytes
from xengine_gui.schedule.timeline import Bars, Timeline, timeline
from xengine_gui.schedule.verify import verify
from xengine_gui.ui.picture_size import LEAST_WIDTH_PIXELS, MOST_PIXELS
from xengine_gui.ui.theme import CATEGORY_TITLES, Theme, ThemeName, load_theme
from xengine_gui.ui.timeline.bars import paint_swatch
from xengine_gui.ui.timeline.details import printable
from xengine_gui.ui.timeline.frame import Fonts, Frame
from xengine_gui.ui.timeline.index import TimelineIndex
from xengine_gui.ui.timeline.layout import arrange
from xengine_gui.ui.timeline.painting import paint_axis, paint_timeline
from xengine_gui.units import format_duration, format_percent

_FONT_PX = 13
_MARGIN = 18.0
# Vector pictures are cut finer than a pixel, because they are looked at enlarged.
_VECTOR_COLUMNS_PER_PIXEL = 4.0


def render_picture(
    plan: Plan,
    path: Path,
    *,
    width: int = 1600,
    height: int | None = None,
    theme: ThemeName = "light",
    memory_alone: bool = False,
) -> None:
    """Write the picture of a plan to `path`, whose suffix says what it is: .svg, .png or .pdf.

    With `memory_alone` it shows the memory of each device over time, without what runs. `width` and `height` are in
    pixels (of 1/96 inch in a PDF); a height of `None` is as tall as looks well. The file is written whole or not at
    all. Raises `InputError` for another suffix, a size that cannot be, or a plan without
    events.
    """
    if not LEAST_WIDTH_PIXELS <= width <= MOST_PIXELS or (height is not None and not 0 < height <= MOST_PIXELS):
        raise InputError("", f"a picture is {LEAST_WIDTH_PIXELS:,} to {MOST_PIXELS:,} pixels wide and at most as high")
    _refuse_nothing(plan)
    write_drawing(
        path,
        lambda is_vector: _Picture(
            plan,
            width,
            height,
            load_theme(theme),
            _VECTOR_COLUMNS_PER_PIXEL if is_vector else 1.0,
            memory_alone=memory_alone,
        ),
    )


def picture_svg(plan: Plan, *, width: int = 1600, theme: ThemeName = "light") -> str:
    """The picture of a plan as the text of an SVG file, for use within another document."""
    _refuse_nothing(plan)
    application = _application()
    content = _svg(_Picture(plan, width, None, load_theme(theme), _VECTOR_COLUMNS_PER_PIXEL))
    del application
    return content.decode()


class Drawing(Protocol):
    """What can be made a picture file: a title, a size in pixels, and its painting."""

    title: str
    size: QSize

    def paint(self, painter: QPainter) -> None:
        """Paint it all, in pixels from the painter's origin."""
        ...


def write_drawing(path: Path, draw: Callable[[bool], Drawing]) -> None:
    """Write a drawing whole or not at all, as what the suffix says; `draw` is told whether it will be vectors."""
    kinds: dict[str, Callable[[Drawing], bytes]] = {".svg": _svg, ".png": _png, ".pdf": _pdf}
    kind = kinds.get(path.suffix.lower())
    if kind is None:
        raise InputError(
            str(path), f"a picture is written as {', '.join(kinds)}, not {path.suffix or 'without a suffix'}"
        )
    # Held until the end: without an application there are no fonts.
    application = _application()
    content = kind(draw(kind is not _png))
    del application
    write_bytes(path, content)


def picture_fonts() -> Fonts:
    """The fonts of picture files, the same on every screen."""
    base = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    base.setPixelSize(_FONT_PX)
    base.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return Fonts(base)


def _refuse_nothing(plan: Plan) -> None:
    if not plan.has_events:
        raise InputError("", f"there is nothing to draw: {plan.explanation or 'this plan has no events'}")


def _application() -> QGuiApplication:
    application = QGuiApplication.instance()
    if application is not None:
        return cast("QGuiApplication", application)
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    return QApplication(sys.argv[:1])


def _without_lanes(shown: Timeline) -> Timeline:
    """The memory of each device alone: a card has no room for a lane in which nothing is."""
    nothing = np.zeros(0, dtype=np.int64)
    bars = Bars(nothing, nothing, nothing, nothing)
    devices = (
        replace(d, compute=bars, incoming=bars, outgoing=bars, free_ns=nothing, free_event=nothing)
        for d in shown.devices
    )
    return replace(shown, devices=tuple(devices))


class _Picture:
    """A plan's picture, laid out and ready to be painted on anything."""

    def __init__(
        self,
        plan: Plan,
        width: int,
        height: int | None,
        theme: Theme,
        columns_per_pixel: float,
        *,
        memory_alone: bool = False,
    ) -> None:
        self.title = printable(plan.problem.name or "plan")
        self._facts = facts_of(plan)
        self._theme, self._fonts = theme, picture_fonts()
        shown = timeline(plan)
        self._index = TimelineIndex(_without_lanes(shown) if memory_alone else shown)
        self._legend = self._legend_places(width)
        self._head = self._legend[-1][1] + self._fonts.line_height * 1.2
        room = None if height is None else height - self._head
        layout = arrange(
            [device.device for device in self._index.devices],
            width=float(width),
            height=room,
            line_height=self._fonts.line_height,
            gutter=self._fonts.gutter,
            scale=columns_per_pixel,
        )
        self._frame = Frame(self._index, self._index.whole, layout, theme, self._fonts, is_vector=columns_per_pixel > 1)
        self.size = QSize(width, max(round(self._head + layout.height), height or 0))

    def paint(self, painter: QPainter) -> None:
        """Paint it all, in pixels from the painter's origin."""
        painter.fillRect(QRectF(0, 0, self.size.width(), self.size.height()), QColor(self._theme.window))
        self._paint_head(painter)
        painter.save()
        painter.translate(0, self._head)
        paint_timeline(painter, self._frame)
        paint_axis(painter, self._frame, self._theme.window)
        painter.restore()

    def _paint_head(self, painter: QPainter) -> None:
        fonts, theme = self._fonts, self._theme
        room = self.size.width() - 2 * _MARGIN
        line = fonts.line_height
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing, on=True)
        painter.setFont(fonts.title)
        painter.setPen(QColor(theme.text))
        title = fonts.title_metrics.elidedText(self.title, Qt.TextElideMode.ElideMiddle, room)
        painter.drawText(QPointF(_MARGIN, line * 1.6), title)
        painter.setFont(fonts.regular)
        painter.setPen(QColor(theme.text_muted))
        facts = fonts.regular_metrics.elidedText("  ·  ".join(self._facts), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QPointF(_MARGIN, line * 2.9), facts)
        for left, middle, key, text in self._legend:
            paint_swatch(painter, theme, QRectF(left, middle - 6, 12, 12), key)
            painter.setFont(fonts.small)
            painter.setPen(QColor(theme.text_muted))
            box = QRectF(left + 18, middle - line / 2, fonts.small_metrics.horizontalAdvance(text) + 2, line)
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)

    def _legend_places(self, width: int) -> list[tuple[float, float, str, str]]:
        """Left edge, middle, key and text of each entry, in as many rows as the width makes necessary."""
        entries = [(c.name.lower(), CATEGORY_TITLES[c]) for c in sorted(self._index.categories)]
        if self._index.has_frees:
            entries.append(("free", "free"))
        entries.append(("memory", "memory"))
        if any(device.device.limit_bytes is not None for device in self._index.devices):
            entries.append(("limit", tr("memory limit")))
        line = self._fonts.line_height
        left, middle = _MARGIN, line * 4.0
        places = []
        for key, text in entries:
            step = self._fonts.small_metrics.horizontalAdvance(text) + 38
            if left > _MARGIN and left + step - 20 > width - _MARGIN:
                left, middle = _MARGIN, middle + line * 1.3
            places.append((left, middle, key, text))
            left += step
        return places


def facts_of(plan: Plan) -> list[str]:
    """The line under a picture's title: strategy, total, gap, and whether the plan passes the judge."""
    facts = [tr("strategy {strategy}", strategy=printable(plan.strategy))]
    if plan.total_ns is not None:
        clock = "makespan" if plan.clock is Clock.OVERLAPPED else "total"
        facts.append(f"{clock} {format_duration(plan.total_ns)}")
    if plan.gap_ratio is not None:
        facts.append(_quality(plan.gap_ratio, plan.status))
    verdict = verify(plan)
    facts.append("verified" if verdict.ok else tr("not valid: {broken}", broken=verdict.broken[0]))
    return facts


def _quality(gap_ratio: float, status: Status) -> str:
    """How good a plan is, in the words of the window: only what was proved to the gap that was asked for is optimal."""
    if not gap_ratio:
        return tr("proved optimal")
    gap = format_percent(max(gap_ratio, 0.0001), 2)  # what rounds to nothing was proved to less than can be shown
    return tr("optimal within {gap}", gap=gap) if status is Status.OPTIMAL else tr("at most {gap} to gain", gap=gap)


def _paint(picture: Drawing, device: QPaintDevice) -> None:
    painter = QPainter(device)
    try:
        picture.paint(painter)
    finally:
        # One that outlives what it paints on takes the process down.
        painter.end()


def _svg(picture: Drawing) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(picture.size)
    generator.setViewBox(QRectF(0, 0, picture.size.width(), picture.size.height()))
    generator.setResolution(96)
    generator.setTitle(picture.title)
    _paint(picture, generator)
    family = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont).family()
    text = bytes(buffer.data().data()).decode()
    # A reader without this font shall take another of its kind.
    return text.replace(f'font-family="{family}"', f'font-family="{family}, Helvetica, Arial, sans-serif"').encode()


def _png(picture: Drawing) -> bytes:
    image = QImage(picture.size, QImage.Format.Format_RGB32)
    if image.isNull():
        raise InputError("", f"a picture of {picture.size.width():,} by {picture.size.height():,} pixels is too large")
    _paint(picture, image)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(buffer.data().data())


def _pdf(picture: Drawing) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setTitle(picture.title)
    writer.setResolution(96)
    inches = QSizeF(picture.size.width() / 96, picture.size.height() / 96)
    writer.setPageSize(QPageSize(inches, QPageSize.Unit.Inch, "timeline", QPageSize.SizeMatchPolicy.ExactMatch))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    _paint(picture, writer)
    return bytes(buffer.data().data())
