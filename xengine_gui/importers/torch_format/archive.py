"""Programs that `torch.export.save` has written, read without PyTorch: only the JSON that tells the graph is looked at.

`torch.export.load` unpickles constants and evaluates the text of symbolic shapes, so that a file from elsewhere could
run anything. Here nothing is run: weights and constants stay unread, and of symbolic shapes only arithmetic is known.
"""

import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from xengine_gui.errors import InputError
from xengine_gui.importers.torch_format.network import network_of
from xengine_gui.importers.torch_format.saved_program import SavedProgram
from xengine_gui.importers.torch_format.symbols import symbols_of
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.model.json_file import Json, parse_json
from xengine_gui.units import format_size

_MOST_BYTES, _MOST_PARTS = 2**25, 2**21
"""No model of a program is larger, weights left out: a call takes some 2,000 bytes and 120 parts. A part of JSON takes
up to 300 bytes once it is read, so a small archive could fill the memory with many of them."""
_PART_BEGINS = (b"{", b"[", b",")
_OLD_MODEL = "serialized_exported_program.json"
_DAMAGED = (OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError)
"""What reading an archive raises."""


def saved_network(path: Path, batch: int | None, bindings: Mapping[str, int]) -> NetworkGraph:
    """The network of the program in a file, with its free dimensions; an `InputError` where it is not to be used."""
    data = _model(path)
    try:
        graph = data["graph_module"]["graph"]
        signature = data["graph_module"]["signature"]
        symbols = symbols_of(graph, signature, data.get("range_constraints") or {})
        symbols.bind(batch, bindings, str(path))
        network = network_of(SavedProgram(graph, signature, symbols).program(), name=path.stem)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        raise InputError(str(path), f"the program in it is not as PyTorch writes it ({_words(error)})") from None
    return replace(network, symbols=symbols.lengths())


def _words(error: Exception) -> str:
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0][:100]}" if lines else type(error).__name__


def _model(path: Path) -> Any:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.endswith("/models/model.json") or name == _OLD_MODEL]
            raw = b""
            if names:
                if archive.getinfo(names[0]).compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                    raise ValueError("packed in a way that PyTorch never uses")  # others take gigabytes to unpack
                with archive.open(names[0]) as file:
                    raw = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        raise InputError(str(path), "there is no such file") from None
    except _DAMAGED as error:
        raise InputError(str(path), f"this is no program that torch.export.save has written ({error})") from None
    if not names:
        raise InputError(str(path), "this is no program that torch.export.save has written: it has no model.json")
    if len(raw) > _MOST_BYTES or sum(map(raw.count, _PART_BEGINS)) > _MOST_PARTS:
        most = f"{format_size(_MOST_BYTES)} or {_MOST_PARTS:,} parts"
        raise InputError(str(path), f"its model.json is larger than any program's: more than {most}")
    data: Json = parse_json(raw, f"{path}: model.json")
    return data
