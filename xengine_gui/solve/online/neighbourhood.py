"""What it would cost to bring back the evicted tensors around one that is still there.

Each keeps, per tensor, a sum that is added to the cost of its own operator. After an eviction or a return only the
sums of the tensors around are made anew, when they are next asked for.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.solve.online.heuristics import Around

_HEED_EVERY = 50_000
"""Evicted tensors that are looked at between two calls of `heed`: a hundredth of a second."""

Adjacent = Sequence[Sequence[int]]
"""Per tensor other tensors."""


class Neighbourhood(Protocol):
    """Hears of every change, and tells the sums."""

    def put(self, tensor: int) -> None:
        """A tensor is there for the first time."""

    def evict(self, tensor: int) -> None:
        """A tensor is there no more, but may be wanted again."""

    def restore(self, tensor: int, *, gone: bool = False) -> None:
        """An evicted tensor is there again, or `gone`: nobody will want it."""

    def sums(self) -> npt.NDArray[np.float64]:
        """Per tensor what there is around it; it holds for tensors that are there."""


def neighbourhood(
    around: Around,
    indexed: IndexedProblem,
    cost_ns: Sequence[int],
    resident: Sequence[int],
    heed: Callable[[int], None] = lambda _looks: None,
) -> Neighbourhood:
    """The bookkeeping for a heuristic; `resident` says at any time which tensors are there.

    `heed` hears every now and then how many evicted tensors have been looked at, and may raise to end it.
    """
    if around is Around.NOTHING:
        return NoNeighbourhood(indexed.tensor_count)
    parents, children = adjacent_tensors(indexed)
    if around is Around.CLASSES:
        return EvictedClasses(parents, children, cost_ns, resident)
    return EvictedPaths(parents, children, cost_ns, resident, downwards=around is Around.PATHS, heed=heed)


def adjacent_tensors(indexed: IndexedProblem) -> tuple[Adjacent, Adjacent]:
    """Per tensor those that its operator reads, and those that its readers make."""
    parents = [indexed.inputs[producer] for producer in indexed.producer]
    children = [
        tuple(dict.fromkeys(made for reader in readers for made in indexed.outputs[reader]))
        for readers in indexed.consumers
    ]
    return parents, children


class NoNeighbourhood:
    """Nothing around counts."""

    def __init__(self, tensor_count: int) -> None:
        self._zeros = np.zeros(tensor_count)

    def put(self, tensor: int) -> None:
        """Nothing changes."""

    def evict(self, tensor: int) -> None:
        """Nothing changes."""

    def restore(self, tensor: int, *, gone: bool = False) -> None:
        """Nothing changes."""

    def sums(self) -> npt.NDArray[np.float64]:
        """Zeros."""
        return self._zeros


class EvictedPaths:
    """The paper's e*: the evicted tensors that must come back before it, and those that wait for it.

    Without `downwards` only those before it count. A tensor in `held_back` waits for nothing: it has a copy elsewhere,
    which costs `cost_ns` to fetch. `heed` is called every now and then, and may raise to end it.
    """

    def __init__(
        self,
        parents: Adjacent,
        children: Adjacent,
        cost_ns: Sequence[int],
        resident: Sequence[int],
        *,
        downwards: bool,
        heed: Callable[[int], None] = lambda _looks: None,
    ) -> None:
        self.parents, self.children, self.resident, self.downwards = parents, children, resident, downwards
        self.cost_ns = list(cost_ns)
        self.evicted = bytearray(len(self.cost_ns))
        self.held_back = bytearray(len(self.cost_ns))
        self._heed, self._looks, self._heed_at = heed, 0, _HEED_EVERY
        self._seen = [0] * len(self.cost_ns)
        self._walk = 0
        self._sums = np.zeros(len(self.cost_ns))
        self._outdated: set[int] = set()

    def put(self, tensor: int) -> None:
        """It is to be looked at."""
        self._outdated.add(tensor)

    def evict(self, tensor: int) -> None:
        """The tensors around it are to be looked at again."""
        self.evicted[tensor] = 1
        self._look_around(tensor)

    def restore(self, tensor: int, *, gone: bool = False) -> None:
        """The tensors around it are to be looked at again, and itself."""
        self.evicted[tensor] = 0
        self._look_around(tensor)
        if not gone:
            self._outdated.add(tensor)

    def sum_before(self, tensor: int) -> int:
        """What must come back before it can be computed."""
        return self._sum(tensor, self.parents)

    def sums(self) -> npt.NDArray[np.float64]:
        """The sums, with those that are outdated made anew."""
        while self._outdated:
            tensor = self._outdated.pop()
            if self.resident[tensor]:
                below = self._sum(tensor, self.children) if self.downwards else 0
                self._sums[tensor] = self._sum(tensor, self.parents) + below
        return self._sums

    def _look_around(self, tensor: int) -> None:
        """Note the tensors whose sums hold this one."""
        self._note_ends(tensor, self.children)
        if self.downwards:
            self._note_ends(tensor, self.parents)

    def _note_ends(self, start: int, ways: Adjacent) -> None:
        """Note the tensors that are reached through evicted ones and are there."""
        evicted, held_back, resident, outdated = self.evicted, self.held_back, self.resident, self._outdated
        passed = set()
        stack = [start]
        while stack:
            for tensor in ways[stack.pop()]:
                if resident[tensor]:
                    outdated.add(tensor)
                elif evicted[tensor] and not held_back[tensor] and tensor not in passed:
                    passed.add(tensor)
                    stack.append(tensor)
        self._count(len(passed))

    def _sum(self, start: int, ways: Adjacent) -> int:
        """The costs of the evicted tensors that are reached through evicted ones."""
        evicted, held_back, cost_ns, seen = self.evicted, self.held_back, self.cost_ns, self._seen
        self._walk = walk = self._walk + 1
        upwards = ways is self.parents
        total = looks = 0
        stack = [start]
        while stack:
            for tensor in ways[stack.pop()]:
                if not evicted[tensor] or seen[tensor] == walk:
                    continue
                seen[tensor] = walk
                looks += 1
                if not held_back[tensor]:
                    stack.append(tensor)
                elif not upwards:
                    continue
                total += cost_ns[tensor]
        self._count(looks)
        return total

    def _count(self, looks: int) -> None:
        self._looks += looks
        if self._looks >= self._heed_at:
            self._heed_at = self._looks + _HEED_EVERY
            self._heed(self._looks)


class SinglePaths(EvictedPaths):
    """Paths of which nothing counts: for graphs that are too large to look at more."""

    def put(self, tensor: int) -> None:
        """Nothing changes."""

    def evict(self, tensor: int) -> None:
        """Nothing changes."""

    def restore(self, tensor: int, *, gone: bool = False) -> None:
        """Nothing changes."""

    def sum_before(self, tensor: int) -> int:  # noqa: ARG002
        """Nothing counts."""
        return 0


class EvictedClasses:
    """The paper's ẽ*: evicted neighbours are joined into classes by union-find, and next to a class all of it counts.

    A class is never split: a tensor that comes back takes its own cost out of the class, and that is all.
    """

    def __init__(self, parents: Adjacent, children: Adjacent, cost_ns: Sequence[int], resident: Sequence[int]) -> None:
        self.near = [tuple(dict.fromkeys((*up, *down))) for up, down in zip(parents, children, strict=True)]
        self.cost_ns, self.resident = cost_ns, resident
        self.node = [-1] * len(cost_ns)
        self._parent: list[int] = []
        self._class_ns: list[int] = []
        self._edge: list[set[int]] = []
        self._sums = np.zeros(len(cost_ns))
        self._outdated: set[int] = set()

    def put(self, tensor: int) -> None:
        """It is to be looked at."""
        self._outdated.add(tensor)

    def evict(self, tensor: int) -> None:
        """It joins the classes next to it into one."""
        root = self.node[tensor] = len(self._parent)
        self._parent.append(root)
        self._class_ns.append(self.cost_ns[tensor])
        self._edge.append({other for other in self.near[tensor] if self.resident[other]})
        for other in self.near[tensor]:
            if self.node[other] >= 0:
                root = self._join(root, self._root(self.node[other]))
        self._outdated.update(self._edge[root])

    def restore(self, tensor: int, *, gone: bool = False) -> None:
        """It leaves its class."""
        root = self._root(self.node[tensor])
        self.node[tensor] = -1
        self._class_ns[root] -= self.cost_ns[tensor]
        if not gone:
            self._edge[root].add(tensor)
        self._outdated.update(self._edge[root])

    def sums(self) -> npt.NDArray[np.float64]:
        """The sums, with those that are outdated made anew."""
        node = self.node
        for tensor in self._outdated:
            if self.resident[tensor]:
                roots = {self._root(node[other]) for other in self.near[tensor] if node[other] >= 0}
                self._sums[tensor] = sum(self._class_ns[root] for root in roots)
        self._outdated.clear()
        return self._sums

    def _root(self, node: int) -> int:
        parent = self._parent
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    def _join(self, one: int, other: int) -> int:
        if one == other:
            return one
        if len(self._edge[one]) < len(self._edge[other]):
            one, other = other, one
        self._parent[other] = one
        self._class_ns[one] += self._class_ns[other]
        self._edge[one] |= self._edge[other]
        self._edge[other] = set()
        return one
