"""Readers of network files, one per format, behind one door."""

from collections.abc import Mapping
from pathlib import Path

from xengine_gui.errors import InputError
from xengine_gui.importers.base import Importer
from xengine_gui.importers.dtr_log import DtrLogImporter
from xengine_gui.importers.graphml import GraphMlImporter
from xengine_gui.importers.node_link_json import NodeLinkImporter
from xengine_gui.importers.onnx_file import OnnxImporter
from xengine_gui.importers.torch_export import TorchExportImporter
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.model.problem import Problem

IMPORTERS: tuple[Importer, ...] = (
    OnnxImporter(),
    TorchExportImporter(),
    NodeLinkImporter(),
    GraphMlImporter(),
    DtrLogImporter(),
)
"""All formats; the first importer that has a file's suffix reads it."""


def importer_of(path: Path) -> Importer | None:
    """The importer of a file by its suffix; that of `module.py:factory` is `.py`."""
    suffix = path.suffix.lower().partition(":")[0]
    return next((importer for importer in IMPORTERS if suffix in importer.suffixes), None)


def read_file(
    path: Path,
    *,
    batch: int | None = None,
    bindings: Mapping[str, int] | None = None,
    mapping: Mapping[str, str] | None = None,
    sizes: Mapping[str, int] | None = None,
) -> NetworkGraph | Problem:
    """The network in a file, by the importer of its suffix, or the problem where it brings its costs.

    `batch` replaces the leading dimension of the inputs, `bindings` gives symbolic dimensions their values, `mapping`
    names attributes (`{"size": "mem:MiB"}`), `sizes` gives bytes to tensors that have none. An `InputError` says in
    plain sentences what cannot be used.
    """
    importer = importer_of(path)
    if importer is not None:
        return importer.read(path, batch=batch, bindings=bindings or {}, mapping=mapping or {}, sizes=sizes or {})
    known = ", ".join(suffix for importer in IMPORTERS for suffix in importer.suffixes)
    raise InputError(str(path), f"networks are read from files that end in {known}, not in {path.suffix or 'nothing'}")


def read_network(path: Path, *, batch: int | None = None, bindings: Mapping[str, int] | None = None) -> NetworkGraph:
    """The network in a file; an `InputError` where it holds a problem instead."""
    opened = read_file(path, batch=batch, bindings=bindings)
    if isinstance(opened, NetworkGraph):
        return opened
    raise InputError(str(path), "this file brings its own costs: it is a problem, not a network")


__all__ = ["IMPORTERS", "Importer", "importer_of", "read_file", "read_network"]
