# ruff: noqa: ARG002 - what a strategy is given and does not want
"""Strategies that behave and misbehave; the solver process of the tests takes its strategies from here."""

import os
import signal
import time
from dataclasses import replace

from xengine_gui.errors import InputError
from xengine_gui.model.plan import Compute, Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import SolveContext


def in_base_order(problem: Problem, key: str, *, slower: int = 0) -> Plan:
    """Everything in base order on the first device, nothing freed; `slower` repeats the first operator so often."""
    device = problem.devices[0].name
    operators = [(o, False) for o in problem.operators]
    operators[1:1] = [(problem.operators[0], True)] * slower
    events = []
    now = 0
    for operator, again in operators:
        end = now + operator.costs[device][0].time_ns
        events.append(Compute(operator.name, device, now, end, again))
        now = end
    peak = sum(t.size_bytes for t in problem.tensors)
    return Plan(problem, key, Status.FEASIBLE, tuple(events), now, peak_bytes={device: peak})


class _Strategy:
    """What all have in common; any problem will do."""

    key = ""
    title = "for tests"

    def supports(self, problem: Problem) -> str:
        return "it is too short" if len(problem.operators) == 1 else ""


class _Quick(_Strategy):
    key = "quick"

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        context.log("hello")
        context.incumbent(in_base_order(problem, self.key, slower=1))
        context.bound(1)
        return replace(in_base_order(problem, self.key), lower_bound_ns=1)


class _Polite(_Strategy):
    key = "polite"

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        slower = 50
        while not context.should_stop():
            slower = max(1, slower - 1)
            context.incumbent(in_base_order(problem, self.key, slower=slower))
            time.sleep(0.02)
        return in_base_order(problem, self.key)


class _Proving(_Strategy):
    key = "proving"

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        context.incumbent(in_base_order(problem, self.key))
        time.sleep(0.3)
        context.bound(in_base_order(problem, self.key).total_ns - 1)
        while not context.should_stop():
            time.sleep(0.02)
        return in_base_order(problem, self.key)


class _Deaf(_Strategy):
    key = "deaf"

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        context.bound(2)
        context.incumbent(in_base_order(problem, self.key))
        while True:
            time.sleep(1)


class _DeafAtOnce(_Strategy):
    key = "deaf-at-once"

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        while True:
            time.sleep(1)


class _Crash(_Strategy):
    key = "crash"

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        context.incumbent(in_base_order(problem, self.key))
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGSEGV)
        return in_base_order(problem, self.key)


class _Raises(_Strategy):
    key = "raises"

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        raise ZeroDivisionError("by design")


class _Refuses(_Strategy):
    key = "refuses"

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        raise InputError("limit", ["too small", "too large"])


class _Wrong(_Strategy):
    key = "wrong"

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        plan = in_base_order(problem, self.key)
        context.incumbent(replace(plan, events=plan.events[1:]))
        context.incumbent(plan)
        return replace(plan, events=plan.events[:-1])


_ALL = {
    s.key: s
    for s in (_Quick(), _Polite(), _Proving(), _Deaf(), _DeafAtOnce(), _Crash(), _Raises(), _Refuses(), _Wrong())
}


def strategy(key: str) -> object:
    """The strategy of that key."""
    try:
        return _ALL[key]
    except KeyError:
        raise InputError("", f"there is no strategy {key!r}") from None
