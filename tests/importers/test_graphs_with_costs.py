"""Graphs that bring their costs: node-link JSON and GraphML, their mistakes, mapped attributes, given sizes."""

import json
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from xengine_gui import planner
from xengine_gui.cli import main
from xengine_gui.errors import InputError
from xengine_gui.importers import IMPORTERS
from xengine_gui.importers.costed.fields import MappingWantedError
from xengine_gui.model.device import Device, Link
from xengine_gui.model.operator import Phase
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import problem_to_json, read_problem, write_problem


def write(folder: Path, nodes, edges=(), name: str = "graph.json", **more: object) -> Path:
    path = folder / name
    path.write_text(json.dumps({"directed": True, "nodes": nodes, "edges": list(edges), **more}), encoding="utf-8")
    return path


def node(key: object, **values: object) -> dict[str, object]:
    return {"id": key, "cost": 1, "memory": 8, **values}


def edge(source: object, target: object) -> dict[str, object]:
    return {"source": source, "target": target}


def times(problem: Problem) -> list[int]:
    return [operator.costs["device"][0].time_ns for operator in problem.operators]


def sizes(problem: Problem) -> list[int]:
    return [tensor.size_bytes for tensor in problem.tensors]


FIELD_CASES: dict[str, tuple[list[int], list[int]] | str] = {
    # J1
    "links_key.json": ([1, 1], [1024, 1024]),
    # J2: both are read; what they lack is asked for.
    "no_ns.graphml": "known to be the size (the attributes are cost)",
    "untyped_key.graphml": "known to be the size (the attributes are cost)",
    "undeclared_key.graphml": "line 2: data refers to the key 'zz', which is not declared",
    "empty_data.graphml": "line 2: the value of 'cost' is empty",
    # J3
    "missing_cost.json": "give a default with --default time=1ms",
    "null_cost.json": "1 node without a time, the attribute 'cost': 'a'",
    # J4
    "int_vs_str.json": ([1, 1], [1024, 1024]),
    "dup_ids.json": "nodes[0] and nodes[1] have the same id 'a'",
    "ghost_edge.json": "edges[0]: its target 'zzz' is no node",
    # J5
    "nan_cost.json": "nodes[0].cost is NaN, which is no number; nodes[0].memory is infinity",
    "overflow.json": "cost must be a number, perhaps with a unit, not infinity",
    # J6
    "string_cost.json": ([3_500_000, 1], [1024, 3 * 2**29]),
    "bool_cost.json": "nodes[0] ('a'): cost must be a number, perhaps with a unit, not true",
    "negative_cost.json": "nodes[0] ('a'): cost must not be negative",
    # J8
    "self_loop.json": "edges[0]: node 'a' would read its own result",
    "parallel_edges.json": ([1, 1], [1024, 1024]),
    "disconnected.json": ([1] * 6, [1024] * 6),
    "empty.json": ([], []),
    "undirected.json": "an undirected graph does not tell what reads what",
    "dup_key.json": "nodes[0].cost is there twice",
    "bom.json": ([], []),
    "utf16.json": ([], []),
    "deep.json": "nested too deeply",
    "list_root.json": "not a list",
    "cycle.json": "the nodes are in a cycle: 'a' → 'b' → 'c' → 'a'",
    "two_graphs.graphml": "line 2: there is a second graph in the file",
    "no_graph.graphml": "there is no graph in the file",
    "undirected_gm.graphml": "line 2: edgedefault must be directed",
    "sci_long.graphml": "known to be the time (the attributes are memory)",
    "comma_decimal.graphml": "known to be the size (the attributes are cost)",
    # J10, S10
    "scale_mix.json": ([1, 10**12, 1], [1, 35_184_372_088_832, 2**53 + 1]),
    "zero_everything.json": ([0, 0], [0, 0]),
}


@pytest.mark.parametrize("name", FIELD_CASES)
def test_field_cases(shared_folder: Path, name: str) -> None:
    path, right = shared_folder / "field_cases" / "files" / name, FIELD_CASES[name]
    if isinstance(right, str):
        with pytest.raises(InputError) as error:
            planner.open_file(path)
        assert right in str(error.value)
        assert str(error.value).startswith(str(path))
        return
    opened = planner.open_file(path)
    assert isinstance(opened, Problem)
    assert (times(opened), sizes(opened)) == right


def test_every_graph_of_the_field_cases_is_told_of(shared_folder: Path) -> None:
    there = {path.name for path in (shared_folder / "field_cases" / "files").iterdir()}
    assert {name for name in there if not name.endswith(".onnx")} == set(FIELD_CASES)


@pytest.mark.parametrize(
    ("name", "how", "right"),
    [
        ("no_ns.graphml", {"sizes": {"a": 64}}, ([1], [64])),
        ("untyped_key.graphml", {"mapping": {"default.size": "1 KiB"}}, ([3], [1024])),
        ("sci_long.graphml", {"mapping": {"default.time": "2 us"}}, ([2000], [1_500_000_000])),
        ("comma_decimal.graphml", {"mapping": {"default.size": "8", "time": "cost:ms"}}, ([1_500_000], [8])),
        ("missing_cost.json", {"mapping": {"default.time": "1 ms"}}, ([10**6], [1])),
        ("null_cost.json", {"mapping": {"default.time": "7"}}, ([7], [1024])),
    ],
)
def test_what_is_missing_can_be_given(shared_folder: Path, name: str, how, right) -> None:
    opened = planner.open_file(shared_folder / "field_cases" / "files" / name, **how)
    assert isinstance(opened, Problem)
    assert (times(opened), sizes(opened)) == right


def test_a_graph_saved_as_a_problem_is_the_same_to_the_byte(shared_folder: Path, tmp_path: Path) -> None:
    opened = planner.open_file(shared_folder / "field_cases" / "files" / "scale_mix.json")
    assert isinstance(opened, Problem)
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    write_problem(opened, first)
    write_problem(read_problem(first), second)
    assert first.read_bytes() == second.read_bytes()
    assert str(2**53 + 1) in first.read_text(encoding="utf-8")


def test_a_time_that_is_less_than_a_nanosecond_is_told(shared_folder: Path) -> None:
    opened = planner.open_file(shared_folder / "field_cases" / "files" / "scale_mix.json")
    assert isinstance(opened, Problem)
    assert "Times below a nanosecond are taken as one: a" in opened.notes


def test_foreign_attributes_are_mapped(tmp_path: Path) -> None:
    nodes = [
        {"id": 1, "ms": 0.5, "mib": 1.5, "scratch_kb": 2, "is_bwd": False, "what": "Conv", "title": "first"},
        {"id": 2, "ms": "3 us", "mib": 2, "is_bwd": True, "what": "ConvGrad", "title": "second"},
    ]
    path = write(tmp_path, nodes, [edge(1, 2)])
    with pytest.raises(MappingWantedError) as error:
        planner.open_file(path)
    assert error.value.keys == ("ms", "mib", "scratch_kb", "is_bwd", "what", "title")
    assert len(error.value.mistakes) == 2
    mapping = {
        "time": "ms:ms", "size": "mib:MiB", "workspace": "scratch_kb", "backward": "is_bwd", "kind": "what",
        "name": "title",
    }  # fmt: skip
    opened = planner.open_file(path, mapping=mapping)
    assert isinstance(opened, Problem)
    first, second = opened.operators
    assert (times(opened), sizes(opened)) == ([500_000, 3000], [3 * 2**19, 2**21])
    assert first.costs["device"][0].workspace_bytes == 2000
    assert (first.phase, second.phase) == (Phase.FORWARD, Phase.BACKWARD)
    assert (first.name, second.kind) == ("first", "ConvGrad")
    assert opened.keep == ()


@pytest.mark.parametrize(
    ("mapping", "word"),
    [
        ({"cost": "memory"}, "there is no field 'cost' to map"),
        ({"time": "mileage"}, "no node has an attribute 'mileage'; there are cost, memory"),
        ({"default.size": "8 Gbit"}, "the default of size cannot be read"),
        ({"default.backward": "perhaps"}, "must be true or false"),
        ({"default.name": "x"}, "a name is a node's own"),
    ],
)
def test_mappings_that_mean_nothing_are_refused(tmp_path: Path, mapping: dict[str, str], word: str) -> None:
    with pytest.raises(InputError, match=word):
        planner.open_file(write(tmp_path, [node("a")]), mapping=mapping)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('{"directed": true, "nodes": [], "edges": [], "links": []}', "both edges and links are given"),
        ('{"nodes": {"a": 1}}', "nodes must be a list, not an object"),
        ('{"edges": []}', "nodes is missing"),
        ('{"nodes": [3]}', r"nodes\[0\] must be an object, not a number"),
        ('{"nodes": [{"id": 1.5}]}', r"nodes\[0\].id must be text or a whole number, not 1.5"),
        ('{"nodes": [{"cost": 1}]}', r"nodes\[0\].id is missing"),
        ('{"nodes": [{"id": 0}, {"id": "0"}]}', r"nodes\[0\] and nodes\[1\] have the same id '0'"),
        ('{"nodes": [{"id": "a", "cost": 1, "memory": 1, "backward": 7}]}', "must be true or false, not 7"),
        ('{"nodes": [{"id": "a", "cost": "1 Gb", "memory": 1}]}', "is no time"),
        ('{"nodes": [{"id": "a", "cost": 1, "memory": "1Gib"}]}', r"bits\?"),
        ('{"nodes": [{"id": "a", "cost": 1, "memory": 1e60}]}', "larger than any machine's"),
    ],
)
def test_mistakes_name_their_place(tmp_path: Path, text: str, word: str) -> None:
    path = tmp_path / "graph.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=word):
        planner.open_file(path)


def test_batches_and_sizes_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, [node("a")])
    with pytest.raises(InputError, match="no batch or dimension"):
        planner.open_file(path, batch=2)
    with pytest.raises(InputError, match="a size is given for 'b', which is no node"):
        planner.open_file(path, sizes={"b": 1})


@pytest.mark.parametrize("bomb", ["<!ENTITY a '0123456789'>", '<!ENTITY a SYSTEM "file:///etc/passwd">'])
def test_xml_with_a_document_type_is_refused_unread(tmp_path: Path, bomb: str) -> None:
    path = tmp_path / "bomb.graphml"
    path.write_text(f"<?xml version='1.0'?>\n<!DOCTYPE g [{bomb}]>\n<graphml>&a;</graphml>", encoding="utf-8")
    with pytest.raises(InputError, match="a document type is refused"):
        planner.open_file(path)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("<graphml><graph>", "line 1, column 17: no element found"),
        ("<svg/>", "its outermost element is not graphml"),
        ("", "no element found"),
        ("<graphml><graph><node/></graph></graphml>", "line 1: a node without id"),
        ("<graphml><graph><node id='a'/><edge source='a'/></graph></graphml>", "line 1: an edge without target"),
        ("<graphml><graph><node id='a'><graph/></node></graph></graphml>", "a graph within a node is not read"),
        ("<graphml><graph><hyperedge/></graph></graphml>", "a hyperedge is not read"),
    ],
)
def test_xml_that_is_no_graph_is_told_with_its_line(tmp_path: Path, text: str, word: str) -> None:
    path = tmp_path / "graph.graphml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=word):
        planner.open_file(path)


GRAPHS = st.integers(1, 8).flatmap(
    lambda count: st.tuples(
        st.lists(st.tuples(st.integers(0, 2**60), st.integers(0, 2**60)), min_size=count, max_size=count),
        st.sets(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda pair: pair[0] < pair[1])),
        st.permutations(range(count)),
    )
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(GRAPHS, st.sampled_from(["edges", "links", "graphml"]))
def test_what_networkx_writes_is_read(tmp_path: Path, made, form: str) -> None:
    values, pairs, order = made
    graph = nx.DiGraph()
    for place in order:
        graph.add_node(f"n{place}", cost=values[place][0], memory=values[place][1])
    graph.add_edges_from((f"n{a}", f"n{b}") for a, b in pairs)
    path = tmp_path / ("graph.graphml" if form == "graphml" else "graph.json")
    if form == "graphml":
        nx.write_graphml_xml(graph, path)
    else:
        path.write_text(json.dumps(nx.node_link_data(graph, edges=form)), encoding="utf-8")
    opened = planner.open_file(path)
    assert isinstance(opened, Problem)
    found = {o.name: (o.costs["device"][0].time_ns, set(o.inputs)) for o in opened.operators}
    assert found == {
        f"n{p}": (values[p][0], {f"n{a}" for a, b in pairs if b == p}) for p in range(len(values))
    }  # fmt: skip
    assert {t.name: t.size_bytes for t in opened.tensors} == {f"n{p}": v[1] for p, v in enumerate(values)}
    assert problem_to_json(opened)["devices"]


def test_the_command_line_maps_and_gives_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, [{"id": "a", "ms": 2}, {"id": "b", "ms": 3}], [edge("a", "b")])
    run = ["inspect", str(path), "--map", "time=ms:ms", "--size", "a=8MB"]
    assert main(run) == 2
    assert "--size b=8MB" in capsys.readouterr().err
    assert main([*run, "--size", "b=1KiB", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["activation_bytes"] == 8_000_000 + 1024
    assert main([*run, "--default", "size=2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["peak_bytes"] == 8_000_002


def test_importers_have_suffixes_of_their_own() -> None:
    every = [suffix for importer in IMPORTERS for suffix in importer.suffixes]
    assert len(set(every)) == len(every)
    assert len({importer.key for importer in IMPORTERS}) == len(IMPORTERS)


def on(problem: Problem, device: str) -> list[tuple[int, int] | None]:
    """Time and workspace of each operator on a device, `None` where it cannot run there."""
    ways = [operator.costs.get(device) for operator in problem.operators]
    return [(way[0].time_ns, way[0].workspace_bytes) if way else None for way in ways]


TWO_NODES = [
    {"id": "a", "time": {"cpu": "3 us", "gpu": 5}, "size": 8, "workspace": {"gpu": "1 KiB"}},
    {"id": "b", "time": {"gpu": 7}, "size": "2 KiB", "workspace": 4},
]
TWO_DEVICES = {
    "devices": {"cpu": {"kind": "cpu"}, "gpu": {"memory": 8192, "power_uw": 3}},
    "links": [
        {"source": "cpu", "destination": "gpu", "bandwidth": "12 GB/s", "latency": "5 us"},
        {"source": "gpu", "target": "cpu", "bandwidth_bytes_per_s": 10**9},
    ],
}


def two_devices(folder: Path, form: str) -> Path:
    """The same graph as JSON with objects, and as GraphML with JSON in the graph's attributes."""
    if form == "json":
        return write(folder, TWO_NODES, [edge("a", "b")], graph=TWO_DEVICES)
    graph = nx.DiGraph(devices=json.dumps(TWO_DEVICES["devices"]), links=json.dumps(TWO_DEVICES["links"]))
    graph.add_node("a", **{"time.cpu": "3 us", "time.gpu": "5", "size": 8, "workspace.gpu": "1 KiB"})
    graph.add_node("b", **{"time.gpu": "7", "size": "2 KiB", "workspace": 4})
    graph.add_edge("a", "b")
    nx.write_graphml_xml(graph, folder / "graph.graphml")
    return folder / "graph.graphml"


@pytest.mark.parametrize("form", ["json", "graphml"])
def test_costs_on_several_devices(tmp_path: Path, form: str) -> None:
    opened = planner.open_file(two_devices(tmp_path, form))
    assert isinstance(opened, Problem)
    assert opened.devices == (Device("cpu", "cpu"), Device("gpu", "", 8192, 3))
    assert opened.links == (Link("cpu", "gpu", 12 * 10**9, 5000), Link("gpu", "cpu", 10**9))
    assert on(opened, "cpu") == [(3000, 0), None]
    assert on(opened, "gpu") == [(5, 1024), (7, 4)]
    assert sizes(opened) == [8, 2048]


def test_devices_are_those_of_the_attributes_where_none_are_told(tmp_path: Path) -> None:
    path = write(tmp_path, [{"id": "a", "time.cpu": 3, "time.gpu": 5, "size": 8}, {"id": "b", "time": 2, "size": 8}])
    opened = planner.open_file(path)
    assert isinstance(opened, Problem)
    assert [device.name for device in opened.devices] == ["cpu", "gpu"]
    assert on(opened, "gpu") == [(5, 0), (2, 0)]  # a time without a device is that of all
    assert "Its devices are those that attributes name, such as time.cpu" in opened.notes
    assert "The graph tells of no links" in opened.notes


def test_foreign_attributes_of_several_devices_are_mapped(tmp_path: Path) -> None:
    nodes = [{"id": "a", "took.cpu": 3, "took.gpu": 5, "mib": 1}, {"id": "b", "took.gpu": 2, "mib": 1}]
    path = write(tmp_path, nodes)
    with pytest.raises(MappingWantedError) as error:
        planner.open_file(path)
    assert error.value.keys == ("took.cpu", "took.gpu", "mib", "took")  # which a dialog offers
    spread = planner.open_file(path, mapping={"time": "took:us", "size": "mib:MiB"})
    single = planner.open_file(path, mapping={"time.cpu": "took.cpu:us", "time.gpu": "took.gpu:us", "size": "mib:MiB"})
    assert isinstance(spread, Problem)
    assert spread == single
    assert on(spread, "cpu") == [(3000, 0), None]
    with pytest.raises(MappingWantedError) as error:
        planner.open_file(path, mapping={"time": "took:us"})
    assert error.value.guessed["time"] == "took:us"


def test_u6_a_limit_without_a_unit_is_told_to_the_byte(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [{"id": "a", "time": 1, "size": "10 KiB"}]
    path = write(tmp_path, nodes, graph={"devices": [{"name": "gpu", "memory": 8192}]})
    assert main(["inspect", str(path)]) == 0
    told = capsys.readouterr().out
    assert "gpu may hold 8,192 bytes, and a alone takes 10,240 bytes; a limit without a unit is in bytes" in told
    larger = write(tmp_path, nodes, graph={"devices": [{"name": "gpu", "memory": "8192 KiB"}]})
    assert main(["inspect", str(larger)]) == 0
    assert "may hold" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("own", "sentence"),
    [
        ({"devices": 3}, "of the graph, devices must be a list, not a number"),
        ({"devices": ["gpu"]}, "devices[0] must be an object, not text"),
        ({"devices": {"gpu": 8192}}, "devices.gpu must be an object, not a number"),
        ({"devices": [{"name": "gpu", "memory": "8 Gb"}]}, "devices[0].memory cannot be read: '8 Gb': bits?"),
        ({"devices": [{"name": "gpu", "memory": -1}]}, "devices[0].memory must be at least 0"),
        ({"devices": [{"name": "gpu", "memory": 1, "limit": 2}]}, "has both memory and limit"),
        (
            {"devices": [{"name": "cpu"}], "links": []},
            "nodes have costs on gpu, but the devices of the graph are cpu",
        ),
        ({"devices": [{"name": "gpu"}, {"name": "gpu"}]}, "device 'gpu' is there twice"),
        ({"links": [{"source": "gpu", "destination": "moon", "bandwidth": 1}]}, "there is no device 'moon'"),
        ({"links": [{"source": "gpu", "destination": "gpu"}]}, "links[0].bandwidth is missing"),
        ({"links": [{"source": "gpu", "target": "gpu", "bandwidth": "0"}]}, "bandwidth must be positive"),
        ({"links": "[{"}, "links: this is not JSON"),
    ],
)
def test_devices_and_links_that_make_no_sense_are_refused(tmp_path: Path, own: object, sentence: str) -> None:
    path = write(tmp_path, [{"id": "a", "time.gpu": 1, "size": 1}], graph=own)
    with pytest.raises(InputError) as error:
        planner.open_file(path)
    assert sentence in str(error.value)
    assert str(error.value).startswith(str(path))


def test_an_attribute_that_is_there_in_both_ways_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, [{"id": "a", "time": {"gpu": 1}, "time.gpu": 1, "size": 1}])
    with pytest.raises(InputError, match=r"nodes\[0\].time.gpu is there twice"):
        planner.open_file(path)
