"""A small program as `torch.export.save` writes it, for tests that have no PyTorch."""

import json
import zipfile
from pathlib import Path

_BATCH = {"as_expr": {"expr_str": "Symbol('s0', positive=True, integer=True)", "hint": {"as_int": 2}}}
_HEIGHT = {"as_expr": {"expr_str": "Symbol('s2', positive=True, integer=True)", "hint": {"as_int": 8}}}
_LESS = {"as_expr": {"expr_str": "Add(Symbol('s2', positive=True, integer=True), Integer(-2))"}}
_FLAT = {"as_expr": {"expr_str": "Add(Mul(Integer(24), Symbol('s2', positive=True, integer=True)), Integer(-48))"}}


def _value(*sizes: object, trained: bool = False) -> dict[str, object]:
    lengths = [{"as_int": size} if isinstance(size, int) else size for size in sizes]
    steps: list[object] = [{"as_int": 1}]
    for place in range(len(sizes) - 1, 0, -1):
        # The strides of a contiguous tensor, as products of the lengths behind.
        terms = ", ".join(
            f"Integer({size})" if isinstance(size, int) else str(size["as_expr"]["expr_str"])  # type: ignore[index]
            for size in sizes[place:]
        )
        steps.insert(0, {"as_expr": {"expr_str": f"Mul({terms})"}})
    return {"dtype": 7, "sizes": lengths, "strides": steps, "requires_grad": trained}


def _call(target: str, name: str, **inputs: object) -> dict[str, object]:
    rows = [
        {"name": key, "arg": {"as_tensor": {"name": value}} if isinstance(value, str) else value, "kind": 1}
        for key, value in inputs.items()
    ]
    stack = "L__self__,,Net;L__self__conv,conv,torch.nn.modules.conv.Conv2d" if name == "conv2d" else "L__self__,,Net"
    return {
        "target": f"torch.ops.aten.{target}",
        "inputs": rows,
        "outputs": [{"as_tensor": {"name": name}}],
        "metadata": {"nn_module_stack": stack},
        "name": name,
    }


MODEL = {
    "graph_module": {
        "graph": {
            "inputs": [{"as_tensor": {"name": "p_conv_weight"}}, {"as_tensor": {"name": "x"}}],
            "outputs": [{"as_tensor": {"name": "flatten"}}],
            "nodes": [
                _call("conv2d.default", "conv2d", input="x", weight="p_conv_weight"),
                _call("relu_.default", "relu", self="conv2d"),
                _call("flatten.using_ints", "flatten", self="relu", start_dim={"as_int": 1}),
            ],
            "tensor_values": {
                "p_conv_weight": _value(4, 3, 3, 3, trained=True),
                "x": _value(_BATCH, 3, _HEIGHT, 8),
                "conv2d": _value(_BATCH, 4, _LESS, 6),
                "relu": _value(_BATCH, 4, _LESS, 6),
                "flatten": _value(_BATCH, _FLAT),
            },
            "sym_int_values": {},
        },
        "signature": {
            "input_specs": [
                {"parameter": {"arg": {"name": "p_conv_weight"}, "parameter_name": "conv.weight"}},
                {"user_input": {"arg": {"as_tensor": {"name": "x"}}}},
            ],
            "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "flatten"}}}}],
        },
    },
    "range_constraints": {"s0": {"min_val": 0, "max_val": 16}, "s2": {"min_val": 4, "max_val": None}},
    "schema_version": {"major": 8, "minor": 20},
}
"""A convolution, a ReLU in place and a flattening, with a free batch and height."""


def written(folder: Path, model: object) -> Path:
    """The archive with this model in it."""
    path = folder / "net.pt2"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("net/models/model.json", json.dumps(model))
    return path
