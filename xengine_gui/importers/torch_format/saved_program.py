"""The graph of a saved program, as nodes and values like those of `torch.fx`, as far as they are looked at."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import getitem
from types import SimpleNamespace
from typing import Any

from xengine_gui.importers.torch_format.symbols import Symbols

_TYPES = {
    1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float16", 7: "float32", 8: "float64", 9: "complex32",
    10: "complex64", 11: "complex128", 12: "bool", 13: "bfloat16", 28: "uint16", 29: "float8_e4m3fn", 30: "float8_e5m2",
    31: "float8_e4m3fnuz", 32: "float8_e5m2fnuz", 33: "float8_e8m0fnu", 34: "uint32", 35: "uint64",
}  # fmt: skip
"""The types of elements by the numbers that the files have for them."""


@dataclass(frozen=True)
class Value:
    """A tensor's shape and strides; an unknown length is `None`."""

    dtype: str
    shape: tuple[int | None, ...]
    strides: tuple[int | None, ...]
    requires_grad: bool = False

    def stride(self) -> tuple[int | None, ...]:
        """Steps between elements of each dimension."""
        return self.strides

    def is_contiguous(self) -> bool:
        """Whether the elements stand one after the other."""
        step = 1
        for length, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if length is None or (length != 1 and stride != step):
                return False
            step *= length
        return True

    def view(self, shape: tuple[int | None, ...]) -> None:
        """Nothing; a `ValueError` where the elements would have to be copied for that shape."""
        runs: list[int] = []  # lengths of stretches that are as if they were one dimension
        step: int | None = None
        for length, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if length is None or stride is None:
                raise ValueError
            if length == 1:
                continue
            if step is not None and stride == step:
                runs[-1] *= length
            else:
                runs.append(length)
            step = stride * length
        wanted = [length for length in reversed(shape) if length != 1]
        for run in runs:
            left = run
            while left > 1:
                length = wanted.pop(0) if wanted else None
                if not length or left % length:
                    raise ValueError
                left //= length


@dataclass(eq=False)
class Node:
    """A node of the graph as `torch.fx` has it, as far as it is looked at."""

    op: str
    name: str
    target: Any = None
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    meta: dict[str, Any] = field(default_factory=dict)
    users: dict["Node", None] = field(default_factory=dict)

    @property
    def all_input_nodes(self) -> list["Node"]:
        """The nodes in its arguments, each once."""
        return list(dict.fromkeys(_nodes_in([*self.args, *self.kwargs.values()])))


class SavedProgram:
    """Makes nodes of what a file tells."""

    def __init__(self, graph: Any, signature: Any, symbols: Symbols) -> None:
        self._graph, self._signature, self._symbols = graph, signature, symbols
        self._nodes: dict[str, Node] = {}
        self._order: list[Node] = []

    def program(self) -> Any:
        """What has the parts of an exported program that are looked at."""
        specs, state = [], {}
        for spec in self._signature["input_specs"]:
            (kind, about), *_ = spec.items()
            argument = about.get("arg") or {}
            name = (argument.get("as_tensor") or argument).get("name")
            target = next((about[key] for key in about if key.endswith("_name")), None)
            if not isinstance(name, str):
                continue  # a number, or nothing
            specs.append(SimpleNamespace(arg=SimpleNamespace(name=name), kind=kind.upper(), target=target))
            node = self._add(Node("placeholder", name, meta={"val": self._value(name)}))
            if kind == "parameter":
                state[target] = node.meta["val"]
        for row in self._graph["nodes"]:
            self._call(row)
        outputs = [argument["as_tensor"]["name"] for argument in self._graph["outputs"] if "as_tensor" in argument]
        self._add(Node("output", "output", args=tuple(self._nodes[name] for name in outputs if name in self._nodes)))
        wanted = [
            SimpleNamespace(arg=SimpleNamespace(name=name), kind=kind.upper())
            for spec in self._signature["output_specs"]
            for kind, about in spec.items()
            for name in [(about["arg"].get("as_tensor") or about["arg"]).get("name")]
        ]
        return SimpleNamespace(
            graph=SimpleNamespace(nodes=self._order),
            graph_signature=SimpleNamespace(input_specs=specs, output_specs=wanted),
            state_dict=state,
        )

    def _add(self, node: Node) -> Node:
        for read in node.all_input_nodes:
            read.users[node] = None
        self._order.append(node)
        self._nodes[node.name] = node
        return node

    def _call(self, row: Any) -> None:
        inputs = [(item["name"], self._argument(item["arg"]), item.get("kind", 1)) for item in row["inputs"]]
        placed = [(name, value) for name, value, kind in inputs if kind != 2]
        whole = str(row["target"]).removeprefix("torch.ops.").split(".")
        schema = SimpleNamespace(
            name="::".join(whole[:2]), arguments=[SimpleNamespace(name=name) for name, _ in placed]
        )
        names = [name for output in row["outputs"] for name in _names_in(output)]
        single = len(row["outputs"]) == 1 and "as_tensor" in row["outputs"][0]
        node = Node(
            "call_function",
            names[0] if single else str(row.get("name") or f"call_{len(self._order)}"),
            SimpleNamespace(_schema=schema),
            tuple(value for _, value in placed),
            {name: value for name, value, kind in inputs if kind == 2},
            {"nn_module_stack": _stack((row.get("metadata") or {}).get("nn_module_stack") or "")},
        )
        node.meta["val"] = self._value(names[0]) if single else tuple(self._value(name) for name in names)
        self._add(node)
        for place, name in enumerate(() if single else names):
            if name:
                self._add(Node("call_function", name, getitem, (node, place), meta={"val": self._value(name)}))

    def _value(self, name: str) -> Value | None:
        about = self._graph["tensor_values"].get(name)
        if about is None:
            return None
        lengths, strides = (tuple(map(self._symbols.length, about[key])) for key in ("sizes", "strides"))
        return Value(
            f"torch.{_TYPES.get(about['dtype'], 'unknown')}", lengths, strides, bool(about.get("requires_grad"))
        )

    def _argument(self, argument: Any) -> Any:
        if not isinstance(argument, dict) or len(argument) != 1:
            return None
        (kind, value), *_ = argument.items()
        if kind in {"as_tensor", "as_tensors", "as_optional_tensor", "as_optional_tensors", "as_nested_tensors"}:
            return self._tensors(value)
        if kind == "as_sym_int":
            return self._symbols.argument(value)
        if kind == "as_sym_ints":
            return [self._symbols.argument(item) for item in value]
        plain = {"as_int", "as_ints", "as_float", "as_floats", "as_bool", "as_bools", "as_string", "as_strings"}
        return value if kind in plain else None

    def _tensors(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._tensors(item) for item in value]
        named = value.get("as_tensor") or value
        return self._nodes.get(str(named.get("name"))) if isinstance(named, dict) else None


def _names_in(output: Any) -> Iterable[str]:
    """The tensors that a call gives, empty for what is none."""
    (kind, value), *_ = output.items()
    if kind in {"as_tensors", "as_optional_tensors"}:
        return [(item.get("as_tensor") or item).get("name") or "" for item in value]
    return [value.get("name") or "" if kind == "as_tensor" else ""]


def _stack(text: str) -> dict[str, tuple[str, str]]:
    """The modules around a call, the outermost first, as `torch.fx` has them."""
    rows = [part.split(",") for part in text.split(";") if part.count(",") >= 2]
    return {row[0]: (",".join(row[1:-1]), row[-1]) for row in rows}


def _nodes_in(values: Iterable[Any]) -> Iterable[Node]:
    for value in values:
        if isinstance(value, Node):
            yield value
        elif isinstance(value, list | tuple):
            yield from _nodes_in(value)
