"""The relaxation for one set of watch points as a matrix, and the bound that any dual vector proves on it."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

from xengine_gui.solve.watchpoints.columns import Columns, lay_out_columns
from xengine_gui.solve.watchpoints.points import Segmentation
from xengine_gui.solve.watchpoints.rows import FAMILIES, Model, Rows
from xengine_gui.solve.watchpoints.tables import Floats, Tables

DEAREST = 1e7
"""Time units, a thousand times what all operators cost at their fastest: HiGHS fails on a wider range of costs."""


@dataclass(frozen=True)
class Relaxation:
    """Minimise `cost x` over `lower <= A x <= upper`, x binary; costs in units of `tables.time_unit_ns`."""

    tables: Tables
    segmentation: Segmentation
    columns: Columns
    cost: Floats
    matrix: csr_array
    lower: Floats
    upper: Floats

    @classmethod
    def of(cls, tables: Tables, segmentation: Segmentation) -> "Relaxation":
        """Build the matrix, family by family."""
        columns = lay_out_columns(tables, segmentation)
        model = Model(tables, segmentation, columns)
        rows = Rows.joined([rows for family in FAMILIES for rows in family(model) if len(rows.lower)])
        cost, matrix = _costs(tables, columns), rows.matrix(columns.count)
        return cls(tables, segmentation, columns, cost, matrix, rows.lower, rows.upper)

    def with_rows(self, rows: Rows) -> "Relaxation":
        """The same with more rows at the end."""
        matrix = csr_array(vstack([self.matrix, rows.matrix(self.columns.count)]))
        lower, upper = np.concatenate([self.lower, rows.lower]), np.concatenate([self.upper, rows.upper])
        return replace(self, matrix=matrix, lower=lower, upper=upper)

    def with_only(self, wanted: npt.NDArray[np.bool_]) -> "Relaxation":
        """The same with only some of its rows."""
        return replace(self, matrix=self.matrix[wanted], lower=self.lower[wanted], upper=self.upper[wanted])

    @cached_property
    def transposed(self) -> csr_array:
        """The matrix by columns."""
        return csr_array(self.matrix.T)

    def dual_bound(
        self, row_dual: Floats, box_lower: Floats | None = None, box_upper: Floats | None = None
    ) -> tuple[float, Floats]:
        """A lower bound that a vector of row duals proves by weak duality, and the reduced costs (both in time units).

        Computed here, so it holds whatever tolerance the solver worked to: every column lies in its box, by default
        [0, 1], so the bound is the rows' share plus the least that the reduced costs can add (Neumaier and Shcherbina
        2004).
        """
        rows, reduced = self._by_weak_duality(row_dual, self.cost)
        lower, upper = 0.0 if box_lower is None else box_lower, 1.0 if box_upper is None else box_upper
        return float(rows + np.where(reduced > 0, reduced * lower, reduced * upper).sum()), reduced

    def ray_gain(self, row_dual: Floats, box_lower: Floats, box_upper: Floats) -> float:
        """By how much a vector of row duals proves that the box has no point (Farkas): it has none where above 0."""
        rows, reduced = self._by_weak_duality(row_dual, np.zeros(len(self.cost)))
        return float(rows + np.where(reduced > 0, reduced * box_lower, reduced * box_upper).sum())

    def _by_weak_duality(self, row_dual: Floats, cost: Floats) -> tuple[float, Floats]:
        """The rows' share of a bound, and the reduced costs; duals of the wrong sign, or not finite, count as 0."""
        dual = np.nan_to_num(row_dual, nan=0.0, posinf=0.0, neginf=0.0)
        dual = np.where(np.isfinite(self.lower), dual, np.minimum(dual, 0.0))
        dual = np.where(np.isfinite(self.upper), dual, np.maximum(dual, 0.0))
        sides = np.where(dual > 0, self.lower, self.upper)
        used = dual != 0
        return float(dual[used] @ sides[used]), cost - self.transposed @ dual


def _costs(tables: Tables, columns: Columns) -> Floats:
    """Costs in time units; what is dearer than any sensible plan counts as less, which only weakens the bound."""
    cost = np.zeros(columns.count)
    priced = (
        (columns.run, tables.way_time_ns),
        (columns.early, tables.way_time_ns),
        (columns.move, tables.lane_time_ns),
    )
    for numbers, times in priced:
        segment, item = np.nonzero(numbers >= 0)
        cost[numbers[segment, item]] = np.minimum(times[item] / tables.time_unit_ns, DEAREST)
    return cost
