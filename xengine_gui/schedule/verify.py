"""The judge: every rule that a plan has to keep, checked in integers and without any part of the planners."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from xengine_gui.model.plan import Clock, Compute, Event, Plan, Transfer
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.walk import Walk


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a plan comes to, and every rule that it breaks, a sentence each."""

    ok: bool
    broken: tuple[str, ...]
    total_ns: int
    work_ns: int
    peak_bytes: Mapping[str, int]
    recompute_count: int
    transfer_count: int


def verify(plan: Plan, problem: Problem | None = None) -> Verdict:
    """Judge a plan against `problem`, or against the problem that it was made for."""
    return _Judge(plan, problem or plan.problem).verdict()


def verify_walked(plan: Plan, walk: Walk) -> Verdict:
    """Judge a plan against its own problem by a walk that has followed all its events."""
    return _Judge(plan, plan.problem, walk).verdict()


class _Judge:
    """One plan before its problem."""

    def __init__(self, plan: Plan, problem: Problem, walked: Walk | None = None) -> None:
        self.plan, self.problem = plan, problem
        self.walk, self.is_walked = walked or Walk(problem), walked is not None
        self.devices = {d.name for d in problem.devices}
        self.transfer_ns = _transfer_times(problem)
        self.computed: dict[str, int] = {}
        self.lanes: defaultdict[tuple[str, ...], list[tuple[int, int, int]]] = defaultdict(list)
        self.work_ns = 0

    def verdict(self) -> Verdict:
        plan, events = self.plan, self.plan.events
        broken: list[str] = []
        if not plan.has_events and not events and self.problem.operators:
            broken.append(f"there is no plan to verify: the file says {plan.status}")
        usable: list[tuple[int, Event]] = []
        for i, event in enumerate(events):
            mistake = self._form(event)
            if mistake:
                broken.append(f"event {i}: {mistake}")
            else:
                sentences = self._cost(i, event)
                if sentences:
                    broken.extend(f"event {i}: {sentence}" for sentence in sentences)
                usable.append((i, event))
        broken.extend(self._order())
        broken.extend(self._lanes())
        broken.extend(self._clock())
        if self.is_walked and len(usable) < len(events):
            self.walk, self.is_walked = Walk(self.problem), False  # that walk took what cannot be played
        if not self.is_walked:
            self.walk.follow(usable)
        broken.extend(self.walk.broken)
        broken.extend(
            f"{t!r} must still be there at the end" for t in self.problem.keep if not self.walk.is_somewhere(t)
        )
        peaks = {device.name: self._peak(device.name) for device in self.problem.devices}
        broken.extend(self._memory(peaks))
        total_ns = max((event.end_ns for event in events), default=0)
        broken.extend(self._totals(total_ns))
        return Verdict(
            ok=not broken,
            broken=tuple(broken),
            total_ns=total_ns,
            work_ns=self.work_ns,
            peak_bytes={device: peak for device, (peak, _) in peaks.items()},
            recompute_count=sum(isinstance(event, Compute) and event.again for event in events),
            transfer_count=sum(isinstance(event, Transfer) for event in events),
        )

    def _form(self, event: Event) -> str:
        """Why an event cannot be played at all."""
        if not 0 <= event.start_ns <= event.end_ns:
            return f"its times {event.start_ns} and {event.end_ns} ns are not in order"
        if isinstance(event, Compute):
            if event.operator not in self.walk.operators:
                return f"there is no operator {event.operator!r}"
        elif event.tensor not in self.walk.tensor_bytes:
            return f"there is no tensor {event.tensor!r}"
        if not isinstance(event, Transfer):
            return "" if event.device in self.devices else f"there is no device {event.device!r}"
        for device in (event.source, event.destination):
            if device not in self.devices:
                return f"there is no device {device!r}"
        return (
            f"transfer of {event.tensor!r} from {event.source!r} to itself" if event.source == event.destination else ""
        )

    def _cost(self, i: int, event: Event) -> list[str]:
        """What is wrong with an event's time, and where it stands among the computations of its operator."""
        if isinstance(event, Compute):
            return [f"operator {event.operator!r} {what}" for what in self._compute_cost(i, event)]
        return list(self._transfer_cost(i, event)) if isinstance(event, Transfer) else []

    def _compute_cost(self, i: int, event: Compute) -> list[str]:
        name, device, took = event.operator, event.device, event.end_ns - event.start_ns
        operator, found = self.walk.operators[name], list[str]()
        for way in operator.costs.get(device, ()):
            if way.name == event.implementation:
                if took != way.time_ns:
                    found.append(f"on {device!r} takes {way.time_ns} ns, not {took}")
                break
        else:
            wanted = "" if event.implementation is None else f" {event.implementation!r}"
            found.append(f"has no implementation{wanted} on {device!r}")
        again = name in self.computed
        if again and not event.again:
            found.append(f"was computed before (event {self.computed[name]}), so this is a recompute")
        elif event.again and not again:
            found.append("was not computed before, so this is no recompute")
        if again and not operator.recomputable:
            found.append("must not be recomputed")
        self.computed.setdefault(name, i)
        self.lanes["operators", device].append((event.start_ns, event.end_ns, i))
        self.work_ns += took
        return found

    def _transfer_cost(self, i: int, event: Transfer) -> Iterator[str]:
        took = event.end_ns - event.start_ns
        way = f"from {event.source!r} to {event.destination!r}"
        fixed_ns = self.transfer_ns.get((event.source, event.destination, event.tensor))
        time_ns = fixed_ns if fixed_ns is not None else self._link_ns(event)
        if time_ns is None:
            yield f"there is no link {way}"
        elif took != time_ns:
            yield f"transfer of {event.tensor!r} {way} takes {time_ns} ns, not {took}"
        self.lanes["transfers", event.source, event.destination].append((event.start_ns, event.end_ns, i))
        self.work_ns += took

    def _link_ns(self, event: Transfer) -> int | None:
        for link in self.problem.links:
            if (link.source, link.destination) == (event.source, event.destination):
                return link.transfer_ns(self.walk.tensor_bytes[event.tensor])
        return None

    def _order(self) -> Iterator[str]:
        order = [o.name for o in self.problem.operators]
        yield from (f"operator {name!r} is never computed" for name in order if name not in self.computed)
        done = list(self.computed)
        wanted = [name for name in order if name in self.computed]
        for first, expected in zip(done, wanted, strict=True):
            if first != expected:
                yield (
                    f"event {self.computed[first]}: operator {first!r} is first computed before {expected!r}, "
                    "which comes earlier in the base order"
                )
                return

    def _lanes(self) -> Iterator[str]:
        for (what, *where), spans in self.lanes.items():
            spans.sort()
            for (_, end_ns, i), (start_ns, _, j) in pairwise(spans):
                if start_ns < end_ns:
                    place = f"on {where[0]!r}" if len(where) == 1 else f"from {where[0]!r} to {where[1]!r}"
                    yield f"events {i} and {j}: two {what} {place} at the same time"

    def _clock(self) -> Iterator[str]:
        started = ended = 0
        serial = self.plan.clock is Clock.SERIAL
        for i, event in enumerate(self.plan.events):
            if event.start_ns < started:
                yield f"event {i}: starts before the event listed above it"
            started = max(started, event.start_ns)
            if serial and event.start_ns < ended:
                yield f"event {i}: starts before an earlier event ended, which the serial clock does not allow"
                serial = False
            ended = max(ended, event.end_ns)

    def _peak(self, device: str) -> tuple[int, int | None]:
        """The most that a device holds, and the event that takes it there."""
        level = peak = self.walk.home_bytes(device)
        peak_event = None
        for change in sorted(self.walk.changes[device]):
            level += change.delta_bytes
            if level > peak:
                peak, peak_event = level, change.event
        return peak, peak_event

    def _memory(self, peaks: Mapping[str, tuple[int, int | None]]) -> Iterator[str]:
        for device in self.problem.devices:
            peak, event = peaks[device.name]
            limit = device.memory_limit_bytes
            if limit is not None and peak > limit:
                when = "with its parameters alone" if event is None else f"at event {event}"
                yield f"device {device.name!r} holds {peak} bytes {when}, {peak - limit} more than its limit of {limit}"
            told = self.plan.peak_bytes.get(device.name)
            if told is not None and told != peak:
                yield f"device {device.name!r}: the plan tells a peak of {told} bytes, but it is {peak}"

    def _totals(self, total_ns: int) -> Iterator[str]:
        told, bound = self.plan.total_ns, self.plan.lower_bound_ns
        if told is not None and told != total_ns:
            yield f"the plan tells a total of {told} ns, but its last event ends at {total_ns}"
        # A millionth is left to solvers' rounding, as every judge of the format leaves it.
        if (
            bound is not None
            and self.plan.clock is Clock.SERIAL
            and (bound - self.work_ns) * 10**6 > max(1, self.work_ns)
        ):
            yield f"the lower bound of {bound} ns is above the plan's own total of {self.work_ns}"


def _transfer_times(problem: Problem) -> dict[tuple[str, str, str], int]:
    times: dict[tuple[str, str, str], int] = {}
    for row in problem.transfers:
        times.setdefault((row.source, row.destination, row.tensor), row.time_ns)
    return times
