"""From a list of steps to the point of the relaxation that it is: every plan is one, so the optimum bounds them all."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.plan import Move, Run, Step
from xengine_gui.solve.watchpoints.points import Segmentation, WatchPoint
from xengine_gui.solve.watchpoints.relaxation import Relaxation
from xengine_gui.solve.watchpoints.tables import Floats, Ints, Tables

Place = tuple[int, int]


def moments(steps: Sequence[Step], segmentation: Segmentation) -> list[tuple[int, bool]]:
    """Per watch point the index of the step that it watches, and whether that step is the watched run.

    Where a plan has no such run the moment comes at once after the one before, or before the one that it precedes.
    """
    first_run: dict[int, int] = {}
    runs_of: dict[tuple[int, int], list[int]] = {}
    for index, step in enumerate(steps):
        if isinstance(step, Run):
            first_run.setdefault(step.operator, index)
            runs_of.setdefault((step.operator, step.device), []).append(index)
    points = segmentation.points
    found: list[tuple[int, bool]] = [(-1, False)] * len(points)
    after = -1
    for i, point in enumerate(points):
        if point.is_first:
            found[i] = (first_run[point.operator], True)
        elif point.before is None:
            found[i] = _last(runs_of, point, after, first_run[point.stage] - 1) or (after, False)
        else:
            continue
        _in_front(runs_of, points, found, i, after)
        after = found[i][0]
    return found


def _last(
    runs_of: dict[tuple[int, int], list[int]], point: WatchPoint, after: int, until: int
) -> tuple[int, bool] | None:
    inside = [i for i in runs_of.get((point.operator, point.device), ()) if after < i <= until]
    return (inside[-1], True) if inside else None


def _in_front(
    runs_of: dict[tuple[int, int], list[int]],
    points: Sequence[WatchPoint],
    found: list[tuple[int, bool]],
    anchor: int,
    after: int,
) -> None:
    """The moments that stand in front of a watched recomputation, from the last to the first."""
    i = anchor - 1
    while i >= 0 and points[i].before is not None and points[i].anchor == points[anchor]:
        index, real = found[i + 1]
        until = index - 1 if real else index
        found[i] = _last(runs_of, points[i], after, until) or (max(until, after), False)
        i -= 1


def encode(relaxation: Relaxation, steps: Sequence[Step]) -> Floats:
    """The point of a plan; what a plan does without need has no column and is left out."""
    problem, columns = relaxation.tables.problem, relaxation.columns
    point, numbers = np.zeros(columns.count), _Numbers.of(relaxation.tables)
    ends = [index for index, _ in moments(steps, relaxation.segmentation)]
    begin, resident, held = 0, set[Place](), set[Place]()
    for k, end in enumerate([*ends, len(steps) - 1]):
        part, there = steps[begin : end + 1], set(held)
        runs = {(s.device, s.operator): s.implementation for s in part if isinstance(s, Run)}
        for (device, operator), implementation in runs.items():
            if _set(point, columns.run[k, numbers.way[device, operator, implementation]]):
                there.update((device, t) for t in problem.outputs[operator])
                for parameter in problem.parameters[operator]:
                    _set(point, columns.home[device, parameter])
        for (device, operator), implementation in _early(part, relaxation.segmentation, k).items():
            _set(point, columns.early[k, numbers.way[device, operator, implementation]])
        for source, destination, tensor in _needed_moves(problem, part, set(resident), runs):
            if _set(point, columns.move[k, numbers.lane[source, destination, tensor]]):
                there.add((destination, tensor))
        _replay(problem, part, resident)
        if k < len(ends):
            # What is there only because of something useless counts as freed early.
            held = {p for p in resident & there if _set(point, columns.held[k + 1, p[0] * problem.tensor_count + p[1]])}
        begin = end + 1
    return point


@dataclass(frozen=True)
class _Numbers:
    """Ways by (device, operator, implementation), lanes by (source, destination, tensor)."""

    way: dict[tuple[int, ...], int]
    lane: dict[tuple[int, ...], int]

    @classmethod
    def of(cls, tables: Tables) -> "_Numbers":
        return cls(
            _numbers(tables.way_device, tables.way_operator, tables.way_implementation),
            _numbers(tables.lane_source, tables.lane_destination, tables.lane_tensor),
        )


def _numbers(*fields: Ints) -> dict[tuple[int, ...], int]:
    return {tuple(map(int, key)): i for i, key in enumerate(zip(*fields, strict=True))}


def _set(point: Floats, column: int) -> bool:
    """Set a column to 1, if there is one."""
    if column >= 0:
        point[column] = 1.0
    return column >= 0


def _early(steps: Sequence[Step], segmentation: Segmentation, k: int) -> dict[Place, int]:
    """The run of a watched recomputation before its last one in segment k, if there is one."""
    if k == len(segmentation.points) or segmentation.points[k].is_first:
        return {}
    _, operator, device, _ = segmentation.points[k]
    runs = [step for step in steps if isinstance(step, Run) and step[:2] == (device, operator)]
    return {(device, operator): runs[-2].implementation} if len(runs) > 1 else {}


def _replay(problem: IndexedProblem, steps: Sequence[Step], resident: set[Place]) -> None:
    for step in steps:
        if isinstance(step, Run):
            resident.update((step.device, t) for t in problem.outputs[step.operator])
        elif isinstance(step, Move):
            resident.add((step.destination, step.tensor))
        else:
            resident.discard((step.device, step.tensor))


def _needed_moves(
    problem: IndexedProblem, steps: Sequence[Step], start: set[Place], runs: dict[tuple[int, int], int]
) -> list[tuple[int, int, int]]:
    """The copies of a segment that bring a tensor where nothing else does, each from where it came first.

    A copy that was itself copied in the same segment counts as taken from the first source, unless going on from the
    middle is cheaper or the only way.
    """

    def native(place: Place) -> bool:
        return place in start or (place[0], problem.producer[place[1]]) in runs

    source_of: dict[Place, int] = {}
    for step in steps:
        if not isinstance(step, Move):
            continue
        place = step.destination, step.tensor
        if native(place) or place in source_of:
            continue
        source = step.source
        while not native((source, step.tensor)) and (source, step.tensor) in source_of:
            further = source_of[source, step.tensor]
            direct = problem.copy_ns(further, step.destination, step.tensor)
            onward = problem.copy_ns(source, step.destination, step.tensor)
            if further == step.destination or direct is None or (onward is not None and onward < direct):
                break
            source = further
        source_of[place] = source
    return [(source, device, tensor) for (device, tensor), source in source_of.items()]
