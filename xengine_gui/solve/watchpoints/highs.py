"""HiGHS on a relaxation: its LP and its MILP, stopped when asked, every status mapped."""

from collections.abc import Callable
from dataclasses import dataclass

import highspy
import numpy as np
from scipy.sparse import csr_array

from xengine_gui.solve.highs import Outcome, SilentHighs, outcome_of
from xengine_gui.solve.watchpoints.box import Box
from xengine_gui.solve.watchpoints.relaxation import Relaxation
from xengine_gui.solve.watchpoints.rows import Rows
from xengine_gui.solve.watchpoints.tables import Floats, Ints

ROW_TOLERANCE = 1e-6
BELIEVED = 1 - 1e-7
"""The share of a MILP's bound that is believed, since HiGHS solves its LPs to a tolerance. Costs are never negative."""


@dataclass(frozen=True)
class LpResult:
    """An LP's end: its point and row duals where it was solved."""

    outcome: Outcome
    point: Floats
    row_dual: Floats


@dataclass(frozen=True)
class MilpResult:
    """A MILP's end: a proved bound in time units, and its best point, if any."""

    outcome: Outcome
    bound: float
    point: Floats | None
    value: float


@dataclass(frozen=True)
class Limits:
    """When a solve must end: seconds, a relative gap, a question asked again and again, a bound that is enough."""

    time_s: float
    gap_ratio: float = 0.0
    should_stop: Callable[[], bool] = lambda: False
    cutoff: float = float("inf")


class LinearProgram:
    """The LP of a relaxation, kept loaded so that rows can be added and the next solve starts from the last basis."""

    def __init__(self, relaxation: Relaxation, *, presolve: bool = True) -> None:
        self._highs = loaded(relaxation.cost, relaxation.matrix, relaxation.lower, relaxation.upper)
        self._highs.setOptionValue("presolve", "choose" if presolve else "off")
        self._limits = Limits(0.0)
        self._highs.cbSimplexInterrupt += self._ask

    def solve(self, limits: Limits) -> LpResult:
        """Solve it as it is now."""
        self._limits = limits
        _set_time(self._highs, limits)
        self._highs.run()
        solution = self._highs.getSolution()
        outcome = outcome_of(self._highs)
        return LpResult(outcome, np.array(solution.col_value), np.array(solution.row_dual))

    def add(self, rows: Rows) -> None:
        """Add rows that the last point violates."""
        matrix = rows.matrix(self._highs.getNumCol())
        start, index = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
        self._highs.addRows(len(rows.lower), rows.lower, rows.upper, matrix.nnz, start[:-1], index, matrix.data)

    def _ask(self, event: highspy.highs.HighsCallbackEvent) -> None:
        if self._limits.should_stop():
            event.interrupt()


def solve_milp(
    relaxation: Relaxation,
    box: Box,
    limits: Limits,
    *,
    presolve: bool = True,
    objective_bound: float = float("inf"),
    on_bound: Callable[[float], None] = lambda _bound: None,
) -> MilpResult:
    """Solve the MILP of a relaxation in a box.

    Solutions that cost `objective_bound` or more are not looked for; the bound then speaks of those that cost less.

    It is given no starting point: with one HiGHS 1.16 can tell a wrong objective and so a wrong bound. What it tells is
    compared with what its point costs; where they differ it has failed.
    """
    lower, upper = box.as_floats()
    rest = _Rest.of(relaxation, lower, upper)
    if rest is None:
        return MilpResult(Outcome.INFEASIBLE, float("inf"), None, float("inf"))
    if not len(rest.free):
        return MilpResult(Outcome.SOLVED, rest.offset, lower.copy(), rest.offset)
    highs = _loaded_milp(rest, limits)
    highs.setOptionValue("presolve", "choose" if presolve else "off")
    highs.setOptionValue("objective_bound", objective_bound - rest.offset)

    def ask(event: highspy.highs.HighsCallbackEvent) -> None:
        bound = (event.data_out.mip_dual_bound + rest.offset) * BELIEVED
        on_bound(bound)
        if limits.should_stop() or bound >= limits.cutoff:
            event.interrupt()

    highs.cbMipInterrupt += ask
    highs.run()
    return _milp_result(highs, rest, lower)


def _loaded_milp(rest: "_Rest", limits: Limits) -> highspy.Highs:
    highs, count = loaded(rest.cost, rest.matrix, rest.lower, rest.upper), len(rest.free)
    _set_time(highs, limits)
    highs.setOptionValue("mip_abs_gap", 1e-9)
    highs.setOptionValue("mip_rel_gap", limits.gap_ratio)
    highs.setOptionValue("mip_feasibility_tolerance", 1e-7)
    highs.changeColsIntegrality(count, np.arange(count, dtype=np.int32), np.full(count, highspy.HighsVarType.kInteger))
    return highs


def _milp_result(highs: highspy.Highs, rest: "_Rest", fixed: Floats) -> MilpResult:
    outcome, info = outcome_of(highs), highs.getInfo()
    if outcome is Outcome.INFEASIBLE:
        return MilpResult(outcome, float("inf"), None, float("inf"))
    bound = (info.mip_dual_bound + rest.offset) * BELIEVED if np.isfinite(info.mip_dual_bound) else 0.0
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return MilpResult(outcome, bound, None, float("inf"))
    found = np.round(np.array(highs.getSolution().col_value))
    told, cost = info.objective_function_value, float(rest.cost @ found)
    if abs(told - cost) > 1e-5 * max(1.0, abs(cost)):
        return MilpResult(Outcome.FAILED, 0.0, None, float("inf"))
    point = fixed.copy()
    point[rest.free] = found
    return MilpResult(outcome, bound, point, cost + rest.offset)


@dataclass(frozen=True)
class _Rest:
    """What is left of a relaxation when some columns are fixed: the free columns, the rows that hold any, an offset."""

    free: Ints
    cost: Floats
    matrix: csr_array
    lower: Floats
    upper: Floats
    offset: float

    @classmethod
    def of(cls, relaxation: Relaxation, lower: Floats, upper: Floats) -> "_Rest | None":
        """The rest, or `None` where a row without free columns is broken."""
        free = np.flatnonzero(upper > lower)
        fixed = np.where(upper > lower, 0.0, lower)
        taken = relaxation.matrix @ fixed
        matrix = relaxation.matrix[:, free]
        matrix.eliminate_zeros()
        row_lower, row_upper = relaxation.lower - taken, relaxation.upper - taken
        empty = np.diff(matrix.indptr) == 0
        if np.any((row_lower[empty] > ROW_TOLERANCE) | (row_upper[empty] < -ROW_TOLERANCE)):
            return None
        kept = ~empty
        offset = float(relaxation.cost @ fixed)
        return cls(free, relaxation.cost[free], matrix[kept], row_lower[kept], row_upper[kept], offset)


def _set_time(highs: highspy.Highs, limits: Limits) -> None:
    # HiGHS counts all its runs of one object against the limit.
    highs.setOptionValue("time_limit", highs.getRunTime() + max(0.01, min(limits.time_s, 1e9)))


def loaded(cost: Floats, matrix: csr_array, lower: Floats, upper: Floats) -> highspy.Highs:
    """HiGHS with a model whose columns lie between 0 and 1."""
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = matrix.shape[1], matrix.shape[0]
    model.col_cost_, model.col_lower_, model.col_upper_ = cost, np.zeros(len(cost)), np.ones(len(cost))
    model.row_lower_, model.row_upper_ = lower, upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    model.a_matrix_.index_ = matrix.indices.astype(np.int32)
    model.a_matrix_.value_ = matrix.data
    highs = SilentHighs()  # type: ignore[no-untyped-call]
    highs.passModel(model)
    return highs
