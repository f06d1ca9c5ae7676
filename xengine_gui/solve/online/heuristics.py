"""Which tensor goes first when memory is short: the heuristics of DTR (Kirisame et al., ICLR 2021).

The tensor of least h(t) = cost(t) / (size(t) · staleness(t)) is evicted. The heuristics differ in which of the three
factors they look at, and in how much of what was evicted around t counts into its cost.
"""

from dataclasses import dataclass
from enum import Enum


class Around(Enum):
    """What counts into a tensor's cost beside the operator that makes it."""

    NOTHING = "nothing"
    PATHS = "evicted tensors on paths up or down, exactly"
    ANCESTORS = "evicted tensors that must be computed before it"
    CLASSES = "the classes of evicted tensors next to it"


@dataclass(frozen=True, slots=True)
class Heuristic:
    """One of the paper's heuristics; a factor that it does not look at counts as 1."""

    key: str
    around: Around = Around.NOTHING
    by_cost: bool = True
    by_size: bool = True
    by_staleness: bool = True


DTR = Heuristic("h_DTR", Around.PATHS)
DTR_EQ = Heuristic("h_DTR-eq", Around.CLASSES)
DTR_LOCAL = Heuristic("h_DTR-local")
LRU = Heuristic("h_LRU", by_cost=False, by_size=False)
SIZE = Heuristic("h_size", by_cost=False, by_staleness=False)
MSPS = Heuristic("h_MSPS", Around.ANCESTORS, by_staleness=False)

HEURISTICS: tuple[Heuristic, ...] = (DTR_EQ, DTR, DTR_LOCAL, LRU, SIZE, MSPS)
"""First the one that the authors' prototype runs by: near the exact h_DTR, and much quicker. Then the exact one, the
costs of single operators, least recently used, largest first, and the most size per second of recomputation (MSPS,
from Peng et al., "Capuchin", ASPLOS 2020)."""
