"""The two clocks: steps in an order become events with times, and back."""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from xengine_gui.model.plan import Compute, Drop, Event, Free, Move, Run, Step, Transfer
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.replay import replay_steps


def serial_events(problem: Problem, steps: Sequence[Step]) -> tuple[Event, ...]:
    """The steps one after the other, without a pause."""
    return tuple(_events(problem, steps, _serial_starts(problem, steps)))


def overlapped_events(problem: Problem, steps: Sequence[Step]) -> tuple[Event, ...]:
    """The steps side by side: each device one operator at a time, each link one transfer at a time.

    Every step starts as soon as its lane is free, its data is ready, and what it allocates fits. Allocations keep the
    order of the steps on each device and first computations the base order, so steps that fit on the serial clock fit
    here too, and the makespan is at most the serial total.
    """
    layout = _Overlap(problem, steps)
    starts = [layout.start_ns(step) for step in steps]
    order = sorted(range(len(steps)), key=starts.__getitem__)
    return tuple(_events(problem, [steps[i] for i in order], [starts[i] for i in order]))


def steps_of(problem: Problem, events: Iterable[Event]) -> list[Step]:
    """The steps of events in their order; raises `KeyError` for a name or implementation that the problem lacks."""
    device = {d.name: i for i, d in enumerate(problem.devices)}
    tensor = {t.name: i for i, t in enumerate(problem.tensors)}
    operator = {o.name: i for i, o in enumerate(problem.operators)}
    ways = {
        (o.name, d, way.name): j for o in problem.operators for d, rows in o.costs.items() for j, way in enumerate(rows)
    }
    steps: list[Step] = []
    for event in events:
        if isinstance(event, Compute):
            way = ways[event.operator, event.device, event.implementation]
            steps.append(Run(device[event.device], operator[event.operator], way))
        elif isinstance(event, Transfer):
            steps.append(Move(device[event.source], device[event.destination], tensor[event.tensor]))
        else:
            steps.append(Drop(device[event.device], tensor[event.tensor]))
    return steps


def _duration_ns(problem: Problem, step: Step) -> int:
    indexed = problem.indexed
    if isinstance(step, Run):
        return indexed.implementations[step.operator][step.device][step.implementation].time_ns
    if isinstance(step, Move):
        time_ns = indexed.copy_ns(step.source, step.destination, step.tensor)
        if time_ns is None:
            names = problem.devices[step.source].name, problem.devices[step.destination].name
            raise ValueError(f"there is no way from {names[0]!r} to {names[1]!r}")
        return time_ns
    return 0


def _serial_starts(problem: Problem, steps: Sequence[Step]) -> list[int]:
    starts: list[int] = []
    now_ns = 0
    for step in steps:
        starts.append(now_ns)
        now_ns += _duration_ns(problem, step)
    return starts


def _events(problem: Problem, steps: Iterable[Step], starts: Iterable[int]) -> Iterator[Event]:
    device = [d.name for d in problem.devices]
    tensor = [t.name for t in problem.tensors]
    implementations = problem.indexed.implementations
    computed = [False] * len(problem.operators)
    for step, start_ns in zip(steps, starts, strict=True):
        if isinstance(step, Run):
            d, o, j = step
            way = implementations[o][d][j]
            name = problem.operators[o].name
            yield Compute(name, device[d], start_ns, start_ns + way.time_ns, computed[o], way.name)
            computed[o] = True
        elif isinstance(step, Move):
            end_ns = start_ns + _duration_ns(problem, step)
            yield Transfer(tensor[step.tensor], device[step.source], device[step.destination], start_ns, end_ns)
        else:
            yield Free(tensor[step.tensor], device[step.device], start_ns)


class _Overlap:
    """Places steps, taken in the order of the plan, on the overlapped clock."""

    def __init__(self, problem: Problem, steps: Sequence[Step]) -> None:
        self.problem = problem
        self.indexed = problem.indexed
        self.lane_free: defaultdict[object, int] = defaultdict(int)
        self.ready: dict[tuple[int, int], int] = {}  # (device, tensor) that is there -> when it may be used
        self.freed: dict[tuple[int, int], int] = {}  # (device, tensor) -> when it was last freed
        self.used_until: defaultdict[tuple[int, int], int] = defaultdict(int)
        self.used_from: defaultdict[tuple[int, int], int] = defaultdict(int)
        self.first_start: dict[int, int] = {}
        self.latest_first = 0
        devices = range(self.indexed.device_count)
        self.level = [0 for _ in devices]
        self.allocated = [0 for _ in devices]  # when the device's last allocation happened
        self.releases: list[list[tuple[int, int]]] = [[] for _ in devices]  # heaps of (when, bytes) yet to come
        parameters = replay_steps(problem.indexed, steps).parameter_bytes
        limits = self.indexed.limit_bytes
        self.room = [None if limit is None else limit - p for limit, p in zip(limits, parameters, strict=True)]

    def start_ns(self, step: Step) -> int:
        """The earliest start of the next step of the plan."""
        if isinstance(step, Run):
            return self._run(step)
        if isinstance(step, Move):
            return self._move(step)
        place = step.device, step.tensor
        time_ns = max(self.ready.pop(place, 0), self.used_until[place])
        self.freed[place] = time_ns
        heapq.heappush(self.releases[step.device], (time_ns, self.indexed.tensor_bytes[step.tensor]))
        return time_ns

    def _run(self, step: Run) -> int:
        d, o, _ = step
        way = self.indexed.implementations[o][d][step.implementation]
        read = [(d, t) for t in self.indexed.inputs[o]]
        written = [(d, t) for t in self.indexed.outputs[o]]
        earliest = max((self.ready.get(place, 0) for place in read), default=0)
        # A recompute must not be listed before the first computation, nor a first computation before an earlier one.
        earliest = max(earliest, self.first_start.get(o, self.latest_first), self.lane_free[d])
        start = self._allocate(d, written, way.workspace_bytes, earliest)
        if o not in self.first_start:
            self.first_start[o] = self.latest_first = start
        end = self.lane_free[d] = start + way.time_ns
        if way.workspace_bytes:
            self.level[d] += way.workspace_bytes
            heapq.heappush(self.releases[d], (end, way.workspace_bytes))
        self._use([*read, *written], start, end)
        self.ready.update(dict.fromkeys(written, end))
        return start

    def _move(self, step: Move) -> int:
        a, b, t = step
        earliest = max(self.ready.get((a, t), 0), self.lane_free[a, b])
        start = self._allocate(b, [(b, t)], 0, earliest)
        end = self.lane_free[a, b] = start + _duration_ns(self.problem, step)
        self._use([(a, t), (b, t)], start, end)
        self.ready[b, t] = end
        return start

    def _use(self, places: Iterable[tuple[int, int]], start: int, end: int) -> None:
        for place in places:
            self.used_from[place] = max(self.used_from[place], start)
            self.used_until[place] = max(self.used_until[place], end)

    def _allocate(self, device: int, written: Sequence[tuple[int, int]], workspace: int, earliest: int) -> int:
        """When the tensors written fit on the device; they are counted there from then on."""
        need = 0
        for place in written:
            if place in self.ready:
                # Writing again what is there makes it unready: everybody who reads the old copy has to have begun.
                earliest = max(earliest, self.used_from[place])
            else:
                need += self.indexed.tensor_bytes[place[1]]
                earliest = max(earliest, self.freed.get(place, 0))
        if not need and not workspace:
            return earliest
        start = max(earliest, self.allocated[device])
        releases = self.releases[device]
        room = self.room[device]
        while releases and (
            releases[0][0] <= start or (room is not None and self.level[device] + need + workspace > room)
        ):
            when, size = heapq.heappop(releases)
            self.level[device] -= size
            start = max(start, when)
        self.level[device] += need
        self.allocated[device] = start
        return start
