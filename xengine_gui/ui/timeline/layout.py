"""Where things stand: one card per device with its lanes, in logical pixels; only the time axis is not its matter."""

from collections.abc import Sequence
from dataclasses import dataclass

from xengine_gui.schedule.timeline import DeviceTimeline

_MARGIN = 14.0
_CARD_GAP = 12.0
_PADDING = 10.0
_LEAST_MEMORY_LINES = 3.4
_MOST_MEMORY_LINES = 22.0


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
    fixed = [_stack(device, 0.0, 0.0, line_height).outer.height for device in devices]
    memory = line_height * 9.0
    if height is not None and devices:
        spare = height - axis.height - sum(fixed) - _CARD_GAP * (len(devices) - 1) - _MARGIN
        memory = min(max(spare / len(devices), line_height * _LEAST_MEMORY_LINES), line_height * _MOST_MEMORY_LINES)
    cards: list[Card] = []
    top = axis.bottom
    for device in devices:
        cards.append(_stack(device, top, float(int(memory)), line_height))
        top = cards[-1].outer.bottom + _CARD_GAP
    total = (top - _CARD_GAP if cards else top) + _MARGIN
    return Layout(width, total, axis, tuple(cards), card_left, card_right, left, columns, 1.0 / scale)


def _stack(device: DeviceTimeline, top: float, memory: float, line_height: float) -> Card:
    thin = round(line_height * 0.72)
    y = top + round(_PADDING * 0.8)
    title = Band(y, round(line_height * 1.3))
    y = title.bottom + 3
    compute = None
    if len(device.compute.start_ns):
        compute = Band(y, round(line_height * 1.65))
        y = compute.bottom + 1
    frees = Band(y, round(line_height * 0.5) if compute is not None or len(device.free_ns) else 0.0)
    y = frees.bottom + 5
    incoming = outgoing = None
    if len(device.incoming.start_ns) or len(device.outgoing.start_ns):
        incoming = Band(y, thin)
        outgoing = Band(incoming.bottom + 4, thin)
        y = outgoing.bottom + 6
    # Room above the curve for the limit's label, which stands on its line.
    curve = Band(y + round(line_height * 0.9), memory)
    return Card(Band(top, curve.bottom + round(_PADDING) - top), title, compute, frees, incoming, outgoing, curve)
