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
from xengine_gui.units import format_duration, format_percent

TIME_GRACE_S = 5.0
"""How long past its time a solver may take to hear the stop; then the best plan so far is taken without it."""
STOP_GRACE_S = 3.0
_BETWEEN_LINES_S = 0.25
_POLL_S = 0.1
_LEFT_BEHIND = "the solver did not hear the stop, so it was left behind"


def plan_with_progress(problem: Problem, strategy: str, options: SolveOptions) -> Plan:
    """Plan in a thread of its own, so that Ctrl-C is heard at once: the first one takes the best plan so far."""
    run = _Run(problem, strategy, options)
    while True:
        try:
            return run.wait()
        except KeyboardInterrupt:
            if run.stop.is_set():
                raise
            run.stop_now()


class _Run:
    """A plan in progress."""

    def __init__(self, problem: Problem, strategy: str, options: SolveOptions) -> None:
        self.problem, self.strategy, self.options = problem, strategy, options
        self.stop = threading.Event()
        self.began = time.monotonic()
        self.deadline = (
            float("inf") if options.time_limit_s is None else self.began + options.time_limit_s + TIME_GRACE_S
        )
        self.events: queue.SimpleQueue[SolveEvent | Plan | BaseException] = queue.SimpleQueue()
        self.judge = Judge(problem, strategy, options.objective, options.deadline_ns)
        self.last_line_s = -1.0
        threading.Thread(target=self._work, name="planning", daemon=True).start()

    def stop_now(self) -> None:
        tell("Stopping with the best plan so far; press Ctrl-C again to leave at once.")
        self.stop.set()
        self.deadline = min(self.deadline, time.monotonic() + STOP_GRACE_S)

    def wait(self) -> Plan:
        while True:
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
        if not is_watched() or isinstance(event, Finished):
            return
        if isinstance(event, Log):
            tell(f"{event.elapsed_s:6.1f} s  {shown(event.message)}")
        elif event.elapsed_s - self.last_line_s > _BETWEEN_LINES_S and (
            self.judge.best or self.judge.lower_bound_ns is not None
        ):
            self.last_line_s = event.elapsed_s
            tell(f"{event.elapsed_s:6.1f} s  {self._state()}")

    def _state(self) -> str:
        best, bound = self.judge.best, self.judge.lower_bound_ns
        total = best.total_ns if best is not None else None
        parts = ["no plan yet" if total is None else f"best {format_duration(total)}"]
        if bound is not None:
            parts.append(f"lower bound {format_duration(bound)}")
            if total:
                parts.append(f"gap {format_percent(max(0, total - bound) / total, 2)}")
        return ", ".join(parts)
