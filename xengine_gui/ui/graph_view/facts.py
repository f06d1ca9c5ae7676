"""What a plan does to a graph: where operators run, what is computed again, how stored results last, what is live."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from xengine_gui.model.plan import Compute, Transfer
from xengine_gui.schedule.walk import Residency
from xengine_gui.ui.shown_plan import ShownPlan

Int64Array = npt.NDArray[np.int64]
_NEVER = np.iinfo(np.int64).max
_LATEST = 2**62


class Fate(IntEnum):
    """How a result comes to a later reader, the worse the later in the list."""

    RETAINED = 0
    RECOMPUTED = 1
    MOVED = 2


@dataclass(frozen=True)
class PlanFacts:
    """Everything by position: operators, tensors and devices as in the problem, events as in the plan.

    `device[o]` is where operator o runs first (-1: nowhere), `again[o]` how often it is computed again, `fates` per
    tensor and reader how the tensor came there. The arrays that begin with `stay` are one entry per stay of a tensor
    on a device; what is never freed ends after everything.
    """

    device: tuple[int, ...]
    again: tuple[int, ...]
    fates: dict[tuple[int, int], Fate]
    stay_tensor: Int64Array
    stay_device: Int64Array
    stay_start_ns: Int64Array
    stay_end_ns: Int64Array
    stay_first: Int64Array
    stay_last: Int64Array
    run_start_ns: Int64Array
    run_end_ns: Int64Array
    run_operator: Int64Array
    run_event: Int64Array

    def live_at(self, time_ns: int) -> Int64Array:
        """The stays that a moment lies in."""
        time_ns = min(time_ns, _LATEST)
        return np.flatnonzero((self.stay_start_ns <= time_ns) & (time_ns < self.stay_end_ns))

    def live_after(self, event: int) -> Int64Array:
        """The stays that have begun by an event, and that no event up to it has ended."""
        return np.flatnonzero((self.stay_first <= event) & (event < self.stay_last))

    def running_at(self, time_ns: int) -> Int64Array:
        """The operators that run at a moment."""
        time_ns = min(time_ns, _LATEST)
        return self.run_operator[np.flatnonzero((self.run_start_ns <= time_ns) & (time_ns < self.run_end_ns))]

    def running_in(self, event: int) -> Int64Array:
        """The operator that an event computes; none for other events."""
        return self.run_operator[np.flatnonzero(self.run_event == event)]


def facts_of(shown: ShownPlan) -> PlanFacts:
    """The facts of a plan, from its events and its replay."""
    problem = shown.plan.problem
    operator = {o.name: i for i, o in enumerate(problem.operators)}
    tensor = {t.name: i for i, t in enumerate(problem.tensors)}
    device = {d.name: i for i, d in enumerate(problem.devices)}
    stays = shown.replay.residencies
    by_place: dict[tuple[str, str], list[Residency]] = {}
    for stay in stays:
        by_place.setdefault((stay.tensor, stay.device), []).append(stay)
    first_device = [-1] * len(operator)
    again = [0] * len(operator)
    fates: dict[tuple[int, int], Fate] = {}
    runs: list[tuple[int, int, int, int]] = []
    for i, event in enumerate(shown.plan.events):
        if not isinstance(event, Compute):
            continue
        o = operator[event.operator]
        runs.append((min(event.start_ns, _LATEST), min(event.end_ns, _LATEST), o, i))
        if event.again:
            again[o] += 1
            continue
        first_device[o] = device[event.device]
        for name in problem.operators[o].inputs:
            fate = _fate(shown, by_place.get((name, event.device), ()), i)
            if fate is not None:
                fates[tensor[name], o] = fate
    run = np.array(runs, np.int64).reshape(-1, 4)
    rows = [
        (
            tensor[s.tensor],
            device[s.device],
            min(s.start_ns, _LATEST),
            _NEVER if s.end_ns is None else min(s.end_ns, _LATEST),
            s.brought_by,
            _NEVER if s.freed_by is None else s.freed_by,
        )
        for s in stays
    ]
    stay_rows = np.array(rows, np.int64).reshape(-1, 6)
    return PlanFacts(tuple(first_device), tuple(again), fates, *stay_rows.T, *run.T)


def _fate(shown: ShownPlan, stays: "tuple[Residency, ...] | list[Residency]", reader: int) -> Fate | None:
    """How the copy that an event reads has come there."""
    for stay in stays:
        if stay.brought_by < reader and (stay.freed_by is None or stay.freed_by > reader):
            brought = shown.plan.events[stay.brought_by]
            if isinstance(brought, Transfer):
                return Fate.MOVED
            return Fate.RECOMPUTED if isinstance(brought, Compute) and brought.again else Fate.RETAINED
    return None
