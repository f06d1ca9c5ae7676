"""The forward part of a problem: what checkpointing methods drop and compute again, and where they may cut it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.operator import Phase
from xengine_gui.model.problem import Problem
from xengine_gui.solve.formulations.one_device import OneDevice

_SIDE_SHARE = 1000
"""A tensor lighter than the forward part by this factor may be held all along, as an attention mask is."""

_SIDE_SPAN = 4
"""It is if the forward part reads it over more than its length divided by this."""

_MOST_CROSSINGS = 3_000_000
"""Tensors in all cuts together, of graphs that are linearised."""


@dataclass(frozen=True)
class ForwardPart:
    """A problem on one device, parted at operator `turn`: those before it may be computed again, the others never are.

    The turn is the first operator whose phase is not forward; where all are, the moment at which the most bytes wait
    for later operators. A *boundary* b stands before operator b; `cut(b)` are the tensors alive across it for the
    forward part's own use. Some tensors are never dropped before their last use, and no cut has them: what the rest of
    the plan makes (gradients), what must not be recomputed or is kept at the end, and light tensors that most of the
    forward part reads (`lasting`).
    """

    one: OneDevice
    turn: int

    @property
    def indexed(self) -> IndexedProblem:
        """The problem in numbers."""
        return self.one.indexed

    @cached_property
    def last_reader(self) -> tuple[int, ...]:
        """Per tensor the last operator of the forward part that reads it, its producer where none does."""
        return tuple(
            max([made, *(o for o in readers if o < self.turn)])
            for made, readers in zip(self.indexed.producer, self.indexed.consumers, strict=True)
        )

    @cached_property
    def lasting(self) -> tuple[bool, ...]:
        """Per tensor whether it stays from its first computation to its last use."""
        indexed = self.indexed
        forward = [t for t, made in enumerate(indexed.producer) if made < self.turn]
        total = sum(indexed.tensor_bytes[t] for t in forward)
        found = [made >= self.turn or not indexed.recomputable[made] for made in indexed.producer]
        for t in forward:
            span = self.last_reader[t] - indexed.producer[t]
            light = indexed.tensor_bytes[t] * _SIDE_SHARE <= total and span * _SIDE_SPAN > self.turn
            found[t] |= light or t in indexed.keep
        return tuple(found)

    @cached_property
    def wanted(self) -> tuple[bool, ...]:
        """Per tensor whether an operator from the turn on reads it."""
        return tuple(any(o >= self.turn for o in readers) for readers in self.indexed.consumers)

    @cached_property
    def _spans(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Per tensor its producer and last reader; of those that no cut has, a span that crosses nothing."""
        crosses = [
            made < self.turn and not lasts for made, lasts in zip(self.indexed.producer, self.lasting, strict=True)
        ]
        made = np.where(crosses, np.array(self.indexed.producer, np.int64), 0)
        return made, np.where(crosses, np.array(self.last_reader, np.int64), 0)

    def cut(self, boundary: int) -> list[int]:
        """The tensors that computing on from a boundary needs, besides those that last."""
        made, last = self._spans
        crossing: list[int] = np.flatnonzero((made < boundary) & (boundary <= last)).tolist()
        return crossing

    @cached_property
    def crossing_counts(self) -> list[int]:
        """Per boundary how many tensors its cut has."""
        made, last = self._spans
        change = np.bincount(made + 1, minlength=self.turn + 2) - np.bincount(last + 1, minlength=self.turn + 2)
        counts: list[int] = np.cumsum(change).tolist()
        return counts

    @cached_property
    def boundaries(self) -> tuple[int, ...]:
        """Where the linearised forward part may be cut: one step between any two, and the first one begins it.

        A step is an operator that can be computed again; those that never are go with the one after. A graph so woven
        that listing its cuts takes seconds is cut at its articulation points alone.
        """
        if sum(self.crossing_counts) > _MOST_CROSSINGS:
            return self.articulations
        return self._with_steps(range(1, self.turn))

    @cached_property
    def articulations(self) -> tuple[int, ...]:
        """The boundaries that a single tensor crosses: its producer is an articulation point of the forward graph."""
        return self._with_steps([b for b in range(1, self.turn) if self.crossing_counts[b] == 1])

    def _with_steps(self, candidates: Sequence[int]) -> tuple[int, ...]:
        """Those of some boundaries that have something to compute again before and after them."""
        again = [any(not self.lasting[t] for t in self.indexed.outputs[o]) for o in range(self.turn)]
        before = [0, *accumulate(again)]
        chosen: list[int] = []
        done = 0
        for boundary in candidates:
            if done < before[boundary] < before[-1]:
                chosen.append(boundary)
                done = before[boundary]
        return tuple(chosen)


def forward_part(problem: Problem, one: OneDevice) -> ForwardPart:
    """The forward part of a problem that is planned on one device."""
    turn = next((i for i, o in enumerate(problem.operators) if o.phase is not Phase.FORWARD), None)
    return ForwardPart(one, _fullest_boundary(problem.indexed) if turn is None else turn)


def _fullest_boundary(indexed: IndexedProblem) -> int:
    """The boundary across which most bytes are alive when nothing is dropped."""
    change = [0] * (indexed.operator_count + 1)
    for t, readers in enumerate(indexed.consumers):
        if readers:
            change[indexed.producer[t] + 1] += indexed.tensor_bytes[t]
            if readers[-1] + 1 <= indexed.operator_count:
                change[readers[-1] + 1] -= indexed.tensor_bytes[t]
    alive = list(accumulate(change))
    return max(range(len(alive)), key=alive.__getitem__)
