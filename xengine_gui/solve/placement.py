"""Where each operator runs when memory is unlimited.

One device: nothing to choose. Two devices that compute: a minimum cut. More: from the best single device, every two
devices trade operators by a minimum cut while that lowers the total (swap moves of Boykov, Veksler and Zabih, "Fast
Approximate Energy Minimization via Graph Cuts", 2001); that is a local optimum, not always the best placement.

A tensor is paid once per device that it is copied to, however many operators read it there. Computing an operator on
two devices can beat a transfer; placements do not consider that (the watch-point engine does).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from xengine_gui.model.indexed import IndexedProblem

_FLOW_CEILING = 2**29
"""The largest flow that stays exact in the 32-bit integers of the flow routine."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Device and implementation per operator; `exact` where no placement without duplicates is faster."""

    device: tuple[int, ...]
    implementation: tuple[int, ...]
    total_ns: int
    exact: bool


Tolls = Sequence[Sequence[int | None]]
"""Per operator and device what is added to its run time there; `None` keeps it away where it can run elsewhere."""


class _Costs:
    """Least run times per operator and device, least ways of copying per tensor and pair of devices."""

    def __init__(self, indexed: IndexedProblem, tolls: Tolls | None = None) -> None:
        self.indexed = indexed
        self.devices = range(indexed.device_count)
        self.fastest = [
            [min(range(len(rows)), key=[row.time_ns for row in rows].__getitem__, default=None) for rows in ways]
            for ways in indexed.implementations
        ]
        self.run_ns: list[list[int | None]] = [
            [None if j is None else rows[j].time_ns for rows, j in zip(ways, best, strict=True)]
            for ways, best in zip(indexed.implementations, self.fastest, strict=True)
        ]
        for times, toll in zip(self.run_ns, tolls or (), strict=tolls is not None):
            tolled = [None if ns is None or more is None else ns + more for ns, more in zip(times, toll, strict=True)]
            if any(ns is not None for ns in tolled):
                times[:] = tolled
        self.computing = [d for d in self.devices if any(times[d] is not None for times in self.run_ns)]
        self.way_ns = self._ways()

    def _ways(self) -> list[list[list[int | None]]]:
        """Shortest times `[source][destination][tensor]`, through other devices where no link joins the two."""
        count = self.indexed.tensor_count
        far: list[list[list[int | None]]] = [
            [[0] * count if a == b else list(self.indexed.transfer_ns[a][b] or [None] * count) for b in self.devices]
            for a in self.devices
        ]
        if len(self.devices) == 2:
            return far
        for middle in self.devices:
            for a in self.devices:
                for b in self.devices:
                    if middle not in (a, b) and a != b:
                        far[a][b] = [
                            _shorter(direct, first, second)
                            for direct, first, second in zip(far[a][b], far[a][middle], far[middle][b], strict=True)
                        ]
        return far

    def total_ns(self, device: Sequence[int]) -> int | None:
        """Run and transfer times of a placement, `None` where it cannot be."""
        total = 0
        for times, place in zip(self.run_ns, device, strict=True):
            time_ns = times[place]
            if time_ns is None:
                return None
            total += time_ns
        for tensor, readers in enumerate(self.indexed.consumers):
            source = device[self.indexed.producer[tensor]]
            for place in {device[o] for o in readers} - {source}:
                time_ns = self.way_ns[source][place][tensor]
                if time_ns is None:
                    return None
                total += time_ns
        return total


def _shorter(direct: int | None, first: int | None, second: int | None) -> int | None:
    if first is None or second is None:
        return direct
    return first + second if direct is None else min(direct, first + second)


def unlimited_placement(indexed: IndexedProblem) -> Placement:
    """The fastest placement with unlimited memory; exact for up to two computing devices (see the module's words).

    It is never slower than the better single device. Where one device alone cannot run everything and no links help,
    each operator stands where it runs fastest and the total may leave out copies that cannot be made.
    """
    costs = _Costs(indexed)
    device, exact = _best_placement(costs)
    return _placement(costs, device, exact=exact)


def tolled_placement(indexed: IndexedProblem, tolls: Tolls) -> tuple[int, ...]:
    """The device per operator of the fastest placement when running somewhere costs more than its time."""
    return tuple(_best_placement(_Costs(indexed, tolls))[0])


def _best_placement(costs: _Costs) -> tuple[list[int], bool]:
    start, start_ns = _best_start(costs)
    exact = len(costs.computing) <= 1
    if len(costs.computing) == 2:
        start, start_ns, exact = _swapped(costs, start, start_ns, *costs.computing)
    elif len(costs.computing) > 2:
        improved = True
        while improved:
            before = start_ns
            for a, b in combinations(costs.computing, 2):
                start, start_ns, _ = _swapped(costs, start, start_ns, a, b)
            improved = start_ns is not None and (before is None or start_ns < before)
    return start, exact and start_ns is not None


def single_device_placements(indexed: IndexedProblem) -> Iterator[Placement]:
    """Per computing device everything there, and what it cannot run where that runs fastest."""
    costs = _Costs(indexed)
    for device in costs.computing:
        yield _placement(costs, _mostly_on(costs, device), exact=False)


def _placement(costs: _Costs, device: Sequence[int], *, exact: bool) -> Placement:
    total = costs.total_ns(device)
    if total is None:
        total = sum(times[d] or 0 for times, d in zip(costs.run_ns, device, strict=True))
    implementation = tuple(best[d] or 0 for best, d in zip(costs.fastest, device, strict=True))
    return Placement(tuple(device), implementation, total, exact)


def _mostly_on(costs: _Costs, device: int) -> list[int]:
    placed = []
    for times in costs.run_ns:
        if times[device] is not None:
            placed.append(device)
        else:
            placed.append(min((ns, d) for d, ns in enumerate(times) if ns is not None)[1])
    return placed


def _best_start(costs: _Costs) -> tuple[list[int], int | None]:
    starts = [_mostly_on(costs, device) for device in costs.computing]
    starts.append([min((ns, d) for d, ns in enumerate(times) if ns is not None)[1] for times in costs.run_ns])
    totals = [costs.total_ns(start) for start in starts]
    best = min(range(len(starts)), key=lambda i: (totals[i] is None, totals[i] or 0))
    return starts[best], totals[best]


def _swapped(
    costs: _Costs, device: list[int], total_ns: int | None, a: int, b: int
) -> tuple[list[int], int | None, bool]:
    """The best placement that differs only in which of a and b operators stand on, and whether the cut was exact."""
    placed, exact = _Cut(costs, device, a, b).solve(total_ns)
    placed_ns = costs.total_ns(placed)
    if placed_ns is not None and (total_ns is None or placed_ns < total_ns):
        return placed, placed_ns, exact
    return device, total_ns, exact


class _Cut:
    """A network whose minimum cut says who stands on a (the source's side) and who on b."""

    def __init__(self, costs: _Costs, device: list[int], a: int, b: int) -> None:
        self.costs, self.device, self.a, self.b = costs, device, a, b
        self.movable = [o for o, d in enumerate(device) if d in (a, b)]
        self.node = {o: i + 2 for i, o in enumerate(self.movable)}
        self.count = len(self.movable) + 2
        self.on_a = dict.fromkeys(self.movable, 0)
        self.on_b = dict.fromkeys(self.movable, 0)
        self.edges: list[tuple[int, int, int | None]] = []
        self.least = 0

    def solve(self, total_ns: int | None) -> tuple[list[int], bool]:
        """The placement after the cut, and whether its capacities were exact; `total_ns` is what there is now."""
        forever: set[tuple[int, int]] = set()
        for operator in self.movable:
            for place, load in ((self.a, self.on_a), (self.b, self.on_b)):
                time_ns = self.costs.run_ns[operator][place]
                if time_ns is None:
                    forever.add((operator, place))
                load[operator] += time_ns or 0
        for tensor in range(self.costs.indexed.tensor_count):
            self._add_tensor(tensor, forever)
        for operator in self.movable:
            node = self.node[operator]
            never_a, never_b = (operator, self.a) in forever, (operator, self.b) in forever
            least = 0 if never_a or never_b else min(self.on_a[operator], self.on_b[operator])
            self.least += least
            self.edges.append((0, node, None if never_b else self.on_b[operator] - least))
            self.edges.append((node, 1, None if never_a else self.on_a[operator] - least))
        ceiling = None
        if total_ns is not None:  # the present placement is a cut too, so no flow passes what it costs
            fixed = (self.costs.run_ns[o][d] or 0 for o, d in enumerate(self.device) if o not in self.node)
            ceiling = total_ns - sum(fixed) - self.least
        source_side, exact = _source_side(self.edges, self.count, ceiling)
        placed = list(self.device)
        for operator, node in self.node.items():
            placed[operator] = self.a if source_side[node] else self.b
        return placed, exact

    def _add_tensor(self, tensor: int, forever: set[tuple[int, int]]) -> None:
        producer, way_ns = self.costs.indexed.producer[tensor], self.costs.way_ns
        readers = [o for o in self.costs.indexed.consumers[tensor] if o in self.node]
        fixed = {self.device[o] for o in self.costs.indexed.consumers[tensor] if o not in self.node}
        if producer in self.node:
            for place in fixed:
                for here, load in ((self.a, self.on_a), (self.b, self.on_b)):
                    time_ns = way_ns[here][place][tensor]
                    if time_ns is None:
                        forever.add((producer, here))
                    load[producer] += time_ns or 0
            self._join(self.node[producer], way_ns[self.a][self.b][tensor], readers, forwards=True)
            self._join(self.node[producer], way_ns[self.b][self.a][tensor], readers, forwards=False)
        else:
            source = self.device[producer]
            self._join(0, way_ns[source][self.b][tensor], readers, forwards=True)
            self._join(1, way_ns[source][self.a][tensor], readers, forwards=False)

    def _join(self, producer: int, time_ns: int | None, readers: list[int], *, forwards: bool) -> None:
        """Pay once when the producer is on one side and any reader on the other, through a node between them."""
        if not readers or time_ns == 0:
            return
        between = self.node[readers[0]]
        if len(readers) > 1:
            between, self.count = self.count, self.count + 1
            for reader in readers:
                ends = (between, self.node[reader]) if forwards else (self.node[reader], between)
                self.edges.append((*ends, None))
        self.edges.append((producer, between, time_ns) if forwards else (between, producer, time_ns))


def _source_side(
    edges: list[tuple[int, int, int | None]], count: int, ceiling: int | None
) -> tuple[npt.NDArray[np.bool_], bool]:
    """Which nodes stay on the side of node 0 in a minimum cut to node 1; capacities of `None` are endless.

    Capacities above `ceiling`, which no flow passes, count as endless. The flow routine computes in 32 bits, so
    capacities are divided by their common divisor, and where that is not enough rounded down (not exact then).
    """
    # Loaded on first use: the list of strategies is shown without it.
    from scipy.sparse import csr_array  # noqa: PLC0415
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow  # noqa: PLC0415

    finite = [c for _, _, c in edges if c]
    unit = math.gcd(*finite) if finite else 1
    highest = (sum(finite) if ceiling is None else ceiling) // unit
    exact = highest < _FLOW_CEILING
    shrink = 1 if exact else -(-highest // (_FLOW_CEILING - 1))
    endless = highest // shrink + 1
    capacity = np.array([endless if c is None else min(endless, c // unit // shrink) for _, _, c in edges], np.int64)
    ends = np.array([edge[:2] for edge in edges], np.int32).reshape(-1, 2)
    graph = csr_array((capacity, (ends[:, 0], ends[:, 1])), shape=(count, count))
    graph.sum_duplicates()
    graph.data = np.minimum(graph.data, endless).astype(np.int32)
    residual = graph - maximum_flow(graph, 0, 1).flow
    residual.eliminate_zeros()
    side = np.zeros(count, dtype=bool)
    side[breadth_first_order(residual, 0, return_predecessors=False)] = True
    return side, exact
