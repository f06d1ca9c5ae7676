"""The strategy `moccasin`: retention intervals in CP-SAT on one device; on several, the best single device."""

import math
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec

from xengine_gui.model.plan import Plan, Run
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.formulations.one_device import OneDevice, single_devices
from xengine_gui.solve.formulations.search import Search, safe_bound_ns
from xengine_gui.solve.moccasin.computations import (
    sensible_computations,
    steps_of_runs,
    unrestricted_bound_ns,
    usual_computations,
)
from xengine_gui.solve.moccasin.units import Units
from xengine_gui.units import format_count, format_percent

MOST_RUNS = 300_000
"""Problems with more moments, pairs of a stage and an operator, are declined: the model takes minutes to make."""

_OTHERS = (
    "No device alone has a plan of this kind (each operator a few times, and at most once in a stage); "
    "others may exist."
)

_TIMES = {1: "once", 2: "twice"}


class Moccasin:
    """Plans by MOCCASIN's retention intervals.

    `computations` is the most that each operator is computed (the paper's C), `None` for a number by the size.
    """

    key = "moccasin"
    title = "MOCCASIN"
    summary = (
        "Retention intervals in constraint programming, MOCCASIN (Bartan et al., ICML 2023), on OR-Tools' CP-SAT; on "
        "several devices the best single one."
    )
    proves = True

    def __init__(self, computations: int | None = None) -> None:
        self.computations = computations

    def supports(self, problem: Problem) -> str:
        """Why it cannot: OR-Tools is not there, no device runs everything, or there are too many moments."""
        if find_spec("ortools") is None:
            return "OR-Tools is not installed; pip install 'xengine-gui[moccasin]' brings it"
        sides = single_devices(problem)
        if not sides:
            return "no device alone can run every operator"
        runs = max(side.run_count for side in sides)
        if runs > MOST_RUNS:
            operators = format_count(len(problem.operators), "operator")
            return f"for {operators} its model has {runs:,} moments, more than {MOST_RUNS:,}"
        return ""

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        """The best plan on any single device, with a bound where these are all the plans that there are."""
        search = _Search(problem, context, self.key)
        too_large = search.too_large()
        if too_large is not None:
            return too_large
        most = self.computations or usual_computations(len(problem.operators))
        sides = single_devices(problem)
        search.on_each(sides, lambda side: search.solve_side(side, most))
        return search.plan(_OTHERS, "" if search.is_closed else search.what_is_proved(most, sides))


class _Stopped(Exception):  # noqa: N818 - no error
    """The stop was asked for while a model was made."""


class _Search(Search):
    """What is known while one device after the other is solved."""

    def solve_side(self, side: OneDevice, most: int | None) -> None:
        """Both phases of the model of one device."""
        # Loaded on first use: OR-Tools is optional, and takes a third of a second to import.
        from xengine_gui.solve.moccasin.cpsat import Ending, Listener, solve  # noqa: PLC0415
        from xengine_gui.solve.moccasin.model import RetentionModel  # noqa: PLC0415

        if side.room_bytes is not None and side.room_bytes < 0:
            return
        allowed = [count if most is None else min(most, count) for count in sensible_computations(side)]
        try:
            model = RetentionModel(side, allowed, self._leave_when_stopped)
        except _Stopped:
            self.is_undecided = True
            return
        self.context.log(
            f"the model of {self.problem.devices[side.device].name!r} has {sum(allowed):,} computations "
            f"of {len(allowed):,} operators at {len(side.runs):,} moments"
        )
        self._raise(side.least_ns)
        first: list[Sequence[int]] = []

        def take(values: Sequence[int]) -> None:
            if self._take(side, model.runs_of(values)):
                first[:] = [values]

        # A plan that has no excess ends phase 1 at once, since there is no better one.
        model.minimise_excess()
        ending = solve(model, 0.0, Listener(self.context.should_stop, take), presolve=False)
        if first and not self.context.should_stop():
            model.minimise_total(first[0])
            hear_bound = partial(self._hear_bound, side, model.units, allowed)
            ending = solve(model, self.context.options.gap_ratio, Listener(self.context.should_stop, take, hear_bound))
        # In a model of rounded sizes some plans are missing.
        is_proof = ending in (Ending.NO_SOLUTION, Ending.PROVED) and model.units.exact_memory
        self.is_undecided |= not is_proof

    def _leave_when_stopped(self) -> None:
        if self.context.should_stop():
            raise _Stopped

    def _hear_bound(self, side: OneDevice, units: Units, allowed: Sequence[int], bound: float) -> None:
        """Hear of a bound in units of time; it is worth something where the model has all plans but for `allowed`."""
        if units.exact_memory and math.isfinite(bound):
            self._raise(unrestricted_bound_ns(side, allowed, safe_bound_ns(bound, units.time_unit_ns)))

    def _raise(self, bound_ns: int) -> None:
        """Hear of a bound of one device, which is one of the problem where there is no other."""
        if len(self.problem.devices) == 1:
            self.raise_bound_ns(bound_ns)

    def _take(self, side: OneDevice, runs: Sequence[Run]) -> bool:
        """Keep a plan where it is better than any before; whether it keeps the limit."""
        return self.offer(steps_of_runs(side, runs))

    def what_is_proved(self, most: int | None, sides: Sequence[OneDevice]) -> str:
        """What CP-SAT has proved of plans like the best, where it came to its end on every device."""
        if self.is_undecided or self.context.should_stop():
            return ""
        kind = "on a single device"
        if most is not None and any(most < count for side in sides for count in sensible_computations(side)):
            times = _TIMES.get(most, f"{most} times")
            kind = f"that computes every operator at most {times}"
        gap = self.context.options.gap_ratio
        better = f"is more than {format_percent(gap)} faster" if gap else "is faster"
        return f"No plan {kind} {better}; others may be."
