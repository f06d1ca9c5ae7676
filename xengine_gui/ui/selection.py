"""What is selected: one object that timeline, memory, tables, graph and playback share."""

from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QObject, Signal

from xengine_gui.model.plan import Compute, Event
from xengine_gui.model.problem import Problem
from xengine_gui.ui.shown_plan import ShownPlan


class Kind(Enum):
    """What a selection is of."""

    NOTHING = "nothing"
    OPERATOR = "operator"
    TENSOR = "tensor"
    EVENT = "event"
    MOMENT = "moment"
    RANGE = "range"


@dataclass(frozen=True, slots=True)
class Selection:
    """One selected thing.

    `name` is the operator's or the tensor's, also where the kind is an event. `device` is empty where all are meant.
    `event` is a position in the plan's events and -1 without one, `time_ns` is -1 without a moment; a range goes on to
    `end_ns`.
    """

    kind: Kind = Kind.NOTHING
    name: str = ""
    device: str = ""
    event: int = -1
    time_ns: int = -1
    end_ns: int = -1

    def __bool__(self) -> bool:
        return self.kind is not Kind.NOTHING


NOTHING = Selection()


class SelectionModel(QObject):
    """Holds the selection for one window. Whoever shows it listens to `changed` and reads `current`."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._current = NOTHING
        self._problem: Problem | None = None
        self._shown: ShownPlan | None = None

    @property
    def current(self) -> Selection:
        """What is selected."""
        return self._current

    @property
    def shown(self) -> ShownPlan | None:
        """The plan that events are positions of."""
        return self._shown

    def select(self, selection: Selection) -> None:
        """Select; what is selected already changes nothing."""
        if selection != self._current:
            self._current = selection
            self.changed.emit()

    def clear(self) -> None:
        """Select nothing."""
        self.select(NOTHING)

    def select_operator(self, name: str) -> None:
        """Select an operator with all its computations."""
        self.select(Selection(Kind.OPERATOR, name))

    def select_tensor(self, name: str, device: str = "") -> None:
        """Select a tensor, wherever it is or on one device."""
        self.select(Selection(Kind.TENSOR, name, device))

    def select_moment(self, time_ns: int, device: str = "") -> None:
        """Select a moment, with the memory of a device where one is named."""
        self.select(Selection(Kind.MOMENT, device=device, time_ns=time_ns))

    def select_range(self, start_ns: int, end_ns: int) -> None:
        """Select a stretch of time."""
        self.select(Selection(Kind.RANGE, time_ns=start_ns, end_ns=end_ns))

    def select_event(self, event: int) -> None:
        """Select an event of the plan by its position; a position that it does not have selects nothing."""
        events = self._shown.plan.events if self._shown is not None else ()
        if not 0 <= event < len(events):
            self.clear()
            return
        found = events[event]
        self.select(Selection(Kind.EVENT, name_of(found), device_of(found), event, found.start_ns))

    def set_work(self, problem: Problem | None) -> None:
        """Another problem: names that it does not have are not selected any more."""
        if problem is self._problem:
            return
        self._problem = problem
        if not self._is_known(self._current):
            self.clear()

    def set_plan(self, shown: ShownPlan | None) -> None:
        """Another plan: an event of the old one becomes its operator or its tensor."""
        old, self._shown = self._shown, shown
        if shown is None or (old is not None and old.timeline is shown.timeline):
            if shown is None and self._current.kind in (Kind.EVENT, Kind.MOMENT, Kind.RANGE):
                self.clear()
            return
        self._problem = self._problem or shown.plan.problem
        current = self._current
        if current.kind is Kind.EVENT and old is not None:
            is_compute = isinstance(old.plan.events[current.event], Compute)
            current = Selection(Kind.OPERATOR if is_compute else Kind.TENSOR, current.name)
        elif current.kind in (Kind.MOMENT, Kind.RANGE) and max(current.time_ns, current.end_ns) > shown.timeline.end_ns:
            current = NOTHING
        self.select(current if self._is_known(current) else NOTHING)

    def _is_known(self, selection: Selection) -> bool:
        """Whether the problem has what is selected by name."""
        if selection.kind not in (Kind.OPERATOR, Kind.TENSOR):
            return True
        problem = self._problem
        things = () if problem is None else problem.operators if selection.kind is Kind.OPERATOR else problem.tensors
        return any(thing.name == selection.name for thing in things)


def name_of(event: Event) -> str:
    """The operator that an event computes, or the tensor that it moves or frees."""
    return event.operator if isinstance(event, Compute) else event.tensor


def device_of(event: Event) -> str:
    """Where an event takes place; of a transfer the destination."""
    return getattr(event, "destination", "") or getattr(event, "device", "")
