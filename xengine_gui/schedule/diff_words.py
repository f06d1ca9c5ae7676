"""What differs between two plans, in sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from xengine_gui.schedule.diff import Held, Moved, PlanDiff, Recomputed, Transferred
from xengine_gui.units import format_count, format_duration, format_percent, format_size

_MOST_RANGES = 3


class ChangeKind(StrEnum):
    """The kinds of changes, in the order in which they are told."""

    MOVED = "moved"
    RECOMPUTED = "recomputed"
    TRANSFERRED = "transferred"
    HELD = "held"


KIND_TITLES = {
    ChangeKind.MOVED: "Operators elsewhere",
    ChangeKind.RECOMPUTED: "Recomputes",
    ChangeKind.TRANSFERRED: "Transfers",
    ChangeKind.HELD: "Held and freed",
}
"""What lists call the kinds."""


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """A change in words: what it is about, the rest of the sentence, and what it costs (`None`: nothing of its own)."""

    kind: ChangeKind
    subject: str
    text: str
    cost_ns: int | None

    @property
    def sentence(self) -> str:
        """The whole sentence, without its cost."""
        return f"{self.subject} {self.text}."


def change_lines(difference: PlanDiff) -> tuple[ChangeLine, ...]:
    """Every change as a line, kind after kind."""
    return tuple(_lines(difference))


def headline(difference: PlanDiff) -> str:
    """One sentence: how the totals differ, and what that is made of."""
    if difference.is_empty:
        return "Both plans do the same at the same stages."
    cost_ns, total_ns = difference.cost_ns, difference.total_before_ns
    if not cost_ns:
        head = "Both take the same time"
    else:
        share = f" ({format_percent(abs(cost_ns) / total_ns)})" if total_ns else ""
        how = "longer" if cost_ns > 0 else "less"
        head = f"The second takes {format_duration(abs(cost_ns))} {how}{share}"
    parts = (
        (difference.moved_ns, "operators elsewhere", bool(difference.moved)),
        (difference.recomputed_ns, "recomputes", bool(difference.recomputed)),
        (difference.transferred_ns, "transfers", bool(difference.transferred)),
    )
    told = ", ".join(f"{what} {format_cost(ns)}" for ns, what, there in parts if there)
    return f"{head}: {told}." if told else f"{head}; only what is held when differs."


def format_cost(cost_ns: int) -> str:
    """A difference of times with its sign: `+3.20 ms`, `-410 ns`, `±0`."""
    if not cost_ns:
        return "±0"
    return f"{'+' if cost_ns > 0 else '-'}{format_duration(abs(cost_ns))}"


def _lines(difference: PlanDiff) -> Iterator[ChangeLine]:
    yield from (ChangeLine(ChangeKind.MOVED, m.operator, _moved(m), m.cost_ns) for m in difference.moved)
    yield from (ChangeLine(ChangeKind.RECOMPUTED, r.operator, _recomputed(r), r.cost_ns) for r in difference.recomputed)
    yield from (
        ChangeLine(ChangeKind.TRANSFERRED, t.tensor, _transferred(t), t.cost_ns) for t in difference.transferred
    )
    yield from (ChangeLine(ChangeKind.HELD, h.tensor, _held(h), None) for h in difference.held)


def _moved(change: Moved) -> str:
    (device, way), (old_device, old_way) = change.after, change.before
    if device != old_device:
        by = f" by {way}" if way else ""
        return f"runs on {device}{by}, not {old_device}"
    if way != old_way:
        return f"runs on {device} by {way or 'the usual way'}, not {old_way or 'the usual way'}"
    return f"takes another time on {device}"


def _recomputed(change: Recomputed) -> str:
    before, after = change.before, change.after
    if not before:
        return f"is recomputed {_times_on(after)}"
    if not after:
        return f"is no longer recomputed (was {_times_on(before)})"
    if len(before) == 1 and before.keys() == after.keys():
        return f"is recomputed {_times_on(after)}, not {_times(sum(before.values()))}"
    return f"is recomputed {_times_on(after)}, not {_times_on(before)}"


def _transferred(change: Transferred) -> str:
    size, way = format_size(change.size_bytes), f"from {change.source} to {change.destination}"
    if not change.before:
        return f"({size}) is transferred {way}{'' if change.after == 1 else f', {_times(change.after)}'}"
    if not change.after:
        return f"({size}) is no longer transferred {way}"
    if change.before == change.after:
        return f"({size}) takes another time {way}"
    return f"({size}) is transferred {way} {_times(change.after)}, not {_times(change.before)}"


def _held(change: Held) -> str:
    size, where = format_size(change.size_bytes), f"on {change.device}"
    longer, shorter = _stages(change.longer), _stages(change.shorter)
    if longer and shorter:
        return f"({size}) is held {where} through {longer}, not {shorter}"
    if longer:
        return f"({size}) is held {where} for {format_count(len(change.longer), 'stage')} more, {longer}"
    if shorter:
        return f"({size}) is held {where} for {format_count(len(change.shorter), 'stage')} less, {shorter} missing"
    before, after = _stages(change.freed_before), _stages(change.freed_after)
    if not before or not after:
        return f"({size}) is freed {where} in {after}" if after else f"({size}) is no longer freed {where} in {before}"
    return f"({size}) is freed {where} in {after}, not in {before}"


def _times_on(counts: Mapping[str, int]) -> str:
    return " and ".join(f"{_times(count)} on {device}" for device, count in counts.items())


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def _stages(stages: Sequence[int]) -> str:
    """Stages as ranges: `stages 4-9, 12 and 2 more ranges`; empty where there are none."""
    ranges: list[list[int]] = []
    for stage in sorted(set(stages)):
        if ranges and ranges[-1][1] == stage - 1:
            ranges[-1][1] = stage
        else:
            ranges.append([stage, stage])
    if not ranges:
        return ""
    told = [f"{low}" if low == high else f"{low}-{high}" for low, high in ranges[:_MOST_RANGES]]
    rest = f" and {format_count(len(ranges) - _MOST_RANGES, 'more range')}" if len(ranges) > _MOST_RANGES else ""
    single = len(ranges) == 1 and ranges[0][0] == ranges[0][1]
    return f"{'stage' if single else 'stages'} {', '.join(told)}{rest}"
