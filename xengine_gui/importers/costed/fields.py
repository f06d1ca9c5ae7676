"""Which attribute of a node means what, in what unit, and the values in them as exact integers."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation, localcontext

from xengine_gui.errors import InputError
from xengine_gui.model.json_file import show
from xengine_gui.units import LARGEST, format_names, parse_duration_ns, parse_size_bytes

USUAL_KEYS: Mapping[str, tuple[str, ...]] = {
    "time": ("time_ns", "time", "cost", "time_us", "time_ms", "time_s", "runtime", "duration"),
    "size": ("size_bytes", "bytes", "size", "memory", "mem"),
    "workspace": ("workspace_bytes", "workspace"),
    "parameters": ("parameter_bytes", "parameters", "weights"),
    "backward": ("backward", "is_backward", "bwd"),
    "recomputable": ("recomputable",),
    "kind": ("kind", "type", "op"),
    "name": ("name", "label"),
}
"""The fields of an operator, and the attributes that they are looked for in when nobody says otherwise."""

FIELD_WORDS: Mapping[str, str] = {
    "time": "time of the operator",
    "size": "bytes of its result",
    "workspace": "bytes it needs while it runs",
    "parameters": "bytes of its weights",
    "backward": "whether it belongs to the backward",
    "recomputable": "whether it may be computed again",
    "kind": "what kind of operator it is",
    "name": "what it is called",
}
NEEDED = ("time", "size")
"""What planning cannot do without."""

DEFAULT = "default."
TEXTS = frozenset({"kind", "name"})
PER_DEVICE = ("time", "workspace")
"""What may differ from device to device: `time.gpu` is the time on the device gpu."""
_SIZES = frozenset({"size", "workspace", "parameters"})
_FLAGS = frozenset({"backward", "recomputable"})


class MappingWantedError(InputError):
    """A file whose attributes have other names than the usual ones, or lack values; `keys` are those there are.

    `guessed` is the mapping as far as it is known, `missing` names the nodes that lack each field.
    """

    def __init__(
        self,
        source: str,
        mistakes: Iterable[str],
        keys: tuple[str, ...],
        guessed: Mapping[str, str],
        missing: Mapping[str, Sequence[str]],
    ) -> None:
        super().__init__(source, mistakes)
        self.keys = keys
        self.guessed = guessed
        self.missing = missing

    def __reduce__(self) -> tuple[type["MappingWantedError"], tuple[object, ...]]:  # type: ignore[override]
        return MappingWantedError, (self.source, self.mistakes, self.keys, self.guessed, self.missing)


@dataclass(frozen=True, slots=True)
class Attribute:
    """Where a field is found: the attribute's key and the unit of numbers that stand there alone."""

    key: str
    unit: str


@dataclass(frozen=True)
class Fields:
    """Attributes by field (`time`, and `time.gpu` for one device), and what is taken where a node has none."""

    attributes: Mapping[str, Attribute]
    defaults: Mapping[str, int]

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that have attributes of their own."""
        return tuple(dict.fromkeys(field.partition(".")[2] for field in self.attributes if "." in field))

    def taken(self, field: str, values: Mapping[str, object], wrong: list[str], place: str) -> int | None:
        """A time in nanoseconds, a size in bytes or a flag; `None` where the node has none and there is no default.

        What cannot be used is told in `wrong`.
        """
        there = self.there(field, values, wrong, place)
        return self.defaults.get(field) if there is None else there

    def there(self, field: str, values: Mapping[str, object], wrong: list[str], place: str) -> int | None:
        """The same without defaults."""
        attribute = self.attributes.get(field)
        value = values.get(attribute.key) if attribute is not None else None
        if attribute is None or value is None:
            return None
        try:
            return _flag(value) if field in _FLAGS else _amount(value, field.partition(".")[0], attribute.unit)
        except InputError as error:
            wrong.append(f"{place}: {attribute.key} {error}")
            return 0


def fields_of(mapping: Mapping[str, str], keys: Iterable[str], source: str) -> Fields:
    """The attributes to take: those that `mapping` names (`size` to `mem` or `mem:MiB`), else the usual ones.

    Entries such as `default.time` give what nodes without a value get.
    """
    there = tuple(dict.fromkeys(keys))
    mistakes: list[str] = []
    attributes: dict[str, Attribute] = {}
    defaults: dict[str, int] = {}
    for field, text in mapping.items():
        name = field.removeprefix(DEFAULT)
        base, dot, device = name.partition(".")
        if base not in USUAL_KEYS or (dot and (base not in PER_DEVICE or not device or field.startswith(DEFAULT))):
            mistakes.append(f"there is no field {name!r} to map; there are {', '.join(USUAL_KEYS)}")
        elif field.startswith(DEFAULT) and name in TEXTS:
            mistakes.append(f"a {name} is a node's own, so it has no default")
        elif field.startswith(DEFAULT):
            try:
                defaults[name] = _flag(text) if name in _FLAGS else _amount(text, name, "")
            except InputError as error:
                mistakes.append(f"the default of {name} {error}")
        else:
            attribute = _attribute(text, base)
            found = _found(name, attribute, there)
            if not found:
                mistakes.append(f"no node has an attribute {attribute.key!r}; there are {format_names(there)}")
            attributes.update(found)
    if mistakes:
        raise InputError(source, mistakes)
    chosen = {field.partition(".")[0] for field in attributes}
    for field, usual in USUAL_KEYS.items():
        if field not in chosen:
            ways = (_found(field, _attribute(key, field), there) for key in usual)
            attributes.update(next((way for way in ways if way), {}))
    return Fields(attributes, defaults)


def spread_keys(there: Iterable[str]) -> dict[str, list[str]]:
    """Attributes that are there per device, `time.gpu` and `time.cpu`, by what stands before the point."""
    spread: dict[str, list[str]] = {}
    for key in there:
        base, point, device = key.partition(".")
        if base and point and device:
            spread.setdefault(base, []).append(device)
    return spread


def _found(field: str, attribute: Attribute, there: Sequence[str]) -> dict[str, Attribute]:
    """The attribute for all devices and those of single ones, as far as there are any."""
    found = {field: attribute} if attribute.key in there else {}
    if field in PER_DEVICE:
        for device in spread_keys(there).get(attribute.key, ()):
            found[f"{field}.{device}"] = Attribute(f"{attribute.key}.{device}", attribute.unit)
    return found


def _attribute(text: str, field: str) -> Attribute:
    key, colon, unit = text.rpartition(":")
    if colon and _is_unit(unit, field):
        return Attribute(key, unit)
    endings = (part.rpartition("_")[2] for part in (text, text.partition(".")[0]) if "_" in part)
    return Attribute(text, next((ending for ending in endings if _is_unit(ending, field)), ""))


def _is_unit(text: str, field: str) -> bool:
    if field != "time" and field not in _SIZES:
        return False
    try:
        return bool(text) and _amount(f"1 {text}", field, "") > 0
    except InputError:
        return False


def _flag(value: object) -> int:
    words = {"true": 1, "false": 0, "1": 1, "0": 0, "yes": 1, "no": 0}
    found = words.get(str(value).strip().lower()) if isinstance(value, bool | int | str) else None
    if found is None:
        raise InputError("", f"must be true or false, not {show(value)}")
    return found


def _amount(value: object, field: str, unit: str) -> int:
    """A time or a size as an integer; a time above 0 is at least a nanosecond, a part of a byte a whole one."""
    is_size = field in _SIZES
    if isinstance(value, str):
        return _of_text(value, unit, is_size=is_size)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError("", f"must be a number, perhaps with a unit, not {show(value)}")
    if value < 0:
        raise InputError("", f"must not be negative, but is {show(value)}")
    if value > LARGEST:
        raise InputError("", f"is larger than any machine's: {show(value)}")
    factor = (parse_size_bytes(f"1 {unit}") if is_size else parse_duration_ns(f"1 {unit}")) if unit else 1
    if isinstance(value, int):
        return value * factor
    with localcontext() as context:
        context.prec = 80
        exact = Decimal(repr(value)) * factor
        whole = int(exact.to_integral_value())
        return whole + (whole < exact) if is_size or whole == 0 else whole


def _of_text(text: str, unit: str, *, is_size: bool) -> int:
    plain = text.strip()
    try:
        number: float | int = int(plain) if plain.lstrip("+-").isdigit() and len(plain) < 60 else float(Decimal(plain))
    except (InvalidOperation, ValueError, OverflowError):
        number = math.nan
    if math.isfinite(number):
        return _amount(number, "size" if is_size else "time", unit)
    whole = f"{plain} {unit}" if unit and plain[-1:].isdigit() else text
    try:
        return parse_size_bytes(whole) if is_size else parse_duration_ns(whole)
    except InputError as error:
        raise InputError("", f"cannot be read: {error}") from None
