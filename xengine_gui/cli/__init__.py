"""The command line: `xengine` and its sub-commands."""

import sys
from collections.abc import Sequence

__all__ = ["main", "main_window"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run `xengine` and give its exit status."""
    try:
        # Loaded in here, so that a Ctrl-C meanwhile ends as quietly as later.
        from xengine_gui.cli import run  # noqa: PLC0415

        return run.main(argv)
    except KeyboardInterrupt:
        return 130


def main_window() -> int:
    """Run `xengine-gui`: the window, without a console; a sub-command is not looked for."""
    return main(["window", *sys.argv[1:]])
