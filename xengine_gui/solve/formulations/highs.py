"""A Pyomo model to HiGHS: compiled to a matrix, solved with bounds and solutions on the way, stopped when asked.

Pyomo's own solve is not used: it captures the output of the whole process, and tells nothing while it works.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import highspy
import numpy as np

from xengine_gui.solve.formulations.building import Floats, Matrix, StoppedError, matrix_of
from xengine_gui.solve.highs import Outcome, SilentHighs, outcome_of

_POLL_S = 0.05
STOP_GRACE_S = 0.25
"""How long after a stop HiGHS is waited for: presolve and the root do not look at it for seconds."""

_OBJECTIVE_TOLERANCE = 1e-5


@dataclass(frozen=True)
class Orders:
    """When a solve must end, and who hears of it: `on_solution` after the model's variables have their new values."""

    remaining_s: Callable[[], float]
    gap_ratio: float
    should_stop: Callable[[], bool]
    on_bound: Callable[[float], None]
    on_solution: Callable[[], None]


def solve(model: Any, orders: Orders, *, presolve: bool = True) -> Outcome:
    """Solve a linear model with one objective to be minimised; its variables take the values of each solution."""
    try:
        return solve_matrix(matrix_of(model, orders.should_stop), orders, presolve=presolve)
    except StoppedError:
        return Outcome.STOPPED


def solve_matrix(matrix: Matrix, orders: Orders, *, presolve: bool = True) -> Outcome:
    """Solve a compiled model. Everybody is told in this thread, HiGHS works in another, so a stop is heard at once."""
    if not np.any(matrix.upper > matrix.lower):  # every variable is fixed
        orders.on_bound(float(matrix.cost @ matrix.lower) + matrix.offset)
        assign(matrix.columns, matrix.lower)
        orders.on_solution()
        return Outcome.SOLVED
    highs = loaded(matrix)
    highs.setOptionValue("time_limit", max(0.01, min(orders.remaining_s(), 1e9)))
    highs.setOptionValue("mip_rel_gap", orders.gap_ratio)
    highs.setOptionValue("mip_abs_gap", 1e-9)
    highs.setOptionValue("presolve", "choose" if presolve else "off")
    work = Work(highs)
    highs.cbMipInterrupt += work.ask
    highs.cbMipImprovingSolution += work.improve
    for news in work.news(orders.should_stop):
        if news.bound is not None:
            orders.on_bound(news.bound)
        elif news.solution is not None:
            assign(matrix.columns, news.solution)
            orders.on_solution()
    if not work.is_done:
        return Outcome.STOPPED
    highs.cbMipInterrupt -= work.ask  # or HiGHS and who listens to it hold each other
    highs.cbMipImprovingSolution -= work.improve
    return _end(matrix, highs, orders)


def _end(matrix: Matrix, highs: highspy.Highs, orders: Orders) -> Outcome:
    outcome, info = outcome_of(highs), highs.getInfo()
    if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        values, told = np.array(highs.getSolution().col_value), info.objective_function_value
        if abs(matrix.cost @ values + matrix.offset - told) > _OBJECTIVE_TOLERANCE * max(1.0, abs(told)):
            return Outcome.FAILED
        assign(matrix.columns, values)
        orders.on_solution()
    if outcome in (Outcome.SOLVED, Outcome.STOPPED):
        orders.on_bound(info.mip_dual_bound)
    return outcome


class News(NamedTuple):
    """Something that HiGHS tells while it works."""

    bound: float | None = None
    solution: Floats | None = None


@dataclass
class Work:
    """A run of HiGHS in a thread of its own. Its callbacks put news into a queue, that another thread reads."""

    highs: highspy.Highs
    is_done: bool = False
    _stopped: threading.Event = field(default_factory=threading.Event)
    _queue: queue.SimpleQueue[News | None] = field(default_factory=queue.SimpleQueue)
    _bound: float = -np.inf

    def ask(self, event: highspy.highs.HighsCallbackEvent) -> None:
        """Take the bound of a MILP, and end the run after a stop."""
        if event.data_out.mip_dual_bound > self._bound:
            self._bound = event.data_out.mip_dual_bound
            self._queue.put(News(bound=self._bound))
        self.only_stop(event)

    def only_stop(self, event: highspy.highs.HighsCallbackEvent) -> None:
        """End the run after a stop."""
        if self._stopped.is_set():
            event.interrupt()

    def improve(self, event: highspy.highs.HighsCallbackEvent) -> None:
        """Take a better solution; HiGHS reuses its memory, so it is copied."""
        self._queue.put(News(solution=np.array(event.data_out.mip_solution)))

    def news(self, should_stop: Callable[[], bool]) -> Iterable[News]:
        """Start the run and pass on what it tells, until it ends, or soon after a stop."""
        # The command line leaves without waiting for threads of this name; everybody else waits for it at the end of
        # the process, since HiGHS must not be torn down in the middle of its work.
        threading.Thread(target=self._run, name="planning").start()
        end = np.inf
        while time.monotonic() < end:
            try:
                news = self._queue.get(timeout=_POLL_S)
            except queue.Empty:
                pass
            else:
                if news is None:
                    self.is_done = True
                    return
                yield news
            if not self._stopped.is_set() and should_stop():
                self._stopped.set()
                end = time.monotonic() + STOP_GRACE_S

    def _run(self) -> None:
        try:
            self.highs.run()
        finally:
            self._queue.put(None)


def assign(columns: Sequence[Any], values: Iterable[float]) -> None:
    """Give each variable its value."""
    for column, value in zip(columns, values, strict=True):
        column.set_value(value, skip_validation=True)


def loaded(matrix: Matrix, *, integer: bool = True) -> highspy.Highs:
    """HiGHS with a compiled model, or with its LP."""
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = matrix.rows.shape
    model.col_cost_, model.offset_ = matrix.cost, matrix.offset
    model.col_lower_, model.col_upper_ = matrix.lower, matrix.upper
    model.row_lower_, model.row_upper_ = matrix.row_lower, matrix.row_upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_ = matrix.rows.indptr, matrix.rows.indices
    model.a_matrix_.value_ = matrix.rows.data
    highs = SilentHighs()  # type: ignore[no-untyped-call]
    highs.passModel(model)
    if integer:
        whole = np.flatnonzero(matrix.is_integer).astype(np.int32)
        highs.changeColsIntegrality(len(whole), whole, np.full(len(whole), highspy.HighsVarType.kInteger))
    return highs
