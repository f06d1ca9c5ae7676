"""Graphs in networkx's node-link JSON, with costs and sizes as attributes of the nodes."""

from collections.abc import Mapping
from pathlib import Path

from xengine_gui.errors import InputError
from xengine_gui.importers.base import refuse_dimensions
from xengine_gui.importers.costed.graph import problem_of
from xengine_gui.importers.costed.raw import Edge, Node, RawGraph
from xengine_gui.model.json_file import Json, kind_of, read_json, show
from xengine_gui.model.problem import Problem


class NodeLinkImporter:
    """Reads `nodes` and `edges` (or `links`, as networkx called them before 3.4)."""

    key = "node_link_json"
    title = "Graphs with costs, node-link JSON"
    suffixes = (".json",)

    def read(
        self, path: Path, *, batch: int | None, bindings: Mapping[str, int], mapping: Mapping[str, str],
        sizes: Mapping[str, int],
    ) -> Problem:  # fmt: skip
        """The problem in the file, on one device without a limit."""
        refuse_dimensions(path, batch, bindings)
        raw = raw_graph(read_json(path), str(path), path.stem)
        return problem_of(raw, str(path), mapping=mapping, sizes=sizes)


def is_node_link(data: Json) -> bool:
    """Whether a JSON value without a format of ours is meant to be such a graph."""
    return isinstance(data, dict) and "format" not in data and not data.keys().isdisjoint({"nodes", "links", "edges"})


def raw_graph(data: Json, source: str, name: str) -> RawGraph:
    """Nodes and edges with their places; an `InputError` for what has not the form of a graph."""
    if not isinstance(data, dict):
        raise InputError(source, f"a graph is an object with nodes and edges, not {kind_of(data)}")
    mistakes: list[str] = []
    if data.get("directed", True) is not True:
        mistakes.append("directed must be true: an undirected graph does not tell what reads what")
    if "edges" in data and "links" in data:
        mistakes.append("both edges and links are given; one of them must go")
    own = data.get("graph", {})
    raw = RawGraph(name, values=dict(own) if isinstance(own, dict) else {})
    word = "links" if "links" in data else "edges"
    for place, row in _rows(data, "nodes", mistakes, needed=True):
        raw.nodes.append(Node(_key(row, "id", place, mistakes), _flat(row, place, mistakes), place))
    for place, row in _rows(data, word, mistakes):
        raw.edges.append(Edge(_key(row, "source", place, mistakes), _key(row, "target", place, mistakes), place))
    if mistakes:
        raise InputError(source, mistakes)
    return raw


def _rows(
    data: dict[str, Json], key: str, mistakes: list[str], *, needed: bool = False
) -> list[tuple[str, dict[str, Json]]]:
    rows = data.get(key, None if needed else [])
    if not isinstance(rows, list):
        mistakes.append(f"{key} must be a list, not {kind_of(rows)}" if key in data else f"{key} is missing")
        return []
    for place, row in enumerate(rows):
        if not isinstance(row, dict):
            mistakes.append(f"{key}[{place}] must be an object, not {kind_of(row)}")
    return [(f"{key}[{i}]", row) for i, row in enumerate(rows) if isinstance(row, dict)]


def _flat(row: dict[str, Json], place: str, mistakes: list[str]) -> dict[str, Json]:
    """The attributes of a node; an object of several devices as one attribute for each, `time.gpu`."""
    flat: dict[str, Json] = {}
    for key, value in row.items():
        spread = isinstance(value, dict) and not key.startswith("xengine_")
        inner = (
            {f"{key}.{name}": one for name, one in value.items()}
            if spread and isinstance(value, dict)
            else {key: value}
        )
        mistakes.extend(f"{place}.{name} is there twice" for name in inner if name in flat)
        flat.update(inner)
    flat.pop("id", None)
    return flat


def _key(row: dict[str, Json], key: str, place: str, mistakes: list[str]) -> str:
    """An id as text, so that 0 and "0" are the same node."""
    value = row.get(key)
    if isinstance(value, int | str) and not isinstance(value, bool):
        if not any("\ud800" <= letter <= "\udfff" for letter in str(value)):
            return str(value)
        mistakes.append(f"{place}.{key} holds half of a character: {value!r}")
    elif key in row:
        mistakes.append(f"{place}.{key} must be text or a whole number, not {show(value)}")
    else:
        mistakes.append(f"{place}.{key} is missing")
    return ""
