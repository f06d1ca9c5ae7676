"""The command line: `xengine` and its sub-commands."""

from xengine_gui.cli.run import main, main_window

__all__ = ["main", "main_window"]
