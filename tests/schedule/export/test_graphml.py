"""The graph as GraphML: read by networkx, and by the planner's own importer exactly as it was."""

import json
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from plans_fixed import MOVING, plan_of_four
from problems import problems

from xengine_gui import planner
from xengine_gui.cli import main
from xengine_gui.cost import DeviceChoice
from xengine_gui.errors import InputError
from xengine_gui.importers import read_network
from xengine_gui.model.device import Device
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.plan_file import write_plan
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import problem_to_json
from xengine_gui.model.tensor import Tensor
from xengine_gui.paths import sample_graphs
from xengine_gui.schedule.export.graphml import graphml_parts

DEVICES = [DeviceChoice("cpu", "i7-8700k"), DeviceChoice("gpu", "rtx-3060-laptop", 2**29)]


def reread(problem: Problem, folder: Path) -> Problem:
    path = folder / "graph.graphml"
    path.write_bytes(b"".join(graphml_parts(problem)))
    opened = planner.open_file(path)
    assert isinstance(opened, Problem)
    return opened


def named(*names: str, device: str = "gpu", kind: str = "Relu", notes: str = "") -> Problem:
    """A chain whose operators and tensors are called so."""
    operators = tuple(
        Operator(
            name, kind, Phase.FORWARD, names[i - 1 : i] if i else (), (name,), costs={device: (Implementation(3),)}
        )
        for i, name in enumerate(names)
    )
    return Problem(names[0], (Device(device),), operators, tuple(Tensor(name, 8) for name in names), notes=notes)


TEXTS = st.text(
    st.characters(codec="utf-8") | st.sampled_from("\x00\x01\x1b\r\n\t \ufffe]]>&<\"'\\"), min_size=1, max_size=8
)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(problems())
def test_a_problem_is_read_as_it_was(tmp_path: Path, problem: Problem) -> None:
    assert problem_to_json(reread(problem, tmp_path)) == problem_to_json(problem)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(TEXTS, min_size=1, max_size=4, unique=True), TEXTS, TEXTS, TEXTS)
@example(["a\x01b", "a\\u0001b", " a", "a"], "gpu\n1", "\x1b[31m", "two\r\nlines ")
@example(["", "a"], "gpu", "", "")
@example(["a", ""], "", "", "")
def test_names_of_any_characters_come_back(
    tmp_path: Path, names: list[str], device: str, kind: str, notes: str
) -> None:
    problem = named(*names, device=device, kind=kind, notes=notes)
    assert problem_to_json(reread(problem, tmp_path)) == problem_to_json(problem)


@pytest.mark.parametrize("name", ["resnet18", "bert_base"])
def test_training_on_two_devices_is_read_as_it_was(name: str, tmp_path: Path) -> None:
    network = read_network(sample_graphs() / f"{name}.onnx")
    problem = planner.make_problem(network, DEVICES, implementations=name == "resnet18")
    assert problem_to_json(reread(problem, tmp_path)) == problem_to_json(problem)


def test_other_tools_read_it(tmp_path: Path) -> None:
    problem = planner.make_problem(read_network(sample_graphs() / "lenet.onnx"), DEVICES)
    path = tmp_path / "graph.graphml"
    path.write_bytes(b"".join(graphml_parts(problem)))
    graph = nx.read_graphml(path)
    assert graph.number_of_nodes() == len(problem.operators)
    producer = {tensor: i for i, operator in enumerate(problem.operators) for tensor in operator.outputs}
    edges = {(f"n{producer[tensor]}", f"n{i}") for i, o in enumerate(problem.operators) for tensor in o.inputs}
    assert set(graph.edges) == edges
    node = next(values for _, values in graph.nodes(data=True) if values["kind"] == "Conv")
    operator = next(operator for operator in problem.operators if operator.kind == "Conv")
    assert node["name"] == operator.name
    assert node["time_ns.gpu"] == operator.costs["gpu"][0].time_ns
    assert node["backward"] is False
    sizes = {tensor.name: tensor.size_bytes for tensor in problem.tensors}
    assert node["size_bytes"] == sum(sizes[tensor] for tensor in operator.outputs)
    # What networkx writes again, the planner still reads.
    nx.write_graphml_xml(graph, tmp_path / "again.graphml")
    again = planner.open_file(tmp_path / "again.graphml")
    assert isinstance(again, Problem)
    assert again.operators == problem.operators
    data = nx.node_link_data(graph, edges="edges")
    (tmp_path / "again.json").write_text(json.dumps(data), encoding="utf-8")
    assert planner.open_file(tmp_path / "again.json") == problem


def test_j7_control_characters_are_told_and_come_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = planner.plan(named("re\x01lu", "plain"), "retain-all")
    write_plan(plan, tmp_path / "plan.json")
    output = tmp_path / "graph.graphml"
    assert main(["export", str(tmp_path / "plan.json"), "-o", str(output)]) == 0
    told = capsys.readouterr().out
    assert "2 texts have characters that XML cannot hold: they are written escaped" in told
    assert "clock" not in told  # a graph has none
    names = [values["name"] for _, values in nx.read_graphml(output).nodes(data=True)]
    assert names == ["re\\u0001lu", "plain"]
    assert planner.open_file(output) == plan.problem
    write_plan(plan_of_four(MOVING), tmp_path / "plan.json")
    assert main(["export", str(tmp_path / "plan.json"), "-o", str(output), "--format", "graphml"]) == 0
    assert "XML" not in capsys.readouterr().out


def test_j7_the_network_with_control_characters(shared_folder: Path, tmp_path: Path) -> None:
    network = read_network(shared_folder / "field_cases" / "files" / "control_char_name.onnx")
    problem = planner.make_problem(network, DEVICES, training=False)
    assert problem_to_json(reread(problem, tmp_path)) == problem_to_json(problem)


def test_a_network_is_written_without_a_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, output = str(sample_graphs() / "lenet.onnx"), tmp_path / "lenet.graphml"
    assert main(["problem", path, "--device", "gpu=t4,limit=50%", "-o", str(output)]) == 0
    written = planner.open_file(output)
    assert isinstance(written, Problem)
    assert main(["problem", path, "--device", "gpu=t4,limit=50%", "-o", str(tmp_path / "lenet.json")]) == 0
    assert written == planner.open_file(tmp_path / "lenet.json")
    capsys.readouterr()


@pytest.mark.parametrize(
    ("attribute", "old", "new", "sentence"),
    [
        ("size_bytes", "200", "201", "its size is 201 bytes, but its results come to 200 bytes"),
        ("xengine_inputs", '["t0"]', '["other"]', "no edge brings its input 'other'"),
        ("xengine_inputs", '["t0"]', "[]", "nothing is read over its edge from 'n0'"),
        ("xengine_outputs", '{"t0": 150, "t1": 50}', '{"t0": -1}', "must give whole bytes to names, not -1 to"),
        ("xengine_outputs", '{"t0": 150, "t1": 50}', "{t0}", "xengine_outputs: this is not JSON"),
        ("xengine_phase", "backward", "sideways", "must be one of forward, loss, backward, update"),
        ("devices", '[{"name": "gpu"', '[{"name": 7', "of the graph, devices[0].name must be text, not 7"),
    ],
)
def test_what_was_changed_by_hand_must_agree(tmp_path: Path, attribute: str, old: str, new: str, sentence: str) -> None:
    operators = (
        Operator("a", "", Phase.FORWARD, (), ("t0", "t1"), costs={"gpu": (Implementation(1),)}),
        Operator("b", "", Phase.BACKWARD, ("t0",), ("b",), costs={"gpu": (Implementation(1),)}),
    )
    problem = Problem("p", (Device("gpu"),), operators, (Tensor("t0", 150), Tensor("t1", 50), Tensor("b", 1)))
    text = b"".join(graphml_parts(problem)).decode()
    key = next(line for line in text.splitlines() if f'attr.name="{attribute}"' in line).split('"')[1]
    changed = text.replace(f'<data key="{key}">{old}', f'<data key="{key}">{new}')
    assert changed != text
    path = tmp_path / "graph.graphml"
    path.write_text(changed, encoding="utf-8")
    with pytest.raises(InputError) as error:
        planner.open_file(path)
    assert sentence in str(error.value)
