"""The strategy `monet`: checkpoints and implementations chosen together on one device; on several, the best one."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from xengine_gui.model.plan import Plan, Status, Step
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.formulations.monet_device import MonetDevice, backward_from, monet_device
from xengine_gui.solve.formulations.monet_start import monet_start
from xengine_gui.solve.formulations.one_device import single_devices
from xengine_gui.solve.formulations.search import Search
from xengine_gui.solve.formulations.strategy import NO_DEVICE
from xengine_gui.units import format_count, format_percent

if TYPE_CHECKING:
    from xengine_gui.solve.formulations.building import Heed

MOST_CHOICES = 80_000
"""Larger models, in runs and choices of implementations, are declined: this many take a gibibyte and 15 s to build."""

_STOPPED = "No plan was found within the time; that none exists is not proved."
NO_SINGLE_PLAN = (
    "No device alone has a plan of MONeT's kind (only operators of the forward pass run again, each at most once "
    "between two operators of the backward pass); others may exist."
)


class Monet:
    """Plans by MONeT's formulation."""

    key = "monet"
    title = "MONeT"
    summary = (
        "Chooses together which tensors are stored for the backward pass and which implementation each run takes "
        "(Shah et al., ICLR 2021), in Pyomo and on HiGHS; on several devices the best single one."
    )
    proves = True

    def supports(self, problem: Problem) -> str:
        """Why it cannot: no device runs everything, or the model is too large."""
        sides = monet_devices(problem)
        if not sides:
            return NO_DEVICE
        choices = max(side.run_count + side.use_count for side in sides)
        if choices > MOST_CHOICES:
            operators = format_count(len(problem.operators), "operator")
            return f"for {operators} its model has {choices:,} choices, more than {MOST_CHOICES:,}"
        return ""

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        """The best plan on any single device; a bound only where the model has every staged plan."""
        search = Search(problem, context, self.key)
        too_large = search.too_large()
        if too_large is not None:
            return too_large
        search.on_each(monet_devices(problem), lambda side: _solve(search, side))
        if search.steps is None and context.should_stop():
            return search.without(Status.UNKNOWN, _STOPPED)
        plan = search.plan(NO_SINGLE_PLAN)
        return replace(plan, explanation=_how_good(search)) if plan.has_events else plan

    def model(self, problem: Problem) -> Any:
        """The model of the fastest single device."""
        return _model(monet_devices(problem)[0])


def monet_devices(problem: Problem) -> list[MonetDevice]:
    """The problem on each device that can run everything, the fastest first."""
    sides = (monet_device(side, backward_from(problem)) for side in single_devices(problem))
    return sorted(sides, key=lambda side: side.least_ns)


def _how_good(search: Search) -> str:
    """What is shown of the plan among those of MONeT's kind."""
    if search.lower_bound_ns is not None or search.is_undecided or search.context.should_stop():
        return ""
    gap = format_percent(search.context.options.gap_ratio)
    return f"Within {gap} of the best plan of MONeT's kind on a single device; nothing is proved of others."


def _model(side: MonetDevice, heed: "Heed | None" = None) -> Any:
    # Loaded on first use: Pyomo takes a second to import.
    from xengine_gui.solve.formulations.monet import monet_model  # noqa: PLC0415

    return monet_model(side, heed)


def _solve(search: Search, side: MonetDevice) -> None:
    """Solve the model of one device, from a first plan where a simple way finds one."""
    start = monet_start(side, search.context.should_stop)
    if start is not None:
        search.offer(start)
    if search.context.should_stop():
        return

    def steps_of(model: Any) -> list[Step]:
        from xengine_gui.solve.formulations.monet import monet_steps  # noqa: PLC0415

        return monet_steps(side, model)

    def on_bound(bound: float) -> None:
        if side.whole:
            search.raise_bound(bound, side.time_unit_ns)

    search.solve(lambda heed: _model(side, heed), steps_of, on_bound)
