"""Where the project's data files are, in a checkout and in an installed wheel alike."""

from pathlib import Path

from platformdirs import user_config_path, user_state_path

_PACKAGE = Path(__file__).resolve().parent


def _data(folder: str) -> Path:
    installed = _PACKAGE / "_data" / folder
    return installed if installed.is_dir() else _PACKAGE.parent / folder


def resources() -> Path:
    """The folder of presets, themes and icons."""
    return _data("resources")


def sample_graphs() -> Path:
    """The folder of sample networks and teaching toys."""
    return _data("sample_graphs")


def state_folder() -> Path:
    """The folder for recent files and autosaved work; it may not exist yet."""
    return user_state_path("xengine-planner", appauthor=False)


def config_folder() -> Path:
    """The folder for what the user has set down to be used again, such as own device presets; it may not exist yet."""
    return user_config_path("xengine-planner", appauthor=False)
