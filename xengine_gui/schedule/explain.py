"""Why a plan does what it does: sentences with the figures of its replay.

All figures are of this plan as it stands: what would have been had one tensor stayed where it was, all else unchanged.
"""

from dataclasses import dataclass

from xengine_gui.model.plan import Compute, Event, Free, Plan, Transfer
from xengine_gui.schedule.history import History, Way
from xengine_gui.schedule.staying import HadItStayed, had_it_stayed, round_trips
from xengine_gui.schedule.walk import Residency
from xengine_gui.units import format_count, format_duration, format_names, format_size, format_size_both

_MOST_HELD = 3


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why something happens, in plain sentences; the figures in them beside.

    `cost_ns` is what it costs as it is, `alternative_ns` the quickest other way; `None` where there is none.
    """

    sentences: tuple[str, ...]
    cost_ns: int | None = None
    alternative_ns: int | None = None
    had_it_stayed: HadItStayed | None = None

    def __str__(self) -> str:
        return " ".join(self.sentences)


def why_recomputed(plan: Plan, event_index: int) -> Explanation:
    """Why an operator is computed again: what freed its result, what for, what it costs, what else could be done."""
    return Explainer(plan).why_recomputed(event_index)


def why_transferred(plan: Plan, event_index: int) -> Explanation:
    """Why a tensor is copied to another device, and what computing it there would cost."""
    return Explainer(plan).why_transferred(event_index)


def why_freed(plan: Plan, event_index: int) -> Explanation:
    """Why a tensor may go: its last use, and how its next reader comes by it."""
    return Explainer(plan).why_freed(event_index)


def why_retained(plan: Plan, tensor: str, device: str, time_ns: int) -> Explanation:
    """Why a tensor is held on a device at a moment, and what dropping it until its next use would cost."""
    return Explainer(plan).why_retained(tensor, device, time_ns)


class Explainer:
    """Answers questions about one plan; it is made once for many of them."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.history = History(plan)

    def why(self, event_index: int) -> Explanation:
        """What there is to say about any event; a first computation needs no reason."""
        event = self.plan.events[event_index]
        if isinstance(event, Transfer):
            return self.why_transferred(event_index)
        if isinstance(event, Free):
            return self.why_freed(event_index)
        return self.why_recomputed(event_index) if event.again else Explanation(())

    def why_recomputed(self, event_index: int) -> Explanation:
        """See the function of this name."""
        event = self.plan.events[event_index]
        if not isinstance(event, Compute) or not event.again:
            raise ValueError(f"event {event_index} is no recomputation")
        cost_ns = event.end_ns - event.start_ns
        stay = self._wanted_of(event_index)
        if stay is None:
            return Explanation((f"All that {event.operator} makes was still on {event.device}.",), cost_ns)
        sentences, stayed = self._before(stay, event_index)
        first = self._brought_first(event_index)
        cost = f"Computing it again takes {format_duration(cost_ns)}"
        if first:
            first_ns = sum(self._duration_ns(i) for i in first)
            what = f"{format_count(len(first), 'step')} that {'it needs' if len(first) == 1 else 'are needed'} before"
            cost += f", and {format_duration(first_ns)} more for the {what}"
            cost_ns += first_ns
        other, alternative_ns = self._instead_of_computing(stay, event_index, stayed)
        sentences += (self._needed(stay), f"{cost}{other}.")
        return Explanation(tuple(filter(None, sentences)), cost_ns, alternative_ns, stayed)

    def why_transferred(self, event_index: int) -> Explanation:
        """See the function of this name."""
        event = self.plan.events[event_index]
        if not isinstance(event, Transfer):
            raise ValueError(f"event {event_index} is no transfer")  # noqa: TRY004 - the number is wrong, not its type
        cost_ns = event.end_ns - event.start_ns
        stay = next((s for s in self.history.brought.get(event_index, ()) if s.tensor == event.tensor), None)
        if stay is None:
            return Explanation((f"It was on {event.destination} already.",), cost_ns)
        returned = self._return_of(stay, event)
        if returned is not None:
            return self._parked(event_index, stay, returned)
        was_here = self.history.last_stay(event.tensor, event.destination, event_index)
        sentences, stayed = self._before(stay, event_index) if was_here is not None else ((), None)
        ways = [w for w in self.history.ways_again(event.tensor, event.destination, event_index) if w.operators]
        cost = f"The transfer takes {format_duration(cost_ns)}; "
        if ways:
            cost += f"computing it on {event.destination} instead would take {self._told(ways[0])}."
        else:
            cost += f"it cannot be computed on {event.destination} then."
        alternative_ns = ways[0].time_ns if ways else None
        return Explanation((*sentences, self._needed(stay), cost), cost_ns, alternative_ns, stayed)

    def why_freed(self, event_index: int) -> Explanation:
        """See the function of this name."""
        event = self.plan.events[event_index]
        stay = self.history.freed.get(event_index)
        if not isinstance(event, Free) or stay is None:
            raise ValueError(f"event {event_index} frees nothing")
        users = self.history.users(stay)
        last = (
            f"Its last use on {event.device} was {self._doing(users[-1])}"
            if users
            else f"It was not used on {event.device}"
        )
        level = self.history.level_before(event.device, self.history.place_of_free(stay))
        size = self._size(event.tensor)
        gives = f"{format_size(size)} come free: from {format_size(level)} to {format_size(level - size)}."
        return Explanation((f"{last}.", self._later(stay, event_index), gives))

    def why_retained(self, tensor: str, device: str, time_ns: int) -> Explanation:
        """See the function of this name."""
        stay = next(
            (
                s
                for s in self.history.stays[tensor, device]
                if s.start_ns <= time_ns and (s.end_ns is None or time_ns < s.end_ns)
            ),
            None,
        )
        if stay is None:
            raise ValueError(f"{tensor!r} is not on {device!r} at {time_ns} ns")
        events = self.plan.events
        around = [stay.brought_by, *self.history.users(stay)]
        now = [i for i in around if events[i].start_ns <= time_ns < events[i].end_ns]
        if now:
            making = now[0] == stay.brought_by
            return Explanation((f"{self._name(now[0])} is {'making' if making else 'reading'} it.",))
        after = [i for i in around if events[i].start_ns >= time_ns]
        if not after:
            return Explanation((self._why_to_the_end(stay),))
        ways = list(self.history.ways_again(tensor, device, after[0]))
        waits = f"It waits for {self._doing(after[0])}."
        if not ways:
            return Explanation((waits, "Dropped, it could not be had again in time: nothing makes or brings it."))
        way = ways[0]
        drop = f"Dropping it until then would cost {self._told(way)}."
        return Explanation((waits, drop), None, way.time_ns)

    # ---- parts of answers

    def _wanted_of(self, event_index: int) -> Residency | None:
        """Of what an event brings the tensor that is read first."""
        brought = self.history.brought.get(event_index, [])
        far = len(self.plan.events)
        return min(brought, key=lambda s: next(iter(self.history.users(s)), far), default=None)

    def _before(self, stay: Residency, event_index: int) -> tuple[tuple[str, ...], HadItStayed | None]:
        """What became of the tensor's last stay on this device, or else on another one."""
        history = self.history
        last = history.last_stay(stay.tensor, stay.device, event_index)
        if last is None:
            there = [d for d in history.limit_bytes if history.stay_at(stay.tensor, d, event_index) is not None]
            if there:
                return (f"{stay.tensor} is on {format_names(there)}, and was never on {stay.device} before.",), None
            over = [history.last_stay(stay.tensor, d, event_index) for d in history.limit_bytes]
            last = max((s for s in over if s is not None), key=lambda s: s.freed_by or 0, default=None)
        if last is None:
            return (), None
        stayed = had_it_stayed(self.history, last, event_index)
        level = format_size(stayed.freed_at_bytes)
        freed = (
            f"{stay.tensor} was freed on {last.device} at {format_duration(stayed.freed_ns)}, when {level} were held."
        )
        return (freed, *self._told_stayed(stayed)), stayed

    def _told_stayed(self, s: HadItStayed) -> tuple[str, ...]:
        limit = self.history.limit_bytes[s.device]
        if limit is None or s.over_bytes is None:
            return (f"{s.device} has no limit, so it could have stayed.",)
        when = f"{self._doing(s.moment.event)} at {format_duration(s.moment.time_ns)}"
        if s.over_bytes <= 0:
            room = format_size(-s.over_bytes)
            return (f"It could have stayed: {s.device} would have kept {room} free at the fullest moment, {when}.",)
        held = format_names((f"{h.name} ({format_size(h.size_bytes)})" for h in s.held), _MOST_HELD)
        over = f"{format_size_both(s.over_bytes)} above its limit of {format_size(limit)}"
        return (
            f"Had it stayed, {s.device} would have held {format_size(s.level_bytes)} with {when}: {over}.",
            f"The room was taken by {held}.",
        )

    def _needed(self, stay: Residency) -> str:
        users = self.history.users(stay)
        if users:
            at = format_duration(self.plan.events[users[0]].start_ns)
            return f"{self._name(users[0])} needs it on {stay.device} at {at}."
        return self._why_to_the_end(stay)

    def _why_to_the_end(self, stay: Residency) -> str:
        if stay.tensor in self.plan.problem.keep and stay.freed_by is None:
            return "It must be there at the end."
        return f"Nothing reads it on {stay.device} any more."

    def _instead_of_computing(
        self, stay: Residency, event_index: int, stayed: HadItStayed | None
    ) -> tuple[str, int | None]:
        """A transfer from where it still is, or to another device and back."""
        direct = [w for w in self.history.ways_again(stay.tensor, stay.device, event_index) if not w.operators]
        if direct:
            source = self.plan.problem.devices[direct[0].transfers[0][1]].name
            return f"; a transfer from {source} would take {format_duration(direct[0].time_ns)}", direct[0].time_ns
        if stayed is None or stayed.device != stay.device:
            return "", None
        trips = sorted(round_trips(self.history, stayed, event_index))
        if not trips:
            return "; no other device could have taken it meanwhile", None
        short, time_ns, device = trips[0]
        room = f", which lacks {format_size_both(short)} of room for it" if short else ""
        return f"; moving it to {device} and back would take {format_duration(time_ns)}{room}", time_ns

    def _brought_first(self, event_index: int) -> list[int]:
        """The recomputations and transfers that only serve this one, back to what was there."""
        found: list[int] = []
        waiting = [event_index]
        while waiting:
            at = waiting.pop()
            event = self.plan.events[at]
            read = self.history.operators[event.operator].inputs if isinstance(event, Compute) else (event.tensor,)
            device = event.source if isinstance(event, Transfer) else event.device
            for tensor in dict.fromkeys(read):
                stay = self.history.stay_at(tensor, device, at)
                if stay is None or stay.brought_by in found or self.history.users(stay)[:1] != [at]:
                    continue
                maker = self.plan.events[stay.brought_by]
                if isinstance(maker, Transfer) or (isinstance(maker, Compute) and maker.again):
                    found.append(stay.brought_by)
                    waiting.append(stay.brought_by)
        return found

    def _return_of(self, stay: Residency, event: Transfer) -> int | None:
        """The transfer that brings a tensor back to where this one took it from, where nothing else is done with it."""
        users = self.history.users(stay)
        if not users:
            return None
        back = self.plan.events[users[0]]
        return users[0] if isinstance(back, Transfer) and back.destination == event.source else None

    def _parked(self, event_index: int, stay: Residency, returned: int) -> Explanation:
        event = self.plan.events[event_index]
        back = self.plan.events[returned]
        assert isinstance(event, Transfer)  # noqa: S101 - whoever asks has looked
        cost_ns = sum(self._duration_ns(i) for i in (event_index, returned))
        back_at = format_duration(back.start_ns)
        sentences = [f"It waits on {stay.device} until it goes back to {event.source} at {back_at}."]
        stayed = None
        if self.history.last_stay(event.tensor, event.source, returned) is not None:
            returning = self.history.brought.get(returned, [])
            came = next((s for s in returning if s.tensor == event.tensor), None)
            if came is not None:
                told, stayed = self._before(came, returned)
                sentences += [*told, self._needed(came)]
        ways = [w for w in self.history.ways_again(event.tensor, event.source, returned) if w.operators]
        cost = f"There and back takes {format_duration(cost_ns)}"
        other = f"; computing it again on {event.source} would take {self._told(ways[0])}" if ways else ""
        return Explanation((*sentences, f"{cost}{other}."), cost_ns, ways[0].time_ns if ways else None, stayed)

    def _later(self, stay: Residency, event_index: int) -> str:
        """How the tensor's next reader comes by it after a free."""
        later = [s for s in self.history.stays[stay.tensor, stay.device] if s.brought_by > event_index]
        if later:
            how = self.plan.events[later[0].brought_by]
            at = format_duration(how.start_ns)
            again = f"it is transferred from {how.source}" if isinstance(how, Transfer) else "it is computed again"
            users = self.history.users(later[0])
            who = self._doing(users[0]) if users else "the end"
            return f"Next it is needed by {who}; for that {again} at {at}."
        elsewhere = [
            d for d in self.history.limit_bytes if self.history.stay_at(stay.tensor, d, event_index) is not None
        ]
        if elsewhere:
            return f"It stays on {format_names(elsewhere)}."
        again_elsewhere = [
            s
            for d in self.history.limit_bytes
            for s in self.history.stays[stay.tensor, d]
            if s.brought_by > event_index
        ]
        if again_elsewhere:
            return f"Later it is computed again on {again_elsewhere[0].device}."
        return "Nothing needs it any more."

    # ---- words

    def _told(self, way: Way) -> str:
        """The time of a way, and what it takes: `10 ns (f0)`."""
        problem = self.plan.problem
        parts = []
        if way.operators:
            parts.append(f"computing {format_names((problem.operators[o].name for o in way.operators), _MOST_HELD)}")
        if way.transfers:
            parts.append(
                "transferring "
                + format_names(
                    (f"{problem.tensors[t].name} from {problem.devices[d].name}" for t, d in way.transfers), _MOST_HELD
                )
            )
        return f"{format_duration(way.time_ns)} ({' and '.join(parts)})"

    def _doing(self, event_index: int) -> str:
        """An event as the subject of a sentence."""
        event = self.plan.events[event_index]
        if isinstance(event, Compute):
            return f"the recomputation of {event.operator}" if event.again else event.operator
        if isinstance(event, Transfer):
            return f"the transfer of {event.tensor} to {event.destination}"
        return f"the free of {event.tensor}"

    def _name(self, event_index: int) -> str:
        doing = self._doing(event_index)
        return doing[0].upper() + doing[1:] if doing.startswith("the ") else doing

    def _duration_ns(self, event_index: int) -> int:
        event: Event = self.plan.events[event_index]
        return event.end_ns - event.start_ns

    def _size(self, tensor: str) -> int:
        return self.history.walk.tensor_bytes[tensor]
