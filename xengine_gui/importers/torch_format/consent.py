"""Python files that the user has opened by name, which runs them.

A session names a file too, but it may be somebody else's: it must not run what was never opened by name.
"""

import contextlib
import os
from pathlib import Path

from xengine_gui import paths
from xengine_gui.errors import InputError
from xengine_gui.model.json_file import format_json, read_json
from xengine_gui.model.whole_file import write_text

MARK = ".py:"
"""What stands between a Python file and the function in it that gives the module."""
_MOST_FILES = 500
_KEY = "opened_by_name"


def modules_file() -> Path:
    """Where the files are listed; it may not exist yet."""
    return paths.state_folder() / "modules.json"


def remember_named(path: Path) -> None:
    """The user has named the function `module.py:factory`. Where that cannot be kept, it is asked for again."""
    file, known = _file_of(path), _known()
    if file in known:
        return
    with contextlib.suppress(InputError, OSError):
        modules_file().parent.mkdir(parents=True, exist_ok=True)
        write_text(modules_file(), format_json({_KEY: [*known, file][-_MOST_FILES:]}))


def refuse_unnamed(path: Path, source: str) -> None:
    """An `InputError` where what `source` names is a function of a Python file that was never opened by name."""
    if MARK in path.name and _file_of(path) not in _known():
        raise InputError(
            source,
            f"its network is made by running a Python file, {path}, which was never opened by its name here; if you "
            "trust the file, open that first",
        )


def _file_of(path: Path) -> str:
    return os.path.realpath(str(path).rpartition(MARK)[0] + ".py")


def _known() -> list[str]:
    try:
        data = read_json(modules_file())
    except InputError:
        return []
    rows = data.get(_KEY) if isinstance(data, dict) else None
    return [row for row in rows if isinstance(row, str)] if isinstance(rows, list) else []
