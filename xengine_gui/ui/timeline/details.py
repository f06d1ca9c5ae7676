"""What is told of an event: name, place, times, bytes, and why it is there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from xengine_gui.language import tr
from xengine_gui.model.operator import Operator
from xengine_gui.model.plan import Compute, Event, Free, Transfer
from xengine_gui.schedule.timeline import Timeline
from xengine_gui.ui.timeline.ticks import format_moment
from xengine_gui.units import format_duration, format_size

_LONGEST_NAME = 60
# How many events are looked through for a reason; a mouse must never wait.
_FARTHEST = 20_000


@dataclass(frozen=True, slots=True)
class Details:
    """A title, rows of a name and a value, and a sentence that says why (empty where nothing is to be said)."""

    title: str
    rows: tuple[tuple[str, str], ...]
    why: str = ""

    @property
    def text(self) -> str:
        """All of it as plain lines."""
        lines = [self.title, *(f"{name}: {value}" for name, value in self.rows)]
        return "\n".join([*lines, self.why] if self.why else lines)


def printable(name: str) -> str:
    """A name with everything that does not print shown escaped."""
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def shortened(name: str, most: int = _LONGEST_NAME) -> str:
    """A name of at most `most` characters, its middle left out where it is longer."""
    name = printable(name)
    if len(name) <= most:
        return name
    head = most // 2
    return f"{name[:head]}…{name[len(name) - (most - head - 1) :]}"


class DetailsSource:
    """Answers what is told of each event of one timeline; its tables are made when first asked."""

    def __init__(self, timeline: Timeline) -> None:
        self._problem = timeline.plan.problem
        self._events = timeline.plan.events

    def of_event(self, event_position: int) -> Details:
        """What is told of one event."""
        event = self._events[event_position]
        if isinstance(event, Compute):
            return self._of_compute(event, event_position)
        size = self._size_bytes.get(event.tensor, 0)
        if isinstance(event, Transfer):
            rows = (
                (
                    "from",
                    tr(
                        "{source} to {destination}",
                        source=shortened(event.source),
                        destination=shortened(event.destination),
                    ),
                ),
                *_times(event),
                ("size", format_size(size)),
            )
            return Details(
                tr("transfer {tensor}", tensor=printable(event.tensor)), rows, self._why_transfer(event, event_position)
            )
        rows = (
            ("device", shortened(event.device)),
            ("at", format_duration(event.start_ns)),
            ("size", format_size(size)),
        )
        return Details(tr("free {tensor}", tensor=printable(event.tensor)), rows, self._why_free(event, event_position))

    def of_events(self, event_positions: Sequence[int], longest: int, what: str) -> Details:
        """What is told of a pixel that holds several events: how many, and the longest of them."""
        if len(event_positions) == 1:
            return self.of_event(event_positions[0])
        details = self.of_event(longest)
        title = tr("{event_positions:,} {what} in this pixel", event_positions=len(event_positions), what=what)
        return Details(title, (("longest", shortened(details.title)), *details.rows), tr("Zoom in to tell them apart."))

    def _of_compute(self, event: Compute, event_position: int) -> Details:
        operator = self._operators[event.operator]
        size = sum(self._size_bytes.get(tensor, 0) for tensor in operator.outputs)
        rows = [
            ("operator", f"{shortened(operator.kind, 30)}, {operator.phase}"),
            ("device", shortened(event.device)),
            *_times(event),
            ("result", format_size(size)),
        ]
        if event.implementation:
            rows.insert(2, ("by", shortened(event.implementation)))
        title = f"{'recompute ' if event.again else ''}{printable(event.operator)}"
        return Details(title, tuple(rows), self._why_recompute(event, event_position) if event.again else "")

    def _why_recompute(self, event: Compute, event_position: int) -> str:
        reader = self._next_reader(self._operators[event.operator].outputs, event.device, event_position)
        if reader is None:
            return ""
        return tr(
            "Its result was freed; {operator} needs it at {start_ns}.",
            operator=shortened(reader.operator),
            start_ns=format_duration(reader.start_ns),
        )

    def _why_transfer(self, event: Transfer, event_position: int) -> str:
        reader = self._next_reader((event.tensor,), event.destination, event_position)
        if reader is None:
            return tr("It waits on {destination} until it is needed.", destination=shortened(event.destination))
        moment = format_duration(reader.start_ns)
        return tr(
            "{operator} reads it on {destination} at {moment}.",
            operator=shortened(reader.operator),
            destination=shortened(event.destination),
            moment=moment,
        )

    def _why_free(self, event: Free, event_position: int) -> str:
        last = self._reader(
            (event.tensor,), event.device, reversed(range(max(0, event_position - _FARTHEST), event_position))
        )
        if last is None:
            return ""
        return tr(
            "Its last use here was {operator} at {start_ns}.",
            operator=shortened(last.operator),
            start_ns=format_duration(last.start_ns),
        )

    def _next_reader(self, tensors: Sequence[str], device: str, event_position: int) -> Compute | None:
        end = min(len(self._events), event_position + _FARTHEST)
        return self._reader(tensors, device, range(event_position + 1, end))

    def _reader(self, tensors: Sequence[str], device: str, positions: Iterable[int]) -> Compute | None:
        """The first of some events that computes, on the device, an operator that reads one of the tensors."""
        readers = {operator for tensor in tensors for operator in self._readers.get(tensor, ())}
        if readers:
            for position in positions:
                event = self._events[position]
                if isinstance(event, Compute) and event.device == device and event.operator in readers:
                    return event
        return None

    @cached_property
    def _operators(self) -> dict[str, Operator]:
        return {o.name: o for o in self._problem.operators}

    @cached_property
    def _size_bytes(self) -> dict[str, int]:
        return {t.name: t.size_bytes for t in self._problem.tensors}

    @cached_property
    def _readers(self) -> dict[str, list[str]]:
        readers: dict[str, list[str]] = {}
        for operator in self._problem.operators:
            for tensor in dict.fromkeys(operator.inputs):
                readers.setdefault(tensor, []).append(operator.name)
        return readers


def _times(event: Event) -> tuple[tuple[str, str], ...]:
    takes_ns = event.end_ns - event.start_ns
    # As exact as makes sense beside what it takes.
    return ("start", format_moment(event.start_ns, takes_ns // 20)), ("takes", format_duration(takes_ns))
