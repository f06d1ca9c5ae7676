"""The strategy `dtr`."""

from collections.abc import Iterator
from functools import partial

from xengine_gui.model.plan import Plan
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.formulations.one_device import OneDevice
from xengine_gui.solve.online.heuristics import HEURISTICS
from xengine_gui.solve.online.search import OnlineSearch, Variant, without_single_device
from xengine_gui.solve.online.simulator import Why, simulated


class DynamicTensorRematerialization:
    """Plans as DTR would run."""

    key = "dtr"
    title = "DTR"
    summary = (
        "Evicts a tensor whenever memory is short and computes it again on a miss (Kirisame et al., ICLR 2021), by "
        "each of the paper's heuristics, and keeps the best plan; on several devices the best single one."
    )
    proves = False

    def supports(self, problem: Problem) -> str:
        """Why it cannot: no device runs everything."""
        return without_single_device(problem)

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        """The best plan of all heuristics; its explanation says which one made it."""
        return OnlineSearch(problem, context, self.key, self.title).run(_variants)


def _variants(_side: OneDevice) -> Iterator[Variant]:
    for heuristic in HEURISTICS:
        yield Variant(f"by {heuristic.key}", partial(simulated, heuristic=heuristic))
    for heuristic in HEURISTICS:
        words = f"by {heuristic.key} without eager eviction"
        yield Variant(words, partial(simulated, heuristic=heuristic, eager=False), after=Why.NO_ROOM)
