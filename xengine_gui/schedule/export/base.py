"""What every exporter is: a way to write a plan into a file of another tool."""

import gzip
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from xengine_gui.model.plan import Plan
from xengine_gui.model.whole_file import written_whole


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What may be chosen for a file; each exporter takes what concerns it.

    `separator` and `byte_order_mark` are for CSV. `pictures` are SVG texts by theme (light, dark) that a report shows:
    drawing is not done here, since it needs Qt. `unlimited_total_ns` is the best total with unlimited memory, for the
    overhead that a report tells.
    """

    separator: str = ","
    byte_order_mark: bool = False
    pictures: Mapping[str, str] = field(default_factory=dict)
    unlimited_total_ns: int | None = None


class Exporter(Protocol):
    """Writes plans for another tool. The first suffix is the one that is proposed; a suffix may have several dots."""

    @property
    def key(self) -> str:
        """The name on the command line."""
        ...

    @property
    def title(self) -> str:
        """What menus and file filters call it."""
        ...

    @property
    def summary(self) -> str:
        """What the file is for, in a sentence."""
        ...

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The ends of file names that it writes, in small letters."""
        ...

    @property
    def bytes_per_event(self) -> int:
        """How large a file gets, roughly, for each event of a plan."""
        ...

    @property
    def timed(self) -> bool:
        """Whether the times of a plan's events are in the file, so that it matters by which clock they are."""
        ...

    def parts(self, plan: Plan, options: ExportOptions) -> Iterable[bytes]:
        """The content of the file, piece by piece."""
        ...


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """Write the pieces of a file, whole or not at all; a path that ends in .gz is packed."""
    # A file name and the time in the packed file would make two exports of one plan differ.
    with written_whole(path) as file:
        if path.suffix.lower() == ".gz":
            with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as packed:
                packed.writelines(parts)
        else:
            file.writelines(parts)
