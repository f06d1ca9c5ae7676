"""From what a method retains to the order in which everything runs.

The forward part runs once. From the turn on the base order goes on; where an operator misses a tensor, a *sweep*
computes it again, with all that it takes, from what is retained, in base order. The method says what each sweep leaves
behind: that is all in which the checkpointing methods differ.
"""

from collections.abc import Callable, Collection, Container, Sequence
from typing import Protocol

from xengine_gui.solve.checkpointing.forward_part import ForwardPart

MOST_RUNS = 40_000
"""Longer orders are given up: quadratic sweeps over a thousand operators. So much is laid out and judged in half a
second, which is also how long a stop may take."""


class Everything:
    """Contains all tensors."""

    def __contains__(self, tensor: object) -> bool:
        return True


class Retention(Protocol):
    """What a method retains; made anew for every plan, since it may remember its sweeps.

    Retained tensors stay until their last use. Those that the sweep is for are retained in any case.
    """

    def first(self, missing: Sequence[int]) -> Container[int]:
        """The tensors that the first computation of the forward part leaves behind for the turn, which reads some."""
        ...

    def again(self, missing: Sequence[int], sweep: Sequence[int]) -> Container[int]:
        """The tensors that a sweep for those missing leaves behind; `sweep` are its operators, at least one."""
        ...

    def dropped(self, operator: int) -> Collection[int]:
        """What is not retained any longer when the turn or an operator after it is about to run."""
        ...


def run_order(
    part: ForwardPart, retention: Retention, *, ceiling_ns: float, should_stop: Callable[[], bool]
) -> list[int] | None:
    """The operators in the order of a plan; `None` after a stop, if it is too long, or if it takes `ceiling_ns`."""
    order = _Order(part)
    order.begin(retention)
    for operator in range(part.turn, part.indexed.operator_count):
        if order.time_ns >= ceiling_ns or len(order.runs) > MOST_RUNS or should_stop():
            return None
        order.go_on(operator, retention)
    return order.runs if order.time_ns < ceiling_ns else None


class _Order:
    """The operators run so far and the tensors that are there now or last."""

    def __init__(self, part: ForwardPart) -> None:
        self.part = part
        self.indexed = part.indexed
        self.there = bytearray(part.lasting)
        self.runs = list(range(part.turn))
        self.time_ns = sum(part.one.time_ns)

    def begin(self, retention: Retention) -> None:
        """The first computation of the forward part."""
        turn = self.part.turn
        here = [] if turn == self.indexed.operator_count else self.indexed.inputs[turn]
        missing = [t for t in here if not self.there[t]]
        self._retain(range(turn), missing, retention.first(missing))

    def go_on(self, operator: int, retention: Retention) -> None:
        """The next operator of the base order, after a sweep for what it misses."""
        inputs = self.indexed.inputs[operator]
        for tensor in retention.dropped(operator):
            self.there[tensor] = self.part.lasting[tensor]
        missing = [t for t in inputs if not self.there[t]]
        if missing:
            sweep = self._sweep(missing)
            self.runs += sweep
            self.time_ns += sum(self.part.one.time_ns[o] for o in sweep)
            self._retain(sweep, missing, retention.again(missing, sweep))
        self.runs.append(operator)

    def _sweep(self, missing: Sequence[int]) -> list[int]:
        """The operators that make the missing tensors out of what is there, in base order."""
        there, producer, inputs = self.there, self.indexed.producer, self.indexed.inputs
        found = {producer[t] for t in missing}
        waiting = list(found)
        while waiting:
            for tensor in inputs[waiting.pop()]:
                if not there[tensor] and producer[tensor] not in found:
                    found.add(producer[tensor])
                    waiting.append(producer[tensor])
        return sorted(found)

    def _retain(self, sweep: Sequence[int], missing: Sequence[int], retained: Container[int]) -> None:
        for operator in sweep:
            for tensor in self.indexed.outputs[operator]:
                if tensor in retained:
                    self.there[tensor] = 1
        for tensor in missing:
            self.there[tensor] = 1
