"""What belongs to what: an operator's computations, a tensor's makers, readers, transfers and stays; told in rows."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xengine_gui.model.operator import Operator, Phase
from xengine_gui.model.plan import Compute, Free, Transfer
from xengine_gui.schedule.timeline import Category
from xengine_gui.schedule.walk import Residency
from xengine_gui.ui.selection import Kind, Selection
from xengine_gui.ui.shown_plan import MANY_EVENTS, ShownPlan
from xengine_gui.ui.timeline.lit import Lit, Part, Stay
from xengine_gui.ui.timeline.stack import StackIndex, clipped_end

_CATEGORY = {
    Phase.FORWARD: Category.FORWARD,
    Phase.LOSS: Category.LOSS,
    Phase.BACKWARD: Category.BACKWARD,
    Phase.UPDATE: Category.UPDATE,
}


@dataclass(frozen=True, slots=True)
class TraceRow:
    """A line of a trace: the event, what it does, who does it, where, and when it begins."""

    event: int
    part: Part
    who: str
    device: str
    start_ns: int


class Traces:
    """Answers for one plan what belongs to a selection; its tables are made when first asked."""

    def __init__(self, shown: ShownPlan) -> None:
        self._shown = shown
        self._events = shown.plan.events
        self.is_made = False
        self.is_large = len(self._events) > MANY_EVENTS

    def make(self) -> None:
        """Make all tables at once, so that the first selection need not wait for them."""
        tables: tuple[Sized, ...] = (self.operators, self.producer, self.readers, self.computations, self.transfers)
        tables += (self.frees, self.stays, self.transfer_bytes, self.stacks)
        self.is_made = all(len(table) >= 0 for table in tables)

    @cached_property
    def operators(self) -> Mapping[str, Operator]:
        """The operators by name."""
        return {o.name: o for o in self._shown.plan.problem.operators}

    @cached_property
    def producer(self) -> Mapping[str, str]:
        """The operator that makes each tensor."""
        return {t: o.name for o in self._shown.plan.problem.operators for t in o.outputs}

    @cached_property
    def readers(self) -> Mapping[str, tuple[str, ...]]:
        """The operators that read each tensor."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for operator in self._shown.plan.problem.operators:
            for tensor in dict.fromkeys(operator.inputs):
                found[tensor].append(operator.name)
        return {tensor: tuple(names) for tensor, names in found.items()}

    @cached_property
    def computations(self) -> Mapping[str, list[int]]:
        """The events that compute each operator."""
        return _grouped((e.operator, i) for i, e in enumerate(self._events) if isinstance(e, Compute))

    @cached_property
    def transfers(self) -> Mapping[str, list[int]]:
        """The transfers of each tensor."""
        return _grouped((e.tensor, i) for i, e in enumerate(self._events) if isinstance(e, Transfer))

    @cached_property
    def frees(self) -> Mapping[str, list[int]]:
        """The frees of each tensor."""
        return _grouped((e.tensor, i) for i, e in enumerate(self._events) if isinstance(e, Free))

    @cached_property
    def stays(self) -> Mapping[str, list[Residency]]:
        """The stays of each tensor."""
        found: defaultdict[str, list[Residency]] = defaultdict(list)
        for residency in self._shown.replay.residencies:
            found[residency.tensor].append(residency)
        return found

    @cached_property
    def transfer_bytes(self) -> Mapping[int, int]:
        """The size of what each transfer moves, by its position in the events."""
        size = self._shown.tensor_bytes
        return {i: size[e.tensor] for i, e in enumerate(self._events) if isinstance(e, Transfer)}

    def knows(self, selection: Selection) -> bool:
        """Whether the plan has what is selected; one that was made before an edit may lack it."""
        if selection.kind is Kind.OPERATOR:
            return selection.name in self.operators
        return selection.kind is not Kind.TENSOR or selection.name in self._shown.tensor_bytes

    def tensors_of(self, selection: Selection) -> tuple[str, ...]:
        """The tensors that a selection is about: of a computation those that it makes."""
        if selection.kind is Kind.TENSOR:
            return (selection.name,)
        if selection.kind is Kind.OPERATOR:
            return self._outputs(selection.name)
        if selection.kind is Kind.EVENT and 0 <= selection.event < len(self._events):
            event = self._events[selection.event]
            return self._outputs(event.operator) if isinstance(event, Compute) else (event.tensor,)
        return ()

    def lit(self, selection: Selection) -> Lit | None:
        """What lights up with a selection."""
        tensors = self.tensors_of(selection)
        name = selection.name if selection.kind in (Kind.OPERATOR, Kind.EVENT) else ""
        if not tensors and not (name and self.computations.get(name)):
            return None
        size = self._shown.tensor_bytes
        stays = tuple(
            Stay(r.tensor, r.device, size[r.tensor], r.start_ns, r.end_ns)
            for t in tensors
            for r in self.stays.get(t, ())
        )
        return Lit({row.event: row.part for row in self.rows(selection)}, stays)

    def rows(self, selection: Selection) -> list[TraceRow]:
        """All events that a selection is about, in the order of the plan."""
        parts: dict[int, Part] = {}
        for tensor in self.tensors_of(selection):
            for reader in self.readers.get(tensor, ()):
                parts.update((i, Part.READ) for i in self.computations.get(reader, ()))
            parts.update((i, Part.TRANSFER) for i in self.transfers.get(tensor, ()))
            parts.update((i, Part.FREE) for i in self.frees.get(tensor, ()))
        makers = {self.producer[t] for t in self.tensors_of(selection) if t in self.producer}
        if selection.kind is Kind.OPERATOR:
            makers.add(selection.name)
        for maker in makers:
            for i in self.computations.get(maker, ()):
                event = self._events[i]
                parts[i] = Part.AGAIN if isinstance(event, Compute) and event.again else Part.MADE
        return [self._row(i, parts[i]) for i in sorted(parts)]

    def _row(self, i: int, part: Part) -> TraceRow:
        event = self._events[i]
        if isinstance(event, Compute):
            return TraceRow(i, part, event.operator, event.device, event.start_ns)
        where = f"{event.source} → {event.destination}" if isinstance(event, Transfer) else event.device
        return TraceRow(i, part, event.tensor, where, event.start_ns)

    def _outputs(self, operator: str) -> tuple[str, ...]:
        found = self.operators.get(operator)
        return () if found is None else tuple(dict.fromkeys(found.outputs))

    def stacks_made(self) -> Mapping[str, StackIndex]:
        """The stacks of a plan; of a large one none until they are made beside the window."""
        return {} if self.is_large and not self.is_made else self.stacks

    @cached_property
    def stacks(self) -> Mapping[str, StackIndex]:
        """Per device the stays of all tensors, to be stacked under its memory curve."""
        shown, size = self._shown, self._shown.tensor_bytes
        rows: dict[str, list[Residency]] = {d.name: [] for d in shown.plan.problem.devices}
        for residency in shown.replay.residencies:
            rows[residency.device].append(residency)
        end_ns = shown.timeline.end_ns
        return {
            device: StackIndex(
                [r.tensor for r in stays],
                [self._category(r.tensor) for r in stays],
                np.array([r.start_ns for r in stays], np.int64),
                np.array([clipped_end(r.end_ns, end_ns) for r in stays], np.int64),
                np.array([size[r.tensor] for r in stays], np.int64),
                shown.replay.memory[device].parameter_bytes,
            )
            for device, stays in rows.items()
        }

    def _category(self, tensor: str) -> Category | None:
        operator = self.operators.get(self.producer.get(tensor, ""))
        return None if operator is None else _CATEGORY[operator.phase]


def _grouped(pairs: Iterable[tuple[str, int]]) -> Mapping[str, list[int]]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for name, event in pairs:
        found[name].append(event)
    return found
