"""Between a strategy and its audience: only plans that keep the rules get through, and a run ends with its best."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from xengine_gui.errors import InputError
from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import (
    Bound,
    Finished,
    Incumbent,
    Log,
    SolveContext,
    SolveEvent,
    SolveOptions,
    Started,
    Strategy,
)
from xengine_gui.solve.objective import Objective, misses_deadline, objective_obstacle, plan_cost


def planned(strategy: Strategy, problem: Problem, context: SolveContext) -> Plan:
    """The strategy's own plan, not yet judged; an `InputError` where it cannot plan such a problem."""
    options = context.options
    obstacle = strategy.supports(problem) or objective_obstacle(
        strategy, problem, options.objective, options.deadline_ns
    )
    if obstacle:
        raise InputError(problem.name, f"{strategy.title} cannot plan this: {obstacle}")
    return strategy.plan(problem, context)


def plan_judged(
    strategy: Strategy,
    problem: Problem,
    options: SolveOptions,
    *,
    emit: Callable[[SolveEvent], None] | None = None,
    stop: threading.Event | None = None,
) -> Plan:
    """Plan in this thread; every plan that `emit` hears of, and the one handed back, has passed `verify`."""
    judge = Judge(problem, strategy.key, options.objective, options.deadline_ns)
    tell = emit or (lambda _event: None)

    def hear(event: SolveEvent) -> None:
        news = judge.heard(event)
        if news is not None:
            tell(news)

    context = SolveContext(options, hear, stop or threading.Event())
    tell(Started(strategy.key))
    found = judge.last(planned(strategy, problem, context))
    tell(Finished(found, context.elapsed_s))
    return found


@dataclass
class Judge:
    """What is known of one run of a strategy: its best plan that passes `verify`, and its highest bound."""

    problem: Problem
    strategy: str
    objective: Objective = Objective.TIME
    deadline_ns: int | None = None
    best: Plan | None = None
    lower_bound_ns: int | None = None

    def heard(self, event: SolveEvent) -> SolveEvent | None:
        """What the audience hears of an event: `None` where it is no news, a log line where a plan breaks a rule."""
        match event:
            case Incumbent(plan, elapsed_s):
                broken = self._broken(plan)
                if broken:
                    return Log(f"a plan was left out, since it breaks a rule: {broken}", elapsed_s)
                self._raise_bound(plan.lower_bound_ns)
                if self.best is not None and self._cost(plan) >= self._cost(self.best):
                    return None
                self.best = plan
            case Bound(lower_bound_ns, _):
                return event if self._raise_bound(lower_bound_ns) else None
        return event

    def last(self, found: Plan) -> Plan:
        """What a run ends with: the strategy's plan where it keeps the rules, else the best incumbent, else none."""
        if found.has_events:
            broken = self._broken(found)
            if broken:
                return self.best_so_far(f"the plan of {self.strategy} breaks a rule ({broken})", found.runtime_s)
            if self.best is None or self._cost(found) <= self._cost(self.best):
                return found
            return self.best_so_far(f"{self.strategy} handed back a slower plan than it had found", found.runtime_s)
        if self.best is None:
            return found
        why = f"{self.strategy} handed back no plan ({found.status}) although it had found one"
        return self.best_so_far(why, found.runtime_s)

    def best_so_far(self, why: str, runtime_s: float) -> Plan:
        """What is there when a run is cut short, for the reason `why`."""
        if self.best is None:
            return Plan(
                problem=self.problem,
                strategy=self.strategy,
                status=Status.UNKNOWN,
                lower_bound_ns=self.lower_bound_ns,
                runtime_s=runtime_s,
                explanation=f"{why} before a plan was found",
            )
        return replace(
            self.best,
            lower_bound_ns=self.lower_bound_ns,
            runtime_s=runtime_s,
            explanation=f"{why}; this is the best plan so far",
        )

    def _broken(self, plan: Plan) -> str:
        """The first rule that a plan breaks, or how it misses the deadline, in one sentence; empty where it is good."""
        return next(iter(verify(plan, self.problem).broken), "") or misses_deadline(plan, self.deadline_ns)

    def _cost(self, plan: Plan) -> int:
        return plan_cost(plan, self.objective)

    def _raise_bound(self, lower_bound_ns: int | None) -> bool:
        """Remember a bound; whether it is higher than any before."""
        if lower_bound_ns is None or (self.lower_bound_ns is not None and lower_bound_ns <= self.lower_bound_ns):
            return False
        self.lower_bound_ns = lower_bound_ns
        return True
