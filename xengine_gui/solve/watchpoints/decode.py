"""From a point of the relaxation to a list of steps: computed lazily, depth first, freed eagerly."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.plan import Drop, Move, Run, Step
from xengine_gui.solve.watchpoints.points import WatchPoint
from xengine_gui.solve.watchpoints.relaxation import Relaxation
from xengine_gui.solve.watchpoints.tables import Floats

Place = tuple[int, int]
"""A tensor on a device: (device, tensor)."""


class UndecodableError(Exception):
    """A point that asks for a tensor which nothing brings (it can only come from a solver's rounding)."""


class Mark(NamedTuple):
    """Where a step stands: its segment, and the stage of the plan it belongs to."""

    segment: int
    stage: int


@dataclass(frozen=True)
class Decoded:
    """Steps in order, and the mark of each."""

    steps: list[Step]
    marks: list[Mark]


@dataclass(frozen=True)
class Choice:
    """What a point of the relaxation says of one segment.

    `runs[device, operator]` is the implementation to run, `early` that of a run before a watched last one,
    `moves[destination, tensor]` the source of a copy, `held` what is held at the segment's end.
    """

    runs: dict[tuple[int, int], int] = field(default_factory=dict)
    early: dict[tuple[int, int], int] = field(default_factory=dict)
    moves: dict[Place, int] = field(default_factory=dict)
    held: set[Place] = field(default_factory=set)


def read_choices(relaxation: Relaxation, point: Floats) -> list[Choice]:
    """The choices of an integral point, per segment."""
    tables, columns, chosen = relaxation.tables, relaxation.columns, point > 0.5
    choices = [Choice() for _ in relaxation.segmentation.segments]
    for k, way in zip(*np.nonzero((columns.run >= 0) & chosen[columns.run]), strict=True):
        key = int(tables.way_device[way]), int(tables.way_operator[way])
        choices[k].runs[key] = int(tables.way_implementation[way])
    for k, way in zip(*np.nonzero((columns.early >= 0) & chosen[columns.early]), strict=True):
        key = int(tables.way_device[way]), int(tables.way_operator[way])
        choices[k].early[key] = int(tables.way_implementation[way])
    for k, lane in zip(*np.nonzero((columns.move >= 0) & chosen[columns.move]), strict=True):
        key = int(tables.lane_destination[lane]), int(tables.lane_tensor[lane])
        choices[k].moves[key] = int(tables.lane_source[lane])
    for k, place in zip(*np.nonzero((columns.held >= 0) & chosen[columns.held]), strict=True):
        device, tensor = divmod(int(place), tables.problem.tensor_count)
        choices[k - 1].held.add((device, tensor))
    return choices


def decode(relaxation: Relaxation, point: Floats, roomy: Collection[int] = ()) -> Decoded:
    """Turn an integral point into steps that cost no more than its value; memory limits are left for the replay.

    What is copied to a `roomy` device goes there as soon as its source needs it no more, else as late as possible.
    """
    problem, segmentation = relaxation.tables.problem, relaxation.segmentation
    choices = read_choices(relaxation, point)
    decoded, live = Decoded([], []), set[Place]()
    for k, segment in enumerate(segmentation.segments):
        watched = segmentation.points[k] if k < len(segmentation.points) else None
        walk = _SegmentWalk(problem, choices[k], set(live), watched)
        for operator in range(segment.first, segment.last + 1):
            if watched is None or operator != watched.operator:
                walk.first_computation(operator)
        walk.stage = watched.stage if watched is not None else problem.operator_count - 1
        wanted = choices[k].held if watched is not None else walk.kept_at_the_end()
        for device, tensor in sorted(wanted, key=lambda place: (problem.producer[place[1]], place)):
            if watched is None or problem.producer[tensor] != watched.operator:
                walk.bring(device, tensor)
        walk.finish(wanted)
        walk.hoist(roomy, wanted)
        _append_with_frees(decoded, k, walk, live, wanted)
    return decoded


class _SegmentWalk:
    """The actions of one segment, in the order in which they become necessary; the watched run ends it."""

    def __init__(self, problem: IndexedProblem, choice: Choice, have: set[Place], watched: WatchPoint | None) -> None:
        self.problem, self.choice, self.have, self.watched = problem, choice, have, watched
        self.actions: list[tuple[int, Run | Move]] = []
        self.stage = 0
        self._devices = range(problem.device_count)

    def finish(self, wanted: set[Place]) -> None:
        """Run the watched operator, now that all else is done."""
        watched, self.watched = self.watched, None
        if watched is not None and watched.is_first:
            self.first_computation(watched.operator)
        for device, tensor in sorted(wanted):
            self.bring(device, tensor)

    def hoist(self, roomy: Collection[int], wanted: set[Place]) -> None:
        """Do copies to roomy devices earlier: right after the last other use of a source that is not held on."""
        uses: dict[Place, list[int]] = {}
        for i, (_, step) in enumerate(self.actions):
            for place in touched(self.problem, step):
                uses.setdefault(place, []).append(i)
        after = list(range(len(self.actions)))
        for i, (_, step) in enumerate(self.actions):
            if isinstance(step, Move) and step.destination in roomy:
                source = step.source, step.tensor
                if source not in wanted and uses[source][-1] == i:
                    after[i] = uses[source][-2] if len(uses[source]) > 1 else -1
        order = sorted(range(len(self.actions)), key=lambda i: (after[i], i))
        stages = [self.actions[max(after[i], 0)][0] for i in order]
        self.actions = [(stage, self.actions[i][1]) for stage, i in zip(stages, order, strict=True)]

    def first_computation(self, operator: int) -> None:
        """Run an operator of the base order, on each device that the point chose for it."""
        self.stage = operator
        done = False
        for device in self._devices:
            outputs = self.problem.outputs[operator]
            if (device, operator) in self.choice.runs and not (
                outputs and all((device, t) in self.have for t in outputs)
            ):
                # A second device computes it only where it is wanted there, which `bring` finds out.
                if not done:
                    self._work([("run", device, operator)])
                done = True
        if not done:
            raise UndecodableError(f"operator {operator} runs nowhere")

    def bring(self, device: int, tensor: int) -> None:
        """Make a tensor be on a device."""
        self._work([("need", device, tensor)])

    def kept_at_the_end(self) -> set[Place]:
        """For each tensor to keep, one place where it is or can be brought."""
        wanted = set()
        for tensor in sorted(self.problem.keep):
            there = [d for d in self._devices if (d, tensor) in self.have]
            can = [d for d in self._devices if (d, self.problem.producer[tensor]) in self.choice.runs]
            can += [d for d in self._devices if (d, tensor) in self.choice.moves]
            if not there + can:
                raise UndecodableError(f"tensor {tensor} is kept nowhere")
            wanted.add(((there + can)[0], tensor))
        return wanted

    def _work(self, stack: list[tuple[str, int, int]]) -> None:
        opened: set[tuple[int, int]] = set()
        while stack:
            word, device, item = stack.pop()
            if word == "need":
                self._need(stack, opened, device, item)
            elif word == "run":
                self._open(opened, device, item)
                stack.append(("execute", device, item))
                stack.extend(("need", device, t) for t in reversed(self.problem.inputs[item]))
            elif word == "execute":
                self.actions.append((self.stage, Run(device, item, self._ways(device, item)[device, item])))
                self.have.update((device, t) for t in self.problem.outputs[item])
            else:
                self.actions.append((self.stage, Move(self.choice.moves[device, item], device, item)))
                self.have.add((device, item))

    def _need(self, stack: list[tuple[str, int, int]], opened: set[tuple[int, int]], device: int, tensor: int) -> None:
        producer = self.problem.producer[tensor]
        if (device, tensor) in self.have:
            return
        if (device, producer) in self._ways(device, producer):
            stack.append(("run", device, producer))
        elif (device, tensor) in self.choice.moves:
            self._open(opened, device, ~tensor)
            stack.append(("move", device, tensor))
            stack.append(("need", self.choice.moves[device, tensor], tensor))
        else:
            raise UndecodableError(f"nothing brings tensor {tensor} to device {device}")

    def _ways(self, device: int, operator: int) -> dict[tuple[int, int], int]:
        """The runs that may be taken now: of the watched one only those before the last."""
        watched = self.watched
        is_last = (
            watched is not None and operator == watched.operator and (watched.is_first or device == watched.device)
        )
        return self.choice.early if is_last else self.choice.runs

    @staticmethod
    def _open(opened: set[tuple[int, int]], device: int, item: int) -> None:
        if (device, item) in opened:
            raise UndecodableError("copies feed themselves in a circle")
        opened.add((device, item))


def touched(problem: IndexedProblem, step: Run | Move) -> Iterable[Place]:
    """The places that a step reads or writes."""
    if isinstance(step, Move):
        return ((step.source, step.tensor), (step.destination, step.tensor))
    tensors = problem.inputs[step.operator] + problem.outputs[step.operator]
    return ((step.device, t) for t in tensors)


def _append_with_frees(decoded: Decoded, k: int, walk: _SegmentWalk, live: set[Place], wanted: set[Place]) -> None:
    """Add a segment's actions, freeing each tensor after its last use unless it is held on."""
    problem = walk.problem
    last_use = {place: i for i, (_, step) in enumerate(walk.actions) for place in touched(problem, step)}
    frees: list[list[Place]] = [[] for _ in walk.actions]
    for place, i in last_use.items():
        if place not in wanted:
            frees[i].append(place)
    stage = walk.actions[0][0] if walk.actions else walk.stage
    idle = sorted(place for place in live if place not in last_use and place not in wanted)
    _emit(decoded, [Drop(*place) for place in idle], Mark(k, stage))
    live.difference_update(idle)
    for (stage, step), done in zip(walk.actions, frees, strict=True):
        _emit(decoded, [step], Mark(k, stage))
        live.update(_written(problem, step))
        _emit(decoded, [Drop(*place) for place in sorted(done)], Mark(k, stage))
        live.difference_update(done)


def _written(problem: IndexedProblem, step: Run | Move) -> list[Place]:
    if isinstance(step, Move):
        return [(step.destination, step.tensor)]
    return [(step.device, t) for t in problem.outputs[step.operator]]


def _emit(decoded: Decoded, steps: Sequence[Step], mark: Mark) -> None:
    decoded.steps.extend(steps)
    decoded.marks.extend([mark] * len(steps))
