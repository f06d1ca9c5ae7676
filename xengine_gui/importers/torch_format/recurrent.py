"""A stack of recurrent layers, which PyTorch calls as one operator, as one operator a layer."""

from typing import TYPE_CHECKING

from xengine_gui.importers.torch_format.kinds import RECURRENT
from xengine_gui.model.graph import Attribute

if TYPE_CHECKING:
    from xengine_gui.importers.torch_format.network import Assembly, Call


def layers_of(assembly: "Assembly", call: "Call") -> None:
    """Add the layers to a network. Weights stand in the slots of ONNX, those of a second bias and direction after."""
    kind, given = RECURRENT[call.name], call.arguments
    states = assembly.named(given.get("hx"))
    weights = assembly.named(given.get("params"))
    layers, both = int(given.get("num_layers") or 1), 2 if given.get("bidirectional") else 1
    per_layer = len(weights) // layers
    hidden = int(call.values[1].shape[-1])
    source = assembly.named(given.get("input"))[0]
    shape = tuple(int(n) for n in call.values[0].shape)
    dtype = str(call.values[0].dtype).removeprefix("torch.")
    attributes: dict[str, Attribute] = {
        "hidden_size": hidden,
        "direction": "bidirectional" if both == 2 else "forward",
        # Each step keeps its state, of which the output is a copy.
        "backward_reads": ("i0", "i1", "i2", "s"),
        "saved_widths": 1 if kind == "RNN" else 7,
    }
    name = call.node.name
    for layer in range(layers):
        own = weights[layer * per_layer : (layer + 1) * per_layer]
        last = layer == layers - 1
        output = assembly.add_tensor(name if last else f"{name}.layer_{layer}", shape, dtype)
        rest = tuple(
            assembly.add_tensor(f"{output}.state_{place}", (both, *shape_without_steps(call)), dtype)
            for place in range(1, len(call.values))
        )
        slots = (source, *own[:2], "", "", *(states if layer == 0 else ()), *own[2:])
        assembly.add_operator(call, kind, slots, (output, *rest), attributes, name=output)
        source = output
        if last:
            assembly.outputs_of[call.node] = (output, *rest)


def shape_without_steps(call: "Call") -> tuple[int, ...]:
    """Batch and width of a state."""
    return tuple(int(n) for n in call.values[1].shape[1:])
