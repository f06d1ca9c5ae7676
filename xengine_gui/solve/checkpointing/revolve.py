"""The strategy `revolve`: binomial checkpointing."""

from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from itertools import pairwise

from xengine_gui.solve.checkpointing.binomial import advance
from xengine_gui.solve.checkpointing.forward_part import ForwardPart
from xengine_gui.solve.checkpointing.strategy import CheckpointingStrategy, Search
from xengine_gui.units import format_count

_FEW = 16
"""Up to so many checkpoints each number is attempted."""

_SPREAD = 48
"""Of larger numbers so many are, evenly spread."""


class Reversal:
    """Sweeps restart from the latest checkpoint and set new ones where the binomial rule wants them.

    The chain's steps lie between `boundaries`, ascending, of which the first is 0 and the last the turn; the state
    before a step is the cut there. `slots` counts the checkpoints, that of the chain's beginning among them.
    `hold_last`: the first sweep also leaves behind what its last operator reads, the state from which it is reversed.
    """

    def __init__(self, part: ForwardPart, boundaries: Sequence[int], slots: int, *, hold_last: bool) -> None:
        self.part, self.boundaries, self.slots, self.hold_last = part, boundaries, slots, hold_last
        self.step_of = [step for step, ends in enumerate(pairwise(boundaries)) for _ in range(*ends)]
        self.checkpoints = [0]

    def first(self, missing: Sequence[int]) -> Container[int]:
        """The checkpoints that reversing the whole chain begins with, and what the last step makes."""
        if not self.part.turn:
            return ()
        retained = self._leave(0, len(self.boundaries) - 2, missing)
        if self.hold_last:
            retained.update(self.part.indexed.inputs[self.part.turn - 1])
        return retained

    def again(self, missing: Sequence[int], sweep: Sequence[int]) -> Container[int]:
        """The checkpoints that reversing up to the last step of the sweep begins with, and what that step makes."""
        return self._leave(self.step_of[sweep[0]], self.step_of[sweep[-1]], missing)

    def dropped(self, operator: int) -> Collection[int]:  # noqa: ARG002
        """Nothing goes before its last use."""
        return ()

    def _leave(self, begin: int, step: int, missing: Sequence[int]) -> set[int]:
        """What a sweep from step `begin` on leaves behind for the reversal of `step` and those before it."""
        while self.checkpoints[-1] > step:
            self.checkpoints.pop()
        outputs = self.part.indexed.outputs
        retained: set[int] = set()
        end = step + 1
        if missing and set(missing) <= set(self.part.cut(self.boundaries[end])):
            # Wanted is the state after the step, as reversing the next step reads it; this one records nothing.
            end += 1
        else:
            operators = range(self.boundaries[step], self.boundaries[end])
            retained.update(t for o in operators for t in outputs[o] if self.part.wanted[t])
        begin = max(begin, self.checkpoints[-1])
        for place in self._set(begin, end, self.slots - len(self.checkpoints) + 1):
            if place <= step:
                self.checkpoints.append(place)
                retained.update(self.part.cut(self.boundaries[place]))
        return retained

    @staticmethod
    def _set(begin: int, end: int, slots: int) -> Iterator[int]:
        """Where the rule sets checkpoints on the way from one before step `begin` to the reversal of step `end` - 1."""
        while slots > 1 and end - begin > 1:
            begin += advance(end - begin, slots)
            slots -= 1
            yield begin


class Revolve(CheckpointingStrategy):
    """Reverses the forward part as a uniform chain, optimally for the number of checkpoints.

    Griewank and Walther, "Algorithm 799: Revolve", ACM TOMS 2000: with c checkpoints, set by binomial coefficients, l
    steps are reversed with the fewest forward steps, r·l - (c + r choose r - 1) beyond the l that none can save. The
    rule knows neither sizes nor times. On graphs that are no chains the steps are those between articulation points
    (as in Checkmate, Jain et al., MLSys 2020) or the operators of the linearised graph, where a checkpoint is all that
    crosses the cut. Of all numbers of checkpoints the one that gives the fastest fitting plan is taken. A step's
    records never wait for a later sweep, so Revolve computes again even where everything would fit.
    """

    key = "revolve"
    title = "Revolve"
    summary = (
        "Reverses the network as a uniform chain with binomially set checkpoints (Griewank and Walther, ACM TOMS "
        "2000), between articulation points or in the linearised graph."
    )

    def search(self, search: Search, part: ForwardPart) -> None:
        """Both forms of the graph as a chain, from the most checkpoints down to the first number that fits."""
        chains = [(0, *part.articulations, part.turn)] if part.articulations else []
        if not chains or part.boundaries != part.articulations:
            chains.append((0, *part.boundaries, part.turn))
        for boundaries in chains:
            _most_slots(search, part, boundaries, _slots(len(boundaries) - 1), hold_last=True)
        if search.steps is None:
            for boundaries in chains:
                _most_slots(search, part, boundaries, range(min(_FEW, len(boundaries) - 1), 0, -1), hold_last=False)


def _slots(most: int) -> list[int]:
    """Numbers of checkpoints to attempt, the most first: each where they are few, else some of the many."""
    return sorted({*range(1, min(most, _FEW) + 1), *(most * i // _SPREAD for i in range(1, _SPREAD + 1))} - {0})[::-1]


def _most_slots(
    search: Search, part: ForwardPart, boundaries: Sequence[int], slots: Iterable[int], *, hold_last: bool
) -> None:
    """Attempt numbers of checkpoints until one fits."""
    for count in slots:
        retention = Reversal(part, boundaries, count, hold_last=hold_last)
        if search.should_stop() or search.attempt(part, retention, format_count(count, "checkpoint")):
            return
