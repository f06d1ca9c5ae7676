"""Sizes, times and counts as people write them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from xengine_gui.errors import InputError
from xengine_gui.units import (
    format_bandwidth,
    format_count,
    format_duration,
    format_duration_exact,
    format_flop_per_s,
    format_gap,
    format_names,
    format_percent,
    format_power,
    format_size,
    format_size_both,
    format_size_exact,
    parse_bytes_per_s,
    parse_duration_ns,
    parse_flop_per_s,
    parse_power_uw,
    parse_share,
    parse_size_bytes,
)

GIB = 2**30


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("8 GiB", 8 * GIB),
        ("8GB", 8 * 10**9),
        ("8 G", 8 * GIB),
        ("8g", 8 * GIB),
        ("10 KiB", 10240),
        ("0.5 GiB", GIB // 2),
        ("8589934592", 8 * GIB),
        ("8_000 MB", 8 * 10**9),
        (" 8  gib ", 8 * GIB),
        ("1e3 MiB", 1000 * 2**20),
        ("1.5gb", 1_500_000_000),
        ("1,5 GiB", 3 * GIB // 2),
        ("1,024.5 MB", 1_024_500_000),
        ("1,024,000", 1_024_000),
        ("0", 0),
        ("17 B", 17),
        ("3 bytes", 3),
        ("1 PiB", 2**50),
        ("1 EB", 10**18),
        (".5 KiB", 512),
    ],
)
def test_sizes_are_read(text: str, size_bytes: int) -> None:
    assert parse_size_bytes(text) == size_bytes


@pytest.mark.parametrize(
    "text",
    ["1Gib", "1 Gb", "8 b", "8 Mbit", "1.024,5 MB", "1,024 MB", "-1 GiB", "", "  ", "inf", "nan", "8 GiB/s", "GiB",
     "8 parsecs", "1..5 GB", "1e99 GiB", "0x10", "\uff18.\uff18.\uff18"],
)  # fmt: skip
def test_other_sizes_are_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_size_bytes(text)
    assert "\n" not in str(caught.value)
    assert str(caught.value)


def test_bits_are_pointed_out() -> None:
    with pytest.raises(InputError, match="bits"):
        parse_size_bytes("1Gib")


def test_units_are_in_order() -> None:
    texts = ["1 B", "1 KB", "1 KiB", "1 MB", "1 MiB", "1 GB", "1 GiB", "1 TB", "1 TiB", "1 PB", "1 PiB", "1 EB"]
    sizes = [parse_size_bytes(text) for text in texts]
    assert sizes == sorted(set(sizes))


@given(st.integers(0, 2**70))
def test_an_exact_size_is_read_back(size_bytes: int) -> None:
    assert parse_size_bytes(str(size_bytes)) == size_bytes
    assert parse_size_bytes(f"{size_bytes} B") == size_bytes


@given(st.integers(0, 2**70))
@example(307_203)
@example(1_023_999)
def test_every_size_that_is_shown_is_read(size_bytes: int) -> None:
    assert parse_size_bytes(format_size_exact(size_bytes)) == size_bytes
    assert parse_size_bytes(format_size_both(size_bytes)) == size_bytes
    assert abs(parse_size_bytes(format_size(size_bytes)) - size_bytes) <= size_bytes * 0.006


@given(st.integers(0, 2**62))
@example(11_412)
@example(1_234 * 10**9)
def test_everything_else_that_is_shown_is_read(value: int) -> None:
    assert parse_duration_ns(format_duration_exact(value)) == value
    for parse, form in (
        (parse_duration_ns, format_duration), (parse_bytes_per_s, format_bandwidth),
        (parse_flop_per_s, format_flop_per_s), (parse_power_uw, format_power),
    ):  # fmt: skip
        assert abs(parse(form(value)) - value) <= value * 0.006


@pytest.mark.parametrize("text", ["1,024 MB", "1,024 KiB", "1,5000,000", "12,34,567"])
def test_a_comma_that_may_be_either_is_asked_about(text: str) -> None:
    with pytest.raises(InputError, match="decimal point"):
        parse_size_bytes(text)


@pytest.mark.parametrize(
    ("size_bytes", "shown"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (392 * 2**20, "392 MiB"),
        (2**30 - 1, "1.00 GiB"),
        (2**66, "64.0 EiB"),
    ],
)
def test_sizes_are_shown_at_a_sensible_scale(size_bytes: int, shown: str) -> None:
    assert format_size(size_bytes) == shown


def test_exact_forms_have_every_digit() -> None:
    assert format_size_exact(411_041_792) == "411,041,792 bytes"
    assert format_size_exact(1) == "1 byte"
    assert format_duration_exact(11_412_003) == "11,412,003 ns"
    assert format_percent(0.1534) == "15.3 %"
    assert [format_gap(gap) for gap in (0, 1e-9, 0.00004, 0.0001, 0.25)] == [
        "0.00 %", "< 0.01 %", "< 0.01 %", "0.01 %", "25.00 %",
    ]  # fmt: skip
    assert format_gap(1e-6, 3) == "< 0.001 %"


@pytest.mark.parametrize(
    ("text", "time_ns"),
    [
        ("10 µs", 10_000),
        ("10us", 10_000),
        ("1.5 ms", 1_500_000),
        ("60 s", 60 * 10**9),
        ("2 min", 120 * 10**9),
        ("7", 7),
    ],
)
def test_times_are_read(text: str, time_ns: int) -> None:
    assert parse_duration_ns(text) == time_ns


@pytest.mark.parametrize("text", ["", "fast", "1 fortnight", "-1 s", "nan"])
def test_other_times_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_duration_ns(text)


@pytest.mark.parametrize(
    ("time_ns", "shown"), [(740, "740 ns"), (11_412_003, "11.4 ms"), (2_490_000_000, "2.49 s"), (999_600, "1.00 ms")]
)
def test_times_are_shown_at_a_sensible_scale(time_ns: int, shown: str) -> None:
    assert format_duration(time_ns) == shown


def test_rates_are_shown_as_makers_state_them() -> None:
    assert format_bandwidth(12 * 10**9) == "12 GB/s"
    assert format_bandwidth(300 * 10**9) == "300 GB/s"


@pytest.mark.parametrize(
    ("text", "bytes_per_s"),
    [
        ("336 GB/s", 336 * 10**9),
        ("12GiB/s", 12 * GIB),
        ("80 MB/s", 80 * 10**6),
        ("16000000", 16 * 10**6),
        ("1 GBps", 10**9),
    ],
)
def test_bandwidths_are_read(text: str, bytes_per_s: int) -> None:
    assert parse_bytes_per_s(text) == bytes_per_s


@pytest.mark.parametrize(
    ("text", "flop_per_s"),
    [("10.9 TFLOP/s", 10_900_000_000_000), ("825.6 GFLOPS", 825_600_000_000), ("64 Mflop/s", 64 * 10**6), ("5", 5)],
)
def test_arithmetic_is_read(text: str, flop_per_s: int) -> None:
    assert parse_flop_per_s(text) == flop_per_s
    assert parse_flop_per_s(format_flop_per_s(flop_per_s)) == pytest.approx(flop_per_s, rel=0.005)


@pytest.mark.parametrize(("text", "power_uw"), [("3 W", 3 * 10**6), ("10.982 mW", 10_982), ("2 kW", 2 * 10**9)])
def test_powers_are_read(text: str, power_uw: int) -> None:
    assert parse_power_uw(text) == power_uw


@pytest.mark.parametrize(("text", "share"), [("70 %", 0.7), ("0.45", 0.45), ("100%", 1.0), ("1", 1.0)])
def test_shares_are_read(text: str, share: float) -> None:
    assert parse_share(text) == pytest.approx(share)


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (parse_bytes_per_s, "8 Gb/s"), (parse_bytes_per_s, ""), (parse_bytes_per_s, "fast"),
        (parse_bytes_per_s, "-1 GB/s"), (parse_flop_per_s, "10 TB/s"), (parse_flop_per_s, ""),
        (parse_flop_per_s, "inf"),
        (parse_power_uw, "3"), (parse_power_uw, "3 MW"), (parse_share, "0"), (parse_share, "101 %"),
        (parse_share, "70 B"), (parse_share, "nan"),
    ],
)  # fmt: skip
def test_other_rates_powers_and_shares_are_refused_in_a_sentence(parse, text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text)
    assert str(caught.value)
    assert "\n" not in str(caught.value)


def test_counts_and_names_are_told_in_words() -> None:
    assert [format_count(n, "tensor") for n in (0, 1, 1234)] == ["0 tensors", "1 tensor", "1,234 tensors"]
    assert format_names("abc") == "a, b, c"
    assert format_names("abcde", most=3) == "a, b, c and 2 more"
    assert format_names([]) == ""
