"""A good point of a relaxation at once, without a proof: what the LP has decided stays, a small MILP does the rest."""

import numpy as np

from xengine_gui.solve.watchpoints import settings
from xengine_gui.solve.watchpoints.box import Box
from xengine_gui.solve.watchpoints.highs import Limits, MilpResult, solve_milp
from xengine_gui.solve.watchpoints.node_program import TOLERANCE, NodeLp
from xengine_gui.solve.watchpoints.relaxation import Relaxation


def dive(relaxation: Relaxation, lp: NodeLp, box: Box, limits: Limits) -> MilpResult | None:
    """The best point with the columns fixed that the LP has at 0 or 1; `None` where there is none.

    Where that leaves no point, only those columns are fixed whose reduced costs speak clearly.
    """
    for least in (0.0, settings.DIVE_COST * lp.bound):
        lower = np.where((lp.point >= 1 - TOLERANCE) & (lp.reduced <= -least), 1.0, box.lower)
        upper = np.where((lp.point > TOLERANCE) | (lp.reduced < least), box.upper, 0.0)
        fixed = Box(np.minimum(lower, box.upper), np.maximum(upper, box.lower))
        milp = solve_milp(relaxation, fixed, limits, objective_bound=limits.cutoff)
        if milp.point is not None:
            return milp
    return None
