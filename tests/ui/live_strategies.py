"""A strategy for the live view: it finds a slightly better plan twenty times a second, for a long time."""

import time

from worker_strategies import in_base_order

from xengine_gui.model.plan import Plan
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import SolveContext


class _Improving:
    key = "improving"
    title = "for tests"

    def supports(self, problem: Problem) -> str:  # noqa: ARG002
        return ""

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        slower = 500
        while not context.should_stop():
            slower = max(1, slower - 1)
            context.incumbent(in_base_order(problem, self.key, slower=slower))
            time.sleep(0.05)
        return in_base_order(problem, self.key)


def strategy(_key: str) -> _Improving:
    """The one that there is."""
    return _Improving()
