"""Operators one after the other, each input made on demand: with as little else in memory as possible.

What an operator reads is made one by one, each locked until the operator has run, in the order that leaves most room
(for trees this is the rule of Sethi and Ullman, 1970; here results are shared, so whatever is still there is used).
Where no order will do, a result that two of the inputs depend on is made and locked first. All that is not locked stays
until its room is wanted. A search that gives up proves nothing.
"""

from collections.abc import Callable, Generator, Iterator
from itertools import permutations

from xengine_gui.model.plan import Step
from xengine_gui.solve.frugal.cones import Cones
from xengine_gui.solve.frugal.places import bits
from xengine_gui.solve.frugal.routes import Action, Routes
from xengine_gui.solve.frugal.store import Store

_ALL_ORDERS = 5
"""Up to so many inputs all orders are looked at."""
_MOST_DETOURS = 3
_MOST_LOOKS = 60
"""So many results, the nearest first, are looked at as detours, and so many are tried."""

Task = Generator["Task", bool, bool]
"""A piece of work that may ask for other work, and tells whether it was done; run by `_done`."""


class GivenUpError(Exception):
    """Too much was tried, or a stop was asked for."""


class Maker:
    """The search for steps along one set of routes, with `most_each` tries and steps per operator at the most.

    Sets of places are integers, bit by bit.
    """

    def __init__(
        self, routes: Routes, should_stop: Callable[[], bool], *, most_each: int, offloads: bool = False
    ) -> None:
        self.routes, self.should_stop = routes, should_stop
        self.store, self.cones = Store(routes, offloads=offloads), Cones(routes)
        self.most = most_each * (routes.indexed.operator_count + 10)
        self.tries = 0
        self.failed: set[tuple[int, int]] = set()

    def steps(self) -> list[Step] | None:
        """Steps that compute everything, `None` where none were found."""
        try:
            for run in self.routes.runs:
                self.failed.clear()
                self.cones.begin_stage(self.store.fixed)
                if not _done(self._make(run, 0, 0)):
                    return None
                self.store.end_stage()
            return self.store.taken if self._keep() else None
        except GivenUpError:
            return None

    def _keep(self) -> bool:
        """Bring what is to be kept, all of it at once; what is there already comes first."""
        indexed, store, places, locked = self.routes.indexed, self.store, [], 0
        for tensor in sorted(indexed.keep):
            there = [d * store.count + tensor for d in store.devices if store.has(d * store.count + tensor)]
            home = self.routes.runs[indexed.producer[tensor]].device * store.count + tensor
            places.append(there[0] if there else home)
        for place in sorted(places, key=lambda p: not store.has(p)):
            making = None if store.has(place) else store.making(place)
            if not store.has(place) and (making is None or not _done(self._make(making, locked, 0))):
                return False
            locked |= 1 << place
        return True

    def _make(self, action: Action, locked: int, pending: int) -> Task:
        """Take an action with all that it needs, leaving what is locked; `pending` may be wanted soon."""
        self.tries += 1
        if self.tries > self.most or len(self.store.taken) > self.most or self.should_stop():
            raise GivenUpError
        key = (action.outputs[0] if action.outputs else -1, locked)
        if key in self.failed:
            return False
        shot = self.store.snapshot()
        for order in self._orders(action, locked):
            if (yield self._take(action, order, locked, pending)):
                return True
            self.store.restore(shot)
        for place, making, order in self._detours(action, locked):
            wanted = pending | self.cones.made(action.inputs, locked)
            there = self.store.has(place) or (yield self._make(making, locked, wanted))
            if there and (yield self._take(action, order, locked | 1 << place, pending)):
                return True
            self.store.restore(shot)
        self.failed.add(key)
        return False

    def _take(self, action: Action, order: tuple[int, ...], locked: int, pending: int) -> Task:
        """Make the inputs in an order, then take the action."""
        for i, place in enumerate(order):
            if not self.store.has(place):
                making = self.store.making(place)
                wanted = pending | self.cones.made(order[i + 1 :], locked)
                if making is None or not (yield self._make(making, locked, wanted)):
                    return False
            locked |= 1 << place
        return self.store.take(action, locked, pending)

    def _orders(self, action: Action, locked: int) -> list[tuple[int, ...]]:
        """Orders in which the inputs may be made, what is there first, then those that leave most room."""
        places = [place for place in action.inputs if not locked >> place & 1]
        there = [place for place in places if self.store.has(place)]
        missing = [place for place in places if not self.store.has(place)]
        if len(places) <= _ALL_ORDERS:
            orders = list(permutations(missing + there))
        else:
            size = self.store.size
            by_need = sorted(missing, key=lambda p: -self.cones.of(p, locked).excess_bytes + size[p])
            orders = [tuple(there + row) for row in (by_need, sorted(missing), sorted(missing, reverse=True))]
        ranked = []
        for order in orders:
            waiting, excess = self._judged(order, locked)
            if excess <= 0:
                ranked.append((waiting, excess, tuple(-place for place in order), order))
        return [row[-1] for row in sorted(ranked)]

    def _judged(self, order: tuple[int, ...], locked: int) -> tuple[int, int]:
        """How many places that are there must wait for others, and the worst excess at the least on the way."""
        waiting, worst, missing = 0, -max(self.routes.room_bytes), False
        for place in order:
            there = self.store.has(place)
            waiting += there and missing
            missing = missing or not there
            if missing:
                worst = max(worst, self.cones.of(place, locked).excess_bytes)
            locked |= 1 << place
        return waiting, worst

    def _detours(self, action: Action, locked: int) -> Iterator[tuple[int, Action, tuple[int, ...]]]:
        """Results that several inputs depend on: made and locked first they may let all inputs be made."""
        places = [place for place in action.inputs if not locked >> place & 1]
        once = common = 0
        for place in places:
            made = self.cones.of(place, locked).made
            common, once = common | once & made, once | made
        for place in places:
            common &= ~(1 << place)
        indexed, found = self.routes.indexed, 0
        nearest = sorted(bits(common), key=lambda p: (indexed.producer[p % self.store.count], p), reverse=True)
        for place in nearest[:_MOST_LOOKS]:
            making = self.store.making(place)
            if found == _MOST_DETOURS or self.should_stop():
                return
            if making is None or not (self.store.has(place) or self.cones.of(place, locked).excess_bytes <= 0):
                continue
            orders = self._orders(action, locked | 1 << place)
            if orders:
                yield place, making, orders[0]
                found += 1


def _done(task: Task) -> bool:
    """Run a piece of work with all that it asks for; without recursion, since graphs are deep."""
    stack, answer = [task], None
    while stack:
        try:
            stack.append(stack[-1].send(answer))  # type: ignore[arg-type]
            answer = None
        except StopIteration as end:
            stack.pop()
            answer = bool(end.value)
    return bool(answer)
