"""Path cuts: what a range of segments needs was held at its start, or was run within it (ALGORITHM.md, section 3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from xengine_gui.solve.watchpoints.relaxation import Relaxation
from xengine_gui.solve.watchpoints.rows import INFINITY, Entry, Rows
from xengine_gui.solve.watchpoints.tables import Floats, Ints

LEAST_VIOLATION = 0.01
PER_RANGE = 6


class _Want(NamedTuple):
    """An operator that falls short in a range: of the base order there (`device` -1), or run on a device at its end."""

    range: int
    operator: int
    device: int


@dataclass(frozen=True)
class _Ranges:
    """All ranges of two and more consecutive segments, `first[i]` to `last[i]` inclusive."""

    first: Ints
    last: Ints

    @classmethod
    def of(cls, segments: int) -> "_Ranges":
        first, last = np.triu_indices(segments, k=1)
        return cls(first.astype(np.int64), last.astype(np.int64))


@dataclass(frozen=True)
class _Supply:
    """How much of each operator can have run in each range, by a point of the relaxation (all operators x ranges).

    `by_inputs` is the least that an input was there (held at the start, or its producer run), `narrowest` that input;
    `own` what the operator ran itself. The amount is the lesser of the two.
    """

    by_inputs: Floats
    narrowest: Ints
    own: Floats


def path_cuts(relaxation: Relaxation, point: Floats) -> Rows | None:
    """Rows that the point violates and no plan does; `None` where there are none.

    Take a path of operators o_0, o_1, ..., o_n, each reading an output of the one before. If o_n runs in a range of
    segments, then o_0 runs in it too, or a tensor on the path was held when the range began. Over all devices,

        [o_n runs] <= sum over the path of held[start of range] + sum over the range of run[o_0].
    """
    ranges = _Ranges.of(len(relaxation.segmentation.segments))
    if not len(ranges.first):
        return None
    supply = _supply(relaxation, ranges, point)
    cuts = [_row(relaxation, ranges, supply, want) for want in _wants(relaxation, ranges, supply, point)]
    return Rows.joined(cuts) if cuts else None


def _runs(relaxation: Relaxation, point: Floats) -> Floats:
    """Runs summed over implementations: (segments x D x T)."""
    columns, tables = relaxation.columns.run, relaxation.tables
    value = np.where(columns >= 0, point[columns], 0.0)
    count = tables.problem.operator_count
    group = tables.way_device * count + tables.way_operator
    size = tables.problem.device_count * count
    return np.array([np.bincount(group, row, size) for row in value]).reshape(len(value), -1, count)


def _held(relaxation: Relaxation, point: Floats) -> Floats:
    """Held summed over devices: (segments x N), of each segment's start."""
    columns, problem = relaxation.columns.held, relaxation.tables.problem
    value = np.where(columns >= 0, point[columns], 0.0)
    summed: Floats = value.reshape(len(columns), problem.device_count, problem.tensor_count).sum(axis=1)
    return summed


def _supply(relaxation: Relaxation, ranges: _Ranges, point: Floats) -> _Supply:
    problem = relaxation.tables.problem
    run, held = _runs(relaxation, point).sum(axis=1), _held(relaxation, point)
    before = np.vstack([np.zeros(run.shape[1]), np.cumsum(run, axis=0)])
    own = (before[ranges.last + 1] - before[ranges.first]).T
    start = held[ranges.first].T
    by_inputs, narrowest = np.full_like(own, np.inf), np.full(own.shape, -1, np.int64)
    for operator, inputs in enumerate(problem.inputs):
        for tensor in inputs:
            producer = problem.producer[tensor]
            there = start[tensor] + np.minimum(own[producer], by_inputs[producer])
            less = there < by_inputs[operator]
            by_inputs[operator][less] = there[less]
            narrowest[operator][less] = tensor
    return _Supply(by_inputs, narrowest, own)


def _wants(relaxation: Relaxation, ranges: _Ranges, supply: _Supply, point: Floats) -> Iterator[_Want]:
    """The worst few of each range."""
    segments, run = relaxation.segmentation.segments, _runs(relaxation, point)
    device, most = run.argmax(axis=1), run.max(axis=1)
    operators = np.arange(run.shape[2])
    for i, (first, last) in enumerate(zip(ranges.first, ranges.last, strict=True)):
        base = (operators >= segments[first].first) & (operators <= segments[last].last)
        short = np.where(base, 1.0, most[last]) - supply.by_inputs[:, i]
        for operator in np.argsort(-short)[:PER_RANGE]:
            if short[operator] >= LEAST_VIOLATION:
                yield _Want(i, int(operator), -1 if base[operator] else int(device[last, operator]))


def _row(relaxation: Relaxation, ranges: _Ranges, supply: _Supply, want: _Want) -> Rows:
    """The cut of one range and operator: along the narrowest inputs down to an operator whose own runs are less."""
    problem, columns, tables = relaxation.tables.problem, relaxation.columns, relaxation.tables
    first, last = int(ranges.first[want.range]), int(ranges.last[want.range])
    places, at = list[int](), want.operator
    while at == want.operator or supply.own[at, want.range] > supply.by_inputs[at, want.range]:
        tensor = int(supply.narrowest[at, want.range])
        places += [device * problem.tensor_count + tensor for device in range(problem.device_count)]
        at = problem.producer[tensor]
    held = columns.held[first, places]
    runs = columns.run[first : last + 1, np.flatnonzero(tables.way_operator == at)].ravel()
    entries: list[Entry] = [(np.zeros_like(held), held, 1.0), (np.zeros_like(runs), runs, 1.0)]
    if want.device >= 0:
        _, ways = tables.ways_of.expand(np.array([want.device * problem.operator_count + want.operator]))
        mine = columns.run[last, ways]
        entries.append((np.zeros_like(mine), mine, -1.0))
    return Rows.of(entries, 1, 1.0 if want.device < 0 else 0.0, INFINITY)
