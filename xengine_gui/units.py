"""Sizes, times and counts as people write them, to and from exact integers.

The rule for sizes: B, KB/MB/GB/TB/PB are powers of 1000, KiB/MiB/GiB/TiB/PiB powers of 1024; a bare letter (8G) is read
as the binary unit, as device tools do. A number alone is bytes. Bits are refused.
"""

import re
from collections.abc import Iterable
from decimal import Decimal, localcontext

from xengine_gui.errors import InputError

BARE_LETTER_RULE = "K, M, G, T alone are read as KiB, MiB, GiB, TiB"

_LETTERS = "kmgtpe"
_NUMBER = re.compile(r"\s*(?P<number>[+-]?[\d_.,]*\d[\d_.,]*(?:[eE][+-]?\d+)?)\s*(?P<unit>[^\d\s]*)\s*")
_TIME_NS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
}
_MOST = 2**80
LARGEST = 2**128
"""No size in bytes and no time in nanoseconds is larger; up to here floats of solvers and pictures can hold them."""


def parse_size_bytes(text: str) -> int:
    """Bytes of a size such as `8 GiB`, `1.5GB`, `8g` or `8589934592`; fractions of a byte are rounded to the nearest.

    Raises `InputError` with one sentence for anything else: bits, rates, negative or unbounded values, and a comma that
    could be a decimal or a thousands separator.
    """
    both = re.fullmatch(r"[^()]+\(([\d,]+ bytes?)\)\s*", text)  # as format_size_both writes it
    number, unit = _split(both[1] if both else text, "a size such as 8 GiB", whole=("", "B", "byte", "bytes"))
    return _whole(text, number * _size_factor(text, unit))


def parse_duration_ns(text: str) -> int:
    """Nanoseconds of a time such as `10 µs`, `1.5 ms` or `60 s`; a number alone is nanoseconds."""
    number, unit = _split(text, "a time such as 10 ms", whole=("", "ns"))
    factor = _TIME_NS.get(unit or "ns")
    if factor is None:
        raise InputError("", f"{text.strip()!r} is no time: use ns, µs, ms, s, min or h")
    return _whole(text, number * factor)


def parse_bytes_per_s(text: str) -> int:
    """Bytes per second of a bandwidth such as `336 GB/s` or `12 GiB/s`; a number alone is bytes per second."""
    plain = text.strip()
    size = re.sub(r"\s*(/s|ps|/sec)$", "", plain)
    try:
        return parse_size_bytes(size)
    except InputError as error:
        if not plain:
            raise InputError("", "nothing is given: write a bandwidth such as 336 GB/s") from None
        raise InputError("", f"{plain!r} is no bandwidth such as 336 GB/s: {error}") from None


def parse_flop_per_s(text: str) -> int:
    """Operations per second of a peak such as `10.9 TFLOP/s` or `825.6 GFLOPS`; a number alone is FLOP per second."""
    number, unit = _split(text, "a peak such as 10.9 TFLOP/s")
    match = re.fullmatch(r"([kmgtpeKMGTPE]?)(?:flops?(?:/s)?)?", unit, re.IGNORECASE)
    if match is None:
        raise InputError("", f"{text.strip()!r} has no unit of arithmetic: use GFLOP/s or TFLOP/s")
    return _whole(text, number * 1000 ** (_LETTERS.index(match[1].lower()) + 1 if match[1] else 0))


def parse_power_uw(text: str) -> int:
    """Microwatts of a power such as `3 W` or `11 mW`; it must have a unit."""
    number, unit = _split(text, "a power such as 3 W")
    factor = {"W": 10**6, "mW": 10**3, "µW": 1, "μW": 1, "uW": 1, "kW": 10**9}.get(unit)
    if factor is None:
        raise InputError("", f"{text.strip()!r} has no unit of power: use W or mW")
    return _whole(text, number * factor)


def parse_share(text: str) -> float:
    """A share above 0 and up to 1, written as `70 %` or `0.7`."""
    number, unit = _split(text, "a share such as 70 %")
    value = float(number) / 100 if unit == "%" else float(number)
    if unit not in ("", "%") or not 0 < value <= 1:
        raise InputError("", f"{text.strip()!r} is no share above 0 % and up to 100 %")
    return value


def format_size(size_bytes: int) -> str:
    """A size at a sensible binary scale, three significant digits or more: `392 MiB`, `1.12 GiB`, `17 B`."""
    if abs(size_bytes) < 1024:
        return f"{size_bytes} B"
    power = min((abs(size_bytes).bit_length() - 1) // 10, len(_LETTERS))
    value = size_bytes / 1024**power
    if abs(value) >= 1023.5 and power < len(_LETTERS):
        power, value = power + 1, value / 1024
    return f"{_three_digits(value)} {_LETTERS[power - 1].upper()}iB"


def format_size_exact(size_bytes: int) -> str:
    """A size to the byte: `411,041,792 bytes`."""
    return format_count(size_bytes, "byte")


def format_size_both(size_bytes: int) -> str:
    """A size as people say it and to the byte: `392 MiB (411,041,792 bytes)`, `17 bytes`."""
    exact = format_size_exact(size_bytes)
    return exact if size_bytes < 1024 else f"{format_size(size_bytes)} ({exact})"


def format_duration(time_ns: int, *, fine: bool = False) -> str:
    """A time at a sensible scale: `11.4 ms`, `2.49 s`, `740 ns`; a fine one has a digit more, for comparing."""
    for unit, scale in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if abs(time_ns) >= scale * 0.9995:
            return f"{_three_digits(time_ns / scale, more=int(fine))} {unit}"
    return f"{time_ns} ns"


def format_energy(energy_fj: int) -> str:
    """An energy, given in femtojoules (a microwatt for a nanosecond), at a sensible scale: `1.70 J`, `330 µJ`."""
    for unit, scale in (("J", 10**15), ("mJ", 10**12), ("µJ", 10**9)):
        if abs(energy_fj) >= scale * 0.9995:
            return f"{_three_digits(energy_fj / scale)} {unit}"
    return f"{_three_digits(energy_fj / 10**6)} nJ"


def format_power(power_uw: int) -> str:
    """A power at a sensible scale: `3.00 W`, `11.0 mW`."""
    for unit, scale in (("W", 10**6), ("mW", 10**3)):
        if abs(power_uw) >= scale * 0.9995:
            return f"{_three_digits(power_uw / scale)} {unit}"
    return f"{power_uw} µW"


def format_duration_exact(time_ns: int) -> str:
    """A time to the nanosecond: `11,412,003 ns`."""
    return f"{time_ns:,} ns"


def format_percent(ratio: float, digits: int = 1) -> str:
    """A ratio in percent: `15.3 %`."""
    return f"{100 * ratio:.{digits}f} %"


def format_gap(gap_ratio: float, digits: int = 2) -> str:
    """A gap in percent; one that is not nothing, and would be shown as nothing, is `< 0.01 %`."""
    shown = format_percent(gap_ratio, digits)
    if gap_ratio <= 0 or shown != format_percent(0, digits):
        return shown
    return f"< {format_percent(10 ** -(digits + 2), digits)}"


def format_bandwidth(bandwidth_bytes_per_s: int) -> str:
    """A rate at a sensible decimal scale, as makers of links state it: `12 GB/s`."""
    for power in range(5, 0, -1):
        if bandwidth_bytes_per_s >= 1000**power:
            digits = _three_digits(bandwidth_bytes_per_s / 1000**power)
            return f"{digits.rstrip('0').rstrip('.') if '.' in digits else digits} {'KMGTP'[power - 1]}B/s"
    return f"{bandwidth_bytes_per_s} B/s"


def format_flop_per_s(flop_per_s: int) -> str:
    """Arithmetic at a sensible decimal scale, as makers of devices state it: `10.9 TFLOP/s`."""
    return format_bandwidth(flop_per_s).replace("B/s", "FLOP/s")


def format_count(count: int, word: str) -> str:
    """A number of things: `1 operator`, `1,746 operators`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def format_names(names: Iterable[str], most: int = 8) -> str:
    """The first names of a list and how many more there are: `a, b and 3 more`."""
    every = list(names)
    rest = f" and {len(every) - most:,} more" if len(every) > most else ""
    return ", ".join(every[:most]) + rest


def _three_digits(value: float, *, more: int = 0) -> str:
    digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    # No separator of thousands: "1,000 KiB" would be refused where it is typed, as the comma may be a decimal one.
    return f"{value:.{digits + more}f}"


def _split(text: str, wanted: str, *, whole: tuple[str, ...] = ()) -> tuple[Decimal, str]:
    """Number and unit; `whole` units have no fractions, so that a comma before three digits is one of thousands."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise InputError(
            "", f"{text.strip()!r} is not {wanted}" if text.strip() else f"nothing is given: write {wanted}"
        )
    return _decimal(text, match["number"], whole=match["unit"] in whole), match["unit"]


def _decimal(text: str, number: str, *, whole: bool) -> Decimal:
    plain = number.replace("_", "")
    if "," in plain:
        thousands = r"\d{1,3}(,\d{3})+\.\d+|\d{1,3}(,\d{3}){2,}" + (r"|\d{1,3},\d{3}" if whole else "")
        if re.fullmatch(thousands, plain):
            plain = plain.replace(",", "")
        elif re.fullmatch(r"\d+,(\d{1,2}|\d{4,})", plain):
            plain = plain.replace(",", ".")
        else:
            raise InputError("", f"{text.strip()!r}: is the comma a decimal point? Write the number with a point")
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", plain):
        raise InputError("", f"{text.strip()!r} is not a number")
    value = Decimal(plain)
    if value.is_signed() and value:
        raise InputError("", f"{text.strip()!r} is negative")
    return value


def _size_factor(text: str, unit: str) -> int:
    small = unit.lower()
    if small in ("", "b", "byte", "bytes"):
        if unit == "b":
            raise InputError("", f"{text.strip()!r}: does b mean bits? Write B for bytes")
        return 1
    if small[0] in _LETTERS:
        power = _LETTERS.index(small[0]) + 1
        rest = unit[1:]
        if rest in ("b", "ib", "bit", "Bit", "bits"):
            # The lower-case forms of whole units (gib, gb) are sizes; a capital letter before a small b means bits.
            if unit == small and rest != "bit":
                return int(1024**power if rest == "ib" else 1000**power)
            raise InputError("", f"{text.strip()!r}: bits? Write {small[0].upper()}iB for bytes")
        if rest in ("", "iB", "i", "IB"):
            return int(1024**power)
        if rest == "B":
            return int(1000**power)
    raise InputError("", f"{text.strip()!r} has no unit of size: use B, KB, MB, GB or KiB, MiB, GiB")


def _whole(text: str, value: Decimal) -> int:
    if value > _MOST:
        raise InputError("", f"{text.strip()!r} is larger than any device")
    with localcontext() as context:
        context.prec = 60
        return int(value.to_integral_value())
