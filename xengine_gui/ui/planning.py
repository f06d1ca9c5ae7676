"""When to plan, with what, and what to make of the answer."""

from collections import defaultdict, deque
from dataclasses import replace

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

from xengine_gui.language import tr
from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import SolveOptions
from xengine_gui.solve.instant import KEY as INSTANT
from xengine_gui.solve.objective import Objective
from xengine_gui.ui.background import Background
from xengine_gui.ui.document import Document
from xengine_gui.ui.known_plans import KnownPlans
from xengine_gui.ui.plan_runner import Found, Outcome, PlanRunner, Progress
from xengine_gui.ui.shown_plan import ShownPlan, UnlimitedTotal
from xengine_gui.units import format_duration, format_percent, format_size

_AFTER_AN_EDIT_MS = 350
_WHILE_DRAGGED_MS = 1000
_TICK_MS = 200
_GIVEN_UP = 64
_AT_ONCE = SolveOptions(time_limit_s=2.0)


class Planning(QObject):
    """Plans the document's problem: when asked, and by itself after a change."""

    state_changed = Signal()
    """It has begun, ended, or come to another trouble."""
    progressed = Signal(object)
    ticked = Signal(float)
    """Seconds since the run began, a few times a second."""
    logged = Signal(str, object)
    looking_changed = Signal()
    """Another plan of the run is looked at, or the run is followed again."""

    def __init__(self, document: Document, runner: PlanRunner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.strategy = "optimal"
        self.options = SolveOptions()
        self.plan_on_change = True
        self.runner = runner
        self.is_dragging = False
        self.instant: PlanRunner | None = None
        self._document = document
        self._known: defaultdict[str, KnownPlans] = defaultdict(KnownPlans)
        self._looked_at: Found | None = None
        self._live: ShownPlan | None = None
        self._look = Background(self)
        self._unlimited = UnlimitedTotal()
        self._trouble: tuple[Problem, Status | None, str] | None = None
        self._run_problem: Problem | None = None
        self._given_up: deque[Problem] = deque(maxlen=_GIVEN_UP)
        self._stopping = False
        self._clock = QElapsedTimer()
        self._soon = QTimer(self, interval=_AFTER_AN_EDIT_MS, singleShot=True)
        self._soon.timeout.connect(self.plan)
        self._tick = QTimer(self, interval=_TICK_MS)
        self._tick.timeout.connect(lambda: self.ticked.emit(self.elapsed_s))
        document.work_changed.connect(self._work_changed)
        document.opened.connect(lambda _path: self._known.clear())
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

    def use_instant(self, runner: PlanRunner) -> None:
        """Show a plan at once after every edit, made by a runner of its own, before the real one is looked for."""
        self.instant = runner
        runner.incumbent_found.connect(self._instant_found)
        runner.finished.connect(self._instant_finished)
        runner.failed.connect(lambda _sentence: self.state_changed.emit())

    @property
    def at_once(self) -> bool:
        """Whether a plan at once is awaited."""
        return self.instant is not None and self.instant.running

    @property
    def looked_at(self) -> Found | None:
        """The plan of the run that is looked at in place of the latest, `None` where the run is followed."""
        return self._looked_at

    def look_at(self, found: Found) -> None:
        """Show an earlier plan of the run; the run goes on, and its latest plan is kept for `back_to_live`."""
        work = self._document.work
        if work is None or found.plan.problem is not work.problem:
            return
        if self._looked_at is None:
            self._live = self._document.shown

        def done(shown: ShownPlan) -> None:
            now = self._document.work
            if self._looked_at is not found or now is None or now.problem is not shown.plan.problem:
                return
            bound = None if self._live is None else self._live.plan.lower_bound_ns
            self._document.show_plan(shown if bound is None else shown.with_bound(bound))

        self._looked_at = found
        self._look.run(
            lambda: ShownPlan.of(found.plan, self._unlimited.of(found.plan.problem)), done, lambda _sentence: None
        )
        self.looking_changed.emit()

    def back_to_live(self) -> None:
        """Show the latest plan again, and follow the run."""
        live = self._live
        self._follow()
        if live is not None and self._document.work is not None and live.plan.problem is self._document.work.problem:
            self._document.show_plan(live)

    def _follow(self) -> None:
        self._look.forget()
        if self._looked_at is not None:
            self._looked_at = self._live = None
            self.looking_changed.emit()

    def plan(self) -> None:
        """Look for a plan now; a search in progress is given up."""
        self._soon.stop()
        self._follow()
        work = self._document.work
        if work is None:
            return
        self._trouble = None
        self._stopping = False
        self._run_problem = work.problem
        self._clock.start()
        self._tick.start()
        self.logged.emit(
            tr(
                "plan {name} with {strategy}, {problem}",
                name=work.problem.name,
                strategy=self.strategy,
                problem=_limits(work.problem),
            ),
            None,
        )
        options = replace(self.options, incumbent=self._warm_start(work.problem))
        known = self._known[self.strategy].plans if self._is_usual else ()
        self.runner.start(work.problem, self.strategy, options, known)
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
        if self.instant is not None:
            self.instant.abandon()
        self._follow()
        self._end()
        self.state_changed.emit()

    def close(self) -> None:
        """End everything."""
        self._soon.stop()
        self._tick.stop()
        self.runner.close()
        if self.instant is not None:
            self.instant.close()
        self._look.close()

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
        self._give_up()
        self.runner.abandon()
        self._tick.stop()
        self._soon.stop()
        if self.instant is not None:
            self.instant.abandon()
        self._follow()
        planned = self._is_planned(work.problem)
        tried = self._current_trouble() is not None
        if not planned and not tried and (self.plan_on_change or was_running):
            # A search that a drag would end at once costs the plans on the way their time.
            self._soon.start(_WHILE_DRAGGED_MS if self.is_dragging and self.instant is not None else _AFTER_AN_EDIT_MS)
            self._plan_at_once(work.problem)
        self.state_changed.emit()

    def _is_planned(self, problem: Problem) -> bool:
        """Whether its plan is shown, and neither a search for a better one was given up nor a better one is known."""
        shown = self._document.shown
        if shown is None or shown.plan.problem is not problem or shown.plan.strategy == INSTANT:
            return False
        is_beaten = (
            shown.plan.strategy == self.strategy
            and self._is_usual
            and self._known[self.strategy].has_better(problem, shown.plan.total_ns or 0)
        )
        return not is_beaten and not any(problem is other for other in self._given_up)

    def _give_up(self) -> None:
        """Remember what is not planned to the end, or not shown so, before another problem is turned to."""
        if self.runner.running and self._run_problem is not None:
            self._given_up.append(self._run_problem)
        if self._looked_at is not None:
            self._given_up.append(self._looked_at.plan.problem)

    def _plan_at_once(self, problem: Problem) -> None:
        earlier = self._warm_start(problem)
        if self.instant is not None and earlier is not None:
            options = replace(_AT_ONCE, incumbent=earlier)
            known = (*self._known[self.strategy].plans, *self._known[INSTANT].plans)
            self.instant.start(problem, INSTANT, options, known)

    def _instant_found(self, shown: ShownPlan) -> None:
        """A plan at once; one of the real run is better than it as soon as it is there."""
        work, now = self._document.work, self._document.shown
        if work is None or shown.plan.problem is not work.problem:
            return
        is_new = now is None or now.plan.problem is not work.problem
        if is_new or (
            now is not None and now.plan.strategy == INSTANT and (shown.plan.total_ns or 0) < (now.plan.total_ns or 0)
        ):
            self._document.show_plan(shown)

    def _instant_finished(self, outcome: Outcome) -> None:
        if outcome.shown is not None:
            self._known[INSTANT].add(outcome.plan)
            self._instant_found(outcome.shown)
        self.state_changed.emit()

    def _warm_start(self, problem: Problem) -> Plan | None:
        """The plan that is shown, where it is one of the same graph on the same devices."""
        shown = self._document.shown
        if shown is None:
            return None
        old = shown.plan.problem
        same = old.operators is problem.operators or [o.name for o in old.operators] == [
            o.name for o in problem.operators
        ]
        devices = [d.name for d in old.devices] == [d.name for d in problem.devices]
        return shown.plan if same and devices else None

    def _progressed(self, point: Progress) -> None:
        self.progressed.emit(point)
        shown, bound = self._document.shown, point.lower_bound_ns
        if shown is None or bound is None or shown.plan.problem is not self._run_problem:
            return
        if bound > (shown.plan.lower_bound_ns or 0):
            self._document.show_plan(shown.with_bound(bound))

    def _incumbent_found(self, shown: ShownPlan) -> None:
        if self._looked_at is not None:
            if self._live is None or (shown.plan.total_ns or 0) < (self._live.plan.total_ns or 0):
                self._live = shown
            return
        now = self._document.shown
        current = now is not None and now.plan.problem is shown.plan.problem
        no_slower = now is not None and (now.plan.total_ns or 0) <= (shown.plan.total_ns or 0)
        if current and no_slower and self._counts_time:
            return
        self._document.show_plan(shown)

    @property
    def _counts_time(self) -> bool:
        """Whether of two plans the one that takes less time is the better one."""
        return self.options.objective is Objective.TIME

    @property
    def _is_usual(self) -> bool:
        """Whether plans are sought that take little time, with no deadline: earlier ones tell what can be had."""
        return self._counts_time and self.options.deadline_ns is None

    def _finished(self, outcome: Outcome) -> None:
        self._end()
        plan = outcome.plan
        self._given_up = deque((p for p in self._given_up if p is not plan.problem), _GIVEN_UP)
        if outcome.shown is not None:
            self._known[self.strategy].add(plan)
            if self._looked_at is not None:
                self._live = outcome.shown
            else:
                self._document.show_plan(outcome.shown)
            self.logged.emit(_told(plan), plan.runtime_s)
        else:
            sentence = plan.explanation or tr("No plan was found.")
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
    gap = "" if plan.gap_ratio is None else tr(", gap {gap_ratio}", gap_ratio=format_percent(plan.gap_ratio, 3))
    total = "" if plan.total_ns is None else tr(": total {total_ns}", total_ns=format_duration(plan.total_ns))
    return f"{plan.status.value}{total}{gap}{f' ({plan.explanation})' if plan.explanation else ''}"
