"""For how long each tensor is wanted, read off the graph before anything runs."""

from xengine_gui.model.indexed import IndexedProblem


class Lifetimes:
    """How often each tensor is read for the first time, and the operator after which nothing can want it any more.

    `reads[t]` counts first computations that read tensor t, and one more where it must be kept. `ending[o]` are the
    tensors that neither an operator after o reads nor any recomputation that such an operator may call for.
    """

    def __init__(self, indexed: IndexedProblem) -> None:
        self.reads = [len(readers) for readers in indexed.consumers]
        for tensor in indexed.keep:
            self.reads[tensor] += 1
        self.ending: list[list[int]] = [[] for _ in range(indexed.operator_count)]
        for tensor, last in enumerate(_last_wanted(indexed)):
            if last < indexed.operator_count:
                self.ending[last].append(tensor)


def _last_wanted(indexed: IndexedProblem) -> list[int]:
    """Per tensor the last operator that may want it; the number of operators where it must be kept."""
    count = indexed.operator_count
    last = [
        count if t in indexed.keep else max((producer, *readers))
        for t, (producer, readers) in enumerate(zip(indexed.producer, indexed.consumers, strict=True))
    ]
    for operator in reversed(range(count)):
        if indexed.recomputable[operator]:
            again = max((last[t] for t in indexed.outputs[operator]), default=operator)
            for tensor in indexed.inputs[operator]:
                last[tensor] = max(last[tensor], again)
    return last
