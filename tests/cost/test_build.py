"""Device presets, links, and problems made of graphs."""

import json
from pathlib import Path

import onnx
import pytest

from xengine_gui.cost import COST_MODELS, DeviceChoice, build_problem, default_link, device_preset, device_presets
from xengine_gui.cost.flops import Work
from xengine_gui.errors import InputError
from xengine_gui.importers import read_network
from xengine_gui.model.device import Link
from xengine_gui.model.operator import Phase
from xengine_gui.paths import sample_graphs
from xengine_gui.training import inference_graph, retain_all_peak_bytes, training_graph

LIGHT = Path(onnx.__file__).parent / "backend/test/data/light"
PAIR = (DeviceChoice("gpu", "rtx-3060-laptop"), DeviceChoice("cpu", "i7-1165g7", 4 * 2**30))


def test_presets_are_complete() -> None:
    presets = device_presets()
    assert len({preset.key for preset in presets}) == len(presets) >= 20
    assert {preset.kind for preset in presets} >= {"cpu", "gpu", "igpu", "mcu", "memory", "storage"}
    for preset in presets:
        assert preset.memory_bytes > 0
        assert preset.bandwidth_bytes_per_s > 0
        assert preset.peak_flop_per_s >= 0
        assert preset.title
        assert preset.summary
        assert len(preset.source) > 10
        assert all(0 < share <= 1 for share in preset.efficiency.values())


def test_an_unknown_preset_is_named_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"no device preset 'tpu'; `xengine devices` tells them all"):
        device_preset("tpu")


def test_every_two_presets_have_a_link() -> None:
    for one in device_presets():
        for other in device_presets():
            link = default_link("a", one, "b", other)
            assert link.bandwidth_bytes_per_s > 0
            assert link.latency_ns > 0
            back = default_link("b", other, "a", one)
            if not one.read_bytes_per_s and not other.read_bytes_per_s:  # else reading and writing differ
                assert link.bandwidth_bytes_per_s == back.bandwidth_bytes_per_s


@pytest.mark.parametrize(
    ("one", "other", "gb_per_s"),
    [
        ("p100", "xeon-6148", 12), ("a100", "epyc-7763", 24), ("a100", "v100", 150), ("h100", "h100", 450),
        ("b200", "b200", 900), ("b200", "epyc-7763", 24), ("h100", "host-memory", 24),
        ("rtx-5070-laptop", "i7-8700k", 24), ("raspberry-pi-5", "usb-ssd", 1),
        ("i7-1165g7", "iris-xe", 34.15), ("i9-10920x", "iris-xe-max", 6), ("xeon-e-2176g", "uhd-p630", 20.8),
        ("p100", "host-memory", 12), ("raspberry-pi-4", "sd-card", 0.08),
        ("cortex-m4", "sd-card-mcu", 0.00444), ("sd-card-mcu", "cortex-m4", 0.00461651),
        ("cortex-m4", "qspi-flash", 0.016), ("rtx-4090", "nvme-ssd", 3), ("rtx-4090", "i7-8700k", 24),
    ],
)  # fmt: skip
def test_links_by_their_buses(one: str, other: str, gb_per_s: float) -> None:
    assert default_link("a", device_preset(one), "b", device_preset(other)).bandwidth_bytes_per_s == gb_per_s * 1e9


def test_roofline_is_the_longer_of_arithmetic_and_traffic() -> None:
    model, device = COST_MODELS[0], device_preset("p100")
    (busy,) = model.implementations(Work(flop=9_300_000_000_000, bytes_moved=0, work_class="matrix"), device)
    assert busy.time_ns == pytest.approx(1e9 / 0.75 + 10_000, abs=1)
    (moving,) = model.implementations(Work(flop=1, bytes_moved=732_000_000_000, work_class="vector"), device)
    assert moving.time_ns == pytest.approx(1e9 / 0.75 + 10_000, abs=1)
    assert model.implementations(Work(1, 1, "vector"), device_preset("host-memory")) == ()


@pytest.mark.parametrize("make", [training_graph, inference_graph])
def test_a_problem_has_all_of_the_graph(make) -> None:
    graph = make(read_network(LIGHT / "light_resnet50.onnx", batch=32))
    problem = build_problem(graph, PAIR, name="named")
    assert problem.name == "named"
    assert [operator.name for operator in problem.operators] == [operator.name for operator in graph.operators]
    assert {tensor.name: tensor.size_bytes for tensor in problem.tensors} == {
        name: tensor.size_bytes for name, tensor in graph.tensors.items()
    }
    assert sum(parameter.size_bytes for parameter in problem.parameters) == graph.parameter_bytes
    assert problem.keep == graph.keep
    assert [device.memory_limit_bytes for device in problem.devices] == [6 * 2**30, 4 * 2**30]
    assert {(link.source, link.destination) for link in problem.links} == {("gpu", "cpu"), ("cpu", "gpu")}
    for operator in problem.operators:
        assert set(operator.costs) == {"gpu", "cpu"}
        assert all(row.time_ns > 0 for rows in operator.costs.values() for row in rows)


def test_parameters_that_live_together_are_one() -> None:
    problem = build_problem(training_graph(read_network(LIGHT / "light_vgg19.onnx")), PAIR)
    assert len(problem.parameters) == 19
    assert {parameter.name for parameter in problem.parameters} >= {"weights of n0"}


def test_memory_alone_computes_nothing() -> None:
    graph = inference_graph(read_network(sample_graphs() / "lenet.onnx"))
    problem = build_problem(graph, [DeviceChoice("gpu", "p100"), DeviceChoice("host", "host-memory")])
    assert all(set(operator.costs) == {"gpu"} for operator in problem.operators)
    with pytest.raises(InputError, match=r"none of the devices \(host\) computes"):
        build_problem(graph, [DeviceChoice("host", "host-memory")])


def test_unknown_sizes_are_never_zero(tmp_path: Path) -> None:
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    values = [onnx.helper.make_tensor_value_info(name, 1, [None, 3]) for name in ("x", "y")]
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", values[:1], values[1:]))
    path = tmp_path / "free.onnx"
    path.write_bytes(model.SerializeToString())
    graph = inference_graph(read_network(path))
    assert retain_all_peak_bytes(graph) is None
    with pytest.raises(InputError, match=r"the size of 2 tensors is unknown: 'x', 'y'; bind the dimensions x\[0\]"):
        build_problem(graph, PAIR)


def test_own_links_replace_the_defaults() -> None:
    graph = inference_graph(read_network(sample_graphs() / "lenet.onnx"))
    link = Link("gpu", "cpu", 10**9, 5)
    assert build_problem(graph, PAIR, links=[link]).links == (link,)
    assert build_problem(graph, PAIR, links=[]).links == ()


@pytest.mark.parametrize(("name", "batch", "within"), [("vgg16", 176, 0.1), ("resnet50", 184, 0.15)])
def test_p100_times_are_near_those_that_were_measured(
    shared_folder: Path, name: str, batch: int, within: float
) -> None:
    measured = json.loads((shared_folder / "instances/published" / f"{name}_p100_training.json").read_text())
    measured_ns = sum(min(row["time_ns"] for row in operator["costs"]["gpu"]) for operator in measured["operators"])
    graph = training_graph(read_network(sample_graphs() / f"{name}.onnx", batch=batch))
    problem = build_problem(graph, [DeviceChoice("gpu", "p100")])
    ours_ns = sum(o.costs["gpu"][0].time_ns for o in problem.operators if o.phase is not Phase.UPDATE)
    assert ours_ns == pytest.approx(measured_ns, rel=within)
