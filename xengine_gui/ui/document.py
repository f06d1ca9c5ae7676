"""The state of the window: the work at hand, its plan, and how to go back."""

from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QUndoStack

from xengine_gui.errors import InputError
from xengine_gui.importers.costed.fields import MappingWantedError
from xengine_gui.language import tr
from xengine_gui.model.constraints import Constraint, with_added
from xengine_gui.model.device import Link
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.timeline import Timeline
from xengine_gui.ui.background import Background
from xengine_gui.ui.change import Change
from xengine_gui.ui.checking import open_checked
from xengine_gui.ui.shown_plan import PAINTED_MS, ShownPlan
from xengine_gui.ui.work import Setup, SizesWantedError, Work

_PLANS_KEPT = 8
_WORKS_KEPT = 16
_PRICED_ANEW = tr("device presets")


class Document(QObject):
    """Holds what is open. Whatever cannot be done is told by `refused`, and everything stays as it was."""

    work_changed = Signal()
    """Something else is open, or an edit has changed the problem."""
    opened = Signal(object)
    """A file was opened; its path."""
    glanced = Signal(object)
    """The timeline of a plan that is being opened and not yet judged; `None` where it will not be opened."""
    _glanced = Signal(object, object)
    plan_changed = Signal()
    """Another plan is shown, or the one that is shown has become stale or current."""
    step_begun = Signal()
    """The problem is about to change by an edit (not one that goes on with the last gesture), an undo or a redo."""
    busy_changed = Signal(bool)
    refused = Signal(str)
    """One sentence on why something was not done."""
    open_failed = Signal(object, str)
    """The path and one sentence on why it cannot be opened."""
    sizes_wanted = Signal(object, object)
    """A path and its network, whose free dimensions or unknown sizes want values."""
    mapping_wanted = Signal(object, object)
    """A path and a `MappingWantedError`: its graph has costs, but under names that are not known."""

    def __init__(self, setup: Setup, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.undo_stack = QUndoStack(self)
        self.undo_stack.setUndoLimit(100)
        self._work: Work | None = None
        self._shown: ShownPlan | None = None
        self._last_plans: deque[ShownPlan] = deque(maxlen=_PLANS_KEPT)
        self._last_works: deque[Work] = deque(maxlen=_WORKS_KEPT)
        self._passed_by: list[Problem] = []
        self._gesture = 0
        self._goes_on = False
        self._next_setup = setup
        self._edits: list[tuple[str, Callable[[Setup], Setup]]] = []
        self._opening: Path | None = None
        self._is_priced_anew = False
        self._background = Background(self)
        self._background.busy_changed.connect(self.busy_changed)
        self._glanced.connect(self._glance)
        self._figures = Background(self)

    @property
    def work(self) -> Work | None:
        """What is open."""
        return self._work

    @property
    def shown(self) -> ShownPlan | None:
        """The plan that is shown."""
        return self._shown

    @property
    def setup(self) -> Setup:
        """The setup of the work at hand, or the one that the next network is opened with."""
        return self._work.setup if self._work is not None and self._work.setup is not None else self._next_setup

    @property
    def stale(self) -> bool:
        """Whether the plan that is shown is for a problem as it was before."""
        return self._shown is not None and self._work is not None and self._shown.plan.problem is not self._work.problem

    @property
    def busy(self) -> bool:
        """Whether a file is being read or a problem built."""
        return self._background.busy

    def open(self, path: Path, setup: Setup | None = None) -> None:
        """Read a file beside the window and put it in place of what is open; a network under `setup`, if given."""
        setup = setup or self.setup.for_another_file()
        self.open_by(path, partial(open_checked, path, setup, partial(self._glanced.emit, path)))

    def _glance(self, path: Path, picture: Timeline) -> None:
        if path is self._opening:
            self.glanced.emit(picture)

    def open_by(self, path: Path, job: Callable[[], tuple[Work, ShownPlan | None]]) -> None:
        """Put what `job` reads, beside the window, in place of what is open; `path` is what is told of it.

        Edits that wait are for what is open now: they go on where the other file cannot be opened.
        """
        self.glanced.emit(None)
        self._opening = path

        def read() -> tuple[Work, ShownPlan | None] | SizesWantedError | MappingWantedError:
            try:
                return job()
            except (SizesWantedError, MappingWantedError) as wanted:
                return wanted

        def done(result: tuple[Work, ShownPlan | None] | SizesWantedError | MappingWantedError) -> None:
            if isinstance(result, MappingWantedError):
                self._not_opened()
                self.mapping_wanted.emit(path, result)
                return
            if isinstance(result, SizesWantedError):
                self._not_opened()
                self.sizes_wanted.emit(result.path, result.network)
                return
            is_priced_anew, self._is_priced_anew, self._opening = self._is_priced_anew, False, None
            self._edits.clear()
            self._work, self._shown = result
            self._last_plans.clear()
            self._last_works.clear()
            self._next_setup = self.setup.for_another_file()
            self.undo_stack.clear()
            self.work_changed.emit()
            self.plan_changed.emit()
            self.opened.emit(path)
            self._complete()
            if is_priced_anew:
                self.price_anew()

        def failed(sentence: str) -> None:
            self._not_opened()
            self.open_failed.emit(path, sentence)

        self._background.run(read, done, failed)

    def _not_opened(self) -> None:
        """Go on with the edits of what is open still."""
        self._opening = None
        self.glanced.emit(None)
        if self._is_priced_anew:
            self.price_anew()
        self._build()

    def _complete(self) -> None:
        """Work out, beside the window, the figures that a large plan was shown without."""
        shown = self._shown
        if shown is None or shown.summary.makespan_ns is not None:
            return

        def done(complete: ShownPlan) -> None:
            if self._shown is shown:
                self._shown = complete
                self.plan_changed.emit()

        def begin() -> None:
            if self._shown is shown:
                self._figures.run(shown.with_figures, done, lambda _sentence: None)

        # Once it is painted: two threads take turns, so each would be slower.
        QTimer.singleShot(PAINTED_MS, self, begin)

    def set_limit(self, device: str, memory_limit_bytes: int | None, gesture: int = 0) -> None:
        """Change a device's memory limit; changes of one gesture (a number other than 0) are undone together."""
        if self._work is None:
            return
        try:
            if gesture and self._work.problem.device(device).memory_limit_bytes == memory_limit_bytes:
                return
            work = self._work.with_limit(device, memory_limit_bytes)
        except InputError as error:
            self._refuse(str(error))
            return
        self._push(tr("limit of {device}", device=device), self._met_before(work), gesture)

    def constrain(self, constraint: Constraint) -> None:
        """Demand something of every plan; an `InputError` of the constraint is told by `refused`."""
        work = self._work
        if work is None or constraint in work.constraints:
            return
        changed = work.with_constraints(with_added(work.constraints, constraint))
        new = [c for c in changed.idle if c not in work.idle]
        if new:
            self._refuse(f"{new[0].title}: {changed.idle[new[0]]}.")
            return
        self._push(constraint.title, self._met_before(changed))

    def lift(self, constraints: Iterable[Constraint]) -> None:
        """Demand some things no longer."""
        work, lifted = self._work, tuple(constraints)
        if work is None or not lifted:
            return
        rest = [c for c in work.constraints if c not in lifted]
        text = tr("lift: {title}", title=lifted[0].title) if len(lifted) == 1 else tr("lift all constraints")
        self._push(text, self._met_before(work.with_constraints(rest)))

    def edit_setup(self, text: str, change: Callable[[Setup], Setup]) -> None:
        """Change the setup: the problem is built anew beside the window, then the change can be undone as `text`."""
        if self._opening is not None:
            self._refuse(
                tr("{name} is being opened: {part} can be chosen once it is there.", name=self._opening.name, part=text)
            )
            return
        if self._work is None or self._work.setup is None:
            self._next_setup = change(self._next_setup)
            self.work_changed.emit()
            return
        self._edits.append((text, change))
        self._build()

    def load_costs(self, path: Path) -> None:
        """Lay a table of measured times over the problem."""
        work, text = self._work, tr("measured times of {name}", name=path.name)
        if work is None:
            self._refuse(tr("Open a network or a problem first: measured times lie over its operators."))
        elif work.setup is not None:
            self.edit_setup(text, lambda setup: replace(setup, costs=(*setup.costs, path)))
        else:
            try:
                self._push(text, work.with_costs((path,)))
            except InputError as error:
                self._refuse(str(error))

    def drop_costs(self) -> None:
        """Take measured times away: those of a network are modelled again, a problem file has its own."""
        work = self._work
        if work is None or not work.costs:
            return
        if work.setup is not None:
            self.edit_setup(tr("modelled times"), lambda setup: replace(setup, costs=()))
        else:
            self.open(work.path)

    def set_links(self, text: str, links: Iterable[Link]) -> None:
        """Give transfers between devices another bandwidth or latency."""
        self._edit_links(text, lambda work: work.with_links(links))

    def reset_links(self, pairs: Collection[tuple[str, str]]) -> None:
        """Go back to what the presets of the devices, or the file, give for links from one device to another."""
        self._edit_links(tr("usual links"), lambda work: work.without_links(pairs))

    def _edit_links(self, text: str, change: Callable[[Work], Work]) -> None:
        work = self._work
        changed = None if work is None else change(work)
        if work is not None and changed is not None and changed.links_given != work.links_given:
            self._push(text, self._met_before(changed))

    def price_anew(self) -> None:
        """Make the problem of a network again, for presets that have changed."""
        self._is_priced_anew = self._opening is not None
        if not self._is_priced_anew:
            self._edits.append((_PRICED_ANEW, lambda setup: setup))
            self._build()

    def set_preset(self, device: str, preset: str) -> None:
        """Give a device another preset, with that preset's own memory."""
        self.edit_setup(tr("preset of {device}", device=device), lambda setup: setup.with_preset(device, preset))

    def add_device(self, preset: str, stem: str) -> None:
        """Add a device under a free name made of `stem`."""
        self.edit_setup(tr("add {stem}", stem=stem), lambda setup: setup.with_device(preset, stem))

    def remove_device(self, device: str) -> None:
        """Take a device away; the last one stays."""
        if len(self.setup.devices) < 2:
            self._refuse(tr("The last device cannot be removed: a plan needs one to run on."))
            return
        self.edit_setup(tr("remove {device}", device=device), lambda setup: setup.without_device(device))

    def show_plan(self, shown: ShownPlan) -> None:
        """Show a plan of the problem at hand."""
        old = self._shown
        another = old is not None and old.plan.problem is not shown.plan.problem
        if old is not None and another and not any(old.plan.problem is problem for problem in self._passed_by):
            self._last_plans.append(old)
        self._shown = shown
        self.plan_changed.emit()

    def adopt(self, shown: ShownPlan, text: str) -> None:
        """Show a plan of the graph at hand; limits that it was made for become the limits, by an edit called `text`."""
        work = self._work
        if work is None:
            return
        if shown.plan.problem is not work.problem:
            self._last_plans.append(shown)  # found by the edit, so that nothing is planned anew
            self._push(text, work.with_limits_of(shown.plan.problem))
        if self._shown is not shown:
            self.show_plan(shown)

    def close(self) -> None:
        """End what is being read."""
        self._background.close()
        self._figures.close()

    def _build(self) -> None:
        """Make the edits that wait into a new problem; whatever changes meanwhile makes it start anew."""
        work = self._work
        setup = None if work is None else work.setup
        if work is None or setup is None:
            self._edits.clear()
            return
        for _text, change in self._edits:
            setup = change(setup)
        if setup == work.setup and all(text != _PRICED_ANEW for text, _change in self._edits):
            self._edits.clear()
            self._background.forget()  # of edits that were taken back
            return

        def done(new: Work) -> None:
            if self._work is not work:
                self._build()
                return
            text = self._edits[-1][0]
            self._edits.clear()
            if new.setup != work.setup or new.problem != work.problem:
                self._push(text, new)

        def failed(sentence: str) -> None:
            self._edits.clear()
            self._refuse(sentence)

        self._background.run(lambda: work.with_setup(setup), done, failed)

    def _refuse(self, sentence: str) -> None:
        self.work_changed.emit()  # fields that ran ahead go back
        self.refused.emit(sentence)

    def _push(self, text: str, work: Work, gesture: int = 0) -> None:
        old = self._work
        if old is None:
            return
        goes_on = gesture != 0 and gesture == self._gesture
        if goes_on:
            self._passed_by.append(old.problem)
        else:
            self._passed_by.clear()
            self._last_works.append(old)
        self._goes_on = goes_on
        self.undo_stack.push(Change(text, old, work, self._put, gesture))
        # A gesture that has come back to where it began has left no step to go on with.
        top = self.undo_stack.command(self.undo_stack.index() - 1)
        self._gesture = gesture if isinstance(top, Change) and top.new is work else 0

    def _met_before(self, work: Work) -> Work:
        """The same work as it was before, where it was: its plan is then known."""
        return next((last for last in self._last_works if last.is_like(work)), work)

    def _put(self, work: Work) -> None:
        if not self._goes_on:
            self.step_begun.emit()
        self._goes_on, self._gesture = False, 0
        shown, stale = self._shown, self.stale
        self._work = work
        known = next((p for p in reversed(self._last_plans) if p.plan.problem is work.problem), None)
        if known is not None and (self._shown is None or self.stale):
            self.show_plan(known)  # an edit that is undone brings its plan back at once
            shown, stale = self._shown, self.stale
        self.work_changed.emit()
        if self._shown is not shown or self.stale != stale:
            self.plan_changed.emit()
