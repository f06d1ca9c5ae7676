"""Two plans of one graph, and what differs: what moved, what is recomputed, held, transferred, and what each costs.

Times are those of the serial clock, on which every part of a plan adds up: the costs of all changes together are
exactly the difference of the totals. Plans are laid side by side by stage, since their times do not match.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from xengine_gui.errors import InputError
from xengine_gui.model.plan import Compute, Free, Plan, Transfer
from xengine_gui.model.problem import Problem


@dataclass(frozen=True, slots=True)
class Moved:
    """An operator whose first computation is elsewhere, or done in another way; `cost_ns` is the second less the first.

    A device with its implementation, where it has a name.
    """

    operator: str
    before: tuple[str, str | None]
    after: tuple[str, str | None]
    cost_ns: int


@dataclass(frozen=True, slots=True)
class Recomputed:
    """An operator that is recomputed more or less often, or elsewhere: times per device before and after."""

    operator: str
    before: Mapping[str, int]
    after: Mapping[str, int]
    cost_ns: int

    @property
    def more(self) -> int:
        """How many recomputes there are more; negative: fewer."""
        return sum(self.after.values()) - sum(self.before.values())


@dataclass(frozen=True, slots=True)
class Transferred:
    """A tensor that is copied more or less often from one device to another."""

    tensor: str
    size_bytes: int
    source: str
    destination: str
    before: int
    after: int
    cost_ns: int


@dataclass(frozen=True, slots=True)
class Held:
    """A tensor that a device retains through other stages, or frees at others.

    `longer` and `shorter` are the stages (from 1) at whose end only the second or only the first plan holds it;
    `freed_before` and `freed_after` are the stages in which it is freed there; after the last one nobody minds.
    """

    tensor: str
    size_bytes: int
    device: str
    longer: tuple[int, ...]
    shorter: tuple[int, ...]
    freed_before: tuple[int, ...]
    freed_after: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlanDiff:
    """From a first plan to a second one. Costs are the second's time less the first's: negative is a gain.

    `moved_ns`, `recomputed_ns` and `transferred_ns` add up to the difference of the totals.
    """

    before: Plan
    after: Plan
    total_before_ns: int
    total_after_ns: int
    moved: tuple[Moved, ...]
    recomputed: tuple[Recomputed, ...]
    transferred: tuple[Transferred, ...]
    held: tuple[Held, ...]

    @property
    def cost_ns(self) -> int:
        """How much longer the second plan takes."""
        return self.total_after_ns - self.total_before_ns

    @property
    def moved_ns(self) -> int:
        """What first computations elsewhere cost."""
        return sum(change.cost_ns for change in self.moved)

    @property
    def recomputed_ns(self) -> int:
        """What other recomputes cost."""
        return sum(change.cost_ns for change in self.recomputed)

    @property
    def transferred_ns(self) -> int:
        """What other transfers cost."""
        return sum(change.cost_ns for change in self.transferred)

    @property
    def peak_bytes(self) -> Mapping[str, tuple[int, int]]:
        """Per device the peaks of both plans."""
        devices = [d.name for d in self.after.problem.devices]
        return {d: (self.before.peak_bytes.get(d, 0), self.after.peak_bytes.get(d, 0)) for d in devices}

    @property
    def is_empty(self) -> bool:
        """Whether both do the same at the same stages."""
        return not (self.moved or self.recomputed or self.transferred or self.held)


_Change = TypeVar("_Change", Moved, Recomputed, Transferred)


def diff(before: Plan, after: Plan) -> PlanDiff:
    """What differs from one plan to another of the same graph; the dearest change of each kind first.

    Raises `InputError` where there is no plan, or the graphs are not the same. Limits, devices and costs may differ.
    """
    _check(before, after)
    one, two = _Look(before), _Look(after)
    size = {t.name: t.size_bytes for t in after.problem.tensors}
    return PlanDiff(
        before=before,
        after=after,
        total_before_ns=one.total_ns,
        total_after_ns=two.total_ns,
        moved=_dearest(_moved(one, two)),
        recomputed=_dearest(_recomputed(one, two)),
        transferred=_dearest(_transferred(one, two, size)),
        held=tuple(sorted(_held(one, two, size), key=_byte_stages, reverse=True)),
    )


def _check(before: Plan, after: Plan) -> None:
    for plan in (before, after):
        if not plan.has_events:
            name = plan.problem.name or "problem"
            raise InputError("", f"there is nothing to compare: the plan of {name} by {plan.strategy} has no events")
    if _graph(before.problem) != _graph(after.problem):
        names = [repr(plan.problem.name) if plan.problem.name else "one without a name" for plan in (before, after)]
        raise InputError("", f"these are plans of two different graphs, {names[0]} and {names[1]}")


def _graph(problem: Problem) -> tuple[object, ...]:
    operators = tuple((o.name, o.inputs, o.outputs) for o in problem.operators)
    return operators, frozenset((t.name, t.size_bytes) for t in problem.tensors)


class _Look:
    """One plan, counted by what is done where."""

    def __init__(self, plan: Plan) -> None:
        outputs = {o.name: o.outputs for o in plan.problem.operators}
        self.first: dict[str, tuple[tuple[str, str | None], int]] = {}
        self.again: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.again_ns: Counter[str] = Counter()
        self.copies: Counter[tuple[str, str, str]] = Counter()
        self.copies_ns: Counter[tuple[str, str, str]] = Counter()
        self.held: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        self.freed: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self.total_ns = 0
        self._last_stage = len(plan.problem.operators)
        stage = 1
        since: dict[tuple[str, str], int] = {}
        for event in plan.events:
            took = event.end_ns - event.start_ns
            self.total_ns += took
            if isinstance(event, Compute):
                for tensor in outputs[event.operator]:
                    since.setdefault((tensor, event.device), stage)
                if event.again:
                    self.again[event.operator][event.device] += 1
                    self.again_ns[event.operator] += took
                else:
                    self.first[event.operator] = (event.device, event.implementation), took
                    stage += 1
            elif isinstance(event, Transfer):
                way = event.tensor, event.source, event.destination
                self.copies[way] += 1
                self.copies_ns[way] += took
                since.setdefault((event.tensor, event.destination), stage)
            else:
                self._free(event, stage, since)
        for place, begun in since.items():
            self.held[place].update(range(begun, stage))

    def _free(self, event: Free, stage: int, since: dict[tuple[str, str], int]) -> None:
        place = event.tensor, event.device
        if stage <= self._last_stage:
            self.freed[place].append(stage)
        self.held[place].update(range(since.pop(place, stage), stage))


def _moved(one: _Look, two: _Look) -> Iterator[Moved]:
    for operator, (after, after_ns) in two.first.items():
        before, before_ns = one.first[operator]
        if before != after or before_ns != after_ns:
            yield Moved(operator, before, after, after_ns - before_ns)


def _recomputed(one: _Look, two: _Look) -> Iterator[Recomputed]:
    for operator in dict.fromkeys([*two.again, *one.again]):
        before, after = dict(one.again.get(operator, {})), dict(two.again.get(operator, {}))
        cost_ns = two.again_ns[operator] - one.again_ns[operator]
        if before != after or cost_ns:
            yield Recomputed(operator, before, after, cost_ns)


def _transferred(one: _Look, two: _Look, size: Mapping[str, int]) -> Iterator[Transferred]:
    for way in dict.fromkeys([*two.copies, *one.copies]):
        tensor, source, destination = way
        before, after, cost_ns = one.copies[way], two.copies[way], two.copies_ns[way] - one.copies_ns[way]
        if before != after or cost_ns:
            yield Transferred(tensor, size[tensor], source, destination, before, after, cost_ns)


def _held(one: _Look, two: _Look, size: Mapping[str, int]) -> Iterator[Held]:
    for place in dict.fromkeys([*two.held, *one.held, *two.freed, *one.freed]):
        before, after = one.held.get(place, set()), two.held.get(place, set())
        freed_before, freed_after = tuple(one.freed.get(place, ())), tuple(two.freed.get(place, ()))
        if before != after or freed_before != freed_after:
            tensor, device = place
            longer, shorter = tuple(sorted(after - before)), tuple(sorted(before - after))
            yield Held(tensor, size[tensor], device, longer, shorter, freed_before, freed_after)


def _dearest(changes: Iterable[_Change]) -> tuple[_Change, ...]:
    return tuple(sorted(changes, key=lambda change: abs(change.cost_ns), reverse=True))


def _byte_stages(change: Held) -> int:
    return change.size_bytes * (len(change.longer) + len(change.shorter))
