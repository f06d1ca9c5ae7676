"""Planning with progress lines, a stop by Ctrl-C, and an end when the time is up."""

import queue
import threading
import time

from xengine_gui import planner
from xengine_gui.cli.output import is_watched, shown, tell
from xengine_gui.model.plan import Plan
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import Bound, Finished, Incumbent, Log, SolveEvent, SolveOptions
from xengine_gui.solve.judge import Judge
from xengine_gui.solve.objective import Objective, plan_cost
from xengine_gui.units import format_duration, format_energy, format_gap

TIME_GRACE_S = 5.0
"""How long past its time a solver may take to hear the stop; then the best plan so far is taken without it."""
STOP_GRACE_S = 3.0
_BETWEEN_LINES_S = 0.25
_SILENT_S = 3.0
"""So long nothing is told of the best plan and its bound at the most."""
_POLL_S = 0.1
_LEFT_BEHIND = "the solver did not hear the stop, so it was left behind"


def plan_with_progress(problem: Problem, strategy: str, options: SolveOptions, *, told: bool | None = None) -> Plan:
    """Plan in a thread of its own, so that Ctrl-C is heard at once: the first one takes the best plan so far.

    How far it is `told` on the standard error every few seconds, by default at a terminal alone.
    """
    run = _Run(problem, strategy, options, told=is_watched() if told is None else told)
    while True:
        try:
            return run.wait()
        except KeyboardInterrupt:
            if run.stop.is_set():
                raise
            run.stop_now()


class _Run:
    """A plan in progress."""

    def __init__(self, problem: Problem, strategy: str, options: SolveOptions, *, told: bool) -> None:
        self.problem, self.strategy, self.options, self.told = problem, strategy, options, told
        self.stop = threading.Event()
        self.began = time.monotonic()
        self.deadline = (
            float("inf") if options.time_limit_s is None else self.began + options.time_limit_s + TIME_GRACE_S
        )
        self.events: queue.SimpleQueue[SolveEvent | Plan | BaseException] = queue.SimpleQueue()
        self.judge = Judge(problem, strategy, options.objective, options.deadline_ns)
        self.last_line_s = -2 * _BETWEEN_LINES_S
        self.last_state_s = 0.0
        threading.Thread(target=self._work, name="planning", daemon=True).start()

    def stop_now(self) -> None:
        tell("Stopping with the best plan so far; press Ctrl-C again to leave at once.")
        self.stop.set()
        self.deadline = min(self.deadline, time.monotonic() + STOP_GRACE_S)

    def wait(self) -> Plan:
        while True:
            self._beat()
            try:
                event = self.events.get(timeout=_POLL_S)
            except queue.Empty:
                if time.monotonic() > self.deadline:
                    return self.judge.best_so_far(_LEFT_BEHIND, time.monotonic() - self.began)
                continue
            if isinstance(event, BaseException):
                raise event
            if isinstance(event, Plan):
                return event
            self._hear(event)

    def _work(self) -> None:
        try:
            found = planner.plan(self.problem, self.strategy, self.options, emit=self.events.put, stop=self.stop)
        except BaseException as error:  # noqa: BLE001 - it is raised again where it is waited for
            self.events.put(error)
        else:
            self.events.put(found)

    def _hear(self, event: SolveEvent) -> None:
        # The planner has judged it already; here it is only remembered.
        if isinstance(event, Incumbent):
            self.judge.best = event.plan
        elif isinstance(event, Bound):
            self.judge.lower_bound_ns = event.lower_bound_ns
        if isinstance(event, Finished):
            return
        if isinstance(event, Log):
            self._tell(shown(event.message))
        elif self._elapsed_s - self.last_line_s > _BETWEEN_LINES_S and self._is_anything_known:
            self._tell_state()

    def _beat(self) -> None:
        """Tell how far it is, where that was not told for a while."""
        if self._elapsed_s - self.last_state_s > _SILENT_S:
            self._tell_state()

    def _tell_state(self) -> None:
        self.last_state_s = self._elapsed_s
        self._tell(self._state())

    def _tell(self, line: str) -> None:
        self.last_line_s = self._elapsed_s
        if self.told:
            limit_s = self.options.time_limit_s
            tell(f"{self._elapsed_s:6.1f}{'' if limit_s is None else f' of {limit_s:g}'} s  {line}")

    @property
    def _elapsed_s(self) -> float:
        return time.monotonic() - self.began

    @property
    def _is_anything_known(self) -> bool:
        return self.judge.best is not None or self.judge.lower_bound_ns is not None

    def _state(self) -> str:
        best, bound = self.judge.best, self.judge.lower_bound_ns
        total = best.total_ns if best is not None else None
        parts = ["no plan yet" if total is None else f"best {format_duration(total)}"]
        if best is not None and self.options.objective is Objective.ENERGY:
            parts.append(format_energy(plan_cost(best, self.options.objective)))
        if bound is not None:
            parts.append(f"lower bound {format_duration(bound)}")
            if total:
                parts.append(f"gap {format_gap(max(0, total - bound) / total)}")
        return ", ".join(parts)
