"""All that one painting of a timeline needs, for the window and for pictures alike."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF, QStaticText

from xengine_gui.schedule.timeline import DeviceTimeline
from xengine_gui.ui.theme import Theme
from xengine_gui.ui.timeline.bar_words import Labels
from xengine_gui.ui.timeline.geometry import Columns, TimeRange
from xengine_gui.ui.timeline.index import TimelineIndex
from xengine_gui.ui.timeline.layout import Band, Layout
from xengine_gui.ui.timeline.stack import StackIndex
from xengine_gui.ui.timeline.ticks import TimeTicks, time_ticks

_MOST_WIDTHS = 20_000
_MOST_TEXTS = 4_000
_TICK_TEXT_WIDTHS = 1.9


class Face:
    """One font with its measures, and the texts that were written in it: measured once, laid out once."""

    def __init__(self, font: QFont) -> None:
        self.font = font
        self._metrics = QFontMetricsF(font)
        self.height, self.ascent = self._metrics.height(), self._metrics.ascent()
        self._widths: dict[str, float] = {}
        self._texts: dict[str, QStaticText] = {}

    def width(self, text: str) -> float:
        """The width of a text."""
        width = self._widths.get(text)
        if width is None:
            if len(self._widths) > _MOST_WIDTHS:
                self._widths.clear()
            width = self._widths[text] = self._metrics.horizontalAdvance(text)
        return width

    def laid_out(self, text: str) -> QStaticText:
        """A text ready to be drawn."""
        made = self._texts.get(text)
        if made is None:
            if len(self._texts) > _MOST_TEXTS:
                self._texts.clear()
            made = self._texts[text] = QStaticText(text)
            made.setTextFormat(Qt.TextFormat.PlainText)
            made.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
        return made


class Fonts:
    """The fonts of the timeline, all made from one, with their measures."""

    def __init__(self, base: QFont) -> None:
        self.regular = QFont(base)
        self.small = _scaled(base, 0.9)
        self.bold = _scaled(base, 1.05)
        self.bold.setWeight(QFont.Weight.DemiBold)
        self.pill = QFont(self.small)
        self.pill.setWeight(QFont.Weight.DemiBold)
        self.title = _scaled(base, 1.35)
        self.title.setWeight(QFont.Weight.DemiBold)
        self.line_height = QFontMetricsF(self.regular).height()
        self.small_metrics = QFontMetricsF(self.small)
        self.pill_metrics = QFontMetricsF(self.pill)
        self.regular_metrics = QFontMetricsF(self.regular)
        self.bold_metrics = QFontMetricsF(self.bold)
        self.title_metrics = QFontMetricsF(self.title)
        self.small_face, self.pill_face, self.bold_face = (Face(f) for f in (self.small, self.pill, self.bold))

    def small_width(self, text: str) -> float:
        """The width of a text in the small font, measured once."""
        return self.small_face.width(text)

    @cached_property
    def gutter(self) -> float:
        """The width of the lanes' names and of the sizes beside a memory curve."""
        texts = ("compute", "memory", "1,023 MiB", "12.5 GiB")
        return max(self.small_metrics.horizontalAdvance(text) for text in texts) + 12.0


@dataclass(frozen=True)
class Frame:
    """One look at a timeline.

    `limits` and `tops` stand in, per device, for the limit and the top of the memory scale while a limit is dragged.
    `is_live` says that limits can be dragged, and is shown on their labels; `is_vector` that edges will be smoothed, so
    that neighbours must not be painted apart. Cards outside `visible` are not painted. `stacks` has, per device, the
    tensors under its memory curve where they are to be told apart; `is_veiled` says that other things will stand out.
    """

    index: TimelineIndex
    view: TimeRange
    layout: Layout
    theme: Theme
    fonts: Fonts
    limits: Mapping[str, int | None] = field(default_factory=dict)
    tops: Mapping[str, int] = field(default_factory=dict)
    is_live: bool = False
    is_vector: bool = False
    visible: Band | None = None
    stacks: Mapping[str, StackIndex] = field(default_factory=dict)
    is_veiled: bool = False
    labels: Labels = Labels.NAMES

    @cached_property
    def columns(self) -> Columns:
        """The view cut into columns of the plot."""
        return Columns(self.view, self.layout.columns)

    @cached_property
    def ticks(self) -> TimeTicks:
        """The ticks of the time axis, as many as there is room for texts."""
        width = self.fonts.small_width("+ 888.888 ms") * _TICK_TEXT_WIDTHS
        return time_ticks(self.view, max(1, int(self.layout.plot_width / width)))

    def x(self, time_ns: int) -> float:
        """Where a moment is; moments far outside are at the edges."""
        inside = min(max(time_ns, self.view.start_ns - 1), self.view.end_ns + 1) - self.view.start_ns
        position = min(max(inside * self.layout.columns / self.view.span_ns, -1.0), self.layout.columns + 1.0)
        return self.layout.left + position * self.layout.column_width

    def time_at(self, x: float) -> int:
        """The moment at a place, within the view."""
        position = (x - self.layout.left) / self.layout.column_width
        return self.columns.time_at(min(max(position, 0.0), float(self.layout.columns)))

    def limit_bytes(self, device: DeviceTimeline) -> int | None:
        """The limit as it is shown now."""
        return self.limits.get(device.device, device.limit_bytes)

    def memory_scale(self, device_position: int) -> "MemoryScale":
        """The scale of a device's memory curve."""
        device = self.index.devices[device_position].device
        top = self.tops.get(device.device) or memory_top(device.peak_bytes, device.limit_bytes)
        return MemoryScale(self.layout.cards[device_position].memory, top)


@dataclass(frozen=True, slots=True)
class MemoryScale:
    """Bytes to heights: 0 at the foot of the band, `top_bytes` at its top."""

    band: Band
    top_bytes: int

    def y(self, size_bytes: float) -> float:
        """The height of a level; what is above the scale is at its top."""
        return self.band.bottom - min(max(size_bytes / self.top_bytes, 0.0), 1.0) * self.band.height

    def bytes_at(self, y: float) -> int:
        """The level at a height, not below 0; above the band it goes on."""
        return max(0, round((self.band.bottom - y) / self.band.height * self.top_bytes))


def memory_top(peak_bytes: int, limit_bytes: int | None) -> int:
    """The top of a memory scale: above peak and limit, but never so high that the curve is flat on the floor."""
    top = max(peak_bytes * 27 // 25, 1)
    if limit_bytes is not None:
        # A limit far above is drawn at the top with an arrow in its label.
        top = max(top, min(limit_bytes * 26 // 25, max(peak_bytes, 1) * 6)) if peak_bytes else max(limit_bytes, 1)
    return top


def _scaled(base: QFont, factor: float) -> QFont:
    font = QFont(base)
    if base.pointSizeF() > 0:
        font.setPointSizeF(base.pointSizeF() * factor)
    else:
        font.setPixelSize(max(1, round(base.pixelSize() * factor)))
    return font
