"""What the relaxation needs of a problem as flat arrays, made once and used for every set of watch points."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import gcd

import numpy as np
import numpy.typing as npt

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.operator import Implementation

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Ragged:
    """Lists of different lengths in one array: list i is `values[start[i]:start[i + 1]]`."""

    start: Ints
    values: Ints

    @classmethod
    def of(cls, lists: Iterable[Iterable[int]]) -> "Ragged":
        """Flatten lists of integers."""
        rows = [list(row) for row in lists]
        start = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=start[1:])
        return cls(start, np.array([v for row in rows for v in row], np.int64))

    def expand(self, wanted: Ints) -> tuple[Ints, Ints]:
        """The members of the lists `wanted`: for each member its position in `wanted`, and the member."""
        begin, count = self.start[wanted], np.diff(self.start)[wanted]
        position = np.repeat(np.arange(len(wanted)), count)
        offset = np.arange(len(position)) - np.repeat(np.cumsum(count) - count, count)
        return position, self.values[np.repeat(begin, count) + offset]


@dataclass(frozen=True)
class Tables:
    """A problem with T operators, N tensors, D devices as arrays.

    A *way* is one implementation of one operator on one device that fits there alone; a *lane* is one tensor over one
    link. `ways_of[d * T + o]` lists the ways of operator o on device d, `lanes_into[d * N + t]` those that bring tensor
    t to device d. `tensor_reach[t]` and `operator_reach[o]` are the last operator of the base order that depends on
    them (T for what must be kept).
    """

    problem: IndexedProblem
    way_operator: Ints
    way_device: Ints
    way_implementation: Ints
    way_time_ns: Floats
    way_workspace_bytes: Floats
    ways_of: Ragged
    lane_tensor: Ints
    lane_source: Ints
    lane_destination: Ints
    lane_time_ns: Floats
    lanes_into: Ragged
    inputs: Ragged
    outputs: Ragged
    producer: Ints
    tensor_bytes: Floats
    operator_reach: Ints
    tensor_reach: Ints

    @cached_property
    def detours(self) -> tuple[Ints, Ints]:
        """Pairs of lanes (a to b, b to c) of one tensor where going on from b costs less than copying from a to c.

        Elsewhere a second copy can as well be taken from the first source, so a plan loses nothing without them.
        """
        return _detours(self)

    @cached_property
    def memory_unit(self) -> float:
        """Bytes per unit of the memory rows: the common divisor of all sizes, enlarged until limits stay below 10^6.

        HiGHS works to absolute tolerances, so coefficients must be neither huge nor tiny, whatever unit a file is in.
        """
        largest = max((limit for limit in self.problem.limit_bytes if limit is not None), default=1)
        return max(float(self._size_divisor_bytes), largest / 1e6)

    @cached_property
    def _size_divisor_bytes(self) -> int:
        workspace = [row.workspace_bytes for row in _implementations(self.problem)]
        return gcd(*self.problem.tensor_bytes, *self.problem.parameter_bytes, *workspace) or 1

    def limit_units(self, limit_bytes: int) -> float:
        """A limit in units: whole sizes fill no more than a whole number of them.

        A little is added, so that no rounding error cuts a real plan off.
        """
        whole = limit_bytes // self._size_divisor_bytes * self._size_divisor_bytes
        return whole / self.memory_unit * (1 + 1e-9) + 1e-5

    @cached_property
    def time_unit_ns(self) -> float:
        """Nanoseconds per unit of the objective: chosen so that a plan without recomputation costs about 10^4 units."""
        fastest = np.full(self.problem.operator_count, np.inf)
        np.minimum.at(fastest, self.way_operator, self.way_time_ns)
        return max(1.0, float(fastest[np.isfinite(fastest)].sum()) / 1e4)

    @cached_property
    def time_divisor_ns(self) -> int:
        """The common divisor of all times: every plan's total is a multiple of it."""
        problem = self.problem
        times = [row.time_ns for row in _implementations(problem)]
        return gcd(*times, *(time for *_, time in _lanes(problem))) or 1

    def bound_ns(self, value: float) -> int:
        """A bound in time units as whole nanoseconds, rounded up to what totals can be (a multiple of a divisor)."""
        exact = value * self.time_unit_ns
        margin = 1e-9 * abs(exact) + 1e-7 * self.time_unit_ns
        divisor = self.time_divisor_ns
        return max(0, int(-(-(exact - margin) // divisor)) * divisor)

    @classmethod
    def of(cls, problem: IndexedProblem) -> "Tables":
        """Lay out a problem."""
        ways = list(_ways(problem))
        columns = np.array([way[:3] for way in ways], np.int64).reshape(len(ways), 3)
        count, devices = problem.operator_count, problem.device_count
        ways_of: list[list[int]] = [[] for _ in range(devices * count)]
        for index, (operator, device, *_) in enumerate(ways):
            ways_of[device * count + operator].append(index)
        lanes = list(_lanes(problem))
        lane_columns = np.array([lane[:3] for lane in lanes], np.int64).reshape(len(lanes), 3)
        lanes_into: list[list[int]] = [[] for _ in range(devices * problem.tensor_count)]
        for index, (tensor, _, destination, _) in enumerate(lanes):
            lanes_into[destination * problem.tensor_count + tensor].append(index)
        operator_reach, tensor_reach = _reach(problem)
        return cls(
            problem=problem,
            way_operator=columns[:, 0],
            way_device=columns[:, 1],
            way_implementation=columns[:, 2],
            way_time_ns=np.array([way[3] for way in ways], float),
            way_workspace_bytes=np.array([way[4] for way in ways], float),
            ways_of=Ragged.of(ways_of),
            lane_tensor=lane_columns[:, 0],
            lane_source=lane_columns[:, 1],
            lane_destination=lane_columns[:, 2],
            lane_time_ns=np.array([lane[3] for lane in lanes], float),
            lanes_into=Ragged.of(lanes_into),
            inputs=Ragged.of(problem.inputs),
            outputs=Ragged.of(problem.outputs),
            producer=np.array(problem.producer, np.int64),
            tensor_bytes=np.array(problem.tensor_bytes, float),
            operator_reach=operator_reach,
            tensor_reach=tensor_reach,
        )


def alone_bytes(problem: IndexedProblem, operator: int, workspace_bytes: int) -> int:
    """Memory that a run of an operator takes with nothing else there: inputs, outputs, parameters, workspace."""
    tensors = set(problem.inputs[operator]) | set(problem.outputs[operator])
    held = sum(problem.tensor_bytes[t] for t in tensors)
    return held + sum(problem.parameter_bytes[p] for p in problem.parameters[operator]) + workspace_bytes


def _implementations(problem: IndexedProblem) -> list[Implementation]:
    return [row for devices in problem.implementations for rows in devices for row in rows]


def _ways(problem: IndexedProblem) -> Iterable[tuple[int, int, int, int, int]]:
    for operator in range(problem.operator_count):
        need = alone_bytes(problem, operator, 0)
        for device, rows in enumerate(problem.implementations[operator]):
            limit = problem.limit_bytes[device]
            for index, row in enumerate(rows):
                if limit is None or need + row.workspace_bytes <= limit:
                    yield operator, device, index, row.time_ns, row.workspace_bytes


def _lanes(problem: IndexedProblem) -> Iterable[tuple[int, int, int, int]]:
    for source, row in enumerate(problem.transfer_ns):
        for destination, times in enumerate(row):
            if times is not None and source != destination:
                for tensor, time_ns in enumerate(times):
                    if time_ns is not None:
                        yield tensor, source, destination, time_ns


def _reach(problem: IndexedProblem) -> tuple[Ints, Ints]:
    count = problem.operator_count
    operator_reach = list(range(count))
    tensor_reach = [-1] * problem.tensor_count
    for tensor in problem.keep:
        tensor_reach[tensor] = count
    for operator in reversed(range(count)):
        for tensor in problem.outputs[operator]:
            operator_reach[operator] = max(operator_reach[operator], tensor_reach[tensor])
        for tensor in problem.inputs[operator]:
            tensor_reach[tensor] = max(tensor_reach[tensor], operator_reach[operator])
    return np.array(operator_reach, np.int64), np.array(tensor_reach, np.int64)


def _detours(tables: Tables) -> tuple[Ints, Ints]:
    problem, number = tables.problem, {}
    for lane, key in enumerate(zip(tables.lane_source, tables.lane_destination, tables.lane_tensor, strict=True)):
        number[tuple(map(int, key))] = lane
    pairs = []
    if problem.device_count > 2:
        for (source, middle, tensor), first in number.items():
            for destination in range(problem.device_count):
                second = number.get((middle, destination, tensor))
                if second is None or destination in (source, middle):
                    continue
                direct = problem.copy_ns(source, destination, tensor)
                if direct is None or tables.lane_time_ns[second] < direct:
                    pairs.append((first, second))
    columns = np.array(pairs, np.int64).reshape(len(pairs), 2)
    return columns[:, 0], columns[:, 1]
