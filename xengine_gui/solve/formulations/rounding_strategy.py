"""The strategy `checkmate-rounding`: Checkmate's LP, rounded; on several devices the best single one."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.formulations.one_device import OneDevice, single_devices
from xengine_gui.solve.formulations.search import Search
from xengine_gui.solve.formulations.strategy import MOST_RUNS, checkmate_model_of, why_not_single
from xengine_gui.solve.working_set import single_operator_proof

if TYPE_CHECKING:
    from xengine_gui.solve.formulations.rounding import HeldLp

SPARED_SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4)
"""Shares of the limit that the LP does without, so that what is rounded up has room; the paper's is 0.1."""

DRAWS = 20
"""How often what is held is drawn at random, for each share."""

_THRESHOLD = 0.5
_SEED = 2020

_NO_PLAN = "No rounding of Checkmate's LP keeps the limit; plans may exist all the same."


class CheckmateRounding:
    """Plans by rounding Checkmate's LP."""

    key = "checkmate-rounding"
    title = "Checkmate, rounded LP"
    summary = (
        "The two-phase rounding of Checkmate's LP (Jain et al., MLSys 2020), at a half and at random, with some of the "
        "limit spared; on several devices the best single one."
    )
    proves = True

    def supports(self, problem: Problem) -> str:
        """Why it cannot: no device runs everything, or the model, quadratic in the operators, is too large."""
        return why_not_single(problem, MOST_RUNS)

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        """The best rounding on any single device, with the LP's bound where the model has all plans."""
        search = Search(problem, context, self.key)
        proof = single_operator_proof(problem.indexed)
        if proof is not None:
            return search.without(Status.INFEASIBLE, proof.sentence(problem))
        for side in single_devices(problem):
            if not context.should_stop() and search.total_ns > sum(side.time_ns):
                _round(search, side)
        return search.plan(_NO_PLAN)

    def model(self, problem: Problem) -> Any:
        """The model of the fastest single device."""
        return checkmate_model_of(single_devices(problem)[0])


def _round(search: Search, side: OneDevice) -> None:
    """Solve the LP of one device with more and more of the limit spared, and round each."""
    # Loaded on first use: Pyomo takes a second to import.
    from xengine_gui.solve.formulations.rounding import HeldLp  # noqa: PLC0415

    built = search.built(lambda heed: checkmate_model_of(side, heed))
    if built is None:
        return
    model, matrix = built
    lp, random = HeldLp(side, matrix), np.random.default_rng(_SEED)
    try:
        for spared in SPARED_SHARES if side.room_bytes is not None else (0.0,):
            if search.context.should_stop() or search.is_closed or not _round_once(search, side, lp, spared, random):
                return
    finally:
        search.release(model)


def _round_once(search: Search, side: OneDevice, lp: "HeldLp", spared: float, random: np.random.Generator) -> bool:
    """Solve the LP with a share of the limit spared, and round it; whether sparing more may help."""
    from xengine_gui.solve.formulations.rounding import rounded_steps  # noqa: PLC0415
    from xengine_gui.solve.highs import Outcome  # noqa: PLC0415

    answer = lp.solve(spared, search.context.remaining_s, search.context.should_stop)
    if answer.outcome is not Outcome.SOLVED:
        search.is_undecided |= answer.outcome is not Outcome.INFEASIBLE
        return False
    if side.whole and not spared:
        search.raise_bound(answer.bound, side.time_unit_ns)
    for thresholds in _thresholds(len(answer.shares), random):
        if search.context.should_stop():
            return False
        search.offer(rounded_steps(side, answer.shares, thresholds))
    return True


def _thresholds(count: int, random: np.random.Generator) -> Iterator[np.ndarray[Any, np.dtype[np.float64]]]:
    yield np.full(count, _THRESHOLD)
    for _ in range(DRAWS):
        yield random.random(count)
