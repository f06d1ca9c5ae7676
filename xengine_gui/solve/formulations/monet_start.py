"""A first plan of MONeT's kind: store everything, then drop what costs least to compute again where memory falls short.

A tensor is stored from its first computation to its last direct reader; or it is dropped after the forward pass, and
stored once it was computed again; or every stage of the backward pass that wants it computes it anew.
"""

from collections.abc import Callable
from enum import IntEnum

from xengine_gui.model.plan import Drop, Run, Step
from xengine_gui.schedule.replay import StepReplay, Violation, replay_steps
from xengine_gui.solve.formulations.monet_device import MonetDevice
from xengine_gui.solve.formulations.one_device import steps_of_stages

_ASKED_EVERY = 64


class Storing(IntEnum):
    """For how long a tensor is stored."""

    NEVER = 0
    ONCE_AGAIN = 1
    ALWAYS = 2


def monet_start(side: MonetDevice, should_stop: Callable[[], bool]) -> list[Step] | None:
    """A plan within the limit, `None` where this simple way finds none."""
    return _Start(side, should_stop).find()


class _Start:
    def __init__(self, side: MonetDevice, should_stop: Callable[[], bool]) -> None:
        self.side, self.indexed, self.should_stop = side, side.indexed, should_stop
        self.may_run = frozenset(side.runs)
        self.may_hold = frozenset(side.holds)
        self.storing = [Storing.ALWAYS] * self.indexed.tensor_count
        self.backward_from = side.backward_from or 0
        end = side.stage_count - 1
        self.last_read = [
            end if t in self.indexed.keep else max((0, *readers)) for t, readers in enumerate(self.indexed.consumers)
        ]

    def find(self) -> list[Step] | None:
        while not self.should_stop():
            found = self._stages()
            if found is None:
                return None
            runs, holds = found
            steps = self._steps(runs, holds)
            replay = replay_steps(self.indexed, steps)
            if replay.fits:
                return self._finished(steps, replay) if replay.valid else None
            if not self._drop(steps, max(replay.violations, key=lambda v: v.over_bytes)):
                return None
        return None

    # -- what runs and what is held

    def _stages(self) -> tuple[set[tuple[int, int]], set[tuple[int, int]]] | None:
        """Pairs that run and are held as `storing` says; `None` where something cannot be had, or after a stop."""
        runs: set[tuple[int, int]] = set()
        holds: set[tuple[int, int]] = set()
        there: set[int] = set()
        for stage in range(self.side.stage_count):
            if stage % _ASKED_EVERY == 0 and self.should_stop():
                return None
            last = stage == self.indexed.operator_count
            wanted = list(self.indexed.keep) if last else [*self.indexed.inputs[stage]]
            while wanted:
                tensor = wanted.pop()
                if tensor in there:
                    continue
                producer = self.indexed.producer[tensor]
                if (stage, producer) not in self.may_run:
                    return None
                runs.add((stage, producer))
                there.update(self.indexed.outputs[producer])
                wanted += self.indexed.inputs[producer]
            if not last:
                runs.add((stage, stage))
                there.update(self.indexed.outputs[stage])
            there = {t for t in there if self._is_held(stage + 1, t)}
            holds.update((stage + 1, t) for t in there)
        return runs, holds

    def _is_held(self, stage: int, tensor: int) -> bool:
        if (stage, tensor) not in self.may_hold:
            return False
        if not self.side.may_run_again(self.indexed.producer[tensor]) or self._is_read_forwards(stage, tensor):
            return True
        least = Storing.ALWAYS if stage <= self.backward_from else Storing.ONCE_AGAIN
        return self.storing[tensor] >= least and stage <= self.last_read[tensor]

    def _is_read_forwards(self, stage: int, tensor: int) -> bool:
        """Whether an operator of the forward pass will read a tensor, when nothing runs again yet."""
        return any(stage <= reader < self.backward_from for reader in self.indexed.consumers[tensor])

    def _steps(self, runs: set[tuple[int, int]], holds: set[tuple[int, int]]) -> list[Step]:
        steps = steps_of_stages(self.side, runs=lambda t, o: (t, o) in runs, holds=lambda t, x: (t, x) in holds)
        return [s._replace(implementation=self.side.ways[s.operator][-1]) if isinstance(s, Run) else s for s in steps]

    # -- what to drop

    def _drop(self, steps: list[Step], worst: Violation) -> bool:
        """Store less at the worst moment, cheapest per byte first; false where there is nothing to drop."""
        there, stage = self._moment(steps, worst.step)
        step = steps[worst.step]
        if isinstance(step, Run):
            there -= {*self.indexed.inputs[step.operator], *self.indexed.outputs[step.operator]}
        candidates = {
            t
            for t in there
            if self.storing[t]
            and self.indexed.tensor_bytes[t]
            and self.side.may_run_again(self.indexed.producer[t])
            and not self._is_read_forwards(stage, t)
        }
        missing = worst.over_bytes
        dropped = False
        while candidates and missing > 0:
            tensor = min(candidates, key=lambda t: self._cost_ns(t) / self.indexed.tensor_bytes[t])
            candidates.remove(tensor)
            self.storing[tensor] = Storing(self.storing[tensor] - 1)
            missing -= self.indexed.tensor_bytes[tensor]
            dropped = True
        return dropped

    def _moment(self, steps: list[Step], position: int) -> tuple[set[int], int]:
        """What is there before a step, and in which stage it is."""
        there: set[int] = set()
        stage = 0
        for step in steps[:position]:
            if isinstance(step, Run):
                there.update(self.indexed.outputs[step.operator])
                stage += step.operator == stage
            elif isinstance(step, Drop):
                there.discard(step.tensor)
        return there, stage

    def _cost_ns(self, tensor: int) -> int:
        """What computing a tensor again takes, with what is not stored before it."""
        total = 0
        seen: set[int] = set()
        wanted = [self.indexed.producer[tensor]]
        while wanted:
            operator = wanted.pop()
            if operator in seen:
                continue
            seen.add(operator)
            total += self.side.choice_rows(operator)[self.side.ways[operator][0]].time_ns
            wanted += [
                self.indexed.producer[t] for t in self.indexed.inputs[operator] if self.storing[t] < Storing.ALWAYS
            ]
        return total

    # -- implementations

    def _finished(self, steps: list[Step], replay: StepReplay) -> list[Step]:
        """Each run by the fastest implementation for whose workspace there is room just then."""
        room = self.side.room_bytes
        chosen: list[Step] = []
        for step, high in zip(steps, replay.high_bytes, strict=True):
            if not isinstance(step, Run):
                chosen.append(step)
                continue
            rows = self.side.choice_rows(step.operator)
            level = high - rows[step.implementation].workspace_bytes
            ways = self.side.ways[step.operator]
            fits = (way for way in ways if room is None or level + rows[way].workspace_bytes <= room)
            chosen.append(step._replace(implementation=next(fits)))
        return chosen
