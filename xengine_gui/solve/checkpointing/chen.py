"""What both rules of Chen et al. share: checkpoints cut the forward part into segments, each computed again at once."""

from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from xengine_gui.solve.checkpointing.forward_part import ForwardPart
from xengine_gui.solve.checkpointing.sweeps import Everything


class Kind(Enum):
    """What a checkpoint at a boundary retains: all tensors across it, or the results of the operator before it."""

    CUT = auto()
    NODE = auto()


@dataclass(frozen=True)
class Form:
    """A way to see a graph as a chain: the boundaries that may be checkpoints, and what each retains."""

    words: str
    candidates: tuple[int, ...]
    kind: Kind


def forms(part: ForwardPart) -> Iterator[Form]:
    """The forms of a forward part, as in Checkmate's baselines: articulation points, then the linearised graph.

    Linearised, any operator may be a checkpoint; retained are its results, or all tensors across the cut after it.
    """
    if part.articulations:
        yield Form("at articulation points", part.articulations, Kind.CUT)
    if not part.articulations or part.boundaries != part.articulations:
        yield Form("in the linearised graph", part.boundaries, Kind.NODE)
        yield Form("in the linearised graph, all that crosses", part.boundaries, Kind.CUT)


class Segments:
    """Retains the checkpoints, and of the last segment everything; a segment that is computed again stays until used.

    No operator is computed more than twice: what its one sweep makes stays until the last use.
    """

    def __init__(self, part: ForwardPart, checkpoints: Sequence[int], kind: Kind) -> None:
        indexed = part.indexed
        last = max(checkpoints, default=0)
        self.retained = {t for o in range(last, part.turn) for t in indexed.outputs[o]}
        for boundary in checkpoints:
            self.retained.update(part.cut(boundary) if kind is Kind.CUT else indexed.outputs[boundary - 1])

    def first(self, missing: Sequence[int]) -> Container[int]:  # noqa: ARG002
        """The checkpoints and the last segment."""
        return self.retained

    def again(self, missing: Sequence[int], sweep: Sequence[int]) -> Container[int]:  # noqa: ARG002
        """All of the segment."""
        return Everything()

    def dropped(self, operator: int) -> Collection[int]:  # noqa: ARG002
        """Nothing goes before its last use."""
        return ()
