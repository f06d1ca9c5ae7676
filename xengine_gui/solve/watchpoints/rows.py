"""The constraints of the relaxation, one function per family (ALGORITHM.md, section 2, gives each as a formula)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from xengine_gui.solve.watchpoints.columns import Columns
from xengine_gui.solve.watchpoints.points import Segmentation
from xengine_gui.solve.watchpoints.tables import Floats, Ints, Ragged, Tables

Entry = tuple[Ints, Ints, float | Floats]
"""Part of some rows: row numbers, column numbers, and one value or one per pair."""

INFINITY = float("inf")


@dataclass(frozen=True)
class Rows:
    """Some rows `lower <= A x <= upper`, A as triplets (row, column, value); absent columns are left out."""

    row: Ints
    column: Ints
    value: Floats
    lower: Floats
    upper: Floats

    @classmethod
    def of(cls, entries: list[Entry], count: int, lower: float, upper: float) -> "Rows":
        """Rows with the same sides; each entry gives row numbers, column numbers and values."""
        rows = np.concatenate([e[0] for e in entries]) if entries else np.zeros(0, np.int64)
        columns = np.concatenate([e[1] for e in entries]) if entries else np.zeros(0, np.int64)
        values = np.concatenate(
            [np.broadcast_to(np.asarray(e[2], float), e[0].shape) for e in entries] or [np.zeros(0)]
        )
        there = columns >= 0
        return cls(rows[there], columns[there], values[there], np.full(count, lower), np.full(count, upper))

    @classmethod
    def joined(cls, pieces: Sequence["Rows"]) -> "Rows":
        """All rows of the pieces, one piece after the other."""
        first = np.cumsum([0] + [len(piece.lower) for piece in pieces])[:-1]
        return cls(
            np.concatenate([piece.row + offset for piece, offset in zip(pieces, first, strict=True)]),
            np.concatenate([piece.column for piece in pieces]),
            np.concatenate([piece.value for piece in pieces]),
            np.concatenate([piece.lower for piece in pieces]),
            np.concatenate([piece.upper for piece in pieces]),
        )

    def matrix(self, column_count: int) -> csr_array:
        """The rows as a sparse matrix; values of one place add up."""
        return csr_array((self.value, (self.row, self.column)), shape=(len(self.lower), column_count))


@dataclass(frozen=True)
class Model:
    """What a family of rows is made from."""

    tables: Tables
    segmentation: Segmentation
    columns: Columns

    def runs(self, k: int, group: Ints) -> tuple[Ints, Ints]:
        """Columns of the runs of groups (device * T + operator) in segment k, as (position in `group`, column)."""
        position, way = self.tables.ways_of.expand(group)
        return position, self.columns.run[k, way]

    def feeding(self, k: int, group: Ints) -> tuple[Ints, Ints]:
        """The same of the runs that others can read within segment k."""
        position, way = self.tables.ways_of.expand(group)
        return position, self.columns.feeding[k, way]

    def held(self, k: int, place: Ints) -> tuple[Ints, Ints]:
        """Columns of held at watch point k of places (device * N + tensor)."""
        return np.arange(len(place)), self.columns.held[k, place]

    def moves_into(self, k: int, place: Ints) -> tuple[Ints, Ints]:
        """Columns of the moves of segment k into places (device * N + tensor)."""
        position, lane = self.tables.lanes_into.expand(place)
        return position, self.columns.move[k, lane]

    def producing_group(self, place: Ints) -> Ints:
        """The group (device * T + operator) that produces the tensor of each place on its device."""
        device, tensor = np.divmod(place, self.tables.problem.tensor_count)
        return device * self.tables.problem.operator_count + self.tables.producer[tensor]

    def sources(self, k: int, place: Ints, *, moves: bool) -> list[tuple[Ints, Ints]]:
        """Everything that makes a tensor be on a device within segment k: held at its start, run there, moved in."""
        found = [self.feeding(k, self.producing_group(place)), self.held(k, place)]
        return [*found, self.moves_into(k, place)] if moves else found


def input_rows(model: Model) -> Iterator[Rows]:
    """A run needs each of its inputs on its device: run <= held + run of the producer + moves in."""
    tables, count = model.tables, model.tables.problem.operator_count
    for k in range(len(model.segmentation.segments)):
        groups = _active_groups(model, k)
        position, tensor = tables.inputs.expand(groups % count)
        place = (groups[position] // count) * tables.problem.tensor_count + tensor
        entries: list[Entry] = [(*model.runs(k, groups[position]), 1.0)]
        entries += [(rows, columns, -1.0) for rows, columns in model.sources(k, place, moves=True)]
        yield Rows.of(entries, len(position), -INFINITY, 0.0)


def early_rows(model: Model) -> Iterator[Rows]:
    """A run before the watched last one needs its inputs too, and the last one to follow: early <= run."""
    tables, columns = model.tables, model.columns
    for k, point in enumerate(model.segmentation.points):
        ways = np.flatnonzero(columns.early[k] >= 0)
        if not len(ways):
            continue
        inputs = np.array(tables.problem.inputs[point.operator], np.int64)
        place = point.device * tables.problem.tensor_count + inputs
        group = np.full(len(inputs), point.device * tables.problem.operator_count + point.operator)
        position, way = tables.ways_of.expand(group)
        entries: list[Entry] = [(position, columns.early[k, way], 1.0)]
        entries += [(rows, found, -1.0) for rows, found in model.sources(k, place, moves=True)]
        yield Rows.of(entries, len(inputs), -INFINITY, 0.0)
        both: list[Entry] = [(np.zeros_like(ways), columns.early[k, ways], 1.0)]
        both.append((np.zeros_like(ways), columns.run[k, ways], -1.0))
        yield Rows.of(both, 1, -INFINITY, 0.0)


def home_rows(model: Model) -> Iterator[Rows]:
    """A run needs its parameters to live on its device: run <= home."""
    problem = model.tables.problem
    if not problem.parameter_bytes:
        return
    parameters = Ragged.of(problem.parameters)
    for k in range(len(model.segmentation.segments)):
        groups = _active_groups(model, k)
        position, parameter = parameters.expand(groups % problem.operator_count)
        home = model.columns.home[groups[position] // problem.operator_count, parameter]
        entries: list[Entry] = [(*model.runs(k, groups[position]), 1.0)]
        entries.append((np.arange(len(position)), home, -1.0))
        yield Rows.of(entries, len(position), -INFINITY, 0.0)


def move_rows(model: Model) -> Iterator[Rows]:
    """A move needs its tensor at the source: move <= held + run there, and moves in where a detour can pay."""
    tables = model.tables
    for k in range(len(model.segmentation.segments)):
        lane = np.flatnonzero(model.columns.move[k] >= 0)
        place = tables.lane_source[lane] * tables.problem.tensor_count + tables.lane_tensor[lane]
        entries: list[Entry] = [(np.arange(len(lane)), model.columns.move[k, lane], 1.0)]
        entries += [(rows, columns, -1.0) for rows, columns in model.sources(k, place, moves=False)]
        first, second = tables.detours
        position = np.full(len(tables.lane_tensor), -1, np.int64)
        position[lane] = np.arange(len(lane))
        there = position[second] >= 0
        entries.append((position[second[there]], model.columns.move[k, first[there]], -1.0))
        yield Rows.of(entries, len(lane), -INFINITY, 0.0)


def detour_rows(model: Model) -> Iterator[Rows]:
    """Moves of one tensor in a circle between two devices do not feed themselves: something comes from outside.

    For devices a, b: move[a, b] <= what is held or run on a or b, and moves into either from elsewhere.
    """
    tables, tensors = model.tables, model.tables.problem.tensor_count
    lanes = np.unique(tables.detours[1])
    for k in range(len(model.segmentation.segments) if len(lanes) else 0):
        lane = lanes[model.columns.move[k, lanes] >= 0]
        source, destination, tensor = tables.lane_source[lane], tables.lane_destination[lane], tables.lane_tensor[lane]
        entries: list[Entry] = [(np.arange(len(lane)), model.columns.move[k, lane], 1.0)]
        for device, other in ((source, destination), (destination, source)):
            place = device * tensors + tensor
            entries += [(rows, columns, -1.0) for rows, columns in model.sources(k, place, moves=False)]
            position, incoming = tables.lanes_into.expand(place)
            outside = tables.lane_source[incoming] != other[position]
            entries.append((position[outside], model.columns.move[k, incoming[outside]], -1.0))
        yield Rows.of(entries, len(lane), -INFINITY, 0.0)


def held_rows(model: Model) -> Iterator[Rows]:
    """What is held at a watch point was held before, or run or moved there since."""
    for k in range(1, len(model.segmentation.segments)):
        place = np.flatnonzero(model.columns.held[k] >= 0)
        entries: list[Entry] = [(*model.held(k, place), 1.0)]
        entries.append((*model.runs(k - 1, model.producing_group(place)), -1.0))
        entries += [(*model.held(k - 1, place), -1.0), (*model.moves_into(k - 1, place), -1.0)]
        yield Rows.of(entries, len(place), -INFINITY, 0.0)


def base_rows(model: Model) -> Iterator[Rows]:
    """Each operator runs in the segment of its first computation: exactly once where it is the watched one."""
    count, devices = model.tables.problem.operator_count, model.tables.problem.device_count
    for k, segment in enumerate(model.segmentation.segments):
        operators = np.arange(segment.first, segment.last + 1)
        groups = np.concatenate([device * count + operators for device in range(devices)])
        position, column = model.runs(k, groups)
        rows = Rows.of([(position % max(1, len(operators)), column, 1.0)], len(operators), 1.0, INFINITY)
        if k < len(model.segmentation.points) and model.segmentation.points[k].is_first:
            rows.upper[-1] = 1.0
        yield rows


def once_rows(model: Model) -> Iterator[Rows]:
    """An operator that must not be recomputed runs once in all."""
    recomputable = np.array(model.tables.problem.recomputable, bool)
    barred = np.flatnonzero(~recomputable)
    number = np.full(len(recomputable), -1, np.int64)
    number[barred] = np.arange(len(barred))
    segment, way = np.nonzero(model.columns.run >= 0)
    there = number[model.tables.way_operator[way]] >= 0
    row = number[model.tables.way_operator[way[there]]]
    yield Rows.of([(row, model.columns.run[segment[there], way[there]], 1.0)], len(barred), 1.0, 1.0)


def keep_rows(model: Model) -> Iterator[Rows]:
    """What must be kept is on some device at the end."""
    problem = model.tables.problem
    kept = np.array(sorted(problem.keep), np.int64)
    place = np.concatenate([device * problem.tensor_count + kept for device in range(problem.device_count)])
    last = len(model.segmentation.segments) - 1
    entries: list[Entry] = [
        (position % max(1, len(kept)), column, 1.0) for position, column in model.sources(last, place, moves=True)
    ]
    yield Rows.of(entries, len(kept), 1.0, INFINITY)


def watched_rows(model: Model) -> Iterator[Rows]:
    """While a watched run takes place its inputs and outputs are held on its device: run <= held."""
    problem = model.tables.problem
    for k, device in _watched(model):
        operator = model.segmentation.points[k - 1].operator
        tensors = np.array(sorted({*problem.inputs[operator], *problem.outputs[operator]}), np.int64)
        groups = np.full(len(tensors), device * problem.operator_count + operator)
        place = device * problem.tensor_count + tensors
        entries: list[Entry] = [(*model.runs(k - 1, groups), 1.0)]
        entries.append((*model.held(k, place), -1.0))
        yield Rows.of(entries, len(tensors), -INFINITY, 0.0)


def memory_rows(model: Model) -> Iterator[Rows]:
    """At each watch point, on each device with a limit: held + homes + workspace of the watched run <= limit.

    Bytes are divided by `tables.memory_unit`; the limit is rounded up a little, so that no rounding cuts a plan off.
    """
    tables, problem = model.tables, model.tables.problem
    unit, watched = tables.memory_unit, set(_watched(model))
    for k in range(1, len(model.segmentation.segments)):
        for device, limit in enumerate(problem.limit_bytes):
            if limit is None:
                continue
            place = device * problem.tensor_count + np.arange(problem.tensor_count)
            homes = model.columns.home[device]
            entries: list[Entry] = [
                (np.zeros_like(place), model.columns.held[k, place], tables.tensor_bytes / unit),
                (np.zeros(len(homes), np.int64), homes, np.array(problem.parameter_bytes, float) / unit),
            ]
            if (k, device) in watched:
                group = np.array([device * problem.operator_count + model.segmentation.points[k - 1].operator])
                _, way = tables.ways_of.expand(group)
                entries.append(
                    (np.zeros_like(way), model.columns.run[k - 1, way], tables.way_workspace_bytes[way] / unit)
                )
            yield Rows.of(entries, 1, -INFINITY, tables.limit_units(limit))


FAMILIES = (
    input_rows, early_rows, home_rows, move_rows, detour_rows, held_rows,
    base_rows, once_rows, keep_rows, watched_rows, memory_rows,
)  # fmt: skip


def _watched(model: Model) -> Iterator[tuple[int, int]]:
    """Pairs (watch point k, device) at which the watched run may take place."""
    for k, point in enumerate(model.segmentation.points, start=1):
        devices = range(model.tables.problem.device_count) if point.is_first else (point.device,)
        for device in devices:
            yield k, device


def _active_groups(model: Model, k: int) -> Ints:
    """Groups (device * T + operator) with at least one run in segment k."""
    way = np.flatnonzero(model.columns.run[k] >= 0)
    tables = model.tables
    return np.unique(tables.way_device[way] * tables.problem.operator_count + tables.way_operator[way])
