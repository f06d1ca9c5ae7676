"""The stages that a base order is cut into, and what can sensibly happen in each."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from xengine_gui.model.indexed import IndexedProblem


@dataclass(frozen=True)
class Stages:
    """Stage t ends with the first computation of operator t; operators run in base order in each."""

    indexed: IndexedProblem

    @property
    def stage_count(self) -> int:
        """Stages: one per operator, and one at the end where something must be kept."""
        return self.indexed.operator_count + bool(self.indexed.keep)

    @cached_property
    def reach(self) -> tuple[int, ...]:
        """Per operator the last stage that can want its results, directly or to compute something else."""
        last = list(range(self.indexed.operator_count))
        for tensor in sorted(range(self.indexed.tensor_count), key=self.indexed.producer.__getitem__, reverse=True):
            producer, readers = self.indexed.producer[tensor], self.indexed.consumers[tensor]
            if tensor in self.indexed.keep:
                last[producer] = self.stage_count - 1
            last[producer] = max([last[producer], *(last[reader] for reader in readers)])
        return tuple(last)

    @property
    def run_count(self) -> int:
        """How many pairs `runs` has, without making them."""
        stages = (last - operator for operator, last in enumerate(self.reach) if self.indexed.recomputable[operator])
        return self.indexed.operator_count + sum(stages)

    @cached_property
    def runs(self) -> tuple[tuple[int, int], ...]:
        """The pairs (stage, operator) that make sense: the stage's own operator, and earlier ones that it may want."""
        return tuple((stage, operator) for stage in range(self.stage_count) for operator in self._runs_in(stage))

    @cached_property
    def slots(self) -> tuple[tuple[int, ...], ...]:
        """Per stage the operators that may run in it, in base order."""
        return tuple(tuple(self._runs_in(stage)) for stage in range(self.stage_count))

    @cached_property
    def holds(self) -> tuple[tuple[int, int], ...]:
        """The pairs (stage, tensor) that make sense: a tensor computed earlier and held as the stage begins."""
        producer, reach = self.indexed.producer, self.reach
        return tuple(
            (stage, tensor)
            for tensor in range(self.indexed.tensor_count)
            for stage in range(producer[tensor] + 1, reach[producer[tensor]] + 1)
        )

    def touched(self, operator: int) -> tuple[int, ...]:
        """The tensors that an operator reads and writes."""
        return (*self.indexed.inputs[operator], *self.indexed.outputs[operator])

    def _runs_in(self, stage: int) -> Iterator[int]:
        for operator in range(min(stage + 1, self.indexed.operator_count)):
            again = self.indexed.recomputable[operator] and self.reach[operator] >= stage
            if operator == stage or again:
                yield operator
