"""Strategies side by side: each plans the same problem alone, under the same judge.

Strategies run one after the other, so that none takes another's processor time, and none sees another's plan. A lower
bound holds for every plan, whoever proved it: so the highest bound of all measures every row.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from xengine_gui.errors import PlannerError, SolverProcessError
from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.summary import PlanSummary, summarise
from xengine_gui.solve import strategies
from xengine_gui.solve.base import Finished, Incumbent, SolveEvent, SolveOptions, Strategy
from xengine_gui.solve.judge import plan_judged
from xengine_gui.solve.worker import SolverProcess
from xengine_gui.units import format_duration


class RowState(StrEnum):
    """How far a strategy has come."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    DECLINED = "declined"
    FAILED = "failed"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class ComparedStrategy:
    """A row: what one strategy makes of the problem.

    While it runs, `plan` is its best so far. `summary` is there where the plan has events. `reason` is one sentence:
    why it declined or failed, why there is no plan, or what its plan has to say.
    """

    key: str
    title: str
    state: RowState = RowState.WAITING
    plan: Plan | None = None
    summary: PlanSummary | None = None
    reason: str = ""
    took_s: float | None = None

    @property
    def status(self) -> str:
        """The plan's status where the strategy has ended with one, else how far it has come."""
        return str(self.plan.status if self.state is RowState.DONE and self.plan is not None else self.state)

    @property
    def total_ns(self) -> int | None:
        """The total on the serial clock."""
        return None if self.summary is None else self.summary.total_ns

    @property
    def lower_bound_ns(self) -> int | None:
        """What this strategy itself has proved."""
        return None if self.plan is None else self.plan.lower_bound_ns


@dataclass(frozen=True, slots=True)
class Comparison:
    """All rows, in the order that was asked for."""

    problem: Problem
    rows: tuple[ComparedStrategy, ...]
    unlimited_total_ns: int | None = None

    @property
    def lower_bound_ns(self) -> int | None:
        """The highest bound that any strategy has proved; it holds for the plans of all."""
        return max((r.lower_bound_ns for r in self.rows if r.lower_bound_ns is not None), default=None)

    @property
    def best(self) -> ComparedStrategy | None:
        """The row with the smallest total, the first of several."""
        return min((r for r in self.rows if r.total_ns is not None), key=lambda r: r.total_ns or 0, default=None)

    def gap_ratio(self, row: ComparedStrategy) -> float | None:
        """How far a row's total may be above the best possible, by the highest bound of all rows."""
        if row.total_ns is None or self.lower_bound_ns is None:
            return None
        return max(0.0, (row.total_ns - self.lower_bound_ns) / row.total_ns) if row.total_ns else 0.0

    def contradictions(self) -> tuple[str, ...]:
        """Proofs that another row's plan disproves, a sentence each: there is a fault, and who reads must know."""
        return tuple(self._contradictions())

    def _contradictions(self) -> Iterator[str]:
        best = self.best
        if best is None or best.total_ns is None:
            return
        for row in self.rows:
            if row.lower_bound_ns is not None and row.lower_bound_ns > best.total_ns:
                bound, total = format_duration(row.lower_bound_ns), format_duration(best.total_ns)
                yield f"{row.title} claims that no plan is below {bound}, yet the plan of {best.title} takes {total}."
            elif row.plan is not None and row.plan.status is Status.INFEASIBLE:
                yield f"{row.title} claims that there is no plan, yet {best.title} has one."


OnRow = Callable[[ComparedStrategy], None]


def compare(
    problem: Problem,
    keys: Sequence[str],
    options: SolveOptions = SolveOptions(),  # noqa: B008 - frozen
    *,
    unlimited_total_ns: int | None = None,
    process: SolverProcess | None = None,
    on_row: OnRow | None = None,
    stop: threading.Event | None = None,
) -> Comparison:
    """Plan a problem with each strategy in turn; `options` hold for each alone.

    `process` plans in a child, which is killed where it does not hear a stop or dies without taking the others along;
    without one everything runs in this thread. `on_row` hears, in this thread, of each row that changes: running, with
    a better plan, ended. After `stop` the strategy at work ends with its best plan, and the rest is not run.
    """
    chosen = [strategies.strategy(key) for key in dict.fromkeys(keys)]
    asked, tell = stop or threading.Event(), on_row or (lambda _row: None)
    rows = []
    for strategy in chosen:
        run = _Run(strategy, problem, options, unlimited_total_ns, tell, asked)
        rows.append(run.row_planned(process))
        tell(rows[-1])
    return Comparison(problem, tuple(rows), unlimited_total_ns)


@dataclass
class _Run:
    """One strategy's turn."""

    strategy: Strategy
    problem: Problem
    options: SolveOptions
    unlimited_total_ns: int | None
    tell: OnRow
    stop: threading.Event
    best: Plan | None = None
    elapsed_s: float = 0.0

    def row_planned(self, process: SolverProcess | None) -> ComparedStrategy:
        row = ComparedStrategy(self.strategy.key, self.strategy.title)
        if self.stop.is_set():
            return replace(row, state=RowState.NOT_RUN, reason="The comparison was stopped before its turn.")
        declined = self.strategy.supports(self.problem)
        if declined:
            return replace(row, state=RowState.DECLINED, reason=sentence(declined))
        self.tell(replace(row, state=RowState.RUNNING))
        try:
            plan = self._plan(process)
        except SolverProcessError as error:
            return self._failed(row, str(error))
        except PlannerError as error:
            return self._failed(row, str(error))
        except Exception as error:  # noqa: BLE001 - one strategy's fault must not take the others' rows along
            return self._failed(row, f"{type(error).__name__}: {error}")
        done = replace(row, state=RowState.DONE, plan=plan, reason=sentence(plan.explanation), took_s=self.elapsed_s)
        return replace(done, summary=self._summary(plan))

    def _plan(self, process: SolverProcess | None) -> Plan:
        if process is None:
            return plan_judged(self.strategy, self.problem, self.options, emit=self._hear, stop=self.stop)
        for event in process.plan(self.problem, self.strategy.key, self.options, stop=self.stop):
            self._hear(event)
            if isinstance(event, Finished):
                return event.plan
        raise SolverProcessError("the solver process ended without a plan")

    def _hear(self, event: SolveEvent) -> None:
        self.elapsed_s = event.elapsed_s
        if isinstance(event, Incumbent):
            self.best = event.plan
            row = ComparedStrategy(self.strategy.key, self.strategy.title, RowState.RUNNING, event.plan)
            self.tell(replace(row, summary=self._summary(event.plan), took_s=event.elapsed_s))

    def _failed(self, row: ComparedStrategy, why: str) -> ComparedStrategy:
        """A strategy that died keeps the plan that it had found; that has passed the judge."""
        summary = None if self.best is None else self._summary(self.best)
        return replace(
            row, state=RowState.FAILED, plan=self.best, summary=summary, reason=sentence(why), took_s=self.elapsed_s
        )

    def _summary(self, plan: Plan) -> PlanSummary | None:
        return summarise(plan, self.unlimited_total_ns) if plan.has_events else None


def sentence(text: str) -> str:
    """A text as a sentence, with a capital letter and a full stop; empty where it is."""
    text = text.strip()
    if not text:
        return ""
    # A word that is not all small is a name and stays as it is.
    first = text.split(maxsplit=1)[0]
    head = text[0].upper() + text[1:] if first.islower() and first.isalpha() else text
    return head if head.endswith((".", "!", "?")) else f"{head}."
