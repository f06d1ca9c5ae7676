"""The plan from before beside the plan of now: which one that is, what differs, and where it stands on the axis of now.

After an edit the ghost is the plan that was shown when the edit began, however long a limit is dragged. A plan that
somebody chose to compare with stays until it is let go.
"""

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QObject, Signal

from xengine_gui.language import tr
from xengine_gui.model.plan import Compute, Plan, Transfer
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.align import TimeMap, only_in, time_map
from xengine_gui.schedule.diff import PlanDiff, diff
from xengine_gui.schedule.finish import on_clock
from xengine_gui.schedule.timeline import Int64Array
from xengine_gui.ui.background import Background
from xengine_gui.ui.clock_view import ClockView
from xengine_gui.ui.document import Document
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.timeline.curves import StepCurve
from xengine_gui.units import format_size

Lane = tuple[str, str]
"""A device and one of its lanes: `compute` or `incoming`."""


@dataclass(frozen=True)
class Marks:
    """Bars of one lane, on the time axis of the plan of now."""

    start_ns: Int64Array
    end_ns: Int64Array


@dataclass(frozen=True)
class Ghost:
    """The plan from before, laid over the plan of now; `before_name` is what it is called."""

    before: ShownPlan
    after: ShownPlan
    before_name: str
    difference: PlanDiff
    times: TimeMap
    vanished: dict[Lane, Marks]
    appeared: dict[Lane, Marks]
    levels: dict[str, StepCurve]

    @classmethod
    def of(cls, before: ShownPlan, after: ShownPlan, before_name: str) -> "Ghost":
        """The ghost of a plan over another of the same graph; an `InputError` where the graphs differ."""
        difference = diff(before.plan, after.plan)
        clock = after.plan.clock
        old = before if before.plan.clock is clock else ShownPlan.of(on_clock(before.plan, clock))
        times = time_map(old.plan, after.plan)
        only = only_in(old.plan, after.plan)
        return cls(
            before,
            after,
            before_name,
            difference,
            times,
            vanished=_marks(old.plan, only.one, times),
            appeared=_marks(after.plan, only.other, None),
            levels={
                d.device: StepCurve(times.to_other(d.memory_ns), d.memory_bytes)
                for d in old.timeline.devices
                if len(d.memory_ns)
            },
        )


def _marks(plan: Plan, events: tuple[int, ...], moved: TimeMap | None) -> dict[Lane, Marks]:
    """The bars of some events, moved to where they are in another plan."""
    lanes: dict[Lane, list[tuple[int, int]]] = {}
    for i in events:
        event = plan.events[i]
        if isinstance(event, Compute):
            lanes.setdefault((event.device, "compute"), []).append((event.start_ns, event.end_ns))
        elif isinstance(event, Transfer):
            lanes.setdefault((event.destination, "incoming"), []).append((event.start_ns, event.end_ns))
    found = {}
    for lane, bars in lanes.items():
        start_ns, end_ns = np.array(bars, dtype=np.int64).T
        if moved is not None:
            start_ns, end_ns = moved.to_other(start_ns), moved.to_other(end_ns, as_ends=True)
        found[lane] = Marks(np.minimum(start_ns, end_ns), np.maximum(start_ns, end_ns))
    return found


class GhostKeeper(QObject):
    """Knows which plan the shown one is compared with, and makes the ghost beside the window."""

    changed = Signal()
    """Another ghost, or none."""
    refused = Signal(str)
    """One sentence on why two plans cannot be compared."""

    def __init__(self, document: Document, clock_view: ClockView, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document, self._clock_view = document, clock_view
        self._before: ShownPlan | None = None
        self._fixed: tuple[ShownPlan, str] | None = None
        self._made_of: tuple[ShownPlan, ShownPlan] | None = None
        self._background = Background(self)
        self.ghost: Ghost | None = None
        document.step_begun.connect(self._remember)
        document.opened.connect(lambda _path: self.forget())
        clock_view.changed.connect(self._look)

    @property
    def is_fixed(self) -> bool:
        """Whether somebody chose the plan to compare with."""
        return self._fixed is not None

    def compare_with(self, shown: ShownPlan, name: str) -> None:
        """Compare with this plan until it is let go."""
        self._fixed = shown, name
        self._look()

    def let_go(self) -> None:
        """Compare with the plan from before the last edit again."""
        self._fixed = None
        self._look()

    def forget(self) -> None:
        """Compare with nothing."""
        self._before = self._fixed = None
        self._look()

    def close(self) -> None:
        """End what is being made."""
        self._background.close()

    def _remember(self) -> None:
        """An edit begins: what is shown is the plan from before, unless it is an older one already."""
        if self._document.shown is not None and not self._document.stale:
            self._before = self._document.shown

    def _look(self) -> None:
        """See what is shown, and compare it with what it is to be compared with."""
        now, after = self._document.shown, self._clock_view.shown
        before, name = self._fixed or (self._before, "")
        if before is None or now is None or after is None or before.timeline is now.timeline:
            self._put(None, None)
            return
        if self._made_of is not None and self._made_of[0] is before and self._made_of[1].timeline is after.timeline:
            return
        if self._document.stale or (not self._fixed and before.plan.problem is now.plan.problem):
            # An edit that waits for its plan, or that was taken back: the ghost of another pair would mislead.
            self._put(None, None)
            return
        name = name or _limits_name(before.plan.problem, now.plan.problem)
        self._made_of = before, after

        def done(ghost: Ghost) -> None:
            if self._made_of == (before, after):
                self._put(ghost, (before, after))

        def failed(sentence: str) -> None:
            self._put(None, None)
            if self._fixed is not None:
                self._fixed = None
                self.refused.emit(sentence)

        self._background.run(lambda: Ghost.of(before, after, name), done, failed)

    def _put(self, ghost: Ghost | None, made_of: tuple[ShownPlan, ShownPlan] | None) -> None:
        self._made_of = made_of
        if ghost is None:
            self._background.forget()
        if ghost is not self.ghost:
            self.ghost = ghost
            self.changed.emit()


def _limits_name(before: Problem, after: Problem) -> str:
    """What the plan from before is called: by the limits that differ."""
    now = {d.name: d.memory_limit_bytes for d in after.devices}
    told = [
        f"{d.name} {'unlimited' if d.memory_limit_bytes is None else format_size(d.memory_limit_bytes)}"
        for d in before.devices
        if d.name in now and now[d.name] != d.memory_limit_bytes
    ]
    return tr("before, {told}", told=", ".join(told)) if told else "before"
