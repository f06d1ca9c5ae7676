"""Sizes as people have typed them into tools of this kind, each with its right value: rows U1 to U7 of those cases."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems_fixed import chain_problem

from xengine_gui import planner
from xengine_gui.cli import main
from xengine_gui.cost import DeviceChoice
from xengine_gui.errors import InputError
from xengine_gui.importers import read_network
from xengine_gui.model.problem_file import write_problem
from xengine_gui.paths import sample_graphs
from xengine_gui.units import BARE_LETTER_RULE, format_size, format_size_exact, parse_size_bytes

Captured = pytest.CaptureFixture[str]
UNITS = ("B", "KB", "KiB", "MB", "MiB", "GB", "GiB", "TB", "TiB")
FACTORS = (1, 10**3, 2**10, 10**6, 2**20, 10**9, 2**30, 10**12, 2**40)


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("8 GiB", 8_589_934_592), ("8GB", 8_000_000_000), ("8 G", 8_589_934_592), ("8g", 8_589_934_592),
        ("10 KiB", 10_240), ("0.5 GiB", 536_870_912), ("8589934592", 8_589_934_592), ("8_000 MB", 8_000_000_000),
        (" 8  gib ", 8_589_934_592),
    ],
)  # fmt: skip
def test_u1_a_size_means_the_same_however_it_is_written(text: str, size_bytes: int) -> None:
    assert parse_size_bytes(text) == size_bytes
    assert format_size_exact(size_bytes) == f"{size_bytes:,} bytes"


def test_u1_the_rule_for_a_bare_letter_is_told() -> None:
    assert "GiB" in BARE_LETTER_RULE
    assert parse_size_bytes("1G") == parse_size_bytes("1 GiB") != parse_size_bytes("1 GB")


@pytest.mark.parametrize("text", ["1Gib", "1 Gb"])
def test_u2_bits_are_asked_about(text: str) -> None:
    with pytest.raises(InputError, match=r"bits\? Write GiB"):
        parse_size_bytes(text)


def test_u4_units_are_in_order() -> None:
    sizes = [parse_size_bytes(f"1 {unit}") for unit in UNITS]
    assert sizes == list(FACTORS)
    assert all(one < other for one, other in pairwise(sizes))


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from(UNITS))
def test_u4_more_is_more_in_every_unit(one: int, other: int, unit: str) -> None:
    assert (parse_size_bytes(f"{one} {unit}") < parse_size_bytes(f"{other} {unit}")) == (one < other)


@pytest.mark.parametrize(
    ("text", "size_bytes"), [("1,5 GiB", 1_610_612_736), ("1e3 MiB", 1_048_576_000), ("0", 0), ("1,024,000", 1_024_000)]
)
def test_u5_what_can_only_be_read_one_way_is_read(text: str, size_bytes: int) -> None:
    assert parse_size_bytes(text) == size_bytes


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1.024,5 MB", "decimal point"), ("1,024 MB", "decimal point"), ("-1 GiB", "negative"),
        ("", "nothing is given"),
        ("inf", "is not a size"), ("nan", "is not a size"), ("8 GiB/s", "no unit of size"),
    ],
)  # fmt: skip
def test_u5_the_rest_is_asked_about_or_refused(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        parse_size_bytes(text)


@pytest.mark.parametrize("text", ["1.024,5 MB", "-1 GiB", "inf", "nan", "8 GiB/s", "1 Gb", "0"])
def test_u5_a_limit_that_makes_no_sense_is_bad_input(text: str, tmp_path: Path, capsys: Captured) -> None:
    write_problem(chain_problem(), tmp_path / "chain.json")
    status = main(["plan", str(tmp_path / "chain.json"), "--limit", f"gpu={text}"])
    told = capsys.readouterr().err
    assert status == (3 if text == "0" else 2)  # with no memory at all there is no plan, by proof
    assert told.strip()
    assert "Traceback" not in told


def test_u6_a_limit_of_mebibytes_is_no_slip_of_the_unit(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "chain.json"
    write_problem(chain_problem(2 * 2**20, 4, device="gpu", size_bytes=4 * 2**20), path)
    assert main(["plan", str(path)]) == 3
    told = capsys.readouterr().err
    assert "gpu may hold 2,097,152 bytes, and t0 alone takes 4,194,304 bytes." in told
    assert "unit" not in told


def test_u6_a_limit_without_unit_is_bytes_and_too_small_a_one_is_told(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "chain.json"
    write_problem(chain_problem(8192, 4, device="gpu", size_bytes=10_000), path)
    assert json.loads(path.read_text())["devices"][0]["memory_limit_bytes"] == 8192
    assert main(["plan", str(path)]) == 3
    told = capsys.readouterr().err
    assert "gpu may hold 8,192 bytes, and t0 alone takes 10,000 bytes; a limit without a unit is in bytes." in told
    assert "its limit is 8.00 KiB" in told
    assert "(20,000 bytes) would do" in told
    assert main(["plan", str(path), "--limit", "gpu=20000"]) == 0
    assert "may hold" not in capsys.readouterr().err


def test_u6_the_memory_of_a_preset_is_no_slip_of_the_unit(tmp_path: Path, capsys: Captured) -> None:
    words = ["problem", str(sample_graphs() / "vgg16.onnx"), "-o", str(tmp_path / "p.json"), "--device"]
    assert main([*words, "mcu=cortex-m7"]) == 0
    assert "may hold" not in capsys.readouterr().err
    assert main([*words, "mcu=cortex-m7,limit=2000"]) == 0
    assert "mcu may hold 2,000 bytes" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["lenet", "resnet18", "mobilenet_v2"])
def test_u7_the_column_adds_up_to_the_head(name: str, capsys: Captured) -> None:
    path = sample_graphs() / f"{name}.onnx"
    assert main(["inspect", str(path), "--training", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    problem = planner.make_problem(read_network(path), [DeviceChoice("cpu", "i7-8700k")])
    sizes = {tensor.name: tensor.size_bytes for tensor in problem.tensors}
    column = [sum(sizes[t] for t in operator.outputs) for operator in problem.operators]
    assert sum(column) == report["activation_bytes"]
    assert sum(p.size_bytes for p in problem.parameters) == report["parameter_bytes"]
    assert main(["inspect", str(path), "--training"]) == 0
    shown = capsys.readouterr().out
    assert format_size(sum(column)) in shown
    assert format_size_exact(sum(column)) in shown
