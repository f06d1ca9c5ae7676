"""A problem on one device as MONeT sees it: which operators run again when, and by which implementations."""

from dataclasses import dataclass
from functools import cached_property
from math import gcd

from xengine_gui.model.operator import Implementation, Phase
from xengine_gui.model.problem import Problem
from xengine_gui.solve.formulations.one_device import OneDevice

Ways = tuple[tuple[int, ...], ...]
"""Per operator the implementations worth a choice, the fastest first, the one of least workspace last."""


@dataclass(frozen=True)
class MonetDevice(OneDevice):
    """A problem on one device as MONeT sees it: which operators run again when, and by which implementations.

    Operators before `backward_from` are the forward pass. Where no operator is told to be of the backward pass it is
    `None`: nobody knows where the forward pass ends, so everything may run again in each stage. `time_ns` of operators
    with a choice is 0 and `workspace_bytes` the least; `choice_rows` has theirs.
    """

    backward_from: int | None
    ways: Ways

    @property
    def time_unit_ns(self) -> int:
        """The greatest common divisor of all times, those of the choices too."""
        chosen = [self.choice_rows(o)[j].time_ns for o, ways in enumerate(self.ways) for j in ways if len(ways) > 1]
        return gcd(*self.time_ns, *chosen) or 1

    @property
    def least_ns(self) -> int:
        """The total of running everything once by the fastest implementations."""
        return sum(self.choice_rows(operator)[ways[0]].time_ns for operator, ways in enumerate(self.ways))

    @property
    def run_count(self) -> int:
        """How many pairs `runs` has, without making them."""
        return sum(1 + len(self._again(operator)) for operator in range(self.indexed.operator_count))

    @property
    def use_count(self) -> int:
        """How many choices of an implementation there are."""
        return sum(
            len(ways) * (1 + len(self._again(operator))) for operator, ways in enumerate(self.ways) if len(ways) > 1
        )

    @cached_property
    def runs(self) -> tuple[tuple[int, int], ...]:
        """The pairs (stage, operator) that make sense, by stage and in base order."""
        per_stage: list[list[int]] = [[] for _ in range(self.stage_count)]
        for operator in range(self.indexed.operator_count):
            for stage in (operator, *self._again(operator)):
                per_stage[stage].append(operator)
        return tuple((stage, operator) for stage, operators in enumerate(per_stage) for operator in operators)

    @cached_property
    def holds(self) -> tuple[tuple[int, int], ...]:
        """The pairs (stage, tensor) that make sense: a tensor computed earlier that a run in the stage may read."""
        producer = self.indexed.producer
        return tuple(
            (stage, tensor)
            for tensor, last in enumerate(self._last_wanted)
            for stage in range(producer[tensor] + 1, last + 1)
        )

    def choice_rows(self, operator: int) -> tuple[Implementation, ...]:
        """The implementations of an operator on this device."""
        return self.indexed.implementations[operator][self.device]

    def may_run_again(self, operator: int) -> bool:
        """Whether an operator is one of the forward pass that may be computed again."""
        return self.indexed.recomputable[operator] and (self.backward_from is None or operator < self.backward_from)

    def _again(self, operator: int) -> range:
        """The stages in which an operator may run again: forward ones, in the stages of the backward pass."""
        if not self.may_run_again(operator):
            return range(0)
        last = max((self._last_wanted[t] for t in self.indexed.outputs[operator]), default=operator)
        return range(max(operator + 1, self.backward_from or 0), last + 1)

    @cached_property
    def _last_wanted(self) -> tuple[int, ...]:
        """Per tensor the last stage in which a run may read it."""
        indexed, end = self.indexed, self.stage_count - 1
        last = [end if t in indexed.keep else max((0, *readers)) for t, readers in enumerate(indexed.consumers)]
        for operator in reversed(range(indexed.operator_count)):
            if self.may_run_again(operator):
                wanted = max((last[t] for t in indexed.outputs[operator]), default=operator)
                for tensor in indexed.inputs[operator]:
                    last[tensor] = max(last[tensor], wanted)
        return tuple(last)


def monet_device(one: OneDevice, backward_from: int | None) -> MonetDevice:
    """What MONeT may decide on a device; implementations that another beats in time and workspace are left out."""
    ways = tuple(_worth_a_choice(one, operator) for operator in range(one.indexed.operator_count))
    rows = [one.indexed.implementations[operator][one.device] for operator in range(one.indexed.operator_count)]
    free = [len(choice) > 1 for choice in ways]
    return MonetDevice(
        indexed=one.indexed,
        device=one.device,
        implementation=tuple(choice[0] for choice in ways),
        time_ns=tuple(0 if f else row[w[0]].time_ns for f, row, w in zip(free, rows, ways, strict=True)),
        workspace_bytes=tuple(
            0 if f else row[w[0]].workspace_bytes for f, row, w in zip(free, rows, ways, strict=True)
        ),
        room_bytes=one.room_bytes,
        whole=one.indexed.device_count == 1 and backward_from is None,
        backward_from=backward_from,
        ways=ways,
    )


def _worth_a_choice(one: OneDevice, operator: int) -> tuple[int, ...]:
    """The implementations that fit, each with less workspace than all faster ones; the fastest where none fits."""
    indexed = one.indexed
    rows = indexed.implementations[operator][one.device]
    tensors = sum(indexed.tensor_bytes[t] for t in {*indexed.inputs[operator], *indexed.outputs[operator]})
    order = sorted(range(len(rows)), key=[(row.time_ns, row.workspace_bytes) for row in rows].__getitem__)
    kept: list[int] = []
    for j in order:
        fits = one.room_bytes is None or tensors + rows[j].workspace_bytes <= one.room_bytes
        if fits and (not kept or rows[j].workspace_bytes < rows[kept[-1]].workspace_bytes):
            kept.append(j)
    # Without a limit the fastest is as good as any.
    return tuple(kept[:1] if one.room_bytes is None else kept) or (order[0],)


def backward_from(problem: Problem) -> int | None:
    """The first operator behind the forward pass and the loss, `None` where none is told to be."""
    behind = (Phase.BACKWARD, Phase.UPDATE)
    return next((o for o, operator in enumerate(problem.operators) if operator.phase in behind), None)
