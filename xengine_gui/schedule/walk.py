"""A walk along the events of a plan: who is where, and when memory is taken and given back."""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from xengine_gui.model.operator import Operator
from xengine_gui.model.plan import Compute, Event, Free, Plan, Transfer
from xengine_gui.model.problem import Problem


class Residency(NamedTuple):
    """A tensor on a device, from the event that brought it to the free that released it (`None`: it stays)."""

    tensor: str
    device: str
    start_ns: int
    end_ns: int | None
    brought_by: int
    freed_by: int | None


_BY_START = attrgetter("start_ns", "brought_by")


class Change(NamedTuple):
    """Bytes that a device takes or gives back. Sorted, changes stand in the order in which they happen.

    At one instant the events keep their order, and each allocates first, frees next and gives its workspace back last.
    """

    time_ns: int
    event: int
    rank: int
    delta_bytes: int


@dataclass(slots=True)
class _Copy:
    """A tensor on a device: where it came from, from when it may be used."""

    start_ns: int
    brought_by: int
    ready_ns: int


class Walk:
    """The state while walking: residencies, memory changes, and sentences about data that is not where it is used.

    Events must name things of the problem; times may be anything. The order of the events is the order of things.
    """

    def __init__(self, problem: Problem) -> None:
        self.tensor_bytes = {t.name: t.size_bytes for t in problem.tensors}
        self.operators = {o.name: o for o in problem.operators}
        self.workspace_bytes = {
            (o.name, device, way.name): way.workspace_bytes
            for o in problem.operators
            for device, ways in o.costs.items()
            for way in ways
        }
        self.residencies: list[Residency] = []
        self.changes: dict[str, list[Change]] = {d.name: [] for d in problem.devices}
        self.parameters: dict[str, set[str]] = {d.name: set() for d in problem.devices}
        self.broken: list[str] = []
        self._there: dict[tuple[str, str], _Copy] = {}
        self._used_until: dict[tuple[str, str], tuple[int, int]] = {}
        self._parameter_bytes = {p.name: p.size_bytes for p in problem.parameters}

    def follow(self, events: Iterable[tuple[int, Event]]) -> None:
        """Walk along events, each with its number in the plan, to the end of the plan."""
        for i, event in events:
            if isinstance(event, Compute):
                self._compute(i, event)
            elif isinstance(event, Transfer):
                self._transfer(i, event)
            else:
                self._free(i, event)
        for (tensor, device), copy in self._there.items():
            self.residencies.append(Residency(tensor, device, copy.start_ns, None, copy.brought_by, None))
        self.residencies.sort(key=_BY_START)

    @classmethod
    def of(cls, plan: Plan) -> "Walk | None":
        """A walk along all events of a plan; `None` where they name what its problem does not have."""
        walk = cls(plan.problem)
        try:
            walk.follow(enumerate(plan.events))
        except KeyError:
            return None
        return walk

    def is_somewhere(self, tensor: str) -> bool:
        """Whether any device holds the tensor now."""
        return any((tensor, device) in self._there for device in self.changes)

    def home_bytes(self, device: str) -> int:
        """Bytes of the parameters that live on a device for the whole plan."""
        return sum(self._parameter_bytes[p] for p in self.parameters[device])

    def _compute(self, i: int, event: Compute) -> None:
        operator, device = self.operators[event.operator], event.device
        if operator.parameters:
            self.parameters[device].update(operator.parameters)
        workspace = self.workspace_bytes.get((event.operator, device, event.implementation), 0)
        if workspace:
            self.changes[device].append(Change(event.start_ns, i, 0, workspace))
            self.changes[device].append(Change(event.end_ns, i, 2, -workspace))
        there, used_until, start_ns = self._there, self._used_until, event.start_ns
        use = event.end_ns, i
        for tensor in operator.inputs:
            place = tensor, device
            copy = there.get(place)
            if copy is None or copy.ready_ns > start_ns:
                self._need(i, event, operator, tensor)
            if used_until.get(place, use) <= use:
                used_until[place] = use
        for tensor in operator.outputs:
            self._bring(i, event, tensor, device)
            place = tensor, device
            if used_until.get(place, use) <= use:
                used_until[place] = use

    def _need(self, i: int, event: Compute, operator: Operator, tensor: str) -> None:
        copy = self._there.get((tensor, event.device))
        if copy is None:
            self.broken.append(
                f"event {i}: operator {operator.name!r} needs {tensor!r} on {event.device!r}, where it is not"
            )
        elif copy.ready_ns > event.start_ns:
            self.broken.append(
                f"event {i}: operator {operator.name!r} starts before {tensor!r} is ready on {event.device!r}"
            )

    def _transfer(self, i: int, event: Transfer) -> None:
        copy = self._there.get((event.tensor, event.source))
        if copy is None:
            self.broken.append(f"event {i}: transfer of {event.tensor!r} from {event.source!r}, where it is not")
        elif copy.ready_ns > event.start_ns:
            self.broken.append(f"event {i}: transfer of {event.tensor!r} starts before it is ready on {event.source!r}")
        self._bring(i, event, event.tensor, event.destination)
        use = event.end_ns, i
        for place in ((event.tensor, event.source), (event.tensor, event.destination)):
            if self._used_until.get(place, use) <= use:
                self._used_until[place] = use

    def _free(self, i: int, event: Free) -> None:
        place = event.tensor, event.device
        copy = self._there.pop(place, None)
        if copy is None:
            self.broken.append(f"event {i}: frees {event.tensor!r} on {event.device!r}, where it is not")
            return
        until, user = self._used_until.get(place, (0, 0))
        if until > event.start_ns:
            self.broken.append(
                f"event {i}: frees {event.tensor!r} on {event.device!r} while event {user} still uses it"
            )
        self.residencies.append(Residency(*place, copy.start_ns, event.start_ns, copy.brought_by, i))
        self.changes[event.device].append(Change(event.start_ns, i, 1, -self.tensor_bytes[event.tensor]))

    def _bring(self, i: int, event: Compute | Transfer, tensor: str, device: str) -> None:
        copy = self._there.get((tensor, device))
        if copy is None:
            self._there[tensor, device] = _Copy(event.start_ns, i, event.end_ns)
            self.changes[device].append(Change(event.start_ns, i, 0, self.tensor_bytes[tensor]))
        else:
            copy.ready_ns = event.end_ns
