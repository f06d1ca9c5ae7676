"""CP-SAT in a thread of its own, while the caller hears of solutions and bounds and may ask it to stop."""

import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ortools.sat.python import cp_model

from xengine_gui.solve.moccasin.model import RetentionModel

_SEED = 1
_WORKERS = 1
"""With two, CP-SAT 9.15 at times ended the whole process on models of a few operators (7 of 45 runs of the tests)."""
_ASKED_EVERY_S = 0.05


class Ending(Enum):
    """How a search ended: `PROVED` within the gap of its best solution."""

    PROVED = "proved"
    NO_SOLUTION = "no solution"
    STOPPED = "stopped"
    FAILED = "failed"


_ENDINGS = {
    cp_model.OPTIMAL: Ending.PROVED,
    cp_model.INFEASIBLE: Ending.NO_SOLUTION,
    cp_model.FEASIBLE: Ending.STOPPED,
    cp_model.UNKNOWN: Ending.STOPPED,
}


@dataclass(frozen=True)
class Listener:
    """Who hears of a search, all in the caller's thread: the values of each solution, and each bound."""

    should_stop: Callable[[], bool]
    on_solution: Callable[[Sequence[int]], None]
    on_bound: Callable[[float], None] = field(default=lambda _bound: None)


class _Solutions(cp_model.CpSolverSolutionCallback):
    """Puts the values of every solution into a queue."""

    def __init__(self, variables: Sequence[Any], news: "queue.SimpleQueue[tuple[str, Any]]") -> None:
        super().__init__()
        self._variables, self._news = variables, news

    def on_solution_callback(self) -> None:
        """Hear of a solution and of the bound at that time, in a thread of the solver."""
        self._news.put(("bound", self.best_objective_bound))
        self._news.put(("solution", [self.value(variable) for variable in self._variables]))


def _solver(gap_ratio: float, *, presolve: bool) -> cp_model.CpSolver:
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = _WORKERS
    solver.parameters.random_seed = _SEED
    solver.parameters.relative_gap_limit = gap_ratio
    # Presolve may take longer than all the rest: none to find a first plan, one round where the best is looked for.
    solver.parameters.cp_model_presolve = presolve
    solver.parameters.max_presolve_iterations = 1
    return solver


def solve(retention: RetentionModel, gap_ratio: float, listener: Listener, *, presolve: bool = True) -> Ending:
    """Solve a model; the listener hears in this thread of everything that threads of the solver find."""
    news: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
    solver = _solver(gap_ratio, presolve=presolve)
    callback = _Solutions(retention.variables, news)

    def work() -> None:
        try:
            status = solver.solve(retention.model, callback)
            if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
                news.put(("bound", solver.best_objective_bound))
            news.put(("end", _ENDINGS.get(status, Ending.FAILED)))
        except Exception as error:  # noqa: BLE001 - it is raised again in the caller's thread
            news.put(("error", error))

    thread = threading.Thread(target=work, name="cp-sat", daemon=True)
    thread.start()
    try:
        while True:
            if listener.should_stop():
                solver.stop_search()
            try:
                kind, what = news.get(timeout=_ASKED_EVERY_S)
            except queue.Empty:
                continue
            if kind == "solution":
                listener.on_solution(what)
            elif kind == "bound":
                listener.on_bound(what)
            elif kind == "error":
                raise what
            else:
                return Ending(what)
    finally:
        solver.stop_search()
        thread.join()
