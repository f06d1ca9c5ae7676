"""When to plan, with what, and what to make of the answer."""

from dataclasses import replace

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import SolveOptions
from xengine_gui.ui.document import Document
from xengine_gui.ui.plan_runner import Outcome, PlanRunner, Progress
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.units import format_duration, format_percent, format_size

_AFTER_AN_EDIT_MS = 350
_TICK_MS = 200


class Planning(QObject):
    """Plans the document's problem: when asked, and by itself after a change."""

    state_changed = Signal()
    """It has begun, ended, or come to another trouble."""
    progressed = Signal(object)
    ticked = Signal(float)
    """Seconds since the run began, a few times a second."""
    logged = Signal(str, object)

    def __init__(self, document: Document, runner: PlanRunner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.strategy = "optimal"
        self.options = SolveOptions()
        self.plan_on_change = True
        self.runner = runner
        self._document = document
        self._trouble: tuple[Problem, Status | None, str] | None = None
        self._run_problem: Problem | None = None
        self._stopping = False
        self._clock = QElapsedTimer()
        self._soon = QTimer(self, interval=_AFTER_AN_EDIT_MS, singleShot=True)
        self._soon.timeout.connect(self.plan)
        self._tick = QTimer(self, interval=_TICK_MS)
        self._tick.timeout.connect(lambda: self.ticked.emit(self.elapsed_s))
        document.work_changed.connect(self._work_changed)
        runner.progressed.connect(self._progressed)
        runner.logged.connect(self.logged)
        runner.incumbent_found.connect(self._incumbent_found)
        runner.finished.connect(self._finished)
        runner.failed.connect(self._failed)

    @property
    def running(self) -> bool:
        """Whether a plan is being looked for, or is about to be."""
        return self.runner.running or self._soon.isActive()

    @property
    def stopping(self) -> bool:
        """Whether stop was asked for and the answer is awaited."""
        return self._stopping and self.runner.running

    @property
    def elapsed_s(self) -> float:
        """Seconds since the run began."""
        return self._clock.elapsed() / 1000 if self.runner.running else 0.0

    @property
    def trouble(self) -> str:
        """Why there is no plan for the problem at hand; empty where there is one, or none was looked for."""
        found = self._current_trouble()
        return "" if found is None else found[2]

    @property
    def infeasible(self) -> bool:
        """Whether it is proved that the problem at hand has no plan."""
        found = self._current_trouble()
        return found is not None and found[1] is Status.INFEASIBLE

    def plan(self) -> None:
        """Look for a plan now; a search in progress is given up."""
        self._soon.stop()
        work = self._document.work
        if work is None:
            return
        self._trouble = None
        self._stopping = False
        self._run_problem = work.problem
        self._clock.start()
        self._tick.start()
        self.logged.emit(f"plan {work.problem.name} with {self.strategy}, {_limits(work.problem)}", None)
        options = replace(self.options, incumbent=self._warm_start(work.problem))
        self.runner.start(work.problem, self.strategy, options)
        self.state_changed.emit()

    def stop(self) -> None:
        """End the search; the best plan so far stays."""
        self._soon.stop()
        if self.runner.running:
            self._stopping = True
            self.runner.stop()
        self.state_changed.emit()

    def abandon(self) -> None:
        """Give up the search; nothing more is told of it."""
        self._soon.stop()
        self.runner.abandon()
        self._end()
        self.state_changed.emit()

    def close(self) -> None:
        """End everything."""
        self._soon.stop()
        self._tick.stop()
        self.runner.close()

    def _current_trouble(self) -> tuple[Problem, Status | None, str] | None:
        work = self._document.work
        if self._trouble is None or work is None or self._trouble[0] is not work.problem:
            return None
        return self._trouble

    def _work_changed(self) -> None:
        work = self._document.work
        if work is None or (self.runner.running and self._run_problem is work.problem):
            return
        was_running = self.running
        self.runner.abandon()
        self._tick.stop()
        self._soon.stop()
        shown = self._document.shown
        planned = shown is not None and shown.plan.problem is work.problem
        tried = self._current_trouble() is not None
        if not planned and not tried and (self.plan_on_change or was_running):
            self._soon.start()
        self.state_changed.emit()

    def _warm_start(self, problem: Problem) -> Plan | None:
        """The plan that is shown, where it is one of the same graph on the same devices."""
        shown = self._document.shown
        if shown is None:
            return None
        old = shown.plan.problem
        same = old.operators is problem.operators and [d.name for d in old.devices] == [d.name for d in problem.devices]
        return shown.plan if same else None

    def _progressed(self, point: Progress) -> None:
        self.progressed.emit(point)
        shown, bound = self._document.shown, point.lower_bound_ns
        if shown is None or bound is None or shown.plan.problem is not self._run_problem:
            return
        if bound > (shown.plan.lower_bound_ns or 0):
            self._document.show_plan(shown.with_bound(bound))

    def _incumbent_found(self, shown: ShownPlan) -> None:
        now = self._document.shown
        current = now is not None and now.plan.problem is shown.plan.problem
        if current and now is not None and (now.plan.total_ns or 0) <= (shown.plan.total_ns or 0):
            return
        self._document.show_plan(shown)

    def _finished(self, outcome: Outcome) -> None:
        self._end()
        plan = outcome.plan
        if outcome.shown is not None:
            self._document.show_plan(outcome.shown)
            self.logged.emit(_told(plan), plan.runtime_s)
        else:
            sentence = plan.explanation or "No plan was found."
            self._trouble = (plan.problem, plan.status, sentence)
            self.logged.emit(f"{plan.status.value}: {sentence}", plan.runtime_s)
        self.state_changed.emit()

    def _failed(self, sentence: str) -> None:
        self._end()
        if self._run_problem is not None:
            self._trouble = (self._run_problem, None, sentence)
        self.logged.emit(sentence, None)
        self.state_changed.emit()

    def _end(self) -> None:
        self._tick.stop()
        self._stopping = False


def _limits(problem: Problem) -> str:
    limits = (
        f"{d.name} {'unlimited' if d.memory_limit_bytes is None else format_size(d.memory_limit_bytes)}"
        for d in problem.devices
    )
    return ", ".join(limits)


def _told(plan: Plan) -> str:
    gap = "" if plan.gap_ratio is None else f", gap {format_percent(plan.gap_ratio, 3)}"
    total = "" if plan.total_ns is None else f": total {format_duration(plan.total_ns)}"
    return f"{plan.status.value}{total}{gap}{f' ({plan.explanation})' if plan.explanation else ''}"
