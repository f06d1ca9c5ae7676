"""The state of the window: the work at hand, its plan, and how to go back."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from xengine_gui.cost import DeviceChoice
from xengine_gui.errors import InputError
from xengine_gui.model.plan import Plan
from xengine_gui.schedule.verify import verify
from xengine_gui.ui.background import Background
from xengine_gui.ui.shown_plan import ShownPlan, UnlimitedTotal
from xengine_gui.ui.work import Setup, SizesWantedError, Work, open_work

_PLANS_KEPT = 8


class Document(QObject):
    """Holds what is open. Whatever cannot be done is told by `refused`, and everything stays as it was."""

    work_changed = Signal()
    """Something else is open, or an edit has changed the problem."""
    opened = Signal(object)
    """A file was opened; its path."""
    plan_changed = Signal()
    """Another plan is shown, or the one that is shown has become stale or current."""
    busy_changed = Signal(bool)
    refused = Signal(str)
    """One sentence on why something was not done."""
    open_failed = Signal(object, str)
    """The path and one sentence on why it cannot be opened."""
    sizes_wanted = Signal(object, object)
    """A path and its network, whose free dimensions want values."""

    def __init__(self, setup: Setup, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.undo_stack = QUndoStack(self)
        self.undo_stack.setUndoLimit(100)
        self._work: Work | None = None
        self._shown: ShownPlan | None = None
        self._last_plans: deque[ShownPlan] = deque(maxlen=_PLANS_KEPT)
        self._next_setup = setup
        self._edits: list[tuple[str, Callable[[Setup], Setup]]] = []
        self._background = Background(self)
        self._background.busy_changed.connect(self.busy_changed)

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
        setup = setup or replace(self.setup, batch=None, bindings={}, links=())

        def read() -> tuple[Work, ShownPlan | None]:
            work, plan = open_work(path, setup)
            return work, None if plan is None else checked(path, plan)

        self.open_by(path, read)

    def open_by(self, path: Path, job: Callable[[], tuple[Work, ShownPlan | None]]) -> None:
        """Put what `job` reads, beside the window, in place of what is open; `path` is what is told of it."""
        self._edits.clear()

        def read() -> tuple[Work, ShownPlan | None] | SizesWantedError:
            try:
                return job()
            except SizesWantedError as wanted:
                return wanted

        def done(result: tuple[Work, ShownPlan | None] | SizesWantedError) -> None:
            if isinstance(result, SizesWantedError):
                self.sizes_wanted.emit(result.path, result.network)
                return
            self._work, self._shown = result
            self._last_plans.clear()
            self._next_setup = replace(self.setup, batch=None, bindings={}, links=())
            self.undo_stack.clear()
            self.work_changed.emit()
            self.plan_changed.emit()
            self.opened.emit(path)

        self._background.run(read, done, lambda sentence: self.open_failed.emit(path, sentence))

    def set_limit(self, device: str, memory_limit_bytes: int | None) -> None:
        """Change a device's memory limit."""
        if self._work is None:
            return
        try:
            work = self._work.with_limit(device, memory_limit_bytes)
        except InputError as error:
            self._refuse(str(error))
            return
        self._push(f"limit of {device}", work)

    def edit_setup(self, text: str, change: Callable[[Setup], Setup]) -> None:
        """Change the setup: the problem is built anew beside the window, then the change can be undone as `text`."""
        if self._work is None or self._work.setup is None:
            self._next_setup = change(self._next_setup)
            self.work_changed.emit()
            return
        self._edits.append((text, change))
        self._build()

    def set_preset(self, device: str, preset: str) -> None:
        """Give a device another preset, with that preset's own memory."""

        def change(setup: Setup) -> Setup:
            devices = (DeviceChoice(d.name, preset, None) if d.name == device else d for d in setup.devices)
            return replace(setup, devices=tuple(devices))

        self.edit_setup(f"preset of {device}", change)

    def add_device(self, preset: str, stem: str) -> None:
        """Add a device under a free name made of `stem`."""

        def change(setup: Setup) -> Setup:
            taken = {d.name for d in setup.devices}
            name = next(n for n in (stem, *(f"{stem}{i}" for i in range(2, len(taken) + 3))) if n not in taken)
            return replace(setup, devices=(*setup.devices, DeviceChoice(name, preset, None)))

        self.edit_setup(f"add {stem}", change)

    def remove_device(self, device: str) -> None:
        """Take a device away; the last one stays."""
        if len(self.setup.devices) < 2:
            self._refuse("The last device cannot be removed: a plan needs one to run on.")
            return

        def change(setup: Setup) -> Setup:
            return replace(setup, devices=tuple(d for d in setup.devices if d.name != device))

        self.edit_setup(f"remove {device}", change)

    def show_plan(self, shown: ShownPlan) -> None:
        """Show a plan of the problem at hand."""
        if self._shown is not None and self._shown.plan.problem is not shown.plan.problem:
            self._last_plans.append(self._shown)
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

    def _build(self) -> None:
        """Make the edits that wait into a new problem; whatever changes meanwhile makes it start anew."""
        work = self._work
        if work is None or work.setup is None or not self._edits:
            self._edits.clear()
            return
        setup = work.setup
        for _text, change in self._edits:
            setup = change(setup)
        if setup == work.setup:
            self._edits.clear()
            return

        def done(new: Work) -> None:
            if self._work is not work:
                self._build()
                return
            text = self._edits[-1][0]
            self._edits.clear()
            self._push(text, new)

        self._background.run(lambda: work.with_setup(setup), done, self._refuse)

    def _refuse(self, sentence: str) -> None:
        self._edits.clear()
        self.work_changed.emit()  # fields that ran ahead go back
        self.refused.emit(sentence)

    def _push(self, text: str, work: Work) -> None:
        if self._work is not None:
            self.undo_stack.push(_Change(text, self._work, work, self._put))

    def _put(self, work: Work) -> None:
        self._work = work
        known = next((p for p in reversed(self._last_plans) if p.plan.problem is work.problem), None)
        if known is not None and (self._shown is None or self.stale):
            self.show_plan(known)  # an edit that is undone brings its plan back at once
        self.work_changed.emit()
        self.plan_changed.emit()


class _Change(QUndoCommand):
    def __init__(self, text: str, old: Work, new: Work, put: Callable[[Work], None]) -> None:
        super().__init__(text)
        self._old, self._new, self._put = old, new, put

    def redo(self) -> None:
        self._put(self._new)

    def undo(self) -> None:
        self._put(self._old)


def checked(path: Path, plan: Plan) -> ShownPlan | None:
    """A plan of a file as it is shown; one that breaks a rule is refused."""
    if not plan.has_events:
        return None
    verdict = verify(plan)
    if not verdict.ok:
        raise InputError(path.name, f"the plan breaks a rule: {verdict.broken[0]}")
    return ShownPlan.of(plan, UnlimitedTotal().of(plan.problem))
