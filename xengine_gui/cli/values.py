"""What a word on the command line is read into; a mistake is told by argparse in a sentence."""

import argparse
import math
from pathlib import Path

from xengine_gui.errors import InputError
from xengine_gui.ui.picture_size import LEAST_WIDTH_PIXELS, MOST_PIXELS
from xengine_gui.units import parse_duration_ns, parse_size_bytes

_MOST = 2**63 - 1
_MOST_POINTS = 1000
_MOST_PROCESSES = 512


def count(text: str) -> int:
    """A whole number from 1."""
    if not text.isascii() or not text.isdigit() or int(text[:20]) < 1:
        raise argparse.ArgumentTypeError(f"{_short(text)!r} is not a whole number above 0")
    if len(text) > 19 or int(text) > _MOST:
        raise argparse.ArgumentTypeError(f"{_short(text)!r} is too large")
    return int(text)


def points(text: str) -> int:
    """How many limits are planned for."""
    return _at_most(count(text), _MOST_POINTS)


def processes(text: str) -> int:
    """How many processes or threads work side by side; 0 has a meaning of its own."""
    return _at_most(whole(text), _MOST_PROCESSES)


def whole(text: str) -> int:
    """A whole number from 0."""
    return 0 if text.strip() == "0" else count(text)


def width(text: str) -> int:
    """Pixels of a picture across."""
    return _pixels(text, LEAST_WIDTH_PIXELS)


def height(text: str) -> int:
    """Pixels of a picture downwards."""
    return _pixels(text, 1)


def file(text: str) -> Path:
    """A file's name."""
    return Path(name(text))


def name(text: str) -> str:
    """A name that is not empty."""
    if not text.strip():
        raise argparse.ArgumentTypeError("nothing is given")
    return text


def binding(text: str) -> tuple[str, int]:
    """A symbolic dimension and its value, as `N=8`."""
    symbol, value = _named(text, "NAME=N")
    return symbol, count(value)


def named_size(text: str) -> tuple[str, int]:
    """A tensor and its bytes, as `x=8MB`."""
    tensor, value = _named(text, "NAME=SIZE")
    try:
        return tensor, parse_size_bytes(value)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def field(text: str) -> tuple[str, str]:
    """A field and the attribute that holds it, as `size=mem:MiB`."""
    word, equals, key = text.partition("=")
    if not equals or not word or not key:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form FIELD=KEY")
    return word, key


def field_default(text: str) -> tuple[str, str]:
    """What nodes without a value for a field get, as `time=1ms`."""
    word, value = field(text)
    return f"default.{word}", value


def ratio(text: str) -> float:
    """A share from 0 to below 1, as 0.01 or 1 %."""
    share = text.strip()
    try:
        value = float(share.removesuffix("%")) / (100 if share.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share such as 0.01 or 1%")
    return value


def duration_ns(text: str) -> int:
    """A time above 0, as `150ms`."""
    try:
        value = parse_duration_ns(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time above 0 s")
    return value


def seconds(text: str) -> float | None:
    """Seconds, or a time with its unit; `none` for no limit."""
    if text.strip().lower() == "none":
        return None
    try:
        value = float(text)
    except ValueError:
        value = duration_ns(text) / 1e9
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time above 0 s")
    return value


def _named(text: str, form: str) -> tuple[str, str]:
    """The two sides of the last equals sign: a name may hold one, a value cannot."""
    first, equals, value = text.rpartition("=")
    if not equals or not first.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form {form}")
    return first, value


def _pixels(text: str, least: int) -> int:
    value = count(text)
    if not least <= value <= MOST_PIXELS:
        raise argparse.ArgumentTypeError(f"{value} is not between {least} and {MOST_PIXELS} pixels")
    return value


def _at_most(value: int, most: int) -> int:
    if value > most:
        raise argparse.ArgumentTypeError(f"{value:,} is more than {most:,}")
    return value


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}…"
