"""What is under the mouse: events by binary search on the same arrays that are painted, limits by their lines."""

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF

from xengine_gui.language import tr
from xengine_gui.schedule.timeline import Category, Int64Array
from xengine_gui.ui.theme import CATEGORY_TITLES
from xengine_gui.ui.timeline.details import Details, DetailsSource, shortened
from xengine_gui.ui.timeline.frame import Frame
from xengine_gui.ui.timeline.geometry import Columns
from xengine_gui.ui.timeline.index import Place
from xengine_gui.ui.timeline.lanes import LaneIndex, categories_among
from xengine_gui.ui.timeline.layout import Band
from xengine_gui.ui.timeline.memory import is_at_peak, layers_of, limit_label
from xengine_gui.units import format_size, format_size_exact

_REACH_PX = 3.0
_LIMIT_REACH_PX = 5.0
_WORDS = {"compute": "computations", "incoming": "transfers", "outgoing": "transfers", "free": "frees"}


@dataclass(frozen=True)
class Hit:
    """The events under a point: `positions` in a lane of a device, of which `longest` takes longest."""

    place: Place
    positions: Int64Array
    events: Int64Array

    @property
    def event(self) -> int:
        """The longest one's position in the plan's events."""
        return int(self.events[np.flatnonzero(self.positions == self.place.position)[0]])


def device_at(frame: Frame, y: float) -> int | None:
    """The position of the device whose card is at a height."""
    return next((i for i, card in enumerate(frame.layout.cards) if y in card.outer), None)


def hit_at(frame: Frame, point: QPointF) -> Hit | None:
    """The events at a point: all that touch its pixel, or the nearest within a few pixels."""
    position = device_at(frame, point.y())
    if position is None or not frame.layout.left - _REACH_PX <= point.x() <= frame.layout.right + _REACH_PX:
        return None
    card, device = frame.layout.cards[position], frame.index.devices[position]
    for name, band in (("compute", card.compute), ("incoming", card.incoming), ("outgoing", card.outgoing)):
        if band is not None and point.y() in Band(band.top - 1, band.height + 2):
            return _hit_in_lane(frame, device.lane(name), Place(position, name, -1), point.x())
    if point.y() in card.frees:
        return _hit_free(frame, position, point.x())
    return None


def _hit_in_lane(frame: Frame, lane: LaneIndex, place: Place, x: float) -> Hit | None:
    first, stop = _times_between(frame, float(int(x)), int(x) + 1.0)
    found = lane.at(first, stop)
    if not len(found):
        near = lane.at(*_times_between(frame, x - _REACH_PX, x + _REACH_PX))
        if not len(near):
            return None
        moment = frame.time_at(x)
        distance = np.maximum(lane.bars.start_ns[near] - moment, moment - lane.bars.end_ns[near])
        found = near[[int(np.argmin(distance))]]
    longest = lane.longest(found)
    return Hit(Place(place.device, place.lane, longest), found, lane.bars.event[found])


def _hit_free(frame: Frame, device_position: int, x: float) -> Hit | None:
    device = frame.index.devices[device_position].device
    reach = frame.layout.cards[device_position].frees.height / 2 + 1
    first, stop = _times_between(frame, x - reach, x + reach)
    found = np.arange(np.searchsorted(device.free_ns, first), np.searchsorted(device.free_ns, stop, "right"))
    if not len(found):
        return None
    place = frame.columns.position(device.free_ns[found]) * frame.layout.column_width + frame.layout.left
    distance = np.abs(place - x)
    # Those that stand on the nearest one's pixel belong together: one triangle is painted for them.
    found = found[np.abs(place - place[int(np.argmin(distance))]) < 1.0]
    return Hit(Place(device_position, "free", int(found[0])), found, device.free_event[found])


def _times_between(frame: Frame, first_x: float, stop_x: float) -> tuple[int, int]:
    scale = frame.view.span_ns / frame.layout.plot_width
    first = frame.view.start_ns + int(np.floor((first_x - frame.layout.left) * scale))
    stop = frame.view.start_ns + int(np.ceil((stop_x - frame.layout.left) * scale))
    return first, max(stop, first + 1)


def limit_at(frame: Frame, point: QPointF) -> int | None:
    """The position of the device whose limit can be taken hold of at a point."""
    for position in range(len(frame.layout.cards)):
        label = limit_label(frame, position)
        if label is None:
            continue
        on_line = (
            abs(point.y() - label.line_y) <= _LIMIT_REACH_PX and frame.layout.left <= point.x() <= frame.layout.right
        )
        if on_line or label.box.contains(point):
            return position
    return None


def moment_at(frame: Frame, point: QPointF) -> tuple[int, str] | None:
    """The moment and the device of a point on a memory curve; on the mark of a peak the peak's own moment."""
    position = device_at(frame, point.y())
    if position is None or not frame.layout.left <= point.x() <= frame.layout.right:
        return None
    device = frame.index.devices[position].device
    if is_at_peak(frame, position, point):
        return device.peak_ns, device.device
    if point.y() not in frame.layout.cards[position].memory:
        return None
    return frame.time_at(point.x()), device.device


def memory_level(frame: Frame, device_position: int, moment_ns: int) -> int:
    """What a device holds at a moment, from the replay."""
    return frame.index.devices[device_position].memory.at(moment_ns)


def describe_point(source: DetailsSource, frame: Frame, point: QPointF, hit: Hit | None) -> Details | None:
    """What is told at a point: of the events that were hit, else of the memory there, else nothing."""
    if hit is not None:
        return describe_hit(source, frame, hit)
    position = device_at(frame, point.y())
    on_plot = frame.layout.left <= point.x() <= frame.layout.right
    if position is None or not on_plot or point.y() not in frame.layout.cards[position].memory:
        return None
    return describe_memory(frame, position, frame.time_at(point.x()), point.y())


def describe_hit(source: DetailsSource, frame: Frame, hit: Hit) -> Details:
    """What is told of the events under the mouse."""
    details = source.of_events(hit.events.tolist(), hit.event, _WORDS[hit.place.lane])
    if len(hit.positions) == 1 or hit.place.lane != "compute":
        return details
    category = frame.index.devices[hit.place.device].compute.bars.category[hit.positions]
    kinds = [(CATEGORY_TITLES[Category(c)], int(np.count_nonzero(category == c))) for c in categories_among(category)]
    among = ", ".join(f"{count:,} {title}" for title, count in kinds)
    return Details(details.title, ((tr("among them"), among), *details.rows), details.why)


def tensor_at(frame: Frame, point: QPointF) -> str | None:
    """The tensor that is drawn under a memory curve at a point, where they are told apart."""
    position = device_at(frame, point.y())
    if position is None or not frame.layout.left <= point.x() <= frame.layout.right:
        return None
    column = min(int((point.x() - frame.layout.left) / frame.layout.column_width), frame.layout.columns - 1)
    return _layer_at(frame, position, column, point.y())


def _layer_at(frame: Frame, device_position: int, column: int, y: float) -> str | None:
    stack = frame.stacks.get(frame.index.devices[device_position].name)
    layers = None if stack is None else layers_of(frame, device_position, stack)
    return None if layers is None else layers.name_at(column, frame.memory_scale(device_position).bytes_at(y))


def describe_memory(frame: Frame, device_position: int, moment_ns: int, y: float | None = None) -> Details:
    """What is told of a device's memory at a moment, what its pixel holds, and which tensor is drawn at a height."""
    device = frame.index.devices[device_position].device
    level = memory_level(frame, device_position, moment_ns)
    rows = [(tr("in memory"), format_size(level)), ("exactly", format_size_exact(level))]
    limit = frame.limit_bytes(device)
    if limit is not None:
        rows.append(
            (tr("over the limit by"), format_size(level - limit))
            if level > limit
            else (tr("room left"), format_size(limit - level))
        )
    if len(device.memory_ns):
        column = min(int(frame.columns.position(moment_ns)), frame.layout.columns - 1)
        here = frame.index.devices[device_position].memory.envelope(_one_column(frame.columns, column))
        if here.low[0] != here.high[0]:
            rows.append(
                (
                    tr("in this pixel"),
                    tr("{low} to {high}", low=format_size(int(here.low[0])), high=format_size(int(here.high[0]))),
                )
            )
        name = None if y is None else _layer_at(frame, device_position, column, y)
        if name is not None:
            rows.insert(0, ("here", shortened(name, 40)))
    return Details(tr("memory of {device}", device=shortened(device.device)), tuple(rows))


def _one_column(columns: Columns, column: int) -> Columns:
    """One column of many as columns of its own."""
    one = Columns(columns.view, 1)
    # The three properties are computed once and kept; here they are known already.
    vars(one).update(
        first_ns=columns.first_ns[[column]], begin_ns=columns.begin_ns[[column]], stop_ns=columns.stop_ns[[column]]
    )
    return one
