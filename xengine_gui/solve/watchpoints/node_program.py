"""The LP of a relaxation in a box, solved again and again from earlier bases, with bounds that are proved here."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import highspy
import numpy as np
import numpy.typing as npt

from xengine_gui.solve.highs import Outcome, outcome_of
from xengine_gui.solve.watchpoints.box import Box
from xengine_gui.solve.watchpoints.highs import loaded
from xengine_gui.solve.watchpoints.relaxation import Relaxation
from xengine_gui.solve.watchpoints.tables import Floats

_DEVEX = 1
_UNLIMITED_ITERATIONS = 2**31 - 1
_LEAST_RAY = 1e-9
TOLERANCE = 1e-6
"""What is nearer to 0 or 1 counts as whole."""


Values = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class NodeLp:
    """What an LP in a box tells: a proved bound, its point and reduced costs, and the basis to go on from.

    Where the box is empty the bound is infinite and there is nothing else. Where `finished` is false the LP was ended
    early, and only the bound means anything.
    """

    bound: float
    point: Values = field(default_factory=lambda: np.zeros(0))
    reduced: Values = field(default_factory=lambda: np.zeros(0))
    basis: highspy.HighsBasis | None = None
    finished: bool = True

    @property
    def is_empty(self) -> bool:
        """Whether the box has no point."""
        return self.bound == float("inf")

    def slim(self) -> "NodeLp":
        """The same in half the memory; the reduced costs then prove nothing any more."""
        return replace(self, point=self.point.astype(np.float32), reduced=self.reduced.astype(np.float32))

    def fractional(self, box: Box) -> npt.NDArray[np.int64]:
        """The free columns whose value is not whole."""
        return np.flatnonzero((self.point > TOLERANCE) & (self.point < 1 - TOLERANCE) & box.free)


class NodeProgram:
    """The LP of a relaxation, kept loaded; each solve has its own box and may start from an earlier basis.

    Devex pricing and no scaling: with an earlier basis the weights of steepest-edge pricing are computed afresh, which
    takes longer than the few dozen iterations that follow.
    """

    def __init__(self, relaxation: Relaxation, should_stop: Callable[[], bool]) -> None:
        self._relaxation = relaxation
        self._highs = loaded(relaxation.cost, relaxation.matrix, relaxation.lower, relaxation.upper)
        self._highs.setOptionValue("presolve", "off")
        self._highs.setOptionValue("simplex_dual_edge_weight_strategy", _DEVEX)
        self._highs.setOptionValue("simplex_scale_strategy", 0)
        self._columns = np.arange(len(relaxation.cost), dtype=np.int32)
        self._should_stop = should_stop
        self._highs.cbSimplexInterrupt += self._ask

    def solve(self, box: Box, basis: highspy.HighsBasis | None = None, iterations: int | None = None) -> NodeLp:
        """Solve the LP in a box, from a basis where one is given, in at most so many iterations."""
        lower, upper = box.as_floats()
        self._highs.changeColsBounds(len(self._columns), self._columns, lower, upper)
        if basis is not None:
            self._highs.setBasis(basis)
        self._highs.setOptionValue("simplex_iteration_limit", iterations or _UNLIMITED_ITERATIONS)
        self._highs.run()
        outcome = outcome_of(self._highs)
        if outcome is Outcome.INFEASIBLE and self._is_empty(lower, upper):
            return NodeLp(float("inf"))
        solution = self._highs.getSolution()
        point, dual = np.array(solution.col_value), np.array(solution.row_dual)
        bound, reduced = self._relaxation.dual_bound(dual, lower, upper)
        return NodeLp(bound, point, reduced, self._highs.getBasis(), finished=outcome is Outcome.SOLVED)

    def _is_empty(self, lower: Floats, upper: Floats) -> bool:
        """Whether the box has no point: by the solver's dual ray, a proof; else by a second solve without a basis."""
        _, _, ray = self._highs.getDualRay()  # type: ignore[attr-defined]
        ray = np.array(ray)
        if len(ray) == len(self._relaxation.lower):
            gain = max(self._relaxation.ray_gain(side * ray, lower, upper) for side in (1.0, -1.0))
            if gain > _LEAST_RAY:
                return True
        self._highs.clearSolver()
        self._highs.run()
        return outcome_of(self._highs) is Outcome.INFEASIBLE

    def _ask(self, event: highspy.highs.HighsCallbackEvent) -> None:
        if self._should_stop():
            event.interrupt()
