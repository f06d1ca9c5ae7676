"""What a plan gives the nodes and edges of a drawing to be painted with."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from xengine_gui.model.operator import Phase
from xengine_gui.schedule.timeline import Category
from xengine_gui.ui.graph_view.facts import Fate, Int64Array, PlanFacts
from xengine_gui.ui.graph_view.routes import FloatArray
from xengine_gui.ui.graph_view.scene import Scene

_CATEGORIES = {
    Phase.FORWARD: Category.FORWARD,
    Phase.LOSS: Category.LOSS,
    Phase.BACKWARD: Category.BACKWARD,
    Phase.UPDATE: Category.UPDATE,
}
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Moment:
    """What is so at one moment: bytes of each node's results on each device, and the nodes that run."""

    live_bytes: FloatArray
    running: frozenset[int]

    @cached_property
    def is_live(self) -> BoolArray:
        """The nodes that have a result in memory, or run."""
        live: BoolArray = self.live_bytes.sum(axis=1) > 0
        live[list(self.running)] = True
        return live


@dataclass(frozen=True)
class Looks:
    """A drawing with a plan, or with none."""

    scene: Scene
    facts: PlanFacts | None

    @cached_property
    def category(self) -> Int64Array:
        """Per node whose colour it has; a block has that of most of its operators."""
        operators = self.scene.structure.problem.operators
        found = []
        for node in self.scene.nodes.nodes:
            phases = [operators[o].phase for o in node.operators]
            found.append(int(_CATEGORIES[max(set(phases), key=phases.count)]))
        return np.array(found, np.int64)

    @cached_property
    def shares(self) -> FloatArray:
        """Per node the share of its operators that run on each device; all 0 without a plan."""
        devices = len(self.scene.structure.problem.devices)
        shares = np.zeros((len(self.scene.nodes.nodes), devices))
        if self.facts is not None:
            for n, node in enumerate(self.scene.nodes.nodes):
                for o in node.operators:
                    if self.facts.device[o] >= 0:
                        shares[n, self.facts.device[o]] += 1 / len(node.operators)
        return shares

    @cached_property
    def styles(self) -> tuple[int, ...]:
        """Per device how its nodes are shaped and filled: 0, solid, for the one that runs most, and so on."""
        used = self.shares.sum(axis=0)
        order = sorted(range(self.shares.shape[1]), key=lambda d: (-round(float(used[d]), 6), d))
        return tuple(order.index(d) for d in range(len(order)))

    @cached_property
    def style_shares(self) -> FloatArray:
        """The shares by style in place of device."""
        shares = np.zeros_like(self.shares)
        shares[:, list(self.styles)] = self.shares
        return shares

    @cached_property
    def style(self) -> Int64Array:
        """Per node the style of the device of most of its operators."""
        return np.argmax(self.style_shares, axis=1) if self.shares.shape[1] else np.zeros(len(self.shares), np.int64)

    @cached_property
    def device(self) -> Int64Array:
        """Per node the device of most of its operators, the first one without a plan."""
        return np.argmax(self.shares, axis=1) if self.shares.shape[1] else np.zeros(len(self.shares), np.int64)

    @cached_property
    def again(self) -> Int64Array:
        """Per node how many recomputations it has."""
        if self.facts is None:
            return np.zeros(len(self.scene.nodes.nodes), np.int64)
        again = self.facts.again
        return np.array([sum(again[o] for o in n.operators) for n in self.scene.nodes.nodes], np.int64)

    @cached_property
    def node_of_tensor(self) -> Int64Array:
        """The node that makes each tensor."""
        producer = self.scene.structure.problem.indexed.producer
        return np.array([self.scene.nodes.of_operator[p] for p in producer], np.int64)

    @cached_property
    def tensor_bytes(self) -> FloatArray:
        """The size of each tensor."""
        return np.array([float(b) for b in self.scene.structure.problem.indexed.tensor_bytes])

    @cached_property
    def made_bytes(self) -> FloatArray:
        """Per node the size of all that it makes."""
        return self._per_node(self.node_of_tensor, self.tensor_bytes)

    @cached_property
    def fate_bytes(self) -> FloatArray:
        """Per edge the bytes that come by each fate (edges, 3); the first column has all of them without a plan."""
        found = np.zeros((len(self.scene.placed.pairs), len(Fate)))
        of_operator = self.scene.nodes.of_operator
        worst: dict[tuple[int, int], Fate] = {}
        for (tensor, reader), fate in ({} if self.facts is None else self.facts.fates).items():
            key = tensor, of_operator[reader]
            worst[key] = max(worst.get(key, Fate.RETAINED), fate)
        for e, pair in enumerate(self.scene.placed.pairs):
            for tensor in self.scene.nodes.edges[pair]:
                found[e, worst.get((tensor, pair[1]), Fate.RETAINED)] += self.tensor_bytes[tensor]
        return found

    @cached_property
    def is_retained(self) -> BoolArray:
        """The forward nodes of which a result stays until its gradient reads it."""
        found = np.zeros(len(self.scene.nodes.nodes), np.bool_)
        if self.facts is not None:
            kept = np.flatnonzero(self.scene.is_saved & (self.fate_bytes[:, Fate.RETAINED] > 0))
            found[[self.scene.placed.pairs[e][0] for e in kept]] = True
        return found

    def moment(self, *, time_ns: int = -1, event: int = -1) -> Moment | None:
        """What is so after an event, or at a moment where no event is given; `None` without a plan or a moment."""
        facts = self.facts
        if facts is None or (event < 0 and time_ns < 0):
            return None
        stays = facts.live_after(event) if event >= 0 else facts.live_at(time_ns)
        running = facts.running_in(event) if event >= 0 else facts.running_at(time_ns)
        devices = max(1, len(self.scene.structure.problem.devices))
        tensors = facts.stay_tensor[stays]
        cell = self.node_of_tensor[tensors] * devices + facts.stay_device[stays]
        count = len(self.scene.nodes.nodes)
        live = np.bincount(cell, weights=self.tensor_bytes[tensors], minlength=count * devices)
        nodes = frozenset(self.scene.nodes.of_operator[o] for o in running.tolist())
        return Moment(live.reshape(count, devices).astype(np.float64), nodes)

    def _per_node(self, nodes: Int64Array, weights: FloatArray) -> FloatArray:
        return np.bincount(nodes, weights=weights, minlength=len(self.scene.nodes.nodes)).astype(np.float64)
