"""The LP of a relaxation, made stronger by the path cuts that it violates (ALGORITHM.md, section 3)."""

from dataclasses import dataclass, replace

import numpy as np

from xengine_gui.solve.highs import Outcome
from xengine_gui.solve.watchpoints import settings
from xengine_gui.solve.watchpoints.cuts import path_cuts
from xengine_gui.solve.watchpoints.highs import Limits, LinearProgram, LpResult
from xengine_gui.solve.watchpoints.knowledge import Knowledge
from xengine_gui.solve.watchpoints.node_program import NodeLp
from xengine_gui.solve.watchpoints.points import WatchPoint
from xengine_gui.solve.watchpoints.relaxation import Relaxation
from xengine_gui.solve.watchpoints.tables import Floats


@dataclass(frozen=True)
class Tightened:
    """A relaxation with the path cuts that matter, and its LP: point, proved bound, reduced costs in time units.

    `slack` are the watch points whose memory rows cost nothing.
    """

    relaxation: Relaxation
    lp: NodeLp
    slack: frozenset[WatchPoint]


def tighten(known: Knowledge, relaxation: Relaxation) -> Tightened | None:
    """Solve the LP, adding violated path cuts as long as they raise the bound; `None` where it has no point.

    Bounds go to `known`, and infeasibility, once it is confirmed.
    """
    program, family_rows = LinearProgram(relaxation), len(relaxation.lower)
    last, stalled = -np.inf, 0
    while True:
        lp = program.solve(Limits(known.context.remaining_s, should_stop=known.context.should_stop))
        if lp.outcome is Outcome.INFEASIBLE:
            confirm_infeasible(known, relaxation)
        if lp.outcome is not Outcome.SOLVED:
            return None
        bound, _ = relaxation.dual_bound(lp.row_dual)
        known.raise_bound(bound)
        stalled = stalled + 1 if bound < last + _worthwhile_rise(known, bound) else 0
        last = bound
        cuts = path_cuts(relaxation, lp.point) if stalled < settings.STALLED_ROUNDS and not known.closed else None
        if cuts is None:
            return _with_useful_rows(relaxation, lp, family_rows)
        program.add(cuts)
        relaxation = relaxation.with_rows(cuts)


def confirm_infeasible(known: Knowledge, relaxation: Relaxation) -> None:
    """Believe that the LP has no point only when a second solve without presolve says the same."""
    limits = Limits(known.context.remaining_s, should_stop=known.context.should_stop)
    outcome = LinearProgram(relaxation, presolve=False).solve(limits).outcome
    known.infeasible = outcome is Outcome.INFEASIBLE and known.best_steps is None


def _with_useful_rows(relaxation: Relaxation, lp: LpResult, family_rows: int) -> Tightened:
    """Without the cuts whose duals are 0."""
    useful = np.arange(len(relaxation.lower)) < family_rows
    useful |= np.abs(lp.row_dual) > settings.NO_DUAL
    slack = _slack_points(relaxation, lp.row_dual[:family_rows])
    tightened, lp = relaxation.with_only(useful), replace(lp, row_dual=lp.row_dual[useful])
    bound, reduced = tightened.dual_bound(lp.row_dual)
    return Tightened(tightened, NodeLp(bound, lp.point, reduced), slack)


def _slack_points(relaxation: Relaxation, row_dual: Floats) -> frozenset[WatchPoint]:
    """Watch points whose memory rows, the last of the families, cost nothing on any device."""
    points = relaxation.segmentation.points
    limited = sum(limit is not None for limit in relaxation.tables.problem.limit_bytes)
    if not limited or not points:
        return frozenset()
    duals = np.abs(row_dual[-limited * len(points) :]).reshape(len(points), limited).max(axis=1)
    return frozenset(point for point, dual in zip(points, duals, strict=True) if dual <= settings.NO_DUAL)


def _worthwhile_rise(known: Knowledge, bound: float) -> float:
    """By how much the bound must rise for another round of cuts to pay: a share of what is still open."""
    cutoff = known.cutoff()
    return settings.LEAST_RISE * (cutoff - bound if np.isfinite(cutoff) else 0.01 * abs(bound))
