"""What every importer promises."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from xengine_gui.model.graph import NetworkGraph


class Importer(Protocol):
    """A reader of one format: `key` names it in code, `title` in file filters, `suffixes` are in lower case."""

    key: str
    title: str
    suffixes: tuple[str, ...]

    def read(self, path: Path, *, batch: int | None, bindings: Mapping[str, int]) -> NetworkGraph:
        """The network in the file; an `InputError` where it cannot be used."""
        ...
