"""The strategy `retain-last`: of what a sweep computes, only the last tensors that fit are retained."""

from bisect import bisect_left
from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass
from itertools import accumulate

from xengine_gui.solve.checkpointing.forward_part import ForwardPart
from xengine_gui.solve.checkpointing.strategy import CheckpointingStrategy, Search

_SHARES = 16
"""Windows are tried in this many equal steps from everything to nothing, then refined between the last two."""

_REFINEMENTS = 5
"""Halvings of the step between the window that fits and the next larger one."""


@dataclass(frozen=True)
class _Since:
    """The tensors whose producer stands at or after a place in base order."""

    producer: Sequence[int]
    place: int

    def __contains__(self, tensor: object) -> bool:
        return isinstance(tensor, int) and self.producer[tensor] >= self.place


class Window:
    """Every sweep leaves the last tensors behind that the turn's side reads, up to `window_bytes` of them."""

    def __init__(self, part: ForwardPart, window_bytes: int) -> None:
        self.part = part
        self.window_bytes = window_bytes
        self.before = [0, *accumulate(wanted_bytes(part))]

    def first(self, missing: Sequence[int]) -> Container[int]:  # noqa: ARG002
        """The window that ends at the turn."""
        return self._until(self.part.turn)

    def again(self, missing: Sequence[int], sweep: Sequence[int]) -> Container[int]:  # noqa: ARG002
        """The window that ends with the sweep."""
        return self._until(sweep[-1] + 1)

    def dropped(self, operator: int) -> Collection[int]:  # noqa: ARG002
        """Nothing goes before its last use."""
        return ()

    def _until(self, end: int) -> Container[int]:
        begin = bisect_left(self.before, self.before[end] - self.window_bytes)
        return _Since(self.part.indexed.producer, begin)


def wanted_bytes(part: ForwardPart) -> list[int]:
    """Per operator of the forward part the bytes it makes that are read from the turn on."""
    size = part.indexed.tensor_bytes
    return [
        sum(size[t] for t in part.indexed.outputs[o] if part.wanted[t] and not part.lasting[t])
        for o in range(part.turn)
    ]


class RetainLast(CheckpointingStrategy):
    """Retains only the latest tensors.

    The backward pass reads forward tensors last made first. Of the forward part only the last ones stay, up to a window
    of so many bytes; when they are used up, a sweep from the network's inputs computes up to the next one wanted and
    again leaves the last behind. A window of nothing is the baseline `checkpoint last node` in the code of Checkmate
    (Jain et al., MLSys 2020), which holds one tensor from stage to stage and takes quadratic time; a window of
    everything retains all. The largest window that fits is searched for. Unlike in that code gradients stay until
    their last use.
    """

    key = "retain-last"
    title = "Retain last"
    summary = (
        "Retains only the last forward tensors, as many as fit, and computes the rest again from the inputs "
        "(the baseline 'checkpoint last node' of Checkmate, Jain et al., MLSys 2020, with a window)."
    )

    def search(self, search: Search, part: ForwardPart) -> None:
        """The largest window that fits, from everything down to nothing."""
        total = sum(wanted_bytes(part))
        fitting = _SHARES
        while fitting >= 0 and not self._attempt(search, part, total * fitting // _SHARES):
            fitting -= 1
        if fitting in (-1, _SHARES):
            return
        low, high = total * fitting // _SHARES, total * (fitting + 1) // _SHARES
        for _ in range(_REFINEMENTS):
            middle = (low + high) // 2
            if search.should_stop():
                return
            if self._attempt(search, part, middle):
                low = middle
            else:
                high = middle

    @staticmethod
    def _attempt(search: Search, part: ForwardPart, window_bytes: int) -> bool:
        return search.attempt(part, Window(part, window_bytes), f"a window of {window_bytes:,} bytes")
