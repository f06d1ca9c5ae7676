"""The dynamic programme over chain intervals and memory.

Beaumont, Eyraud-Dubois, Herrmann, Joly and Shilova, "Optimal checkpointing for heterogeneous chains: how to train deep
neural networks with limited memory", Inria RR-9302, 2019. `C(s, t, m)` is the least time to reverse the stages s to t
with m slots of memory beside the input of stage s, when the gradient that stage t begins with is there. Either stage s
leaves its record (F_all), and the later stages are reversed before its backward; or it and some more leave nothing but
the state before a later stage r (F_ck, then F_none), from which r to t are reversed, and then s to r - 1 anew:

    C(s, t, m) = min( f_s + C(s + 1, t, m - kept_s) + b_s,
                      min over r of f_s + ... + f_(r-1) + C(r, t, m - state_r) + C(s, r - 1, m) )

each only where its forward and backward fit in m. Two refinements of the paper's recurrence: a stage whose backward
reads no more than its input is reversed without running its forward, and one without a backward is passed over.
Persistent means that a checkpoint stays until the state that it holds is no longer wanted; the optimum is among such
plans of the chain only.

Memory is cut into equal slots. Every size and every need is rounded up to whole slots, so a plan of the programme never
takes more than it says, but it may miss one that fits barely.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xengine_gui.solve.rotor.chain import Chain

MOST_SLOTS = 500
"""As many slots as the paper takes."""

_WORK = 50_000_000
"""Sums of the programme at most; the slots are fewer on long chains, so that it takes about half a second."""


@dataclass(frozen=True)
class PassOn:
    """Stage `end` has no backward: the interval without it."""


@dataclass(frozen=True)
class Record:
    """The first stage leaves its record."""


@dataclass(frozen=True)
class Checkpoint:
    """The state before stage `stage` is retained, and nothing else of those before it."""

    stage: int


Choice = PassOn | Record | Checkpoint


def slot_count(stages: int) -> int:
    """How many slots a chain of so many stages is given."""
    return max(32, min(MOST_SLOTS, 6 * _WORK // max(1, stages**3)))


class Table:
    """`C(s, t, m)` for all intervals of a chain and up to `memory_bytes`, in at most so many slots."""

    def __init__(self, chain: Chain, memory_bytes: int, most_slots: int = MOST_SLOTS) -> None:
        self.stages = chain.stages
        self.count = len(chain.stages)
        self.slots = max(1, min(slot_count(self.count), most_slots, memory_bytes))
        self.slot_bytes = max(1, -(-memory_bytes // self.slots))
        self.state = [self._up(stage.state_bytes) for stage in chain.stages]
        self.kept = [self._up(stage.kept_bytes) for stage in chain.stages]
        self.forward_ns = np.array([0, *np.cumsum([float(stage.forward_ns) for stage in chain.stages])])
        self._passed = self._pass_peaks()
        shape = self.count, self.count, self.slots + 1
        self.least: npt.NDArray[np.float64] = np.full(shape, np.inf)
        self._behind: npt.NDArray[np.float64] = np.full(shape, np.inf)  # C(r, t, m - state_r)

    def fill(self, should_stop: Callable[[], bool]) -> bool:
        """Compute it; false after a stop."""
        for s in reversed(range(self.count)):
            if should_stop():
                return False
            for t in range(s, self.count):
                self.least[s, t] = self._value(s, t)
                shift = self.state[s]
                if shift <= self.slots:
                    self._behind[s, t, shift:] = self.least[s, t, : self.slots + 1 - shift]
        return True

    def choice(self, s: int, t: int, m: int) -> Choice | None:
        """What reaches `C(s, t, m)` where there is something to choose; `None` for a single stage."""
        if s == t:
            return None
        if not self.stages[t].has_backward:
            return PassOn()
        best: Choice = Record()
        least = self._record(s, t)[m]
        splits = self._splits(s, t)[:, m]
        first = int(np.argmin(splits))
        if splits[first] <= least:
            best = Checkpoint(s + 1 + first)
        return best

    def _up(self, size_bytes: int) -> int:
        return -(-size_bytes // self.slot_bytes)

    def _pass_peaks(self) -> list[list[int]]:
        """`[s][i]`: the bytes that the stages s to s + i take at most while they run and leave nothing."""
        peaks: list[list[int]] = []
        for s in range(self.count):
            row: list[int] = []
            highest = 0
            for k in range(s, self.count):
                beside = self.stages[k].state_bytes if k > s else 0
                highest = max(highest, beside + self.stages[k].pass_peak_bytes)
                row.append(highest)
            peaks.append(row)
        return peaks

    def _value(self, s: int, t: int) -> npt.NDArray[np.float64]:
        if s == t:
            return self._single(s)
        if not self.stages[t].has_backward:
            without: npt.NDArray[np.float64] = self.least[s, t - 1]
            return without
        best: npt.NDArray[np.float64] = np.minimum(self._record(s, t), self._splits(s, t).min(axis=0))
        return best

    def _single(self, s: int) -> npt.NDArray[np.float64]:
        """One stage: its forward, leaving the record if there is one, and its backward."""
        stage = self.stages[s]
        need = stage.backward_peak_bytes if stage.has_backward else 0
        if stage.records:
            need = max(need, stage.gradient_bytes + stage.record_peak_bytes)
        return self._from(self._up(need), float(stage.backward_ns + stage.forward_ns * stage.records))

    def _record(self, s: int, t: int) -> npt.NDArray[np.float64]:
        """The first stage leaves its record until its backward."""
        stage = self.stages[s]
        need = max(self.stages[t].gradient_bytes + stage.record_peak_bytes, stage.backward_peak_bytes)
        value = self._from(self._up(need), float(stage.forward_ns + stage.backward_ns))
        shift = min(self.kept[s], self.slots + 1)
        value[:shift] = np.inf
        value[shift:] += self.least[s + 1, t, : self.slots + 1 - shift]
        return value

    def _splits(self, s: int, t: int) -> npt.NDArray[np.float64]:
        """Per r from s + 1 to t the values with a checkpoint before stage r."""
        forward = self.forward_ns[s + 1 : t + 1] - self.forward_ns[s]
        value: npt.NDArray[np.float64] = self._behind[s + 1 : t + 1, t] + self.least[s, s:t]
        value += forward[:, None]
        gradient = self.stages[t].gradient_bytes
        for row, peak in zip(value, self._passed[s][: t - s], strict=True):
            row[: min(self._up(gradient + peak), self.slots + 1)] = np.inf
        return value

    def _from(self, need: int, time_ns: float) -> npt.NDArray[np.float64]:
        value = np.full(self.slots + 1, np.inf)
        value[need:] = time_ns
        return value
