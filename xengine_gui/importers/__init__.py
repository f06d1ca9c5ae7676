"""Readers of network files, one per format, behind one door."""

from collections.abc import Mapping
from pathlib import Path

from xengine_gui.errors import InputError
from xengine_gui.importers.base import Importer
from xengine_gui.importers.onnx_file import OnnxImporter
from xengine_gui.importers.torch_export import TorchExportImporter
from xengine_gui.model.graph import NetworkGraph

IMPORTERS: tuple[Importer, ...] = (OnnxImporter(), TorchExportImporter())
"""All formats; the first importer that has a file's suffix reads it."""


def read_network(path: Path, *, batch: int | None = None, bindings: Mapping[str, int] | None = None) -> NetworkGraph:
    """The network in a file, by the importer of its suffix.

    `batch` replaces the leading dimension of the inputs, `bindings` gives symbolic dimensions their values. An
    `InputError` says in plain sentences what cannot be used.
    """
    for importer in IMPORTERS:
        if _suffix(path) in importer.suffixes:
            return importer.read(path, batch=batch, bindings=bindings or {})
    known = ", ".join(suffix for importer in IMPORTERS for suffix in importer.suffixes)
    raise InputError(str(path), f"networks are read from files that end in {known}, not in {path.suffix or 'nothing'}")


def _suffix(path: Path) -> str:
    """The suffix in lower case, without the name of a function after it: that of `module.py:factory` is `.py`."""
    return path.suffix.lower().partition(":")[0]


__all__ = ["IMPORTERS", "Importer", "read_network"]
