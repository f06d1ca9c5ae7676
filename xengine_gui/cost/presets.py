"""Device presets: what a device is worth in memory, arithmetic and bandwidth, each with its source."""

import json
import os
from functools import cache

from xengine_gui.cost.own_presets import Found, own_presets_file, read_own_presets
from xengine_gui.cost.preset_fields import DevicePreset
from xengine_gui.errors import InputError, unknown_name
from xengine_gui.paths import resources

__all__ = ["DevicePreset", "bundled_presets", "device_preset", "device_presets", "own_presets"]


@cache
def bundled_presets() -> tuple[DevicePreset, ...]:
    """All presets of the resources folder, in the order of the file."""
    rows = json.loads((resources() / "devices.json").read_text(encoding="utf-8"))["presets"]
    return tuple(DevicePreset(**row) for row in rows)


def own_presets() -> Found:
    """The user's own presets, and what is wrong with their file; read again when it has changed."""
    path = str(own_presets_file())
    try:
        state = os.stat(path)  # noqa: PTH116 - one call for time and size
    except OSError:
        return Found((), ())
    return _read(path, state.st_mtime_ns, state.st_size, state.st_ino)


@cache
def _read(_path: str, _changed_ns: int, _size: int, _number: int) -> Found:
    return read_own_presets(preset.key for preset in bundled_presets())


def device_presets() -> tuple[DevicePreset, ...]:
    """All presets: those of the resources folder, then the user's own."""
    return (*bundled_presets(), *own_presets().presets)


def device_preset(key: str) -> DevicePreset:
    """The preset called `key`; an `InputError` lists those there are."""
    for preset in device_presets():
        if preset.key == key:
            return preset
    broken = f" ({own_presets_file()}: {own_presets().mistakes[0]})" if own_presets().mistakes else ""
    where = "`xengine devices` tells them all"
    raise InputError("", unknown_name("device preset", key, (p.key for p in device_presets()), where) + broken)
