"""Memory of a graph that retains everything: what one device would need."""

from xengine_gui.model.graph import TrainingGraph


def retain_all_peak_bytes(graph: TrainingGraph) -> int | None:
    """Highest level when each tensor is held from its first computation to its last use, parameters included.

    `None` where a size is unknown.
    """
    if graph.unknown_tensors:
        return None
    last_use = {name: place for place, operator in enumerate(graph.operators) for name in operator.outputs}
    last_use |= {name: place for place, operator in enumerate(graph.operators) for name in operator.inputs}
    ending: dict[int, int] = {}
    for name, place in last_use.items():
        if name not in graph.keep:
            ending[place] = ending.get(place, 0) + (graph.tensors[name].size_bytes or 0)
    level = peak = graph.parameter_bytes
    for place, operator in enumerate(graph.operators):
        level += sum(graph.tensors[name].size_bytes or 0 for name in operator.outputs)
        peak = max(peak, level)
        level -= ending.get(place, 0)
    return peak
