"""A graph as it stands in a file, before anything is made of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Node:
    """A node as it stands in a file: its id, its attributes, and where it is."""

    key: str
    values: Mapping[str, object]
    place: str


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge as it stands in a file: the second node reads the result of the first."""

    source: str
    target: str
    place: str


@dataclass
class RawGraph:
    """All that a file holds, not yet checked; `name` is what the graph is called, `values` are its own attributes."""

    name: str
    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    values: dict[str, object] = field(default_factory=dict)
