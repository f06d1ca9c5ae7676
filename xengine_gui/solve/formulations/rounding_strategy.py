"""The strategy `checkmate-rounding`: Checkmate's LP, rounded; on several devices the best single one."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from xengine_gui.solve.formulations.one_device import OneDevice
from xengine_gui.solve.formulations.search import Search
from xengine_gui.solve.formulations.strategy import Checkmate, checkmate_model_of

if TYPE_CHECKING:
    from xengine_gui.solve.formulations.rounding import HeldLp

SPARED_SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4)
"""Shares of the limit that the LP does without, so that what is rounded up has room; the paper's is 0.1."""

DRAWS = 20
"""How often what is held is drawn at random, for each share."""

_THRESHOLD = 0.5
_SEED = 2020


class CheckmateRounding(Checkmate):
    """Plans by rounding Checkmate's LP, on the same devices and within the same size as Checkmate's MILP."""

    key = "checkmate-rounding"
    title = "Checkmate, rounded LP"
    summary = (
        "The two-phase rounding of Checkmate's LP (Jain et al., MLSys 2020), at a half and at random, with some of the "
        "limit spared; on several devices the best single one."
    )
    no_plan = "No rounding of Checkmate's LP keeps the limit; plans may exist all the same."

    def _solve(self, search: Search, side: OneDevice) -> None:
        _round(search, side)


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
