"""Files that are written whole or not at all."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from xengine_gui.errors import InputError


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all: a file that was there stays as it was when anything fails."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: a file that was there stays as it was when anything fails."""
    with written_whole(path) as file:
        file.write(content)


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """A file to write into, which stands at `path` once everything is in it; what was there stays if anything fails."""
    # A device or a pipe cannot be renamed over, and what /dev/stdout leads to may have no name to open it by.
    special = path.exists() and not path.is_file()
    target = path if special else path.resolve()
    beside = target if special else target.with_name(f".{target.name[:200]}.{os.getpid()}.part")
    done = False
    try:
        if target.is_dir():
            raise InputError(str(path), "cannot be written: it is a folder")
        with beside.open("wb") as file:
            yield file
        if not special:
            beside.replace(target)
        done = True
    except OSError as error:
        reason = error.strerror or str(error)
        if isinstance(error, FileNotFoundError):
            reason = "its folder takes no files" if target.parent.is_dir() else "its folder does not exist"
        raise InputError(str(path), f"cannot be written: {reason}") from None
    finally:
        if not done and not special:
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)
