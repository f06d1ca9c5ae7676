"""What the window remembers from one start to the next: recent files, its size, how it looks."""

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from xengine_gui import paths

_VERSION = 1
_MOST_RECENT = 10


@dataclass(frozen=True)
class Settings:
    """All that is remembered; anything unreadable is its default."""

    recent: tuple[str, ...] = ()
    theme: str = "system"
    mouse: str = "map"
    labels: str = "names"
    stack_memory: bool = True
    plan_on_change: bool = True
    strategy: str = ""
    geometry: tuple[int, int, int, int] | None = None
    maximised: bool = False
    centre: str = ""
    below: str = ""
    folded: tuple[str, ...] = ()
    splitters: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    bindings: Mapping[str, int] = field(default_factory=dict)

    def with_recent(self, path: Path) -> "Settings":
        """The same with `path` as the most recent file."""
        name = str(path.absolute())
        return replace(self, recent=(name, *(r for r in self.recent if r != name))[:_MOST_RECENT])

    def without_recent(self, path: Path) -> "Settings":
        """The same without `path`, which is gone or cannot be read."""
        name = str(path.absolute())
        return replace(self, recent=tuple(r for r in self.recent if r != name))


def load_settings() -> Settings:
    """What was remembered; the defaults where nothing was, or where it is from another version or broken."""
    try:
        data = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return Settings()
    if not isinstance(data, dict) or data.get("version") != _VERSION:
        return Settings()
    return Settings(**{key: value for key, value in _readable(data).items() if value is not None})


def save_settings(settings: Settings) -> None:
    """Remember; a folder that cannot be written is no reason to bother anybody."""
    file = _file()
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps({"version": _VERSION, **asdict(settings)}, indent=1), encoding="utf-8")
        part.replace(file)


def _file() -> Path:
    return paths.state_folder() / "window.json"


def _readable(data: dict[str, Any]) -> dict[str, Any]:
    """The fields of a settings file that have the right type; the others are `None`."""

    def of_type(key: str, kind: type) -> Any:
        value = data.get(key)
        return value if type(value) is kind else None

    recent = of_type("recent", list)
    geometry = of_type("geometry", list)
    splitters = of_type("splitters", dict)
    bindings = of_type("bindings", dict)
    folded = of_type("folded", list)
    return {
        "recent": None if recent is None else tuple(r for r in recent if isinstance(r, str))[:_MOST_RECENT],
        "theme": of_type("theme", str),
        "mouse": of_type("mouse", str),
        "labels": of_type("labels", str),
        "stack_memory": of_type("stack_memory", bool),
        "plan_on_change": of_type("plan_on_change", bool),
        "strategy": of_type("strategy", str),
        "geometry": tuple(geometry) if geometry and len(geometry) == 4 and _all_small(geometry) else None,
        "maximised": of_type("maximised", bool),
        "centre": of_type("centre", str),
        "below": of_type("below", str),
        "folded": None if folded is None else tuple(word for word in folded if isinstance(word, str)),
        "splitters": splitters and {k: tuple(v) for k, v in splitters.items() if isinstance(v, list) and _all_small(v)},
        "bindings": bindings and {k: v for k, v in bindings.items() if type(v) is int and v > 0},
    }


def _all_small(values: list[Any]) -> bool:
    return all(type(v) is int and abs(v) < 10**6 for v in values)
