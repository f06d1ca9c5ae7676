"""The graph of a plan as GraphML, with costs and sizes as attributes that yEd, Gephi and networkx show.

Our own importer reads the same problem again: what plain attributes cannot say (several results, shared parameters,
implementations, texts that XML cannot hold) stands beside them as JSON, under names that `importers.costed.structured`
knows. A node is an operator, an edge leads from the operator that computes a tensor to one that reads it.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from xengine_gui.importers.costed import structured as keys
from xengine_gui.model.operator import Operator, Phase
from xengine_gui.model.plan import Plan
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import problem_to_json
from xengine_gui.schedule.export.base import ExportOptions, write_parts
from xengine_gui.units import format_count

_LINES_IN_A_PART = 1000
_UNSAFE = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped, and the carriage return, which it turns into a line feed."""
_Values = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class GraphMl:
    """Operators with their costs, and what reads what."""

    key: str = "graphml"
    title: str = "Graph with costs, GraphML"
    summary: str = "the graph with its costs and sizes for yEd, Gephi or networkx; the planner reads it again, exactly"
    suffixes: tuple[str, ...] = (".graphml",)
    bytes_per_event: int = 700
    timed: bool = False

    def parts(self, plan: Plan, _options: ExportOptions) -> Iterable[bytes]:
        """The document, in UTF-8."""
        return graphml_parts(plan.problem)

    def remarks(self, plan: Plan) -> tuple[str, ...]:
        """What is not written as it is called."""
        return graphml_remarks(plan.problem)


def graphml_remarks(problem: Problem) -> tuple[str, ...]:
    """What is not written as it is called, in sentences."""
    texts = [problem.name, problem.notes, *(text for o in problem.operators for text in (o.name, o.kind))]
    changed = sum(map(_needs_escape, texts))
    if not changed:
        return ()
    which = f"{format_count(changed, 'text')} {'has' if changed == 1 else 'have'} characters that XML cannot hold"
    return (f"{which}: they are written escaped, and read back as they were.",)


def write_graphml(problem: Problem, path: Path) -> None:
    """Write a problem as GraphML, whole or not at all."""
    write_parts(path, graphml_parts(problem))


def graphml_parts(problem: Problem) -> Iterator[bytes]:
    """The document of a problem, in pieces of many lines."""
    lines: list[str] = []
    for line in _lines(problem):
        lines.append(line)
        if len(lines) >= _LINES_IN_A_PART:
            yield "".join(lines).encode()
            lines.clear()
    yield "".join(lines).encode()


def _lines(problem: Problem) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    own = _graph_values(problem)
    nodes = _Nodes(problem)
    rows = [nodes.values(operator) for operator in problem.operators]
    number: dict[tuple[str, str], str] = {}
    for owner, values in [("graph", own), *(("node", row) for row in rows)]:
        for name, value in values.items():
            if (owner, name) not in number:
                number[owner, name] = f"d{len(number)}"
                about = f'for="{owner}" attr.name={quoteattr(name)} attr.type="{_type_of(value)}"'
                yield f'<key id="{number[owner, name]}" {about}/>\n'
    yield '<graph edgedefault="directed">\n'
    yield from _data(own, lambda name: number["graph", name])
    for i, row in enumerate(rows):
        yield f'<node id="n{i}">\n'
        yield from _data(row, lambda name: number["node", name])
        yield "</node>\n"
    for i, operator in enumerate(problem.operators):
        for before in nodes.read_from(operator):
            yield f'<edge source="n{before}" target="n{i}"/>\n'
    yield "</graph>\n</graphml>\n"


def _data(values: _Values, number: Callable[[str], str]) -> Iterator[str]:
    for name, value in values.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        yield f'<data key="{number(name)}">{escape(text)}</data>\n'


def _type_of(value: object) -> str:
    return "boolean" if isinstance(value, bool) else "long" if isinstance(value, int) else "string"


def _graph_values(problem: Problem) -> _Values:
    data = problem_to_json(problem)
    order = [name for operator in problem.operators for name in operator.outputs]
    tensors = [tensor.name for tensor in problem.tensors]
    return {
        **_texts({"name": problem.name, "notes": problem.notes}),
        keys.EXACT_FORM: 1,
        keys.DEVICES: _json(data["devices"]),
        keys.LINKS: _json(data["links"]),
        keys.TRANSFERS: _json(data["transfers"]),
        keys.PARAMETERS: _json(data["parameters"]),
        keys.KEEP: _json(data["keep"]),
        **({} if order == tensors else {keys.TENSORS: _json(tensors)}),
    }


class _Nodes:
    """Operators as attributes."""

    def __init__(self, problem: Problem) -> None:
        self._operators = problem.operators
        self._producer = {name: i for i, operator in enumerate(problem.operators) for name in operator.outputs}
        self._sizes = {tensor.name: tensor.size_bytes for tensor in problem.tensors}
        self._parameters = {parameter.name: parameter.size_bytes for parameter in problem.parameters}
        # Names of devices become parts of attribute names, where a line break would turn into a space.
        self._plain = not any(
            _needs_escape(device.name) or not device.name or re.search(r"[\t\n]", device.name)
            for device in problem.devices
        )

    def read_from(self, operator: Operator) -> list[int]:
        """The operators whose results it reads."""
        return list(dict.fromkeys(self._producer[name] for name in operator.inputs))

    def values(self, operator: Operator) -> _Values:
        """Its attributes; those of our own only where the plain ones do not tell all."""
        sizes = {name: self._sizes[name] for name in operator.outputs}
        values: dict[str, object] = {
            **_texts({"name": operator.name, "kind": operator.kind}),
            keys.PHASE: str(operator.phase),
            "backward": operator.phase == Phase.BACKWARD,
            "recomputable": operator.recomputable,
            "size_bytes": sum(sizes.values()),
            "parameter_bytes": sum(self._parameters[name] for name in dict.fromkeys(operator.parameters)),
            keys.READ_PARAMETERS: _json(list(operator.parameters)),
        }
        for device, ways in operator.costs.items() if self._plain else ():
            fastest = min(ways, key=lambda way: way.time_ns, default=None)
            if fastest is not None:
                values[f"time_ns.{device}"] = fastest.time_ns
                values[f"workspace_bytes.{device}"] = fastest.workspace_bytes
        if not self._plain or any(len(ways) != 1 or ways[0].name is not None for ways in operator.costs.values()):
            values[keys.IMPLEMENTATIONS] = _json(_ways(operator))
        if sizes != {operator.name: values["size_bytes"]}:
            values[keys.OUTPUTS] = _json(sizes)
        everything = [name for before in self.read_from(operator) for name in self._operators[before].outputs]
        if everything != list(operator.inputs):
            values[keys.INPUTS] = _json(list(operator.inputs))
        return values


def _ways(operator: Operator) -> object:
    return {
        device: [
            {
                **({} if way.name is None else {"implementation": way.name}),
                "time_ns": way.time_ns,
                "workspace_bytes": way.workspace_bytes,
            }
            for way in ways
        ]
        for device, ways in operator.costs.items()
    }


def _texts(texts: Mapping[str, str]) -> dict[str, object]:
    """Texts as attributes; those that XML cannot hold escaped, and as they are in one attribute more."""
    values: dict[str, object] = {
        name: _UNSAFE.sub(lambda found: _json(found[0])[1:-1], text) for name, text in texts.items()
    }
    exact = {name: text for name, text in texts.items() if _needs_escape(text)}
    return {**values, keys.EXACT: _json(exact)} if exact else values


def _needs_escape(text: str) -> bool:
    return _UNSAFE.search(text) is not None or text != text.strip()


def _json(value: object) -> str:
    return json.dumps(value, allow_nan=False)
