"""`xengine`: the window."""

import argparse
import difflib
from pathlib import Path

from xengine_gui.cli.commands import COMMANDS
from xengine_gui.cli.qt import qt_errors_told, refuse_without_display
from xengine_gui.errors import InputError


def run(arguments: argparse.Namespace) -> int:
    """Open the window with the files that are given."""
    for path in arguments.files:
        _check(path)
    refuse_without_display()
    with qt_errors_told():
        from xengine_gui.ui.garbage import lasting_objects  # noqa: PLC0415

        with lasting_objects():
            from xengine_gui.ui.application import run_window  # noqa: PLC0415
    return run_window(arguments.files, demo=arguments.demo)


def _check(path: Path) -> None:
    if path.is_dir():
        raise InputError(str(path), "is a folder; name a file in it")
    if path.exists():
        return
    if path.suffix or len(path.parts) > 1:
        raise InputError(str(path), "there is no such file")
    meant = difflib.get_close_matches(str(path), COMMANDS, 1)
    hint = f"the nearest command is {meant[0]}" if meant else f"the commands are {', '.join(COMMANDS)}"
    raise InputError(str(path), f"there is no such file or command; {hint}")
