"""What would have been, had a tensor stayed on a device instead of leaving it and coming back."""

from collections.abc import Iterator
from dataclasses import dataclass

from xengine_gui.schedule.history import Held, History, Moment
from xengine_gui.schedule.walk import Residency


@dataclass(frozen=True, slots=True)
class HadItStayed:
    """A tensor that left a device and came back, had it stayed: the fullest moment in between.

    `freed_at_bytes` is the level right before it was freed, `level_bytes` what `moment` would have come to with it,
    `over_bytes` how far above the limit that is (negative: it would have fit; `None`: there is no limit), `held` what
    the device holds then, without it.
    """

    tensor: str
    device: str
    size_bytes: int
    freed_by: int
    freed_ns: int
    freed_at_bytes: int
    moment: Moment
    level_bytes: int
    over_bytes: int | None
    held: tuple[Held, ...]


def had_it_stayed(history: History, last: Residency, event_index: int) -> HadItStayed:
    """What a device would have come to, had a stay that was over lasted until an event; all else unchanged."""
    place = history.place_of_free(last)
    back = history.plan.events[event_index].start_ns, event_index, 0
    moment = history.highest_between(last.device, place, back)
    size_bytes = history.walk.tensor_bytes[last.tensor]
    limit = history.limit_bytes[last.device]
    level = moment.level_bytes + size_bytes
    return HadItStayed(
        tensor=last.tensor,
        device=last.device,
        size_bytes=size_bytes,
        freed_by=place[1],
        freed_ns=place[0],
        freed_at_bytes=history.level_before(last.device, place),
        moment=moment,
        level_bytes=level,
        over_bytes=None if limit is None else level - limit,
        held=history.held_after(last.device, moment.place),
    )


def round_trips(history: History, stayed: HadItStayed, event_index: int) -> Iterator[tuple[int, int, str]]:
    """Each way to another device and back meanwhile: the bytes that it lacks there, its time, the device."""
    indexed, numbers = history.indexed, history.device_number
    tensor, home = history.tensor_number[stayed.tensor], numbers[stayed.device]
    start = stayed.freed_ns, stayed.freed_by, 0
    end = history.plan.events[event_index].start_ns, event_index, 0
    for device, number in numbers.items():
        if number == home:
            continue
        there, back = indexed.copy_ns(home, number, tensor), indexed.copy_ns(number, home, tensor)
        if there is not None and back is not None:
            fullest = history.highest_between(device, start, end).level_bytes + stayed.size_bytes
            limit = history.limit_bytes[device]
            yield (0 if limit is None else max(0, fullest - limit)), there + back, device
