"""The strategy `delta`."""

from collections.abc import Iterator
from functools import partial

from xengine_gui.model.plan import Plan
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.formulations.one_device import OneDevice
from xengine_gui.solve.online.search import OnlineSearch, Variant, without_single_device
from xengine_gui.solve.online.simulator import Why, simulated
from xengine_gui.solve.online.swapping import FILTER, SINGLE_FILTER, host_for, simulated_with_host


class Delta:
    """Plans as DELTA would run, on the serial clock."""

    key = "delta"
    title = "DELTA"
    summary = (
        "Whenever memory is short it swaps a tensor to another device or drops it to compute it again, whichever "
        "costs less (Tang et al., 2022); on the serial clock, so nothing is fetched ahead."
    )
    proves = False

    def supports(self, problem: Problem) -> str:
        """Why it cannot: no device runs everything."""
        return without_single_device(problem)

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        """The best plan of all devices that can compute everything, each with the device that it swaps to."""

        def variants(side: OneDevice) -> Iterator[Variant]:
            host = host_for(problem.indexed, side.device)
            if host is None:
                simulate = partial(simulated, heuristic=FILTER)
                words = "only recomputing, since no other device has links there and back"
            else:
                simulate = partial(simulated_with_host, host=host)
                words = f"with {problem.devices[host.device].name!r} to swap to"
            yield Variant(words, simulate)
            single = partial(simulate, heuristic=SINGLE_FILTER)
            yield Variant(f"{words}, by the costs of single operators", single, after=Why.COSTLY)
            yield Variant(f"{words}, without eager eviction", partial(simulate, eager=False), after=Why.NO_ROOM)

        return OnlineSearch(problem, context, self.key, self.title).run(variants)
