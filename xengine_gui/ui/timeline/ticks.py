"""Where the ticks of the two axes stand and what they say."""

from dataclasses import dataclass

from xengine_gui.ui.timeline.geometry import TimeRange
from xengine_gui.units import format_size

_TIME_UNITS = (("s", 10**9), ("ms", 10**6), ("µs", 10**3), ("ns", 1))


@dataclass(frozen=True, slots=True)
class TimeTicks:
    """Ticks at `times_ns` with a text each; where the texts count from a moment, `base` names it (`1.456 s +`)."""

    times_ns: tuple[int, ...]
    texts: tuple[str, ...]
    minor_ns: tuple[int, ...]
    base: str = ""


def time_ticks(view: TimeRange, most: int) -> TimeTicks:
    """At most `most` ticks at round times; deep in a long plan they count from a round moment before the view."""
    step = nice_step(view.span_ns, max(1, most))
    times = tuple(range(-(-view.start_ns // step) * step, view.end_ns + 1, step))
    minor_step = max(1, step // 5)
    minor = tuple(
        t for t in range(-(-view.start_ns // minor_step) * minor_step, view.end_ns + 1, minor_step) if t % step
    )
    if view.end_ns < 10_000 * step:
        unit, scale = unit_of(view.end_ns)
        return TimeTicks(times, tuple(_with_decimals(t, scale, step, unit) for t in times), minor)
    coarse = 10 ** len(str(view.span_ns))
    base = view.start_ns // coarse * coarse
    unit, scale = unit_of(view.end_ns - base)
    texts = tuple("+ " + _with_decimals(t - base, scale, step, unit) for t in times)
    number, _, word = format_moment(base, coarse).partition(" ")
    number = number.rstrip("0").rstrip(".") if "." in number else number
    return TimeTicks(times, texts, minor, f"{number} {word}")


def nice_step(span: int, most: int) -> int:
    """The smallest of 1, 2, 5, 10, 20 … that cuts `span` into at most `most` steps."""
    least = -(-span // most)
    power = 1
    while True:
        for digit in (1, 2, 5):
            if digit * power >= least:
                return digit * power
        power *= 10


def unit_of(time_ns: int) -> tuple[str, int]:
    """The largest unit that a time reaches, and its nanoseconds."""
    return next(((unit, scale) for unit, scale in _TIME_UNITS if time_ns >= scale), _TIME_UNITS[-1])


def format_moment(time_ns: int, resolution_ns: int, like_ns: int | None = None) -> str:
    """A moment with as many decimals as the resolution is worth: `1.456 s`; in its own unit, or in that of another."""
    unit, scale = unit_of(time_ns if like_ns is None else like_ns)
    return _with_decimals(time_ns, scale, 10 ** (len(str(max(1, resolution_ns))) - 1), unit)


def size_ticks(top_bytes: int, most: int) -> tuple[tuple[int, str], ...]:
    """At most `most` round sizes above 0 and below `top_bytes`, powers of two apart."""
    if top_bytes <= 0 or most <= 0:
        return ()
    step = 1 << max(0, (top_bytes // (most + 1)).bit_length())
    return tuple((value, _short_size(value)) for value in range(step, top_bytes, step))


def _short_size(size_bytes: int) -> str:
    number, _, unit = format_size(size_bytes).partition(" ")
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number} {unit}"


def _with_decimals(time_ns: int, scale: int, step: int, unit: str) -> str:
    decimals = 0
    while step * 10**decimals % scale and 10**decimals < scale:
        decimals += 1
    return f"{time_ns / scale:,.{decimals}f} {unit}"
