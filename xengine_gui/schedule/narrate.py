"""A plan told event by event: one plain sentence for each, as a teacher would say it while pointing."""

from functools import cached_property

from xengine_gui.model.operator import Phase
from xengine_gui.model.plan import Compute, Event, Free, Plan, Transfer
from xengine_gui.schedule.history import History
from xengine_gui.schedule.walk import Residency
from xengine_gui.units import format_count, format_duration, format_names, format_size

_MOST_NAMES = 3


class Narrator:
    """Tells the events of one plan. Making it takes as long as a replay; sentences are quick.

    A history of the same plan may be given, so that it is not made twice.
    """

    def __init__(self, plan: Plan, history: History | None = None) -> None:
        self.plan = plan
        self._history = history or History(plan)

    def sentence(self, event_index: int) -> str:
        """What an event does and why then, in one sentence that begins with the event's kind."""
        event = self.plan.events[event_index]
        if isinstance(event, Transfer):
            return self._transfer(event_index, event)
        if isinstance(event, Free):
            return self._free(event_index, event)
        return self._recompute(event_index, event) if event.again else self._compute(event_index, event)

    def stage(self, event_index: int) -> int:
        """The number of the stage that an event belongs to, from 1; what follows the last stage belongs to it."""
        return self._stages[event_index]

    # ---- one method per kind

    def _compute(self, at: int, event: Compute) -> str:
        operator = self._history.operators[event.operator]
        said = f"compute {event.operator} on {event.device}, {_took(event)}"
        made = [t for t in dict.fromkeys(operator.outputs) if self._size(t)]
        if not made:
            return f"{said}: it makes nothing that takes memory"
        size = format_size(sum(map(self._size, made)))
        what = f"{format_names(made, _MOST_NAMES)} ({size})"
        return f"{said}: it makes {what}, {self._first_use(at, event)}"

    def _recompute(self, at: int, event: Compute) -> str:
        said = f"recompute {event.operator} on {event.device}, {_took(event)}"
        stay = self._wanted(at)
        if stay is None:
            return f"{said}: all that it makes was still there"
        users = self._history.users(stay)
        need = f"{self._subject(users[0])} needs {stay.tensor}" if users else f"{stay.tensor} must be there at the end"
        return f"{said}: {need}{self._since_when(stay, at)}"

    def _transfer(self, at: int, event: Transfer) -> str:
        said = f"transfer {event.tensor} from {event.source} to {event.destination}, {_took(event)}"
        stay = self._wanted(at)
        if stay is None:
            return f"{said}: it was there already"
        users = self._history.users(stay)
        if not users:
            kept = event.tensor in self.plan.problem.keep and stay.freed_by is None
            return f"{said}: {'it must be there at the end' if kept else 'nothing reads it there'}"
        reader = self.plan.events[users[0]]
        if isinstance(reader, Transfer):
            return f"{said}: it waits there until stage {self.stage(users[0])}, when it goes on to {reader.destination}"
        return f"{said}: {self._subject(users[0])} needs it there"

    def _free(self, at: int, event: Free) -> str:
        said = f"free {event.tensor} on {event.device}"
        stay = self._history.freed.get(at)
        if stay is None:
            return f"{said}: it was not there"
        users = self._history.users(stay)
        last = f"its last use was {self._subject(users[-1])}" if users else "nothing used it there"
        return f"{said}: {self._until_when(stay, at, last)}"

    # ---- parts of sentences

    def _first_use(self, at: int, event: Compute) -> str:
        """Who reads first what was made, on this device; elsewhere only transfers bring it."""
        stays = self._history.brought.get(at, [])
        first = min((u[0] for s in stays if (u := self._history.users(s))), default=None)
        if first is not None:
            return f"which {self._subject(first)} reads first"
        kept = [s.tensor for s in stays if s.tensor in self.plan.problem.keep and s.freed_by is None]
        return "which must be there at the end" if kept else f"which nothing reads on {event.device}"

    def _since_when(self, stay: Residency, at: int) -> str:
        last = self._history.last_stay(stay.tensor, stay.device, at)
        if last is None or last.freed_by is None:
            there = [d for d in self._history.limit_bytes if self._history.stay_at(stay.tensor, d, at) is not None]
            return f", which is only on {format_names(there)}" if there else f", which was never on {stay.device}"
        return f", freed in stage {self.stage(last.freed_by)}"

    def _until_when(self, stay: Residency, at: int, last: str) -> str:
        """How the tensor comes back after a free, where it does, behind the last use."""
        later = [s for s in self._history.stays[stay.tensor, stay.device] if s.brought_by > at]
        if not later:
            return last
        back = self.plan.events[later[0].brought_by]
        users = self._history.users(later[0])
        who = self._subject(users[0]) if users else "the end"
        how = f"comes back from {back.source}" if isinstance(back, Transfer) else "is computed again"
        return f"{last}; for {who} it {how} in stage {self.stage(later[0].brought_by)}"

    def _wanted(self, at: int) -> Residency | None:
        """Of what an event brings the tensor that is read first."""
        far = len(self.plan.events)
        return min(
            self._history.brought.get(at, []), key=lambda s: next(iter(self._history.users(s)), far), default=None
        )

    def _subject(self, at: int) -> str:
        event = self.plan.events[at]
        if isinstance(event, Transfer):
            return f"the transfer to {event.destination}"
        assert isinstance(event, Compute)  # noqa: S101 - frees read nothing
        return f"{event.operator} (again)" if event.again else event.operator

    def _size(self, tensor: str) -> int:
        return self._history.walk.tensor_bytes[tensor]

    @cached_property
    def _stages(self) -> list[int]:
        count = len(self.plan.problem.operators)
        stages, stage = [], 1
        for event in self.plan.events:
            stages.append(min(stage, max(count, 1)))
            if isinstance(event, Compute) and not event.again:
                stage += 1
        return stages


def headline(plan: Plan) -> str:
    """What is told before the first event: how much there is to come."""
    again = sum(isinstance(e, Compute) and e.again for e in plan.events)
    moves = sum(isinstance(e, Transfer) for e in plan.events)
    backward = sum(o.phase is Phase.BACKWARD for o in plan.problem.operators)
    step = "a training step" if backward else "an inference"
    return (
        f"{step} of {format_count(len(plan.problem.operators), 'operator')} in "
        f"{format_count(len(plan.events), 'event')}: {format_count(again, 'recomputation')}, "
        f"{format_count(moves, 'transfer')}"
    )


def _took(event: Event) -> str:
    return format_duration(event.end_ns - event.start_ns)
