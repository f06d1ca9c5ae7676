"""Exact replay in integers: what is where, how full each device is, and how long it takes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import add, attrgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.plan import Drop, Move, Plan, Run, Step
from xengine_gui.schedule.walk import Residency, Walk


class Violation(NamedTuple):
    """A step during which a device holds `over_bytes` more than its limit (all as positions)."""

    step: int
    device: int
    over_bytes: int


class Missing(NamedTuple):
    """A step that needs a tensor on a device where it is not (all as positions)."""

    step: int
    device: int
    tensor: int


@dataclass(frozen=True)
class StepReplay:
    """What a list of steps comes to on the serial clock.

    `peak_bytes` and `parameter_bytes` are per device; a peak holds parameters, tensors and workspace. `touched[i]` is
    the device whose memory step i is about (a move: its destination), `high_bytes[i]` the most that device holds of
    tensors and workspace while step i runs, `after_bytes[i]` the tensors on it afterwards; parameters come on top.
    `mistakes` tells in words every rule that is broken besides the limits; `missing` has those about absent tensors.
    """

    total_ns: int
    peak_bytes: tuple[int, ...]
    parameter_bytes: tuple[int, ...]
    violations: tuple[Violation, ...]
    missing: tuple[Missing, ...]
    mistakes: tuple[str, ...]
    touched: list[int] = field(repr=False)
    high_bytes: list[int] = field(repr=False)
    after_bytes: list[int] = field(repr=False)

    @property
    def fits(self) -> bool:
        """Whether every device stays within its limit."""
        return not self.violations

    @property
    def valid(self) -> bool:
        """Whether the steps are a plan: every rule kept, every limit too."""
        return not self.violations and not self.mistakes

    def levels(self, device: int) -> npt.NDArray[np.int64]:
        """Per step the most that `device` holds while the step runs, parameters included."""
        mine = np.array(self.touched, dtype=np.int64) == device
        last = np.maximum.accumulate(np.where(mine, np.arange(mine.size), -1)) if mine.size else np.empty(0, np.int64)
        settled = np.where(last >= 0, np.array(self.after_bytes, dtype=np.int64)[last], 0)
        level: npt.NDArray[np.int64] = np.where(mine, np.array(self.high_bytes, dtype=np.int64), settled)
        return level + self.parameter_bytes[device]


def replay_steps(indexed: IndexedProblem, steps: Sequence[Step]) -> StepReplay:
    """Replay steps one after the other from empty devices; in plain Python about a microsecond a step.

    Mistakes do not stop it: a step whose data is absent runs all the same.
    """
    return _Replayer(indexed).run(steps)


class _Replayer:
    """The state of one replay."""

    def __init__(self, indexed: IndexedProblem) -> None:
        self.indexed = indexed
        self.resident = [bytearray(indexed.tensor_count) for _ in indexed.limit_bytes]
        self.level = [0] * indexed.device_count
        self.homes: list[set[int]] = [set() for _ in indexed.limit_bytes]
        self.computed = bytearray(indexed.operator_count)
        self.first_count = 0
        self.total_ns = 0
        self.missing: list[Missing] = []
        self.mistakes: list[str] = []

    def run(self, steps: Sequence[Step]) -> StepReplay:
        level = self.level
        touched: list[int] = []
        high_bytes: list[int] = []
        after_bytes: list[int] = []
        for i, step in enumerate(steps):
            if isinstance(step, Run):
                device = step.device
                high = self._run(i, step)
            elif isinstance(step, Move):
                device = step.destination
                high = self._move(i, step)
            else:
                device = step.device
                high = self._drop(i, step)
            touched.append(device)
            high_bytes.append(high)
            after_bytes.append(level[device])
        self._end()
        peak = [0] * len(level)
        for device, high in zip(touched, high_bytes, strict=True):
            if high > peak[device]:  # noqa: PLR1730 - twice as fast as max() where strategies try thousands of plans
                peak[device] = high
        base = [sum(self.indexed.parameter_bytes[p] for p in home) for home in self.homes]
        return StepReplay(
            total_ns=self.total_ns,
            peak_bytes=tuple(map(add, base, peak)),
            parameter_bytes=tuple(base),
            violations=tuple(self._violations(steps, base, peak, touched, high_bytes)),
            missing=tuple(self.missing),
            mistakes=tuple(self.mistakes),
            touched=touched,
            high_bytes=high_bytes,
            after_bytes=after_bytes,
        )

    def _run(self, i: int, step: Run) -> int:
        d, o, j = step
        indexed = self.indexed
        here = self.resident[d]
        for t in indexed.inputs[o]:
            if not here[t]:
                self._miss(i, d, t, f"operator {o} needs")
        for t in indexed.outputs[o]:
            if not here[t]:
                here[t] = 1
                self.level[d] += indexed.tensor_bytes[t]
        if indexed.parameters[o]:
            self.homes[d].update(indexed.parameters[o])
        if o == self.first_count:
            self.computed[o] = 1
            self.first_count = o + 1
        elif not (self.computed[o] and indexed.recomputable[o]):
            self._out_of_line(i, o)
        ways = indexed.implementations[o][d]
        if not 0 <= j < len(ways):
            self._say(i, f"operator {o} has no implementation {j} on device {d}")
            return self.level[d]
        self.total_ns += ways[j].time_ns
        return self.level[d] + ways[j].workspace_bytes

    def _move(self, i: int, step: Move) -> int:
        a, b, t = step
        if not self.resident[a][t]:
            self._miss(i, a, t, "a move needs")
        row = self.indexed.transfer_ns[a][b]
        time_ns = None if row is None else row[t]
        if time_ns is None:
            self._say(i, f"there is no way from device {a} to device {b} for tensor {t}")
        else:
            self.total_ns += time_ns
        if not self.resident[b][t]:
            self.resident[b][t] = 1
            self.level[b] += self.indexed.tensor_bytes[t]
        return self.level[b]

    def _drop(self, i: int, step: Drop) -> int:
        d, t = step
        if self.resident[d][t]:
            self.resident[d][t] = 0
            self.level[d] -= self.indexed.tensor_bytes[t]
        else:
            self._miss(i, d, t, "a free needs")
        return self.level[d]

    def _violations(
        self, steps: Sequence[Step], base: list[int], peak: list[int], touched: list[int], high_bytes: list[int]
    ) -> Iterator[Violation]:
        limits = self.indexed.limit_bytes
        room = [None if limit is None else limit - b for limit, b in zip(limits, base, strict=True)]
        if all(r is None or p <= r for p, r in zip(peak, room, strict=True)):
            return
        for i, (device, high) in enumerate(zip(touched, high_bytes, strict=True)):
            limit = room[device]
            if limit is not None and high > limit and not isinstance(steps[i], Drop):
                yield Violation(i, device, high - limit)

    def _say(self, step: int, sentence: str) -> None:
        self.mistakes.append(f"step {step}: {sentence}")

    def _miss(self, step: int, device: int, tensor: int, who: str) -> None:
        self.missing.append(Missing(step, device, tensor))
        self._say(step, f"{who} tensor {tensor} on device {device}, where it is not")

    def _out_of_line(self, step: int, operator: int) -> None:
        if self.computed[operator]:
            self._say(step, f"operator {operator} must not be recomputed")
            return
        self._say(step, f"operator {operator} is first computed before operator {self.first_count}")
        self.computed[operator] = 1

    def _end(self) -> None:
        self.mistakes.extend(f"operator {o} is never computed" for o, done in enumerate(self.computed) if not done)
        self.mistakes.extend(
            f"tensor {t} must be there at the end"
            for t in sorted(self.indexed.keep)
            if not any(here[t] for here in self.resident)
        )


@dataclass(frozen=True)
class MemoryCurve:
    """What a device holds over time, as a step function: `level_bytes[i]` from `time_ns[i]` to `time_ns[i + 1]`.

    Parameters, tensors and workspace together. It starts at 0 ns and ends with the plan; a time stands twice where an
    instant holds more than the times before and after it, so the highest level is always there.
    """

    time_ns: tuple[int, ...]
    level_bytes: tuple[int, ...]
    parameter_bytes: int
    peak_bytes: int
    peak_ns: int
    peak_event: int | None


@dataclass(frozen=True)
class Replay:
    """A plan replayed: each stay of a tensor on a device, and each device's memory over time."""

    residencies: tuple[Residency, ...]
    memory: Mapping[str, MemoryCurve]
    total_ns: int
    work_ns: int

    def resident_at(self, device: str, time_ns: int) -> tuple[Residency, ...]:
        """The stays on a device at a time, from the instant they begin to just before the free."""
        return tuple(
            r
            for r in self.residencies
            if r.device == device and r.start_ns <= time_ns and (r.end_ns is None or time_ns < r.end_ns)
        )


def replay(plan: Plan, walk: Walk | None = None) -> Replay:
    """Replay the events of a plan, which must name things of its problem; whether it keeps the rules `verify` says.

    `walk` is one that has followed these events before, as a verdict has it.
    """
    if walk is None:
        walk = Walk(plan.problem)
        walk.follow(enumerate(plan.events))
    end_ns = max((event.end_ns for event in plan.events), default=0)
    return Replay(
        residencies=tuple(walk.residencies),
        memory={d.name: _curve(walk, d.name, end_ns) for d in plan.problem.devices},
        total_ns=end_ns,
        work_ns=sum(event.end_ns - event.start_ns for event in plan.events),
    )


def _curve(walk: Walk, device: str, end_ns: int) -> MemoryCurve:
    changes = sorted(walk.changes[device])
    level = peak = walk.home_bytes(device)
    peak_ns, peak_event = 0, None
    points = [] if changes and changes[0].time_ns == 0 else [(0, level)]
    for time_ns, at_once in groupby(changes, key=attrgetter("time_ns")):
        highest = before = level
        for change in at_once:
            level += change.delta_bytes
            highest = max(highest, level)
            if level > peak:
                peak, peak_ns, peak_event = level, time_ns, change.event
        if highest > max(before, level):
            points.append((time_ns, highest))
        points.append((time_ns, level))
    if points[-1][0] < end_ns:
        points.append((end_ns, level))
    times, levels = zip(*points, strict=True)
    return MemoryCurve(times, levels, walk.home_bytes(device), peak, peak_ns, peak_event)
