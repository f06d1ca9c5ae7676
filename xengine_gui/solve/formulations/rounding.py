"""Checkmate's two-phase rounding (Jain et al., MLSys 2020): its LP tells what to hold, the rest is the least that does.

Numbers are those of `FORMULATIONS.md`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from xengine_gui.model.plan import Step
from xengine_gui.solve.formulations.building import Floats, Matrix
from xengine_gui.solve.formulations.highs import Work, loaded
from xengine_gui.solve.formulations.one_device import OneDevice, steps_of_stages
from xengine_gui.solve.highs import Outcome, outcome_of

Shares = Mapping[tuple[int, int], float]
"""How much of a tensor the LP holds as a stage begins: (stage, tensor)."""


@dataclass(frozen=True)
class LpAnswer:
    """How an LP ended, what it holds, and the bound that its duals prove, in units of time."""

    outcome: Outcome
    shares: Shares
    bound: float


class HeldLp:
    """The LP of Checkmate's model, kept loaded while its limit is lowered."""

    def __init__(self, one: OneDevice, matrix: Matrix) -> None:
        self.one, self.matrix = one, matrix
        self._highs = loaded(matrix, integer=False)

    def solve(self, spared: float, remaining_s: float, should_stop: Callable[[], bool]) -> LpAnswer:
        """Solve it with a share of the limit spared; the bound is of the problem with the limit so lowered."""
        upper, row_upper = self._lowered(spared)
        columns = np.arange(len(upper), dtype=np.int32)
        self._highs.changeColsBounds(len(columns), columns, self.matrix.lower, upper)
        for row in np.flatnonzero(row_upper != self.matrix.row_upper):
            self._highs.changeRowBounds(int(row), self.matrix.row_lower[row], row_upper[row])
        # HiGHS counts all its runs of one object against the limit.
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + max(0.01, min(remaining_s, 1e9)))
        outcome = self._outcome(should_stop)
        if outcome is not Outcome.SOLVED:
            return LpAnswer(outcome, {}, -np.inf)
        solution = self._highs.getSolution()
        values = np.array(solution.col_value)[self.matrix.column_family("held")]
        bound = dual_bound(self.matrix, upper, row_upper, np.array(solution.row_dual))
        return LpAnswer(outcome, dict(zip(self.one.holds, values.tolist(), strict=True)), bound)

    def _outcome(self, should_stop: Callable[[], bool]) -> Outcome:
        work = Work(self._highs)
        self._highs.cbSimplexInterrupt += work.only_stop
        for _ in work.news(should_stop):
            pass
        if not work.is_done:
            return Outcome.STOPPED
        self._highs.cbSimplexInterrupt -= work.only_stop  # or the two hold each other
        return outcome_of(self._highs)

    def _lowered(self, spared: float) -> tuple[Floats, Floats]:
        """The upper bounds of columns and rows with a lower limit: of (9), (10) and (11)."""
        upper, row_upper = self.matrix.upper.copy(), self.matrix.row_upper.copy()
        level = self.matrix.column_family("level")
        room = float(upper[level].max(initial=0.0))
        upper[level] -= spared * room
        for name in ("limit", "room_to_hold"):
            row_upper[self.matrix.row_family(name)] -= spared * room
        return upper, row_upper


def dual_bound(matrix: Matrix, upper: Floats, row_upper: Floats, row_dual: Floats) -> float:
    """A lower bound that any row duals prove by weak duality, whatever tolerance the solver worked to.

    Every column is bounded: it is the rows' share plus the least of the reduced costs (Neumaier and Shcherbina 2004).
    """
    dual = np.where(np.isfinite(matrix.row_lower), row_dual, np.minimum(row_dual, 0.0))
    dual = np.where(np.isfinite(row_upper), dual, np.maximum(dual, 0.0))
    used = dual != 0
    sides = np.where(dual > 0, matrix.row_lower, row_upper)
    reduced = matrix.cost - matrix.rows.T @ dual
    least = np.minimum(reduced * matrix.lower, reduced * upper)
    return float(dual[used] @ sides[used] + least.sum() + matrix.offset)


def rounded_steps(one: OneDevice, shares: Shares, thresholds: Floats) -> list[Step]:
    """The steps of what the LP holds by more than a threshold each, with the fewest runs that this takes.

    From the last stage to the first: what is held on, kept or read, and is not held, is run; what must not be run again
    is held after all; what nobody reads is not held.
    """
    held: list[set[int]] = [set() for _ in range(one.stage_count + 1)]
    for ((t, x), share), threshold in zip(shares.items(), thresholds, strict=True):
        if share > threshold:
            held[t].add(x)
    held[one.stage_count] = set(one.indexed.keep)
    runs: set[tuple[int, int]] = set()
    for t in reversed(range(one.stage_count)):
        running = _running(one, t, held)
        read = {x for o in running for x in one.indexed.inputs[o]}
        held[t] &= held[t + 1] | read
        runs |= {(t, o) for o in running}
    return steps_of_stages(one, runs=lambda t, o: (t, o) in runs, holds=lambda t, x: x in held[t])


def _running(one: OneDevice, stage: int, held: list[set[int]]) -> set[int]:
    """The operators that must run in a stage; `held` of the stage grows by what they cannot bring."""
    running = {stage} if stage < one.indexed.operator_count else set()

    def bring(tensor: int) -> None:
        producer = one.indexed.producer[tensor]
        if tensor in held[stage] or producer in running:
            return
        if producer == stage or one.indexed.recomputable[producer]:
            running.add(producer)
        else:
            held[stage].add(tensor)

    for x in held[stage + 1]:
        bring(x)
    for o in range(min(stage, one.indexed.operator_count - 1), -1, -1):
        for x in one.indexed.inputs[o] if o in running else ():
            bring(x)
    return running
