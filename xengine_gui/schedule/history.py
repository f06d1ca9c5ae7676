"""What happened to each tensor and to each device's memory in a plan, for questions about single events."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from xengine_gui.model.plan import Compute, Plan, Transfer
from xengine_gui.schedule.walk import Change, Residency, Walk

Place = tuple[int, int, int]
"""Where a change of memory stands on its device: time, event, rank (as of `walk.Change`)."""

PARAMETERS = "parameters"
WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True)
class Held:
    """Something that takes room on a device: a tensor, all parameters, or the workspace of an operator."""

    name: str
    size_bytes: int
    is_tensor: bool = True


@dataclass(frozen=True, slots=True)
class Moment:
    """A device right after a change of its memory: when, by which event, and how much it then holds in all."""

    place: Place
    level_bytes: int

    @property
    def time_ns(self) -> int:
        """When it is."""
        return self.place[0]

    @property
    def event(self) -> int:
        """The event that the change belongs to."""
        return self.place[1]


@dataclass(frozen=True, slots=True)
class Way:
    """One way to have a tensor on a device again: operators that run, tensors that are brought, and how long it takes.

    Operators and tensors are positions in the problem; transfers name the device that they come from.
    """

    time_ns: int
    operators: tuple[int, ...] = ()
    transfers: tuple[tuple[int, int], ...] = ()


class History:
    """The events of a plan in order, with what was where. Making it takes as long as a replay; questions are quick."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.indexed = plan.problem.indexed
        self.walk = Walk(plan.problem)
        self.walk.follow(enumerate(plan.events))
        self.device_number = {d.name: i for i, d in enumerate(plan.problem.devices)}
        self.tensor_number = {t.name: i for i, t in enumerate(plan.problem.tensors)}
        self.operators = {o.name: o for o in plan.problem.operators}
        self.limit_bytes = {d.name: d.memory_limit_bytes for d in plan.problem.devices}
        self.stays: defaultdict[tuple[str, str], list[Residency]] = defaultdict(list)
        for stay in self.walk.residencies:
            self.stays[stay.tensor, stay.device].append(stay)

    @cached_property
    def brought(self) -> dict[int, list[Residency]]:
        """Per event the stays that it began."""
        found: dict[int, list[Residency]] = {}
        for stay in self.walk.residencies:
            found.setdefault(stay.brought_by, []).append(stay)
        return found

    @cached_property
    def freed(self) -> dict[int, Residency]:
        """Per free the stay that it ended."""
        return {stay.freed_by: stay for stay in self.walk.residencies if stay.freed_by is not None}

    @cached_property
    def _users(self) -> dict[tuple[str, str], list[int]]:
        """Per tensor and device the events that read it there."""
        found: dict[tuple[str, str], list[int]] = {}
        for i, event in enumerate(self.plan.events):
            if isinstance(event, Compute):
                for tensor in dict.fromkeys(self.operators[event.operator].inputs):
                    found.setdefault((tensor, event.device), []).append(i)
            elif isinstance(event, Transfer):
                found.setdefault((event.tensor, event.source), []).append(i)
        return found

    def users(self, stay: Residency) -> list[int]:
        """The events that read a tensor during one of its stays, in order."""
        every = self._users.get((stay.tensor, stay.device), [])
        first = bisect_right(every, stay.brought_by)
        return every[first:] if stay.freed_by is None else every[first : bisect_left(every, stay.freed_by)]

    def stay_at(self, tensor: str, device: str, event: int) -> Residency | None:
        """The stay of a tensor on a device that has begun before an event and is not over."""
        for stay in self.stays[tensor, device]:
            if stay.brought_by < event and (stay.freed_by is None or stay.freed_by > event):
                return stay
        return None

    def last_stay(self, tensor: str, device: str, event: int) -> Residency | None:
        """The latest stay of a tensor on a device that was over before an event."""
        over = [s for s in self.stays[tensor, device] if s.freed_by is not None and s.freed_by < event]
        return over[-1] if over else None

    # ---- memory

    def place_of_free(self, stay: Residency) -> Place:
        """Where the end of a stay stands among the changes of its device."""
        if stay.freed_by is None or stay.end_ns is None:
            raise ValueError(f"{stay.tensor!r} is never freed on {stay.device!r}")
        return stay.end_ns, stay.freed_by, 1

    def level_before(self, device: str, place: Place) -> int:
        """What a device holds right before a change."""
        position = bisect_left(self._places[device], place)
        return self._levels[device][position - 1] if position else self.walk.home_bytes(device)

    def highest_between(self, device: str, after: Place, before: Place) -> Moment:
        """The fullest moment from right after one change to right before another one; the earliest of several."""
        places, levels = self._places[device], self._levels[device]
        first, last = bisect_right(places, after), bisect_left(places, before)
        best = max(range(first, last), key=levels.__getitem__, default=first - 1)
        if first and levels[first - 1] >= levels[best]:
            best = first - 1
        if best < 0:
            return Moment(after, self.walk.home_bytes(device))
        return Moment(places[best], levels[best])

    def held_after(self, device: str, place: Place) -> tuple[Held, ...]:
        """Everything that a device holds right after a change, the largest first; together they are its level."""
        found = [Held(s.tensor, self.walk.tensor_bytes[s.tensor]) for s in self._stays_over(device, place)]
        home_bytes = self.walk.home_bytes(device)
        if home_bytes:
            found.append(Held(PARAMETERS, home_bytes, is_tensor=False))
        for i, size_bytes in self._workspaces[device]:
            event = self.plan.events[i]
            if (event.start_ns, i, 0) <= place < (event.end_ns, i, 2):
                found.append(Held(WORKSPACE, size_bytes, is_tensor=False))
        return tuple(sorted((h for h in found if h.size_bytes), key=lambda h: (-h.size_bytes, h.name)))

    def _stays_over(self, device: str, place: Place) -> Iterator[Residency]:
        for stay in self.walk.residencies:
            if stay.device == device and (stay.start_ns, stay.brought_by, 0) <= place:
                end = None if stay.freed_by is None or stay.end_ns is None else (stay.end_ns, stay.freed_by, 1)
                if end is None or place < end:
                    yield stay

    @cached_property
    def _changes(self) -> dict[str, list[Change]]:
        return {device: sorted(changes) for device, changes in self.walk.changes.items()}

    @cached_property
    def _places(self) -> dict[str, list[Place]]:
        return {d: [(c.time_ns, c.event, c.rank) for c in changes] for d, changes in self._changes.items()}

    @cached_property
    def _levels(self) -> dict[str, list[int]]:
        return {
            device: list(accumulate((c.delta_bytes for c in changes), initial=self.walk.home_bytes(device)))[1:]
            for device, changes in self._changes.items()
        }

    @cached_property
    def _workspaces(self) -> dict[str, list[tuple[int, int]]]:
        """Per device the events that have a workspace, and its size."""
        found: dict[str, list[tuple[int, int]]] = {d: [] for d in self.limit_bytes}
        for i, event in enumerate(self.plan.events):
            if isinstance(event, Compute):
                size_bytes = self.walk.workspace_bytes.get((event.operator, event.device, event.implementation), 0)
                if size_bytes:
                    found[event.device].append((i, size_bytes))
        return found

    # ---- other ways

    def ways_again(self, tensor: str, device: str, event: int) -> Iterator[Way]:
        """Ways to have a tensor on a device right before an event with what is there by then, the quickest first.

        The copy on that device itself is taken for gone. Computing again runs every operator that it takes once, and
        brings by transfer what comes quicker that way; a quicker mixture of the two may exist.
        """
        t, d = self.tensor_number[tensor], self.device_number[device]
        direct = self._transfer_of(t, d, event)
        again = self._recompute_of(t, d, event)
        yield from sorted(filter(None, (direct, again)), key=lambda way: way.time_ns)

    def _there(self, tensor: int, device: int, event: int) -> bool:
        names = self.plan.problem.tensors[tensor].name, self.plan.problem.devices[device].name
        return self.stay_at(*names, event) is not None

    def _transfer_of(self, tensor: int, device: int, event: int) -> Way | None:
        times = [
            (time_ns, source)
            for source in range(self.indexed.device_count)
            if source != device
            and (time_ns := self.indexed.copy_ns(source, device, tensor)) is not None
            and self._there(tensor, source, event)
        ]
        return Way(min(times)[0], transfers=((tensor, min(times)[1]),)) if times else None

    def _recompute_of(self, target: int, device: int, event: int) -> Way | None:
        missing = self._missing_for(target, device, event)
        cost: dict[int, int | None] = {}
        direct = {t: self._transfer_of(t, device, event) for t in missing if t != target}
        for t in sorted(missing, key=self.indexed.producer.__getitem__):
            again = self._again_ns(t, device, missing, cost)
            way = direct.get(t)
            by_link = None if way is None else way.time_ns
            cost[t] = min((c for c in (again, by_link) if c is not None), default=None)
        if cost[target] is None:
            return None
        operators: dict[int, int] = {}
        transfers: dict[int, Way] = {}
        waiting = [target]
        while waiting:
            t = waiting.pop()
            way = direct.get(t)
            if way is not None and way.time_ns == cost[t]:
                transfers[t] = way
                continue
            o = self.indexed.producer[t]
            if o not in operators:
                operators[o] = min(w.time_ns for w in self.indexed.implementations[o][device])
                waiting.extend(u for u in self.indexed.inputs[o] if u in missing)
        total = sum(operators.values()) + sum(way.time_ns for way in transfers.values())
        brought = tuple(t for way in transfers.values() for t in way.transfers)
        return Way(total, tuple(sorted(operators)), tuple(sorted(brought)))

    def _missing_for(self, target: int, device: int, event: int) -> set[int]:
        """The tensors that would have to be had again, back to what is on the device."""
        missing = {target}
        waiting = [target]
        while waiting:
            for t in self.indexed.inputs[self.indexed.producer[waiting.pop()]]:
                if t not in missing and not self._there(t, device, event):
                    missing.add(t)
                    waiting.append(t)
        return missing

    def _again_ns(self, tensor: int, device: int, missing: set[int], cost: dict[int, int | None]) -> int | None:
        """The time of computing a tensor again with its missing inputs, each counted where it is read."""
        o = self.indexed.producer[tensor]
        ways = self.indexed.implementations[o][device]
        if not self.indexed.recomputable[o] or not ways:
            return None
        total = min(way.time_ns for way in ways)
        for t in self.indexed.inputs[o]:
            if t in missing:
                part = cost.get(t)
                if part is None:
                    return None
                total += part
        return total
