"""What every importer promises."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from xengine_gui.errors import InputError
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.model.problem import Problem


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

    def read(
        self, path: Path, *, batch: int | None, bindings: Mapping[str, int], mapping: Mapping[str, str],
        sizes: Mapping[str, int],
    ) -> NetworkGraph | Problem:  # fmt: skip
        """The network in the file, or the problem where it brings its costs; an `InputError` where it cannot be used.

        `mapping` says which attribute of the file is which field, `sizes` gives bytes to what has none in the file.
        """
        ...


def refuse_dimensions(path: Path, batch: int | None, bindings: Mapping[str, int]) -> None:
    """Refuse a batch and dimensions for a file whose sizes are given as they are."""
    if batch is not None or bindings:
        raise InputError(str(path), "the file gives sizes in bytes, so there is no batch or dimension to choose")


def refuse_mapping(path: Path, mapping: Mapping[str, str]) -> None:
    """Refuse names of attributes for a file that has none."""
    if mapping:
        raise InputError(str(path), "the file has no attributes with names of their own, so there is nothing to map")
