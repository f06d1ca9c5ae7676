"""Graphs in GraphML, with costs and sizes as attributes of the nodes.

Read with expat alone: a document type is refused, so nothing in a file can grow or be fetched from elsewhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from xengine_gui.errors import InputError
from xengine_gui.importers.base import refuse_dimensions
from xengine_gui.importers.costed.graph import problem_of
from xengine_gui.importers.costed.raw import Edge, Node, RawGraph
from xengine_gui.model.json_file import read_bytes
from xengine_gui.model.problem import Problem

_MOST_MISTAKES = 20


class GraphMlImporter:
    """Reads one directed graph; what other tools keep beside it (pictures, ports) is passed over."""

    key = "graphml"
    title = "Graphs with costs, GraphML"
    suffixes = (".graphml",)

    def read(
        self, path: Path, *, batch: int | None, bindings: Mapping[str, int], mapping: Mapping[str, str],
        sizes: Mapping[str, int],
    ) -> Problem:  # fmt: skip
        """The problem in the file, on one device without a limit."""
        refuse_dimensions(path, batch, bindings)
        raw = raw_graph(read_bytes(path), str(path), path.stem)
        return problem_of(raw, str(path), mapping=mapping, sizes=sizes)


def raw_graph(data: bytes, source: str, name: str) -> RawGraph:
    """Nodes and edges with their lines; an `InputError` for what is no GraphML, or no single directed graph."""
    reader = _Reader(RawGraph(name))
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = lambda tag, attributes: reader.start(tag, attributes, parser.CurrentLineNumber)
    parser.EndElementHandler = lambda tag: reader.end(tag, parser.CurrentLineNumber)
    parser.CharacterDataHandler = reader.text.append
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(data, True)  # noqa: FBT003 - expat takes it by place alone
    except expat.ExpatError as error:
        why = expat.ErrorString(error.code)
        raise InputError(source, f"this is no XML (line {error.lineno}, column {error.offset + 1}: {why})") from None
    except (UnicodeError, ValueError, LookupError) as error:
        raise InputError(source, f"this is no XML that can be read: {error}") from None
    except _DoctypeError:
        line = parser.CurrentLineNumber
        raise InputError(source, f"line {line}: a document type is refused, as it may expand without end") from None
    mistakes = reader.mistakes
    if not reader.is_graphml:
        mistakes.insert(0, "this is no GraphML: its outermost element is not graphml")
    elif not reader.graphs:
        mistakes.append("there is no graph in the file")
    if mistakes:
        raise InputError(source, mistakes[:_MOST_MISTAKES])
    return reader.raw


class _DoctypeError(Exception):
    pass


def _refuse_doctype(*_: object) -> None:
    raise _DoctypeError


@dataclass(frozen=True, slots=True)
class _Key:
    name: str
    type: str
    owner: str
    line: int


@dataclass
class _Reader:
    """Takes elements as they come."""

    raw: RawGraph
    mistakes: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    keys: dict[str, _Key] = field(default_factory=dict)
    path: list[str] = field(default_factory=list)
    graphs: int = 0
    is_graphml: bool = False
    values: dict[str, object] | None = None
    data_key: str = ""
    has_elements: bool = False

    def start(self, tag: str, attributes: Mapping[str, str], line: int) -> None:
        """An element begins."""
        tag = tag.rpartition(":")[2]
        parent = self.path[-1] if self.path else ""
        self.path.append(tag)
        self.text.clear()
        if not parent:
            self.is_graphml = tag == "graphml"
        elif "data" in self.path[:-1]:
            self.has_elements = True
        elif tag == "key":
            self._declare(attributes, line)
        elif tag == "graph":
            self._graph(attributes, parent, line)
        elif tag == "node" and parent == "graph":
            self.values = {}
            self.raw.nodes.append(Node(self._needed(attributes, "id", tag, line), self.values, f"line {line}"))
        elif tag == "edge" and parent == "graph":
            self.values = None
            self._edge(attributes, line)
        elif tag == "data":
            self.data_key, self.has_elements = attributes.get("key", ""), False
            if self.data_key not in self.keys:
                self._wrong(line, f"data refers to the key {self.data_key!r}, which is not declared")
        elif tag in {"hyperedge", "port"}:
            self._wrong(line, f"a {tag} is not read: an edge leads from one node to another")

    def end(self, tag: str, line: int) -> None:
        """An element ends."""
        tag = tag.rpartition(":")[2]
        self.path.pop()
        if tag == "data" and "data" not in self.path:
            if self.values is not None and self.path[-1:] == ["node"]:
                self._value("".join(self.text).strip(), line)
            elif self.path[-1:] == ["graph"] and self.data_key in self.keys:
                self.raw.values[self.keys[self.data_key].name] = "".join(self.text).strip()
        if tag in {"node", "edge"}:
            self.values = None
        self.text.clear()

    def _declare(self, attributes: Mapping[str, str], line: int) -> None:
        key = self._needed(attributes, "id", "key", line)
        if key in self.keys:
            self._wrong(line, f"the key {key!r} is declared already in line {self.keys[key].line}")
        name = attributes.get("attr.name") or attributes.get("yfiles.type") or key
        self.keys[key] = _Key(name, attributes.get("attr.type", ""), attributes.get("for", "all"), line)

    def _graph(self, attributes: Mapping[str, str], parent: str, line: int) -> None:
        self.graphs += 1
        if parent != "graphml":
            self._wrong(line, "a graph within a node is not read")
        elif self.graphs > 1:
            self._wrong(line, "there is a second graph in the file; split it")
        if attributes.get("edgedefault", "directed") != "directed":
            self._wrong(line, "edgedefault must be directed: an undirected graph does not tell what reads what")
        self.raw.name = attributes.get("id", "") or self.raw.name

    def _edge(self, attributes: Mapping[str, str], line: int) -> None:
        if attributes.get("directed", "true") != "true":
            self._wrong(line, "an undirected edge does not tell what reads what")
        source, target = (self._needed(attributes, end, "edge", line) for end in ("source", "target"))
        self.raw.edges.append(Edge(source, target, f"line {line}"))

    def _value(self, text: str, line: int) -> None:
        key = self.keys.get(self.data_key)
        if key is None or self.values is None or self.has_elements:
            return
        if not text and key.type != "string":
            self._wrong(line, f"the value of {key.name!r} is empty")
        elif key.name in self.values:
            self._wrong(line, f"{key.name!r} is there twice for one node")
        self.values[key.name] = text

    def _needed(self, attributes: Mapping[str, str], name: str, tag: str, line: int) -> str:
        if name not in attributes:
            self._wrong(line, f"{'an' if tag == 'edge' else 'a'} {tag} without {name}")
        return attributes.get(name, "")

    def _wrong(self, line: int, sentence: str) -> None:
        if len(self.mistakes) <= _MOST_MISTAKES:
            self.mistakes.append(f"line {line}: {sentence}")
