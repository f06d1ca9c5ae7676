"""What Qt needs from the machine, told in a sentence where it is not there (Qt itself would abort)."""

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping

from xengine_gui.errors import PlannerError

_PACKAGES: Mapping[str, str] = {
    "libEGL": "libegl1",
    "libGL.": "libgl1",
    "libxkbcommon": "libxkbcommon0",
    "libdbus": "libdbus-1-3",
    "libfontconfig": "libfontconfig1",
    "libglib": "libglib2.0-0",
}


@contextlib.contextmanager
def qt_errors_told() -> Iterator[None]:
    """Tells a library that Qt misses on this machine."""
    try:
        yield
    except ImportError as error:
        if error.name is not None and error.name.startswith("xengine_gui"):
            raise
        missing = str(error).partition(":")[0]
        package = next((p for library, p in _PACKAGES.items() if missing.startswith(library)), None)
        remedy = f"; on Debian and Ubuntu: apt install {package}" if package else ""
        raise PlannerError(f"Qt cannot be loaded: {error}{remedy}") from error


def refuse_without_display() -> None:
    """Tell that there is no display, where Qt would look for one in vain."""
    if not sys.platform.startswith("linux"):
        return
    if any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")):
        return
    raise PlannerError(
        "There is no display to open the window on; "
        "use the command line (xengine plan --demo --picture demo.png), or set DISPLAY"
    )
