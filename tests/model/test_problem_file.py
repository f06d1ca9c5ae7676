"""Problem files: what is written is read back, and every mistake is named with its place."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from problems import problems

from xengine_gui.errors import InputError
from xengine_gui.model.device import Device
from xengine_gui.model.json_file import format_json
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import parse_problem, problem_to_json, read_problem, write_problem
from xengine_gui.model.tensor import Parameter, Tensor


def data() -> dict[str, Any]:
    """A good problem file with one of everything."""
    return {
        "format": "xengine-problem",
        "version": 1,
        "name": "toy",
        "notes": "",
        "devices": [{"name": "gpu", "kind": "gpu", "memory_limit_bytes": 100}, {"name": "cpu"}],
        "links": [{"source": "gpu", "destination": "cpu", "bandwidth_bytes_per_s": 3, "latency_ns": 1}],
        "transfers": [{"tensor": "x", "source": "cpu", "destination": "gpu", "time_ns": 4}],
        "tensors": [{"name": "x", "bytes": 10}, {"name": "y", "bytes": 2**53 + 1}],
        "parameters": [{"name": "w", "bytes": 5}],
        "operators": [
            {
                "name": "a",
                "kind": "Conv",
                "phase": "forward",
                "inputs": [],
                "outputs": ["x"],
                "parameters": ["w"],
                "costs": {"gpu": [{"time_ns": 7}]},
            },
            {
                "name": "b",
                "kind": "Relu",
                "phase": "loss",
                "inputs": ["x"],
                "outputs": ["y"],
                "recomputable": False,
                "costs": {
                    "gpu": [
                        {"implementation": "direct", "time_ns": 1, "workspace_bytes": 3},
                        {"implementation": "fft", "time_ns": 2},
                    ],
                    "cpu": [{"time_ns": 1}],
                },
            },
        ],
        "keep": ["y"],
        "known": {"serial_optimum_ns": 8},
    }


def mistakes(value: object) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        parse_problem(value, "toy.json")
    assert caught.value.source == "toy.json"
    return caught.value.mistakes


def test_a_good_file_is_read() -> None:
    problem = parse_problem(data(), "toy.json")
    assert problem.devices[1].memory_limit_bytes is None
    assert problem.tensors[1].size_bytes == 2**53 + 1
    assert problem.operators[1].costs["gpu"][0].workspace_bytes == 3
    assert problem.operators[0].recomputable
    # latency 1 ns + 10 bytes at 3 bytes a second, rounded up
    assert problem.indexed.transfer_ns[0][1] == (1 + 3_333_333_334, 1 + -(-(2**53 + 1) * 10**9 // 3))
    assert problem.indexed.transfer_ns[1][0] == (4, None)


Break = Callable[[dict[str, Any]], object]

BROKEN: list[tuple[Break, str]] = [
    (lambda d: d["tensors"][0].pop("bytes"), "tensors[0].bytes is missing"),
    (lambda d: d["tensors"][0].update(bytes=-1), "tensors[0].bytes must be at least 0, not -1"),
    (lambda d: d["tensors"][0].update(bytes=True), "tensors[0].bytes must be a whole number, not true"),
    (lambda d: d["tensors"][0].update(bytes="10 MB"), 'tensors[0].bytes must be a whole number, not "10 MB"'),
    (lambda d: d["tensors"][0].update(bytes=None), "tensors[0].bytes must be a whole number, not null"),
    (lambda d: d["tensors"][0].update(bytes=1.5), "tensors[0].bytes must be a whole number, not 1.5"),
    (lambda d: d["tensors"][0].update(bytes=10.0), "tensors[0].bytes must be a whole number, written without point"),
    (lambda d: d["tensors"][1].update(name=3), "tensors[1].name must be text, not 3"),
    (lambda d: d["tensors"][1].update(name="\ud800"), "tensors[1].name holds half of a character"),
    (lambda d: d["tensors"].append("z"), "tensors[2] must be an object, not text"),
    (lambda d: d["tensors"].append({"name": "x", "bytes": 1}), "tensor 'x' is there twice"),
    (lambda d: d["tensors"].append({"name": "z", "bytes": 1}), "tensor 'z' is produced by no operator"),
    (lambda d: d.pop("tensors"), "tensors is missing"),
    (lambda d: d.update(tensors={}), "tensors must be a list, not an object"),
    (
        lambda d: d["devices"][0].update(memory_limit_bytes=-5),
        "devices[0].memory_limit_bytes must be at least 0, not -5",
    ),
    (lambda d: d["devices"].append({"name": "cpu"}), "device 'cpu' is there twice"),
    (
        lambda d: d["links"][0].update(bandwidth_bytes_per_s=0),
        "links[0].bandwidth_bytes_per_s must be at least 1, not 0",
    ),
    (lambda d: d["links"][0].update(source="tpu"), "there is no device 'tpu'"),
    (lambda d: d["links"][0].update(source="cpu"), "source and destination are the same"),
    (lambda d: d["transfers"][0].pop("time_ns"), "transfers[0].time_ns is missing"),
    (lambda d: d["transfers"][0].update(tensor="q"), "there is no tensor 'q'"),
    (lambda d: d["operators"][1]["costs"]["gpu"][1].pop("time_ns"), "operators[1].costs.gpu[1].time_ns is missing"),
    (lambda d: d["operators"][0]["costs"]["gpu"][0].update(time_ns=False), "operators[0].costs.gpu[0].time_ns must be"),
    (lambda d: d["operators"][0]["costs"].update(tpu=[{"time_ns": 1}]), "unknown device 'tpu'"),
    (lambda d: d["operators"][0].update(costs={}), "operator 'a' has no costs on any device"),
    (lambda d: d["operators"][0].update(costs=[]), "operators[0].costs must be an object of devices, not a list"),
    (lambda d: d["operators"][0].pop("costs"), "operators[0].costs is missing"),
    (lambda d: d["operators"][0].update(phase="later"), "operators[0].phase must be one of forward, loss, backward"),
    (lambda d: d["operators"][0].update(recomputable=1), "operators[0].recomputable must be true or false, not 1"),
    (lambda d: d["operators"][0].update(inputs=["y"]), "operator 'a' reads 'y' before 'b' has produced it"),
    (lambda d: d["operators"][0].update(inputs=["x"]), "operator 'a' reads 'x' before 'a' has produced it"),
    (lambda d: d["operators"][0].update(inputs="y"), "operators[0].inputs must be a list, not text"),
    (lambda d: d["operators"][0].update(inputs=[["y"]]), 'operators[0].inputs[0] must be text, not ["y"]'),
    (lambda d: d["operators"][1].update(outputs=["y", "x"]), "tensor 'x' is produced by both 'a' and 'b'"),
    (lambda d: d["operators"][1].update(name="a"), "operator 'a' is there twice"),
    (lambda d: d["operators"][1].update(parameters=["v"]), "there is no parameter 'v'"),
    (lambda d: d.update(keep=["q"]), "keep: there is no tensor 'q'"),
    (lambda d: d.update(format="xengine-plan"), 'format must be "xengine-problem", not "xengine-plan"'),
    (lambda d: d.pop("format"), "format is missing"),
    (lambda d: d.update(version=2), "version must be 1, the only version there is, but is 2"),
    (lambda d: d.update(version=True), "version must be 1"),
]


@pytest.mark.parametrize(("spoil", "sentence"), BROKEN, ids=[sentence for _, sentence in BROKEN])
def test_a_mistake_is_named_with_its_place(spoil: Break, sentence: str) -> None:
    broken = data()
    spoil(broken)
    told = mistakes(broken)
    assert len(told) == 1, told
    assert sentence in told[0]


def test_all_mistakes_are_told_together() -> None:
    broken = data()
    broken["tensors"][0]["bytes"] = -1
    broken["operators"][1]["costs"]["gpu"][1].pop("time_ns")
    broken["operators"][1]["inputs"] = ["nothing"]
    broken["links"][0]["latency_ns"] = "fast"
    told = mistakes(broken)
    assert len(told) == 4
    assert any("tensors[0].bytes" in sentence for sentence in told)
    assert any("operators[1].costs.gpu[1].time_ns" in sentence for sentence in told)
    assert any("there is no tensor 'nothing'" in sentence for sentence in told)
    assert any("links[0].latency_ns" in sentence for sentence in told)


def test_without_devices_nothing_can_run() -> None:
    empty = {**data(), "devices": []}
    assert "there is no device" in mistakes(empty)


def test_something_else_than_an_object_is_refused() -> None:
    assert mistakes([]) == ('the file must be an object with "format": "xengine-problem", not a list',)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(problems())
def test_what_is_written_is_read_back(problem: Problem) -> None:
    text = format_json(problem_to_json(problem))
    again = parse_problem(json.loads(text), "again")
    assert again == problem
    assert again.notes == problem.notes
    assert format_json(problem_to_json(again)) == text


def test_a_file_is_read_back_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "задача é.json"
    problem = parse_problem(data(), "toy.json")
    write_problem(problem, path)
    assert read_problem(path) == problem
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_every_shared_instance_is_read_and_written_back(shared_folder: Path) -> None:
    files = sorted((shared_folder / "instances").glob("*/*.json"))
    assert len(files) > 60
    for path in files:
        problem = read_problem(path)
        known = json.loads(path.read_text(encoding="utf-8"))
        assert len(problem.operators) == len(known["operators"])
        assert parse_problem(problem_to_json(problem), "again") == problem


@pytest.mark.parametrize(
    "change",
    [
        {"tensors": (Tensor("x", 2**128 + 1),)},
        {"tensors": (Tensor("x", -1),)},
        {"parameters": (Parameter("w", 2**2000),)},
        {"devices": (Device("gpu", "", 2**129),)},
        {"operators": (Operator("a", "", Phase.FORWARD, (), ("x",), costs={"gpu": (Implementation(2**129, 0),)}),)},
        {"operators": (Operator("a", "", Phase.FORWARD, (), ("x",), costs={"gpu": (Implementation(0, 2**129),)}),)},
    ],
)
def test_sizes_and_times_that_no_machine_has_are_refused_wherever_a_problem_comes_from(change: dict[str, Any]) -> None:
    parts: dict[str, Any] = {
        "devices": (Device("gpu", "", None),),
        "tensors": (Tensor("x", 2**128),),
        "operators": (Operator("a", "", Phase.FORWARD, (), ("x",), costs={"gpu": (Implementation(2**128, 2**128),)}),),
    }
    Problem("good", **parts)
    with pytest.raises(InputError) as caught:
        Problem("bad", **parts | change)
    assert len(caught.value.mistakes) == 1
