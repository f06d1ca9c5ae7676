"""Links on the command line: a bus or figures, both directions, whatever the devices are called."""

from pathlib import Path

import pytest

from xengine_gui.cli import main
from xengine_gui.cli.links import parse_link, with_asked_links
from xengine_gui.model.device import Device, Link
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import read_problem
from xengine_gui.paths import sample_graphs

TOY = sample_graphs() / "two_devices.json"


@pytest.mark.parametrize(
    ("text", "bandwidth", "latency_ns"),
    [
        ("cpu:gpu=pcie3", 12 * 10**9, 10_000),
        ("gpu:cpu=2 GB/s, 1 ms", 2 * 10**9, 10**6),
        ("gpu : cpu=3GB/s", 3 * 10**9, 0),
    ],
)
def test_a_link_is_a_bus_or_figures_in_both_directions(
    text: str, bandwidth: int, latency_ns: int, tmp_path: Path
) -> None:
    assert main(["problem", str(TOY), "--link", text, "-o", str(tmp_path / "p.json")]) == 0
    links = read_problem(tmp_path / "p.json").links
    assert {(k.source, k.destination) for k in links} == {("cpu", "gpu"), ("gpu", "cpu")}
    assert {(k.bandwidth_bytes_per_s, k.latency_ns) for k in links} == {(bandwidth, latency_ns)}


def test_devices_may_have_a_colon_in_their_names_and_powers_stay() -> None:
    devices = (Device("a:0"), Device("b"), Device("a"))
    link = Link("a:0", "b", 1, 1, power_uw=7)
    problem = with_asked_links(
        Problem("x", devices, operators=(), tensors=(), links=(link,)), [parse_link("a:0:b=1GB/s")]
    )
    assert problem.links == (Link("a:0", "b", 10**9, 0, 7), Link("b", "a:0", 10**9))


def test_a_network_takes_links_too(tmp_path: Path) -> None:
    words = ["problem", str(sample_graphs() / "lenet.onnx"), "--device", "x=t4", "--device", "y=t4"]
    assert main([*words, "--link", "x:y=nvlink4", "-o", str(tmp_path / "p.json")]) == 0
    assert {k.bandwidth_bytes_per_s for k in read_problem(tmp_path / "p.json").links} == {450 * 10**9}


def test_buses_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices"]) == 0
    assert "usb3" in capsys.readouterr().out.partition("bus ")[2]
