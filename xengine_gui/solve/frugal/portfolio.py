"""Several ways to place the operators, each tried until one keeps the limits."""

from collections.abc import Callable
from itertools import permutations

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.plan import Step
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.solve.frugal.maker import Maker
from xengine_gui.solve.frugal.routes import Routes, placed

_MOST_ORDERS = 24


def frugal_steps(
    indexed: IndexedProblem, should_stop: Callable[[], bool], *, most_each: int = 300
) -> list[Step] | None:
    """Steps within all limits, or `None` where none are found; they may cost far more time than they must.

    `most_each` is how many tries, and steps, each operator may take on average before it is given up.
    """
    seen = set()
    for number, order in enumerate(permutations(range(indexed.device_count))):
        placement = placed(indexed, order)
        if placement in seen or number >= _MOST_ORDERS or should_stop():
            continue
        seen.add(placement)
        routes = Routes.of(indexed, placement)
        if routes is None:
            continue
        for offloads in (False, True)[: indexed.device_count]:
            steps = Maker(routes, should_stop, most_each=most_each, offloads=offloads).steps()
            if steps is not None and replay_steps(indexed, steps).valid:
                return steps
    return None
