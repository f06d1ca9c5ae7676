"""The strategy `chen-greedy`: segments of about the same number of bytes."""

from collections.abc import Iterator
from itertools import accumulate

from xengine_gui.solve.checkpointing.chen import Form, Segments, forms
from xengine_gui.solve.checkpointing.forward_part import ForwardPart
from xengine_gui.solve.checkpointing.strategy import CheckpointingStrategy, Search
from xengine_gui.units import format_count

_RATIO = 2**0.25
"""From one segment size to the next smaller one; Chen et al. search a range of a factor of two in a few steps."""

_SIZES = 48
"""Segment sizes tried at most, over a range of 2^12."""


class ChenGreedy(CheckpointingStrategy):
    """Cuts a segment off as soon as it has so many bytes.

    Chen, Xu, Zhang and Guestrin, "Training Deep Nets with Sublinear Memory Cost", 2016, algorithm 3: in base order the
    bytes of all results are summed, and the first candidate at which the sum passes b is a checkpoint. The size b is
    searched for, from one segment, which retains all, to segments of single operators. Candidates are the
    articulation points of the forward graph, or all its operators (Checkmate's AP greedy and linearised greedy).
    """

    key = "chen-greedy"
    title = "Chen greedy"
    summary = (
        "Retains a forward tensor whenever the bytes since the last one pass a size that is searched for (Chen et al., "
        "2016), at articulation points or in the linearised graph (as in Checkmate, Jain et al., MLSys 2020)."
    )

    def search(self, search: Search, part: ForwardPart) -> None:
        """Every form of the graph as a chain, with all segment sizes."""
        for form in forms(part):
            for checkpoints in _checkpoint_sets(part, form):
                if search.should_stop():
                    return
                words = f"{format_count(len(checkpoints), 'checkpoint')} {form.words}"
                search.attempt(part, Segments(part, checkpoints, form.kind), words)


def _checkpoint_sets(part: ForwardPart, form: Form) -> Iterator[tuple[int, ...]]:
    """The checkpoints of each segment size, without repeats."""
    size = part.indexed.tensor_bytes
    made_bytes = [0, *accumulate(sum(size[t] for t in part.indexed.outputs[o]) for o in range(part.turn))]
    seen: set[tuple[int, ...]] = set()
    segment_bytes = float(made_bytes[-1])
    for _ in range(_SIZES):
        checkpoints = greedy_checkpoints(made_bytes, form.candidates, int(segment_bytes))
        if checkpoints not in seen:
            seen.add(checkpoints)
            yield checkpoints
        if len(checkpoints) == len(form.candidates):
            return
        segment_bytes /= _RATIO


def greedy_checkpoints(made_bytes: list[int], candidates: tuple[int, ...], segment_bytes: int) -> tuple[int, ...]:
    """The candidates at which more than `segment_bytes` were made since the one chosen before.

    `made_bytes[b]` are the bytes that all operators before boundary b make.
    """
    chosen: list[int] = []
    begin = 0
    for boundary in candidates:
        if made_bytes[boundary] - made_bytes[begin] > segment_bytes:
            chosen.append(boundary)
            begin = boundary
    return tuple(chosen)
