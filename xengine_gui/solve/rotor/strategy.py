"""The strategy `rotor`: the dynamic programme's best persistent plan that fits."""

import math
from collections.abc import Collection, Container, Sequence

from xengine_gui.model.problem import Problem
from xengine_gui.solve.checkpointing.chen import Kind, Segments
from xengine_gui.solve.checkpointing.forward_part import ForwardPart, forward_part
from xengine_gui.solve.checkpointing.strategy import CheckpointingStrategy, Search
from xengine_gui.solve.formulations.one_device import single_devices
from xengine_gui.solve.rotor.chain import Chain, chain_of
from xengine_gui.solve.rotor.table import Checkpoint, PassOn, Table

_AROUND = 8
"""So many plans on either side of the last that fits are tried too: they may take less than the programme counts."""


class Persistent:
    """Retains what the programme chose for the whole chain in so many slots of memory."""

    def __init__(self, chain: Chain, table: Table, slots: int) -> None:
        self.chain, self.table = chain, table
        self.stage_of_forward = chain.stage_of_forward()
        self.waiting: list[tuple[int, int, int]] = [(0, len(chain.stages) - 1, slots)]
        self.checkpoints: set[int] = set()

    def first(self, missing: Sequence[int]) -> Container[int]:  # noqa: ARG002
        """What the first computation leaves behind."""
        return self._leave(*self.waiting.pop())

    def again(self, missing: Sequence[int], sweep: Sequence[int]) -> Container[int]:
        """What a sweep leaves behind; it begins to reverse the latest interval that waits."""
        stages = self.chain.stages
        end = self.stage_of_forward[sweep[-1]]
        if end + 1 < len(stages) and set(missing) <= set(stages[end + 1].state):
            end += 1
        while self.waiting and self.waiting[-1][0] > end:
            self.waiting.pop()
        if not self.waiting or self.waiting[-1][1] < end:
            return stages[end].record
        begin, last, slots = self.waiting[-1]
        if end == last:
            self.waiting.pop()
        return self._leave(begin, end, slots)

    def dropped(self, operator: int) -> Collection[int]:
        """The states before stages whose backward is over."""
        stage = self.chain.stage_of[operator - self.chain.part.turn]
        over = {checkpoint for checkpoint in self.checkpoints if checkpoint > stage}
        self.checkpoints -= over
        return [t for checkpoint in over for t in self.chain.stages[checkpoint].state]

    def _leave(self, begin: int, end: int, slots: int) -> set[int]:
        """What to retain on the way from stage `begin` to the backward of stage `end`."""
        stages = self.chain.stages
        retained: set[int] = set()
        while (choice := self.table.choice(begin, end, slots)) is not None:
            if isinstance(choice, PassOn):
                end -= 1
            elif isinstance(choice, Checkpoint):
                self.waiting.append((begin, choice.stage - 1, slots))
                self.checkpoints.add(choice.stage)
                retained.update(stages[choice.stage].state)
                slots -= self.table.state[choice.stage]
                begin = choice.stage
            else:
                retained.update(stages[begin].record, stages[begin + 1].state)
                slots -= self.table.kept[begin]
                begin += 1
        return retained | stages[begin].record


class Rotor(CheckpointingStrategy):
    """The optimal persistent plan of a chain.

    Beaumont, Eyraud-Dubois, Herrmann, Joly and Shilova, Inria RR-9302, 2019 (the tool rotor): a dynamic programme over
    intervals of the chain and memory decides stage by stage whether the forward leaves nothing, its result, or all
    that its backward reads. The forward part is cut into stages at its articulation points; a graph without one has no
    such form. Sizes are rounded up to slots of memory, and sizes that no chain shows are counted with care, so the
    plans for somewhat more memory than there is are tried too, and the fastest that fits when it is replayed in bytes
    is taken. It is the best among persistent plans of the chain only, so no bound is claimed.
    """

    key = "rotor"
    title = "rotor"
    summary = (
        "The optimal persistent checkpointing of a chain whose stages differ, by dynamic programming (Beaumont et al., "
        "Inria RR-9302, 2019); graphs are cut into chains at articulation points."
    )

    def supports(self, problem: Problem) -> str:
        """Why it cannot: no device runs everything, or the graph has no form of a chain."""
        reason = super().supports(problem)
        if reason:
            return reason
        if not forward_part(problem, single_devices(problem)[0]).articulations:
            return "no single tensor cuts its forward part in two, so it has no form of a chain"
        return ""

    def search(self, search: Search, part: ForwardPart) -> None:
        """The fastest of the programme's plans that fits."""
        chain = chain_of(part)
        if chain is None or search.attempt(part, Segments(part, (), Kind.CUT), "all records"):
            return
        table = Table(chain, _memory_bytes(chain))
        if not table.fill(search.should_stop):
            return
        least = table.least[0, table.count - 1]
        # The least memory for each total that there is, the slowest first.
        slots = [m for m in range(table.slots + 1) if least[m] < (least[m - 1] if m else math.inf)]
        if not slots:
            search.obstacle = "The dynamic programme finds no persistent plan of the chain in this memory."
        low, high = -1, len(slots)
        while high - low > 1 and not search.should_stop():
            middle = (low + high) // 2
            if self._attempt(search, chain, table, slots[middle]):
                low = middle
            else:
                high = middle
        for other in slots[max(0, low - _AROUND) : high + _AROUND]:
            if not search.should_stop():
                self._attempt(search, chain, table, other)

    @staticmethod
    def _attempt(search: Search, chain: Chain, table: Table, slots: int) -> bool:
        return search.attempt(chain.part, Persistent(chain, table, slots), f"{slots} of {table.slots} memory slots")


def _memory_bytes(chain: Chain) -> int:
    """How much memory the programme looks at: half as much again as there is, and no more than retaining all takes."""
    peaks = (max(s.gradient_bytes + s.record_peak_bytes, s.backward_peak_bytes) for s in chain.stages)
    everything = sum(stage.kept_bytes + stage.state_bytes for stage in chain.stages) + max(peaks)
    room = chain.part.one.room_bytes
    return everything if room is None else min(everything, max(0, room) * 3 // 2)
