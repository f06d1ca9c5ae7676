"""What there is to say about one event of a plan, in words."""

from dataclasses import dataclass
from functools import cached_property

from xengine_gui.language import tr
from xengine_gui.model.operator import Operator
from xengine_gui.model.plan import Compute, Event, Free, Plan, Transfer
from xengine_gui.schedule.walk import Residency
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.units import format_duration, format_duration_exact, format_size, format_size_exact


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of the panel; `exact` is its value to the byte or the nanosecond."""

    label: str
    value: str
    exact: str = ""


@dataclass(frozen=True, slots=True)
class EventDetails:
    """An event as the panel shows it: its name, what happened, facts, and the tensors that it read and made."""

    title: str
    subtitle: str
    facts: tuple[Fact, ...]
    inputs: tuple[Fact, ...] = ()
    outputs: tuple[Fact, ...] = ()


class EventDescriber:
    """Describes the events of one plan."""

    def __init__(self, shown: ShownPlan) -> None:
        self._shown = shown
        self._plan: Plan = shown.plan
        self._size_bytes = shown.tensor_bytes
        self._operators = shown.numbered
        self._parameter_bytes = {p.name: p.size_bytes for p in self._plan.problem.parameters}

    def describe(self, index: int) -> EventDetails:
        """The event at a position in the plan's events."""
        event = self._plan.events[index]
        match event:
            case Compute():
                return self._compute(event, index)
            case Transfer():
                return self._transfer(event, index)
            case Free():
                return self._free(event, index)

    def device_of(self, index: int) -> str:
        """The device whose memory the event is about; of a transfer the destination."""
        event = self._plan.events[index]
        return event.destination if isinstance(event, Transfer) else event.device

    def start_ns_of(self, index: int) -> int:
        """When the event begins."""
        return self._plan.events[index].start_ns

    def _compute(self, event: Compute, index: int) -> EventDetails:
        number, operator = self._operators[event.operator]
        way = next(w for w in operator.costs[event.device] if w.name == event.implementation)
        facts = [
            Fact(tr("kind"), operator.kind),
            Fact(tr("phase"), operator.phase.value),
            *_times(event),
            Fact(
                tr("stage"),
                tr("{stage_of} of {operators}", stage_of=self._stage_of[index], operators=len(self._operators)),
            ),
            Fact(tr("base order"), tr("{number} of {operators}", number=number + 1, operators=len(self._operators))),
        ]
        if way.name is not None:
            facts.append(Fact(tr("implementation"), way.name))
        if way.workspace_bytes:
            facts.append(_size("workspace", way.workspace_bytes))
        if operator.parameters:
            total = sum(self._parameter_bytes[p] for p in dict.fromkeys(operator.parameters))
            facts.append(_size("parameters", total))
        if not event.again:
            facts.append(Fact(tr("recomputed"), self._times_again(operator)))
        what = "recomputed" if event.again else "computed"
        return EventDetails(
            operator.name,
            tr("{what} on {device}", what=what, device=event.device),
            tuple(facts),
            tuple(_size(t, self._size_bytes[t]) for t in dict.fromkeys(operator.inputs)),
            tuple(_size(t, self._size_bytes[t]) for t in dict.fromkeys(operator.outputs)),
        )

    def _transfer(self, event: Transfer, index: int) -> EventDetails:
        facts = [_size("size", self._size_bytes[event.tensor]), *_times(event)]
        stay = self._stay_brought_by.get((index, event.tensor))
        if stay is not None:
            facts.append(Fact(tr("on {destination} until", destination=event.destination), self._end_of(stay)))
        facts.append(Fact(tr("made by"), self._producer[event.tensor]))
        return EventDetails(
            event.tensor,
            tr("transferred from {source} to {destination}", source=event.source, destination=event.destination),
            tuple(facts),
        )

    def _free(self, event: Free, index: int) -> EventDetails:
        facts = [_size("size", self._size_bytes[event.tensor]), _time("at", event.start_ns)]
        stay = self._stay_freed_by.get((index, event.tensor))
        if stay is not None:
            facts.append(_time(tr("held since"), stay.start_ns))
            facts.append(_time(tr("held for"), event.start_ns - stay.start_ns))
        facts.append(Fact(tr("made by"), self._producer[event.tensor]))
        return EventDetails(event.tensor, tr("freed on {device}", device=event.device), tuple(facts))

    def _end_of(self, stay: Residency) -> str:
        return tr("the end") if stay.end_ns is None else format_duration(stay.end_ns)

    def _times_again(self, operator: Operator) -> str:
        count = self._recomputes.get(operator.name, 0)
        if not operator.recomputable:
            return tr("not recomputable")
        return "never" if count == 0 else "once" if count == 1 else tr("{count} times", count=count)

    @cached_property
    def _stage_of(self) -> list[int]:
        """Per event the number of its stage: stage t ends with the first computation of operator t."""
        stages = []
        stage = 1
        for event in self._plan.events:
            stages.append(stage)
            if isinstance(event, Compute) and not event.again:
                stage += 1
        return stages

    @cached_property
    def _recomputes(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for event in self._plan.events:
            if isinstance(event, Compute) and event.again:
                counts[event.operator] = counts.get(event.operator, 0) + 1
        return counts

    @cached_property
    def _producer(self) -> dict[str, str]:
        return {t: o.name for o in self._plan.problem.operators for t in o.outputs}

    @cached_property
    def _stay_brought_by(self) -> dict[tuple[int, str], Residency]:
        return {(r.brought_by, r.tensor): r for r in self._shown.replay.residencies}

    @cached_property
    def _stay_freed_by(self) -> dict[tuple[int, str], Residency]:
        return {(r.freed_by, r.tensor): r for r in self._shown.replay.residencies if r.freed_by is not None}


def _times(event: Event) -> tuple[Fact, Fact]:
    return _time("start", event.start_ns), _time("duration", event.end_ns - event.start_ns)


def _time(label: str, time_ns: int) -> Fact:
    return Fact(label, format_duration(time_ns), format_duration_exact(time_ns))


def _size(label: str, size_bytes: int) -> Fact:
    return Fact(label, format_size(size_bytes), format_size_exact(size_bytes))
