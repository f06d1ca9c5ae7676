"""What every importer promises."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from xengine_gui.model.graph import NetworkGraph


class Importer(Protocol):
    """A reader of one format."""

    @property
    def key(self) -> str:
        """Its name in code."""
        ...

    @property
    def title(self) -> str:
        """What a file filter calls the format."""
        ...

    @property
    def suffixes(self) -> tuple[str, ...]:
        """File name suffixes in lower case, with their dot."""
        ...

    def read(self, path: Path, *, batch: int | None, bindings: Mapping[str, int]) -> NetworkGraph:
        """The network in the file; an `InputError` where it cannot be used."""
        ...
