"""The strategy `checkmate`: the paper's MILP on one device; on several, the best single device."""

from typing import TYPE_CHECKING, Any

from xengine_gui.model.plan import Plan, Step
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.formulations.one_device import OneDevice, single_devices, steps_of_stages
from xengine_gui.solve.formulations.search import Search
from xengine_gui.units import format_count

if TYPE_CHECKING:
    from xengine_gui.solve.formulations.building import Heed

MOST_RUNS = 150_000
"""Larger models, in pairs of a stage and an operator, are declined: this many take a gibibyte and 15 s to build."""

NO_DEVICE = "no device alone can run every operator"
NO_SINGLE_PLAN = (
    "No device alone has a plan of this kind (each operator at most once in a stage, by its fastest implementation); "
    "others may exist."
)


class Checkmate:
    """Plans by Checkmate's formulation."""

    key = "checkmate"
    title = "Checkmate"
    summary = (
        "The staged MILP of Checkmate (Jain et al., MLSys 2020), in Pyomo and on HiGHS; on several devices the best "
        "single one."
    )
    proves = True
    no_plan = NO_SINGLE_PLAN

    def supports(self, problem: Problem) -> str:
        """Why it cannot: no device runs everything, or the model, quadratic in the operators, is too large."""
        return why_not_single(problem, MOST_RUNS)

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        """The best plan on any single device, with a bound where these are all the plans that there are."""
        search = Search(problem, context, self.key)
        too_large = search.too_large()
        if too_large is not None:
            return too_large
        search.on_each(single_devices(problem), lambda side: self._solve(search, side))
        return search.plan(self.no_plan)

    def _solve(self, search: Search, side: OneDevice) -> None:
        """Look for plans on one device."""
        _solve(search, side)

    def model(self, problem: Problem) -> Any:
        """The model of the fastest single device."""
        return checkmate_model_of(single_devices(problem)[0])


def why_not_single(problem: Problem, most_runs: int) -> str:
    """Why a staged model of at most so many runs on one device cannot be made of a problem, empty where it can."""
    sides = single_devices(problem)
    if not sides:
        return NO_DEVICE
    runs = sides[0].run_count
    if runs > most_runs:
        operators = format_count(len(problem.operators), "operator")
        return f"for {operators} its model has {runs:,} run variables, more than {most_runs:,}"
    return ""


def checkmate_model_of(side: OneDevice, heed: "Heed | None" = None) -> Any:
    """Checkmate's model of a problem on one device."""
    # Loaded on first use: Pyomo takes a second to import.
    from xengine_gui.solve.formulations.checkmate import checkmate_model  # noqa: PLC0415

    return checkmate_model(side, heed)


def _solve(search: Search, side: OneDevice) -> None:
    """Solve the model of one device; its bound is worth something where it has all plans."""

    def steps_of(model: Any) -> list[Step]:
        return steps_of_stages(
            side,
            runs=lambda stage, operator: model.run[stage, operator].value > 0.5,
            holds=lambda stage, tensor: model.held[stage, tensor].value > 0.5,
        )

    def on_bound(bound: float) -> None:
        if side.whole:
            search.raise_bound(bound, side.time_unit_ns)

    search.solve(lambda heed: checkmate_model_of(side, heed), steps_of, on_bound)
