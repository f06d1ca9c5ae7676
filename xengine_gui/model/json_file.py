"""Reading and writing JSON so that no mistake of a file goes unnoticed, and every one is named with its place."""

import json
import math
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from xengine_gui.errors import InputError
from xengine_gui.units import LARGEST

Json = object
Choice = TypeVar("Choice", bound=StrEnum)

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_LOOKS = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"version https://git-lfs", "a git-LFS pointer instead of the file itself"),
    (b"<!doctype html", "a web page"),
    (b"<html", "a web page"),
    (b"<?xml", "an XML document"),
)


def read_json(path: Path) -> Json:
    """The value in a JSON file, in UTF-8 or UTF-16, with or without a byte order mark.

    Raises `InputError` for a file that cannot be read, is no JSON, repeats a key, or holds NaN or infinity.
    """
    return parse_json(read_bytes(path), str(path))


def read_bytes(path: Path, most: int = -1) -> bytes:
    """The content of a file, or its first `most` bytes; an `InputError` where it cannot be read."""
    try:
        if stat.S_ISCHR(path.stat().st_mode) or stat.S_ISBLK(path.stat().st_mode):
            raise InputError(str(path), "cannot be read: it is a device, not a file")  # some never end
        with path.open("rb") as file:
            return file.read(most)
    except FileNotFoundError:
        raise InputError(str(path), "there is no such file") from None
    except (OSError, ValueError) as error:  # a name with a NUL in it is a ValueError
        raise InputError(str(path), f"cannot be read: {getattr(error, 'strerror', None) or error}") from None


def parse_json(raw: bytes, source: str) -> Json:
    """The value in the bytes of a JSON file; `source` names it in mistakes."""
    if not raw.strip():
        raise InputError(source, "the file is empty")
    try:
        text = raw.decode(json.detect_encoding(raw))
    except UnicodeDecodeError:
        raise InputError(source, f"this is not a text file{_looks_like(raw)}") from None
    doubtful: list[bool] = []

    def pairs(items: list[tuple[str, Json]]) -> dict[str, Json]:
        row = dict(items)
        if len(row) == len(items):
            return row
        times = Counter(name for name, _ in items)
        doubtful.append(True)
        return _Repeating(row, tuple(name for name in row if times[name] > 1))

    def constant(word: str) -> float:
        doubtful.append(True)
        return float(word)

    try:
        value: Json = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InputError(source, f"this is not JSON ({where}: {error.msg}){_looks_like(raw)}") from None
    except RecursionError:
        raise InputError(source, "the JSON is nested too deeply to be read") from None
    except ValueError:
        raise InputError(source, "a number has too many digits to be read") from None
    if doubtful and (mistakes := list(_doubts(value))):
        raise InputError(source, mistakes)
    return value


class _Repeating(dict[str, Json]):
    """A JSON object some of whose keys the file repeats."""

    def __init__(self, row: dict[str, Json], repeated: tuple[str, ...]) -> None:
        super().__init__(row)
        self.repeated = repeated


def _doubts(value: Json) -> Iterator[str]:
    waiting = [("", value)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, dict):
            if isinstance(value, _Repeating):
                yield from (f"{at(place, key)} is there twice" for key in value.repeated)
            waiting.extend((at(place, key), item) for key, item in reversed(value.items()))
        elif isinstance(value, list):
            waiting.extend((f"{place}[{i}]", item) for i, item in reversed(list(enumerate(value))))
        elif isinstance(value, float) and not math.isfinite(value):
            yield f"{place or 'the file'} is {show(value)}, which is no number"


def _looks_like(raw: bytes) -> str:
    start = raw.lstrip()[:64].lower()
    return next((f"; it looks like {what}" for magic, what in _LOOKS if start.startswith(magic.lower())), "")


def at(place: str, key: str) -> str:
    """The place of a key within an object at `place` (empty: the whole file)."""
    return f"{place}.{key}" if place else key


def show(value: Json) -> str:
    """A JSON value as a mistake quotes it, cut when long."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "infinity"
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 60 else text[:57] + "..."


class Fields:
    """Takes typed fields out of JSON objects and collects what is wrong with them, each with its place.

    A broken field is replaced by a harmless value, so that reading goes on to the next mistake; `unnamed` tells that
    something had no usable name or shape, so that rules about names would only echo it.
    """

    def __init__(self) -> None:
        self.mistakes: list[str] = []
        self.unnamed = False

    def wrong(self, place: str, sentence: str) -> None:
        """Note one mistake."""
        self.mistakes.append(f"{place or 'the file'} {sentence}")

    def form(self, data: Json, place: str, name: str) -> Mapping[str, Json] | None:
        """The object at `place` when its `format` is `name` and its version one that is read, else `None`."""
        if not isinstance(data, dict):
            self.wrong(place, f'must be an object with "format": "{name}", not {kind_of(data)}')
            return None
        if "format" not in data:
            self.wrong(at(place, "format"), f'is missing (it must be "{name}")')
        elif data["format"] != name:
            self.wrong(at(place, "format"), f'must be "{name}", not {show(data["format"])}')
        elif data.get("version") != 1 or isinstance(data["version"], bool):
            found = show(data["version"]) if "version" in data else "missing"
            self.wrong(at(place, "version"), f"must be 1, the only version there is, but is {found}")
        else:
            return data
        return None

    def rows(self, data: Mapping[str, Json], key: str, place: str, *, needed: bool = False) -> list[Json]:
        """The list at `key`, empty where it is absent and not needed."""
        value = data.get(key)
        if isinstance(value, list):
            return value
        if key in data:
            self.wrong(at(place, key), f"must be a list, not {kind_of(value)}")
        elif needed:
            self.wrong(at(place, key), "is missing")
        self.unnamed = self.unnamed or key in data or needed
        return []

    def objects(
        self, data: Mapping[str, Json], key: str, place: str, *, needed: bool = False
    ) -> Iterator[tuple[str, dict[str, Json]]]:
        """Place and content of each object in the list at `key`."""
        prefix = at(place, key)
        for i, row in enumerate(self.rows(data, key, place, needed=needed)):
            if isinstance(row, dict):
                yield f"{prefix}[{i}]", row
            else:
                self.unnamed = True
                self.wrong(f"{prefix}[{i}]", f"must be an object, not {kind_of(row)}")

    def name(self, row: Mapping[str, Json], key: str, place: str) -> str:
        """A text that must be there."""
        value = row.get(key)
        if type(value) is str and value.isascii():
            return value
        if key in row:
            return self._text(value, at(place, key))
        self.unnamed = True
        self.wrong(at(place, key), "is missing")
        return ""

    def text(self, row: Mapping[str, Json], key: str, place: str) -> str:
        """A text that may be absent or null, then empty."""
        value = row.get(key)
        if type(value) is str and value.isascii():
            return value
        return "" if value is None else self._text(value, at(place, key))

    def text_or_none(self, row: Mapping[str, Json], key: str, place: str) -> str | None:
        """A text that may be absent or null."""
        return None if row.get(key) is None else self._text(row[key], at(place, key))

    def names(self, row: Mapping[str, Json], key: str, place: str, *, needed: bool = False) -> tuple[str, ...]:
        """A list of texts."""
        value = row.get(key)
        if type(value) is list and all(type(name) is str and name.isascii() for name in value):
            return tuple(value)
        prefix = at(place, key)
        return tuple(
            self._text(name, f"{prefix}[{i}]") for i, name in enumerate(self.rows(row, key, place, needed=needed))
        )

    def whole(
        self, row: Mapping[str, Json], key: str, place: str, *, default: int | None = None, least: int = 0
    ) -> int:
        """A whole number that must be there unless it has a default."""
        value = row.get(key)
        if type(value) is int and least <= value <= LARGEST:
            return value
        if key in row:
            self._not_whole(value, at(place, key), least)
        elif default is not None:
            return default
        else:
            self.wrong(at(place, key), "is missing")
        return least

    def whole_or_none(self, row: Mapping[str, Json], key: str, place: str) -> int | None:
        """A whole number that may be absent or null."""
        return None if row.get(key) is None else self.whole(row, key, place)

    def flag(self, row: Mapping[str, Json], key: str, place: str, *, default: bool) -> bool:
        """True or false."""
        value = row.get(key, default)
        if isinstance(value, bool):
            return value
        self.wrong(at(place, key), f"must be true or false, not {show(value)}")
        return default

    def choice(
        self, row: Mapping[str, Json], key: str, place: str, choices: Callable[[str], Choice], default: Choice
    ) -> Choice:
        """One of the words of an enumeration."""
        value = row.get(key)
        if value is None:
            return default
        if type(value) is str and value == default.value:
            return default
        words = [str(word) for word in type(default)]
        if isinstance(value, str) and value in words:
            return choices(value)
        self.wrong(at(place, key), f"must be one of {', '.join(words)}, not {show(value)}")
        return default

    def number(self, row: Mapping[str, Json], key: str, place: str) -> float:
        """A number that may be absent or null, then 0."""
        value = row.get(key)
        if value is None:
            return 0.0
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST:
            return float(value)
        self.wrong(at(place, key), f"must be a number, not {show(value)}")
        return 0.0

    def _text(self, value: Json, place: str) -> str:
        if not isinstance(value, str):
            self.wrong(place, f"must be text, not {show(value)}")
        elif any("\ud800" <= letter <= "\udfff" for letter in value):
            self.wrong(place, f"holds half of a character: {value!r}")
        else:
            return value
        self.unnamed = True
        return ""

    def _not_whole(self, value: Json, place: str, least: int) -> None:
        if isinstance(value, int) and not isinstance(value, bool):
            limits = f"at least {least}" if value < least else "at most 2^128"
            self.wrong(place, f"must be {limits}, not {show(value)}")
        elif isinstance(value, float) and value.is_integer():
            self.wrong(place, f"must be a whole number, written without point or exponent, not {show(value)}")
        else:
            self.wrong(place, f"must be a whole number, not {show(value)}")


def kind_of(value: Json) -> str:
    """What a JSON value is, in words."""
    words = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return next((word for kind, word in words.items() if isinstance(value, kind) and kind is type(value)), _rest(value))


def _rest(value: Json) -> str:
    return "an object" if isinstance(value, dict) else "null"


def format_json(data: Mapping[str, Json]) -> str:
    """A file's text with one line for each entry of a list, so that people and diffs can read it."""
    return "{\n" + ",\n".join(_entries(data, " ")) + "\n}\n"


def _entries(data: Mapping[str, Json], indent: str) -> Iterator[str]:
    for key, value in data.items():
        head = f"{indent}{_dumps(key)}: "
        if isinstance(value, list) and value:
            yield head + "[\n" + ",\n".join(f"{indent} {_dumps(item)}" for item in value) + f"\n{indent}]"
        elif isinstance(value, dict) and "format" in value:
            yield head + "{\n" + ",\n".join(_entries(value, indent + " ")) + f"\n{indent}}}"
        else:
            yield head + _dumps(value)


def _dumps(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not text.isascii() and _HALF_CHARACTER.search(text):
        return json.dumps(value, allow_nan=False)  # escaped, as it was read: no encoding has it
    return text
