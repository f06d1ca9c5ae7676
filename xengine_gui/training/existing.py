"""Files that already hold a backward: planned as they stand."""

from dataclasses import replace

from xengine_gui.model.graph import NetworkGraph, TrainingGraph
from xengine_gui.model.operator import Phase
from xengine_gui.training.forward import GraphBuilder

_UPDATES = frozenset({"SGD", "SGDOptimizer", "Adam", "AdamOptimizer", "AdamWOptimizer", "Adagrad", "Momentum"})


def existing_training_graph(network: NetworkGraph, optimizer: str) -> TrainingGraph:
    """The file's own training step: nothing is differentiated, new weights are kept and never computed twice."""
    builder = GraphBuilder(network, training=False)
    builder.add_inputs()
    phase = Phase.FORWARD
    keep: dict[str, None] = dict.fromkeys(builder.storage[name] for name in network.outputs)
    for operator in network.operators:
        if builder.is_view(operator):
            continue
        builder.add_forward(operator)
        if operator.kind in _UPDATES:
            added = builder.operators[-1]
            builder.operators[-1] = replace(added, phase=Phase.UPDATE, recomputable=False)
            keep.update(dict.fromkeys(added.outputs))
            continue
        if "Loss" in operator.kind and not operator.kind.endswith("Grad"):
            builder.operators[-1] = replace(builder.operators[-1], phase=Phase.LOSS)
            continue
        if operator.kind.endswith("Grad"):
            phase = Phase.BACKWARD
        builder.operators[-1] = replace(builder.operators[-1], phase=phase)
    return builder.graph(factor=1, optimizer=optimizer, keep=tuple(keep))
