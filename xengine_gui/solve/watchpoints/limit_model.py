"""The least limit of one device that a relaxation allows: the limit itself becomes a column, and the objective.

Every plan is a point of the relaxation (ALGORITHM.md, section 2), so no plan of the same problem does with less.
"""

from dataclasses import dataclass, replace

import highspy
import numpy as np
from scipy.sparse import csr_array, hstack

from xengine_gui.solve.highs import Outcome
from xengine_gui.solve.watchpoints.highs import Limits, LinearProgram
from xengine_gui.solve.watchpoints.relaxation import Relaxation
from xengine_gui.solve.watchpoints.rows import INFINITY, Entry, Rows
from xengine_gui.solve.watchpoints.tables import Floats

_SCALE = 1e4
"""The objective at the device's present limit; also the size of the level rows' coefficients."""
_LP_MARGIN = 1e-9
_MILP_MARGIN = 1e-7


@dataclass(frozen=True)
class LeastLimit:
    """A proved lower bound on the limit in bytes (not rounded to what levels can be), and what the best point needs."""

    lower_bytes: int
    level_bytes: int | None = None


def least_limit(relaxation: Relaxation, device: int, limits: Limits, *, integral: bool) -> LeastLimit:
    """The least limit of `device` by the LP, and by the MILP where that is asked for.

    The device must have a limit in the relaxation; it is the most that is looked at.
    """
    most_bytes = relaxation.tables.problem.limit_bytes[device]
    if most_bytes is None:
        raise ValueError("the device has no limit")
    if most_bytes == 0 or not relaxation.segmentation.points:
        return LeastLimit(0)
    model = _with_limit_column(relaxation, device, most_bytes)
    program = _LimitProgram(model)
    lp = program.solve(limits)
    if lp.outcome is not Outcome.SOLVED:
        return LeastLimit(0)
    bound, _ = model.dual_bound(lp.row_dual)
    lower_bytes = _in_bytes(bound, most_bytes, _LP_MARGIN)
    if not integral or limits.should_stop():
        return LeastLimit(lower_bytes)
    bound, point = program.solve_integral(limits)
    lower_bytes = max(lower_bytes, _in_bytes(bound, most_bytes, _MILP_MARGIN))
    return LeastLimit(lower_bytes, None if point is None else _level_bytes(relaxation, device, point))


class _LimitProgram(LinearProgram):
    """The LP, which can be made a MILP in which all columns but the limit are whole."""

    def solve_integral(self, limits: Limits) -> tuple[float, Floats | None]:
        """A proved bound and the best point, if any."""
        highs, count = self._highs, self._highs.getNumCol() - 1
        whole = np.full(count, highspy.HighsVarType.kInteger)
        highs.changeColsIntegrality(count, np.arange(count, dtype=np.int32), whole)
        for option, value in (("presolve", "choose"), ("mip_rel_gap", 0.0), ("mip_feasibility_tolerance", 1e-7)):
            highs.setOptionValue(option, value)
        highs.setOptionValue("time_limit", highs.getRunTime() + max(0.01, min(limits.time_s, 1e9)))

        def ask(event: highspy.highs.HighsCallbackEvent) -> None:
            if limits.should_stop():
                event.interrupt()

        highs.cbMipInterrupt += ask
        highs.run()
        info = highs.getInfo()
        found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        bound = info.mip_dual_bound if np.isfinite(info.mip_dual_bound) else 0.0
        return bound, np.round(np.array(highs.getSolution().col_value)) if found else None


def _in_bytes(bound: float, most_bytes: int, margin: float) -> int:
    return max(0, int(np.ceil((bound / _SCALE - margin) * most_bytes)))


def _with_limit_column(relaxation: Relaxation, device: int, most_bytes: int) -> Relaxation:
    """The relaxation with one more column, the limit as a share of the present one, and rows that keep levels below."""
    count = relaxation.matrix.shape[1]
    matrix = csr_array(hstack([relaxation.matrix, csr_array((relaxation.matrix.shape[0], 1))]))
    cost = np.append(np.zeros(count), _SCALE)
    columns = replace(relaxation.columns, count=count + 1)
    wider = replace(relaxation, matrix=matrix, cost=cost, columns=columns)
    return wider.with_rows(_level_rows(relaxation, device, most_bytes))


def _level_rows(relaxation: Relaxation, device: int, most_bytes: int) -> Rows:
    """At each watch point the level of the device is at most the limit's share of `most_bytes`."""
    unit, limit_column = most_bytes / _SCALE, np.array([relaxation.matrix.shape[1]])
    pieces = []
    for weights in _levels(relaxation, device):
        entries: list[Entry] = [(np.zeros_like(columns), columns, values / unit) for columns, values in weights]
        entries.append((np.zeros(1, np.int64), limit_column, -_SCALE))
        pieces.append(Rows.of(entries, 1, -INFINITY, 0.0))
    return Rows.joined(pieces)


def _levels(relaxation: Relaxation, device: int) -> list[list[tuple[np.ndarray, Floats]]]:
    """Per watch point what makes up the level of a device: columns with their bytes (absent columns are -1)."""
    tables, columns = relaxation.tables, relaxation.columns
    problem = tables.problem
    place = device * problem.tensor_count + np.arange(problem.tensor_count)
    parameter_bytes = np.array(problem.parameter_bytes, float)
    found = []
    for k, point in enumerate(relaxation.segmentation.points, start=1):
        weights = [(columns.held[k, place], tables.tensor_bytes), (columns.home[device], parameter_bytes)]
        if point.is_first or point.device == device:
            _, way = tables.ways_of.expand(np.array([device * problem.operator_count + point.operator]))
            weights.append((columns.run[k - 1, way], tables.way_workspace_bytes[way]))
        found.append(weights)
    return found


def _level_bytes(relaxation: Relaxation, device: int, point: Floats) -> int:
    """The highest level of a whole point at the watch points."""

    def level(weights: list[tuple[np.ndarray, Floats]]) -> int:
        return sum(
            int(size)
            for columns, values in weights
            for column, size in zip(columns, values, strict=True)
            if column >= 0 and point[column] > 0.5
        )

    return max(map(level, _levels(relaxation, device)), default=0)
