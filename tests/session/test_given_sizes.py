"""Sizes and attributes that were given by hand are part of a session."""

import json
from pathlib import Path

import pytest

from xengine_gui.errors import InputError
from xengine_gui.session import Session, read_session, write_session
from xengine_gui.session.session_file import parse_session


def test_what_was_given_is_kept_and_planned_with(tmp_path: Path) -> None:
    graph = tmp_path / "graph.json"
    nodes = [{"id": "a", "t": 2}, {"id": "b", "t": 3}]
    graph.write_text(json.dumps({"nodes": nodes, "edges": [{"source": "a", "target": "b"}]}), encoding="utf-8")
    session = Session(graph, sizes={"a": 2**60 + 1, "b": 0}, mapping={"time": "t:us"})
    path = tmp_path / "work.xengine"
    write_session(session, path)
    again = read_session(path)
    assert (again.sizes, again.mapping) == (session.sizes, session.mapping)
    problem = again.problem()
    assert [t.size_bytes for t in problem.tensors] == [2**60 + 1, 0]
    assert [o.costs["device"][0].time_ns for o in problem.operators] == [2000, 3000]


@pytest.mark.parametrize(
    ("given", "word"),
    [({"sizes": {"a": "8 MB"}}, "sizes.a must be"), ({"mapping": {"time": 3}}, "mapping.time must be")],
)
def test_what_makes_no_sense_is_told_with_its_place(tmp_path: Path, given, word: str) -> None:
    data = {"format": "xengine-session", "version": 1, "file": "graph.json", **given}
    with pytest.raises(InputError, match=word):
        parse_session(data, "session", tmp_path)
