"""Better plans beside the best one: some decisions are free, the rest stay, a small MILP does the rest.

Two kinds of neighbourhood take turns: what the LP would do otherwise (Danna, Rothberg and Le Pape 2005, RINS), and all
decisions about a stretch of the base order around an operator that is recomputed (large-neighbourhood search, Shaw
1998).
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from xengine_gui.solve.watchpoints import settings
from xengine_gui.solve.watchpoints.box import Box
from xengine_gui.solve.watchpoints.highs import Limits, MilpResult, solve_milp
from xengine_gui.solve.watchpoints.node_program import TOLERANCE
from xengine_gui.solve.watchpoints.relaxation import Relaxation
from xengine_gui.solve.watchpoints.tables import Floats, Ints

Mask = npt.NDArray[np.bool_]
_SEED = 20221
_NARROWER = 0.8
_WIDER = 1.25


@dataclass
class Neighbourhoods:
    """Chooses what is free; stretches become wider where they are solved quickly, narrower where they are not.

    `width_ratio` is a stretch's share of the operators; `hope` falls from 1 with every one that gives nothing. The
    same seed for every search, so that two runs agree.
    """

    width_ratio: float = settings.FIRST_STRETCH
    hope: float = 1.0
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(_SEED))
    seen: "tuple[Relaxation, float] | None" = None

    def free_columns(self, relaxation: Relaxation, lp_point: npt.NDArray[np.floating[Any]], known: Floats) -> Mask:
        """What the LP would do otherwise, the first time for a relaxation and a plan; else a stretch."""
        now = relaxation, float(relaxation.cost @ known)
        if self.seen is None or self.seen[0] is not relaxation or self.seen[1] != now[1]:
            self.seen = now
            return np.asarray(np.abs(lp_point - known) > TOLERANCE)
        return self._stretch(relaxation, known)

    def learn(self, seconds: float, *, better: bool) -> None:
        """Hear how long the last one took, and whether it gave anything."""
        self.hope = 1.0 if better else self.hope * settings.LOST_HOPE
        if seconds > settings.LONG_STRETCH_S:
            self.width_ratio *= _NARROWER
        elif seconds < settings.SHORT_STRETCH_S:
            self.width_ratio = min(1.0, self.width_ratio * _WIDER)

    def _stretch(self, relaxation: Relaxation, known: Floats) -> Mask:
        operator = column_operators(relaxation)
        count = relaxation.tables.problem.operator_count
        runs = relaxation.columns.run[relaxation.columns.run >= 0]
        times = np.bincount(operator[runs[known[runs] > 0.5]], minlength=count)
        again = np.flatnonzero(times > 1)
        centre = int(self.random.choice(again) if len(again) else self.random.integers(count))
        width = max(2, round(self.width_ratio * count))
        first = centre - int(self.random.integers(width))
        return np.asarray((operator >= first) & (operator < first + width))


def around(relaxation: Relaxation, known: Floats, free: Mask, limits: Limits) -> MilpResult:
    """The best point below the cutoff that equals a known one where it is not free, if there is one."""
    box = Box(np.where(free, 0.0, known), np.where(free, 1.0, known))
    return solve_milp(relaxation, box, limits, objective_bound=limits.cutoff)


def column_operators(relaxation: Relaxation) -> Ints:
    """The operator that each column is about: what runs, or what made the tensor; -1 for homes."""
    tables, columns = relaxation.tables, relaxation.columns
    held = np.tile(tables.producer, tables.problem.device_count)
    about = np.full(columns.count, -1, np.int64)
    for numbers, operators in (
        (columns.run, tables.way_operator),
        (columns.early, tables.way_operator),
        (columns.move, tables.producer[tables.lane_tensor]),
        (columns.held, held),
    ):
        segment, item = np.nonzero(numbers >= 0)
        about[numbers[segment, item]] = operators[item]
    return about
