"""What PyTorch keeps for the backward of some modules, as `tests/torch_modules.py --record` has written it down.

With each stands the network that `torch.export` gave, so that the rules can be compared where PyTorch is not installed.
"""

import json
from collections.abc import Iterator
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any

from xengine_gui.model.graph import GraphOperator, GraphParameter, GraphTensor, NetworkGraph, TrainingGraph
from xengine_gui.model.operator import Phase

FILE = Path(__file__).with_name("training") / "saved_by_pytorch.json"


@dataclass(frozen=True)
class Recorded:
    """A module of the README's table or a single kind of operator, what PyTorch keeps of it, and why we do not."""

    title: str
    pytorch_bytes: int
    network: NetworkGraph
    why: str = ""


def saved_by_graph(graph: TrainingGraph) -> int:
    """Bytes of all tensors of the forward that a backward reads; what the loss reads is the loss's."""
    forward = {name for o in graph.operators if o.phase is Phase.FORWARD for name in o.outputs}
    read = {name for o in graph.operators if o.phase is Phase.BACKWARD and o.forward for name in o.inputs}
    return sum(graph.tensors[name].size_bytes or 0 for name in forward & read)


def table_line(title: str, by_torch: int, here: int, why: str) -> str:
    """A row of the README's table."""
    apart = f"{here / by_torch - 1:+.1%}".replace("%", " %").replace("+0.0 %", "0")
    return f"| {title} | {by_torch:,} | {here:,} | {apart} | {why or 'equal'} |"


def recorded(part: str) -> list[Recorded]:
    """The `modules` of the table or the `kinds` of operators that were written down."""
    data = json.loads(FILE.read_text(encoding="utf-8"))
    return [
        Recorded(row["title"], row["pytorch_bytes"], network_of(row["network"]), row.get("why", ""))
        for row in data[part]
    ]


def version() -> str:
    """The version of PyTorch that was asked."""
    return str(json.loads(FILE.read_text(encoding="utf-8"))["pytorch"])


def text_of(pytorch: str, parts: dict[str, list[Recorded]]) -> str:
    """The file, a line for each module."""
    lines = [f'{{"pytorch": {json.dumps(pytorch)}']
    for name, rows in parts.items():
        values = (
            {"title": r.title, "why": r.why, "pytorch_bytes": r.pytorch_bytes, "network": json_of(r.network)}
            for r in rows
        )
        lines.append(f' "{name}": [\n  ' + ",\n  ".join(map(json.dumps, values)) + "\n ]")
    return ",\n".join(lines) + "\n}\n"


def json_of(network: NetworkGraph) -> dict[str, Any]:
    """A network as JSON, defaults left out."""
    return {
        "operators": [_without_defaults(operator) for operator in network.operators],
        "tensors": [_without_defaults(tensor) for tensor in network.tensors.values()],
        "parameters": [_without_defaults(parameter) for parameter in network.parameters.values()],
        "inputs": network.inputs,
        "outputs": network.outputs,
    }


def network_of(data: dict[str, Any]) -> NetworkGraph:
    """The network that `json_of` has written."""
    return NetworkGraph(
        name="recorded",
        operators=tuple(GraphOperator(**_tuples(row)) for row in data["operators"]),
        tensors={row["name"]: GraphTensor(**_tuples(row)) for row in data["tensors"]},
        parameters={row["name"]: GraphParameter(**_tuples(row)) for row in data["parameters"]},
        inputs=tuple(data["inputs"]),
        outputs=tuple(data["outputs"]),
    )


def _without_defaults(item: GraphOperator | GraphTensor | GraphParameter) -> dict[str, Any]:
    defaults = {f.name: f.default_factory() if f.default is MISSING else f.default for f in _defaulted(item)}
    return {name: value for name, value in asdict(item).items() if name not in defaults or value != defaults[name]}


def _defaulted(item: Any) -> Iterator[Any]:
    return (f for f in fields(item) if f.default is not MISSING or f.default_factory is not MISSING)


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _tuples(one) for name, one in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
