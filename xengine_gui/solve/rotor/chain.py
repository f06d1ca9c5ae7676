"""A forward part cut into a chain at its articulation points, with the times and bytes that the programme wants."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from xengine_gui.solve.checkpointing.forward_part import ForwardPart

MOST_STAGES = 120
"""Longer chains are cut more coarsely, since the programme's work grows with the third power of the length."""


@dataclass(frozen=True)
class Stage:
    """A piece of the forward part between two boundaries of one state each, and the backward that belongs to it.

    `state` are the tensors alive across the boundary before it, its input. `record` is what its own backward reads of
    what it makes. Bytes are those on the device beside the stage's input; each `peak` is the most while something runs:
    `pass_peak_bytes` the forward that leaves nothing but its result, `record_peak_bytes` the forward that leaves the
    record too, `backward_peak_bytes` the backward (less if the input goes early). `gradient_bytes` is there as its
    backward begins.
    """

    state: tuple[int, ...]
    record: frozenset[int]
    forward_ns: int
    backward_ns: int
    state_bytes: int
    kept_bytes: int
    pass_peak_bytes: int
    record_peak_bytes: int
    backward_peak_bytes: int
    gradient_bytes: int
    has_backward: bool

    @property
    def records(self) -> bool:
        """Whether its backward needs more than its input."""
        return bool(self.record)


@dataclass(frozen=True)
class Chain:
    """The stages, their boundaries, and the stage whose backward each operator from the turn on belongs to.

    `lasting_bytes` are forward tensors that no method drops; they count as there all along.
    """

    part: ForwardPart
    boundaries: tuple[int, ...]
    stages: tuple[Stage, ...]
    stage_of: tuple[int, ...]
    lasting_bytes: int

    def stage_of_forward(self) -> list[int]:
        """Per operator of the forward part its stage."""
        return [stage for stage, ends in enumerate(pairwise(self.boundaries)) for _ in range(*ends)]


def chain_of(part: ForwardPart) -> Chain | None:
    """The chain of a forward part, `None` where no articulation point cuts it."""
    if not part.articulations:
        return None
    boundaries = (0, *_fewer(part, MOST_STAGES - 1), part.turn)
    return _Measure(part, boundaries).chain()


def _fewer(part: ForwardPart, most: int) -> Sequence[int]:
    """At most so many articulation points: where there are more, the lightest of each of so many groups."""
    every = part.articulations
    size = part.indexed.tensor_bytes
    groups = (every[len(every) * i // most : len(every) * (i + 1) // most] for i in range(most))
    return [min(group, key=lambda b: sum(size[t] for t in part.cut(b))) for group in groups if group]


class _Measure:
    """Assigns the backward to the stages and measures both."""

    def __init__(self, part: ForwardPart, boundaries: tuple[int, ...]) -> None:
        self.part, self.boundaries = part, boundaries
        self.indexed, self.one = part.indexed, part.one
        self.count = len(boundaries) - 1
        self.forward_stage = [stage for stage, ends in enumerate(pairwise(boundaries)) for _ in range(*ends)]
        self.state_of = {t: stage for stage in range(1, self.count) for t in part.cut(boundaries[stage])}
        self.stage_of = self._stages()
        self.read_last = self._last_reads()
        self.gradient_bytes = self._gradients()

    def chain(self) -> Chain:
        """The whole chain."""
        size = self.indexed.tensor_bytes
        lasting = (t for t, made in enumerate(self.indexed.producer) if made < self.part.turn and self.part.lasting[t])
        backward: list[list[int]] = [[] for _ in range(self.count)]
        for position, stage in enumerate(self.stage_of):
            backward[stage].append(self.part.turn + position)
        stages = tuple(self._stage(stage, operators) for stage, operators in enumerate(backward))
        return Chain(self.part, self.boundaries, stages, self.stage_of, sum(size[t] for t in lasting))

    def _stages(self) -> tuple[int, ...]:
        """Per operator from the turn on the stage whose backward it is, never a later one than before it.

        It is the latest of which it reads a result, or the next where that is no more than the next one's input.
        """
        stages: list[int] = []
        current = self.count - 1
        for operator in range(self.part.turn, self.indexed.operator_count):
            reads = [t for t in self.indexed.inputs[operator] if not self.part.lasting[t]]
            latest = max((self.forward_stage[self.indexed.producer[t]] for t in reads), default=current)
            own = [t for t in reads if self.forward_stage[self.indexed.producer[t]] == latest]
            if own and all(self.state_of.get(t) == latest + 1 for t in own):
                latest += 1
            current = min(current, latest)
            stages.append(current)
        return tuple(stages)

    def _last_reads(self) -> list[int]:
        """Per tensor the last operator that reads it, -1 where none does, one past the end where it is kept."""
        last = [readers[-1] if readers else -1 for readers in self.indexed.consumers]
        for tensor in self.indexed.keep:
            last[tensor] = self.indexed.operator_count
        return last

    def _gradients(self) -> list[int]:
        """Per stage the bytes made since the turn that are there as its backward begins."""
        count = self.indexed.operator_count
        change = [0] * (count + 2)
        for tensor, made in enumerate(self.indexed.producer):
            if made >= self.part.turn and self.read_last[tensor] > made:
                change[made + 1] += self.indexed.tensor_bytes[tensor]
                change[min(self.read_last[tensor], count) + 1] -= self.indexed.tensor_bytes[tensor]
        alive = list(accumulate(change))
        falling = [-stage for stage in self.stage_of]
        begins = (self.part.turn + bisect_left(falling, -stage) for stage in range(self.count))
        return [alive[begin] for begin in begins]

    def _stage(self, stage: int, backward: Sequence[int]) -> Stage:
        begin, end = self.boundaries[stage : stage + 2]
        size, time_ns = self.indexed.tensor_bytes, self.one.time_ns
        made = {t for o in range(begin, end) for t in self.indexed.outputs[o] if not self.part.lasting[t]}
        record = frozenset(t for o in backward for t in self.indexed.inputs[o] if t in made)
        result = set(self.part.cut(end)) if end < self.part.turn else set()
        state = tuple(self.part.cut(begin)) if begin else ()
        return Stage(
            state=state,
            record=record,
            forward_ns=sum(time_ns[begin:end]),
            backward_ns=sum(time_ns[o] for o in backward),
            state_bytes=sum(size[t] for t in state),
            kept_bytes=sum(size[t] for t in record | result),
            pass_peak_bytes=self._forward_peak(begin, end, result),
            record_peak_bytes=self._forward_peak(begin, end, record | result),
            backward_peak_bytes=self._backward_peak(state, record, backward, self.gradient_bytes[stage]),
            gradient_bytes=self.gradient_bytes[stage],
            has_backward=bool(backward),
        )

    def _forward_peak(self, begin: int, end: int, kept: set[int] | frozenset[int]) -> int:
        """The most that the stage's forward takes beside its input, when all but some tensors go after their use."""
        size, last = self.indexed.tensor_bytes, self.part.last_reader
        level = peak = 0
        for operator in range(begin, end):
            made = [t for t in self.indexed.outputs[operator] if not self.part.lasting[t]]
            level += sum(size[t] for t in made)
            peak = max(peak, level + self.one.workspace_bytes[operator])
            done = {t for t in (*made, *self.indexed.inputs[operator]) if last[t] <= operator and t not in kept}
            level -= sum(size[t] for t in done if self.indexed.producer[t] >= begin and not self.part.lasting[t])
        return peak

    def _backward_peak(self, state: Sequence[int], record: frozenset[int], backward: Sequence[int], begin: int) -> int:
        """The most that the stage's backward takes: its record, gradients and workspace, less its input's bytes.

        An input that it does not read to its end goes before, so the input may be worth more than the peak beside it.
        """
        size, turn = self.indexed.tensor_bytes, self.part.turn
        uses = {t: o for o in backward for t in self.indexed.inputs[o] if t in record}
        uses |= {t: self.read_last[t] for t in state if backward and self.read_last[t] >= backward[0]}
        level = begin + sum(size[t] for t in uses)
        peak = 0
        for operator in backward:
            made = self.indexed.outputs[operator]
            level += sum(size[t] for t in made)
            peak = max(peak, level + self.one.workspace_bytes[operator])
            for tensor in (*made, *self.indexed.inputs[operator]):
                last = self.read_last[tensor] if self.indexed.producer[tensor] >= turn else uses.get(tensor)
                if last is not None and last <= operator:
                    level -= size[tensor]
        return max(0, peak - sum(size[t] for t in state))
