"""The strategy `chen-sqrt`: as many segments as each has steps."""

import math

from xengine_gui.solve.checkpointing.chen import Segments, forms
from xengine_gui.solve.checkpointing.forward_part import ForwardPart
from xengine_gui.solve.checkpointing.strategy import CheckpointingStrategy, Search
from xengine_gui.units import format_count


class ChenSqrt(CheckpointingStrategy):
    """Parts the forward part into segments of about the square root of its length.

    Chen, Xu, Zhang and Guestrin, "Training Deep Nets with Sublinear Memory Cost", 2016: of n steps every √n-th is a
    checkpoint; on the way back each segment is computed again as a whole, so memory grows with √n and no forward
    operator is computed more than twice. On graphs that are no chains the steps are the articulation points of the
    forward graph, or all its operators in base order (Checkmate's AP √n and linearised √n). √n is rounded down and up;
    the fastest plan that fits is taken.
    """

    key = "chen-sqrt"
    title = "Chen √n"
    summary = (
        "Retains every √n-th forward tensor and computes the segments between them again (Chen et al., 2016), at "
        "articulation points or in the linearised graph (as in Checkmate, Jain et al., MLSys 2020)."
    )

    def search(self, search: Search, part: ForwardPart) -> None:
        """Every form of the graph as a chain, with √n rounded down and up."""
        for form in forms(part):
            root = math.isqrt(len(form.candidates))
            for length in {max(1, root), root + 1}:
                if search.should_stop():
                    return
                checkpoints = form.candidates[length - 1 :: length]
                words = f"{format_count(len(checkpoints), 'checkpoint')} {form.words}"
                search.attempt(part, Segments(part, checkpoints, form.kind), words)
