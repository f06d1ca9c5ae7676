"""Measured costs: read, judged, laid over problems."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems_fixed import chain_problem

from xengine_gui.cost.measured import CostRow, costs_to_csv, parse_costs, with_measured, write_costs
from xengine_gui.errors import InputError
from xengine_gui.model.operator import Implementation

CHAIN = chain_problem(100, 3, device="cpu", size_bytes=4)
NAMES = [operator.name for operator in CHAIN.operators]


def rows_of(text: str | bytes) -> tuple[CostRow, ...]:
    return parse_costs(text if isinstance(text, bytes) else text.encode(), "c.csv").rows


def mistakes_of(text: str | bytes) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        parse_costs(text if isinstance(text, bytes) else text.encode(), "c.csv")
    assert caught.value.source == "c.csv"
    return caught.value.mistakes


def test_costs_replace_those_of_the_operators_that_are_named() -> None:
    table = parse_costs(
        f"operator,device,implementation,time_ns,workspace_bytes\n{NAMES[0]},cpu,direct,70,\n"
        f"{NAMES[0]},cpu,fft,50,4096\n".encode(),
        "c.csv",
    )
    after = table.over(CHAIN)
    assert after.operators[0].costs["cpu"] == (Implementation(70, 0, "direct"), Implementation(50, 4096, "fft"))
    assert after.operators[1:] == CHAIN.operators[1:]
    assert (after.tensors, after.devices) == (CHAIN.tensors, CHAIN.devices)


def test_later_files_hold(tmp_path: Path) -> None:
    for number, time_ns in enumerate((5, 9)):
        write_costs([CostRow(NAMES[1], "cpu", time_ns)], tmp_path / f"{number}.csv")
    after = with_measured(CHAIN, [tmp_path / "0.csv", tmp_path / "1.csv"])
    assert after.operators[1].costs["cpu"] == (Implementation(9),)


@pytest.mark.parametrize(
    "raw",
    [
        b"operator,device,time_ns\nconv,cpu,7\n",
        b"\xef\xbb\xbfOperator;Device;time_ns\r\nconv;cpu;7\r\n",
        "time_ns\tdevice\toperator\n7\tcpu\tconv\n".encode("utf-16"),
        b"\noperator,mine,device,time_ns\n\nconv,whatever,cpu,6.2\n\n",
        b'operator,device,time_ns\n"conv","cpu"," 7 "',
    ],
)
def test_forms_of_a_table(raw: bytes) -> None:
    (row,) = rows_of(raw)
    assert (row.operator, row.device, row.time_ns) == ("conv", "cpu", 7)


def test_every_mistake_has_its_line_and_column() -> None:
    text = "operator,device,time_ns,workspace_bytes\n,cpu,1,\nb,,x,\nc,cpu,-3,4.5e\nc2,cpu,,\nd,cpu,nan,1\nd,cpu,2,\n"
    assert mistakes_of(text) == (
        "line 2: operator is empty",
        "line 3: device is empty",
        "line 3: time_ns must be a number, not 'x'",
        "line 4: time_ns is negative: -3",
        "line 4: workspace_bytes must be a number, not '4.5e'",
        "line 5: time_ns is empty",
        "line 6: time_ns must be a number, not 'nan'",
        "line 7: 'd' on 'cpu' stands in line 6 already",
    )


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"", "the file is empty"),
        (b"operator,device,time_ns\n", "no row below the column names"),
        (b"operator,time\nconv,7\n", "line 1: there is no column device and no column time_ns"),
        (b"operator,device,time_ns,device\na,b,1,c\n", "line 1: the column device is there twice"),
        (b'operator,device,time_ns\n"conv,cpu,7\n', "line 2: cannot be read"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "not a text file"),
        (b"operator,device,time_ns\na,cpu,1e999999999\n", "line 2: time_ns is larger than any machine's"),
        (b"operator,device,time_ns\na,cpu," + b"9" * 100_000, "line 2: time_ns must be a number"),
    ],
)
def test_what_is_no_table_is_told(raw: bytes, sentence: str) -> None:
    assert sentence in mistakes_of(raw)[0]


def test_rows_without_a_place_in_the_problem_are_named() -> None:
    table = parse_costs(f"operator,device,time_ns\nghost,cpu,1\n{NAMES[0]},tpu,1\n".encode(), "c.csv")
    with pytest.raises(InputError) as caught:
        table.over(CHAIN)
    assert caught.value.mistakes[0].startswith("line 2: there is no operator 'ghost'")
    assert caught.value.mistakes[1] == "line 3: there is no device 'tpu'; the devices are cpu"


_ROWS = st.builds(
    CostRow,
    operator=st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(lambda s: s == s.strip()),
    device=st.sampled_from(["cpu", "gpu 0"]),
    time_ns=st.integers(0, 2**70),
    implementation=st.sampled_from([None, "direct"]),
    workspace_bytes=st.integers(0, 2**40),
    spread_ns=st.none() | st.integers(0, 2**40),
    source=st.sampled_from(["", "measured, here"]),
)


@settings(deadline=None)
@given(st.lists(_ROWS, min_size=1, unique_by=lambda r: (r.operator.lstrip("'"), r.device, r.implementation)))
def test_what_is_written_is_read_again(rows: list[CostRow]) -> None:
    read = rows_of(costs_to_csv(rows))
    assert [row.line for row in read] == list(range(2, len(rows) + 2))
    for before, after in zip(rows, read, strict=True):
        assert after.operator.removeprefix("'") == before.operator.removeprefix("'")
        assert (after.device, after.time_ns, after.implementation) == (
            before.device, before.time_ns, before.implementation,
        )  # fmt: skip
        assert (after.workspace_bytes, after.spread_ns, after.source) == (
            before.workspace_bytes, before.spread_ns, before.source,
        )  # fmt: skip


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_whatever_the_bytes_there_is_a_table_or_a_sentence(raw: bytes) -> None:
    for data in (raw, b"operator,device,time_ns\n" + raw):
        mistakes: tuple[str, ...] = ()
        try:
            rows = parse_costs(data, "c.csv").rows
        except InputError as error:
            rows, mistakes = (), error.mistakes
        assert bool(rows) != bool(mistakes)
        assert not any("\n" in mistake for mistake in mistakes)
