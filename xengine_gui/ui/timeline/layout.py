"""Where things stand: one card per device with its lanes, in logical pixels; only the time axis is not its matter."""

from collections.abc import Sequence
from dataclasses import dataclass

from xengine_gui.schedule.timeline import DeviceTimeline

_MARGIN = 14.0
_CARD_GAP = 12.0
_PADDING = 10.0
_MOST_MEMORY_LINES = 22.0


@dataclass(frozen=True, slots=True)
class _Density:
    """How close the lanes of a card stand: bands in line heights, gaps in pixels."""

    padding: float
    title: float
    compute: float
    frees: float
    transfers: float
    gap: float
    above_curve: float
    least_memory: float


_ROOMY = _Density(_PADDING, 1.3, 1.65, 0.5, 0.72, 1.0, 0.9, 3.4)
_TIGHT = _Density(5.0, 1.15, 1.3, 0.45, 0.6, 0.5, 0.75, 3.0)
_SLIM = _Density(4.0, 1.15, 0.8, 0.4, 0.5, 0.5, 0.6, 1.4)
_LOW = _Density(4.0, 1.15, 1.0, 0.4, 0.5, 0.5, 0.6, 2.0)
"""From how a card looks best to how it is still readable; cards give way to one another in this order."""


@dataclass(frozen=True, slots=True)
class Band:
    """A horizontal stretch of the picture."""

    top: float
    height: float

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.top + self.height

    @property
    def middle(self) -> float:
        """Half-way down."""
        return self.top + self.height / 2

    def __contains__(self, y: float) -> bool:
        return self.top <= y < self.bottom


@dataclass(frozen=True, slots=True)
class Card:
    """The bands of one device; a device that has none of something has no lane for it."""

    outer: Band
    title: Band
    compute: Band | None
    frees: Band
    incoming: Band | None
    outgoing: Band | None
    memory: Band

    def moved(self, by: float) -> "Card":
        """The same card elsewhere."""

        def move(band: Band) -> Band:
            return Band(band.top + by, band.height)

        def may_move(band: Band | None) -> Band | None:
            return None if band is None else move(band)

        return Card(
            move(self.outer),
            move(self.title),
            may_move(self.compute),
            move(self.frees),
            may_move(self.incoming),
            may_move(self.outgoing),
            move(self.memory),
        )


@dataclass(frozen=True, slots=True)
class Layout:
    """The whole picture: the axis above, cards below one another, the plot from `left` over `columns` columns."""

    width: float
    height: float
    axis: Band
    cards: tuple[Card, ...]
    card_left: float
    card_right: float
    left: float
    columns: int
    column_width: float

    @property
    def right(self) -> float:
        """The right edge of the plot."""
        return self.left + self.columns * self.column_width

    @property
    def plot_width(self) -> float:
        """The width of the plot."""
        return self.columns * self.column_width

    def moved(self, by: float) -> "Layout":
        """The same layout with the cards moved up or down under the axis."""
        cards = tuple(card.moved(by) for card in self.cards)
        return Layout(
            self.width,
            self.height,
            self.axis,
            cards,
            self.card_left,
            self.card_right,
            self.left,
            self.columns,
            self.column_width,
        )


def arrange(
    devices: Sequence[DeviceTimeline],
    *,
    width: float,
    height: float | None,
    line_height: float,
    gutter: float,
    scale: float = 1.0,
) -> Layout:
    """Lay out the cards of some devices.

    `height` is what there is: memory curves share what is left of it, within reason, so the layout may be taller (then
    it is scrolled) or shorter; `None` is as tall as looks well. `gutter` is the width of the names on the left, `scale`
    the device pixels of a logical one.
    """
    axis = Band(0.0, round(line_height * 1.9))
    card_left, card_right = _MARGIN, max(width - _MARGIN, _MARGIN + 120)
    # Columns are whole device pixels, and the plot starts on one, so that bars are crisp at any scale.
    left = round((card_left + _PADDING + gutter) * scale) / scale
    columns = max(16, int((card_right - _PADDING - left) * scale))
    densities = _densities(devices, None if height is None else height - axis.height - _MARGIN, line_height)
    gap = _CARD_GAP if _ROOMY in densities or not devices else _CARD_GAP / 2
    memory = line_height * 9.0
    if height is not None and devices:
        fixed = sum(_stack(*pair, 0.0, 0.0, line_height).outer.height for pair in zip(devices, densities, strict=True))
        spare = height - axis.height - fixed - gap * (len(devices) - 1) - _MARGIN
        slim = [density.least_memory * line_height for density in densities if density is _SLIM]
        memory = (spare - sum(slim)) / max(1, len(devices) - len(slim))
    cards: list[Card] = []
    top = axis.bottom
    for device, density in zip(devices, densities, strict=True):
        most = line_height * (density.least_memory if density is _SLIM and height is not None else _MOST_MEMORY_LINES)
        curve = min(max(memory, line_height * density.least_memory), most)
        cards.append(_stack(device, density, top, float(int(curve)), line_height))
        top = cards[-1].outer.bottom + gap
    total = (top - gap if cards else top) + _MARGIN
    return Layout(width, total, axis, tuple(cards), card_left, card_right, left, columns, 1.0 / scale)


def _densities(devices: Sequence[DeviceTimeline], room: float | None, line_height: float) -> list[_Density]:
    """The density of each card: all as they look best, else closer, else those that compute least closer still."""
    densities = [_ROOMY] * len(devices)

    def fits() -> bool:
        heights = (
            _stack(device, density, 0.0, density.least_memory * line_height, line_height).outer.height
            for device, density in zip(devices, densities, strict=True)
        )
        return room is None or sum(heights) + _CARD_GAP * (len(devices) - 1) <= room

    if not fits():
        densities = [_TIGHT] * len(devices)
    busy = [int((device.compute.end_ns - device.compute.start_ns).sum()) for device in devices]
    for least in sorted(range(len(devices)), key=busy.__getitem__)[:-1]:
        if fits():
            break
        densities[least] = _SLIM
    if not fits():
        densities = [_LOW if density is _TIGHT else density for density in densities]
    return densities


def _stack(device: DeviceTimeline, density: _Density, top: float, memory: float, line_height: float) -> Card:
    def lines(count: float) -> int:
        return round(line_height * count)

    def gap(pixels: float) -> int:
        return round(pixels * density.gap)

    y = top + round(density.padding * 0.8)
    title = Band(y, lines(density.title))
    y = title.bottom + gap(3)
    compute = None
    if len(device.compute.start_ns):
        compute = Band(y, lines(density.compute))
        y = compute.bottom + 1
    frees = Band(y, lines(density.frees) if compute is not None or len(device.free_ns) else 0.0)
    y = frees.bottom + gap(5)
    incoming = outgoing = None
    if len(device.incoming.start_ns) or len(device.outgoing.start_ns):
        incoming = Band(y, lines(density.transfers))
        outgoing = Band(incoming.bottom + gap(4), lines(density.transfers))
        y = outgoing.bottom + gap(6)
    # Room above the curve for the limit's label, which stands on its line.
    curve = Band(y + lines(density.above_curve), memory)
    return Card(
        Band(top, curve.bottom + round(density.padding) - top), title, compute, frees, incoming, outgoing, curve
    )
