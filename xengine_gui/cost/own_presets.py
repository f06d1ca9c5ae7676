"""Presets of the user's own, in a file of the user's folder: read, judged field by field, written whole."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from xengine_gui import paths
from xengine_gui.cost.links import BUSES
from xengine_gui.cost.preset_fields import EFFICIENCIES, KINDS, DevicePreset
from xengine_gui.errors import InputError
from xengine_gui.model.json_file import Fields, Json, at, format_json, read_json, show
from xengine_gui.model.whole_file import write_text
from xengine_gui.units import (
    format_bandwidth,
    format_duration,
    format_flop_per_s,
    format_percent,
    format_power,
    format_size,
    parse_bytes_per_s,
    parse_duration_ns,
    parse_flop_per_s,
    parse_power_uw,
    parse_share,
    parse_size_bytes,
)

FORMAT = "xengine-devices"
_TEXTS = ("key", "title", "kind", "bus", "summary", "source")
_WHOLES = ("memory_bytes", "peak_flop_per_s", "bandwidth_bytes_per_s", "launch_ns")
_MAY_BE_ABSENT = (
    "matrix_flop_per_s", "read_bytes_per_s", "read_latency_ns", "write_bytes_per_s", "write_latency_ns"
)  # fmt: skip
_MAY_BE_ZERO = ("peak_flop_per_s", "launch_ns")


class Found(NamedTuple):
    """The presets of the file, and a sentence for each mistake in it; what has a mistake is left out."""

    presets: tuple[DevicePreset, ...]
    mistakes: tuple[str, ...]


def own_presets_file() -> Path:
    """Where the user's presets are; it may not exist yet."""
    return paths.config_folder() / "devices.json"


def read_own_presets(taken: Iterable[str] = ()) -> Found:
    """The user's presets; a key of `taken` (those of the bundled ones) is a mistake."""
    path = own_presets_file()
    if not path.exists():
        return Found((), ())
    fields = Fields()
    try:
        form = fields.form(read_json(path), "", FORMAT)
    except InputError as error:
        return Found((), error.mistakes)
    presets: dict[str, DevicePreset] = {}
    used = set(taken)
    for place, row in [] if form is None else list(fields.objects(form, "presets", "")):
        before = len(fields.mistakes)
        preset = _preset(fields, row, place)
        if preset.key in used | presets.keys():
            fields.wrong(at(place, "key"), f"{preset.key!r} is the key of another preset")
        if len(fields.mistakes) == before:
            presets[preset.key] = preset
    return Found(tuple(presets.values()), tuple(fields.mistakes))


def write_own_presets(presets: Iterable[DevicePreset]) -> None:
    """Write the user's presets, all of them or none; an `InputError` where the folder cannot be written."""
    path = own_presets_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(str(path), f"cannot be written: {error.strerror or error}") from None
    rows: list[Json] = [_row(preset) for preset in presets]
    write_text(path, format_json({"format": FORMAT, "version": 1, "presets": rows}))


def _preset(fields: Fields, row: Mapping[str, Json], place: str) -> DevicePreset:
    texts = {name: fields.name(row, name, place) for name in _TEXTS}
    wholes = {name: fields.whole(row, name, place, least=int(name not in _MAY_BE_ZERO)) for name in _WHOLES}
    wholes |= {name: fields.whole(row, name, place, default=0) for name in _MAY_BE_ABSENT}
    for name, words in (("kind", KINDS), ("bus", BUSES)):
        if texts[name] and texts[name] not in words:
            fields.wrong(at(place, name), f"must be one of {', '.join(words)}, not {show(texts[name])}")
    if texts["key"] and not _is_key(texts["key"]):
        fields.wrong(at(place, "key"), _NO_KEY)
    efficiency = row.get("efficiency", {})
    shares = efficiency if isinstance(efficiency, dict) else {}
    if shares is not efficiency or not all(
        name in EFFICIENCIES and isinstance(share, int | float) and not isinstance(share, bool) and 0 < share <= 1
        for name, share in shares.items()
    ):
        fields.wrong(
            at(place, "efficiency"), f"must give shares above 0 and up to 1 for some of {', '.join(EFFICIENCIES)}"
        )
        shares = {}
    power = fields.whole_or_none(row, "power_uw", place)
    return DevicePreset(**texts, **wholes, efficiency=dict(shares), power_uw=power, own=True)  # type: ignore[arg-type]


def _row(preset: DevicePreset) -> dict[str, Json]:
    row: dict[str, Json] = {name: getattr(preset, name) for name in (*_TEXTS, *_WHOLES)}
    row |= {name: getattr(preset, name) for name in _MAY_BE_ABSENT if getattr(preset, name)}
    if preset.efficiency:
        row["efficiency"] = dict(preset.efficiency)
    if preset.power_uw is not None:
        row["power_uw"] = preset.power_uw
    return row


# ---- the fields of a form


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of the form that a preset is edited in: its title, an example, and its text for a preset."""

    name: str
    title: str
    example: str
    text: Callable[[DevicePreset], str]
    choices: tuple[str, ...] = ()


def _efficiency_field(name: str, what: str) -> FormField:
    def text(preset: DevicePreset) -> str:
        share = preset.efficiency.get(name)
        return "" if share is None else format_percent(share, 0 if round(share, 2) == share else 2)

    return FormField(f"efficiency_{name}", what, f"empty: {format_percent(EFFICIENCIES[name], 0)}", text)


FORM: tuple[FormField, ...] = (
    FormField("key", "Name", "my-gpu, for --device", lambda p: p.key),
    FormField("title", "Title", "Maker and model", lambda p: p.title),
    FormField("kind", "Kind", "", lambda p: p.kind, KINDS),
    FormField("memory", "Memory", "8 GiB", lambda p: _exact(format_size(p.memory_bytes), p.memory_bytes, "B")),
    FormField("peak", "Peak", "10.9 TFLOP/s; 0: computes nothing", lambda p: _flop(p.peak_flop_per_s)),
    FormField(
        "matrix", "Peak of matrix units", "empty: the same",
        lambda p: _flop(p.matrix_flop_per_s) if p.matrix_flop_per_s else "",
    ),
    FormField("bandwidth", "Bandwidth", "336 GB/s", lambda p: _bandwidth(p.bandwidth_bytes_per_s)),
    FormField("launch", "Start of an operator", "8 µs", lambda p: _duration(p.launch_ns)),
    FormField("bus", "Bus", "", lambda p: p.bus, BUSES),
    _efficiency_field("matrix", "Reached, matrix work"),
    _efficiency_field("depthwise", "Reached, depthwise"),
    _efficiency_field("vector", "Reached, other"),
    _efficiency_field("memory", "Reached, bandwidth"),
    FormField("power", "Power above idle", "3 W; empty: not known", lambda p: _power(p.power_uw)),
    FormField("summary", "Summary", "what it is, in a line", lambda p: p.summary),
    FormField("source", "Source", "data sheet, or how it was measured", lambda p: p.source),
)  # fmt: skip


def _exact(shown: str, value: int, unit: str) -> str:
    """The short form where it is the value itself, else all digits."""
    return shown if parse_size_bytes(shown.replace(",", "")) == value else f"{value} {unit}"


def _flop(flop_per_s: int) -> str:
    shown = format_flop_per_s(flop_per_s)
    return shown if parse_flop_per_s(shown.replace(",", "")) == flop_per_s else f"{flop_per_s} FLOP/s"


def _bandwidth(bytes_per_s: int) -> str:
    shown = format_bandwidth(bytes_per_s)
    return shown if parse_bytes_per_s(shown.replace(",", "")) == bytes_per_s else f"{bytes_per_s} B/s"


def _duration(time_ns: int) -> str:
    shown = format_duration(time_ns)
    return shown if parse_duration_ns(shown.replace(",", "")) == time_ns else f"{time_ns} ns"


def _power(power_uw: int | None) -> str:
    if power_uw is None:
        return ""
    shown = format_power(power_uw)
    return shown if parse_power_uw(shown.replace(",", "")) == power_uw else f"{power_uw} µW"


_NO_KEY = "may have letters, digits, dots, hyphens and underscores alone, so that it can be typed"


def _is_key(text: str) -> bool:
    return bool(text) and all(c.isalnum() or c in "-_." for c in text)


def preset_of_form(
    texts: Mapping[str, str], base: DevicePreset, taken: Iterable[str]
) -> tuple[DevicePreset, dict[str, str]]:
    """The preset that a form's texts mean, and for each field that is wrong a sentence; `base` has what no field shows.

    A preset with a wrong field is not to be used.
    """
    mistakes = dict(_mistaken_words(texts, taken))

    def read(name: str, parse: Callable[[str], float], *, empty: float | None = None, least: float = 0) -> float:
        text = texts.get(name, "").strip()
        if not text and empty is not None:
            return empty
        try:
            value = parse(text)
        except InputError as error:
            mistakes[name] = str(error)
            return least
        if value < least:
            mistakes[name] = f"{text!r} is too small"
        return value

    shares = {name: read(f"efficiency_{name}", parse_share, empty=0) for name in EFFICIENCIES}
    power = texts.get("power", "").strip()
    preset = replace(
        base,
        key=texts.get("key", "").strip(),
        title=texts.get("title", "").strip(),
        kind=texts.get("kind", ""),
        memory_bytes=int(read("memory", parse_size_bytes, least=1)),
        peak_flop_per_s=int(read("peak", parse_flop_per_s)),
        matrix_flop_per_s=int(read("matrix", parse_flop_per_s, empty=0)),
        bandwidth_bytes_per_s=int(read("bandwidth", parse_bytes_per_s, least=1)),
        launch_ns=int(read("launch", parse_duration_ns)),
        bus=texts.get("bus", ""),
        efficiency={name: share for name, share in shares.items() if share},
        power_uw=int(read("power", parse_power_uw)) if power else None,
        summary=texts.get("summary", "").strip(),
        source=texts.get("source", "").strip(),
        own=True,
    )
    return preset, mistakes


def _mistaken_words(texts: Mapping[str, str], taken: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The fields of a form that are no figures, and are wrong, with a sentence each."""
    key = texts.get("key", "").strip()
    if not _is_key(key):
        yield "key", f"{key!r} {_NO_KEY}" if key else "a name is needed, to choose it by"
    elif key in set(taken):
        yield "key", f"{key!r} is the name of another preset"
    if not texts.get("title", "").strip():
        yield "title", "a title is needed, to be shown"
    for name, words in (("kind", KINDS), ("bus", BUSES)):
        if texts.get(name) not in words:
            yield name, f"choose one of {', '.join(words)}"
    if not texts.get("source", "").strip():
        yield "source", "say where the figures are from: they are worth what their source is"
