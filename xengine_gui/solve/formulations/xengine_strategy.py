"""The strategy `xengine`: the paper's program on all devices, with copies as they are."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from xengine_gui.model.plan import Plan
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.formulations.many_devices import ManyDevices, on_many_devices
from xengine_gui.solve.formulations.search import Search
from xengine_gui.units import format_count

if TYPE_CHECKING:
    from xengine_gui.solve.formulations.building import Heed

MOST_RUNS = 6_000
"""Larger models, in pairs of a stage and an operator, are declined: HiGHS gets nowhere with them."""

MOST_MOMENTS = 8_000
"""Up to so many moments a tensor may come and go in front of any operator, so that no staged plan is left out."""

QUICK_MOMENTS = 1_000
"""From so many moments on the smaller model is solved first: it gives the plan, the larger one the proof."""

_NO_PLAN = (
    "There is no plan of this kind (each operator at most once in a stage on each device, tensors copied and freed "
    "around the operators that touch them); others may exist."
)


class XEngine:
    """Plans by XEngine's program."""

    key = "xengine"
    title = "XEngine"
    summary = (
        "The staged program of XEngine (Schuler et al., ACM TACO 2022) on all devices, in Pyomo and on HiGHS; a copy "
        "takes memory until it is freed."
    )
    proves = True
    has_quadratic_model = True

    def supports(self, problem: Problem) -> str:
        """Why it cannot: the model, quadratic in the operators, is too large."""
        return why_too_large(problem)

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        """The best plan of the model, with a bound where the model has every staged plan."""
        search = Search(problem, context, self.key)
        too_large = search.too_large()
        if too_large is not None:
            return too_large
        many = on_many_devices(problem.indexed, every_moment=False)
        every = replace(many, every_moment=True)
        if many.has_every_plan or len(every.moments) > QUICK_MOMENTS:
            _solve(search, many)
        if not many.has_every_plan and len(every.moments) <= MOST_MOMENTS and not context.should_stop():
            _solve(search, every)
        return search.plan(_NO_PLAN)

    def model(self, problem: Problem, *, quadratic: bool = False) -> Any:
        """The model that is solved, or its form with products."""
        return _model(staged(problem), quadratic=quadratic)


def why_too_large(problem: Problem) -> str:
    """Why XEngine's models cannot be made of a problem, empty where they can."""
    runs = on_many_devices(problem.indexed, every_moment=False).run_count
    if runs > MOST_RUNS:
        operators = format_count(len(problem.operators), "operator")
        return f"for {operators} its model has {runs:,} pairs of a stage and an operator, more than {MOST_RUNS:,}"
    return ""


def staged(problem: Problem) -> ManyDevices:
    """The problem with as many moments as a model can bear."""
    many = on_many_devices(problem.indexed, every_moment=False)
    every = replace(many, every_moment=True)
    return many if many.has_every_plan or len(every.moments) > MOST_MOMENTS else every


def _model(many: ManyDevices, heed: "Heed | None" = None, *, quadratic: bool = False, roomy: bool = False) -> Any:
    # Loaded on first use: Pyomo takes a second to import.
    from xengine_gui.solve.formulations.xengine import xengine_model  # noqa: PLC0415

    return xengine_model(many, heed, quadratic=quadratic, roomy=roomy)


def _solve(search: Search, many: ManyDevices) -> None:
    """Solve a model; where its best solution's copies find no room on their way, once more with room for them."""
    from xengine_gui.solve.formulations.xengine_steps import xengine_steps  # noqa: PLC0415

    def on_bound(bound: float) -> None:
        if many.has_every_plan:
            search.raise_bound(bound, many.time_unit_ns, whole=many.is_whole_unit)

    search.solve(partial(_model, many), partial(xengine_steps, many), on_bound)
    if search.is_last_left_out and not search.is_undecided:
        search.context.log("the best solution's copies find no room on their way; now the model leaves room for them")
        search.solve(partial(_model, many, roomy=True), partial(xengine_steps, many))
