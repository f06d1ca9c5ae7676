"""Networks from ONNX files. The `onnx` package is loaded when the first file is read, not before."""

from collections.abc import Mapping
from pathlib import Path

from xengine_gui.errors import InputError
from xengine_gui.importers.base import refuse_mapping
from xengine_gui.importers.onnx_format.look import what_it_looks_like
from xengine_gui.importers.sizes import with_sizes
from xengine_gui.model.graph import NetworkGraph

_MOST_BYTES = 2**31 - 1


class OnnxImporter:
    """Reads structure and shapes; weights inside the file are skipped, weight files beside it are never opened."""

    key = "onnx"
    title = "ONNX networks"
    suffixes = (".onnx",)

    def read(
        self, path: Path, *, batch: int | None, bindings: Mapping[str, int], mapping: Mapping[str, str],
        sizes: Mapping[str, int],
    ) -> NetworkGraph:  # fmt: skip
        """The network of an ONNX file, its tensors with shapes for this batch size and these bindings."""
        refuse_mapping(path, mapping)
        data = _bytes_of(path)
        looks = what_it_looks_like(data)
        if looks:
            raise InputError(str(path), f"this is no ONNX network: the file {looks}")
        from xengine_gui.importers.onnx_format.network import network_of  # noqa: PLC0415 - loads onnx

        network = network_of(data, source=str(path), name=path.stem, batch=batch, bindings=bindings)
        return with_sizes(network, sizes, str(path))


def _bytes_of(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise InputError(str(path), "this is a folder, not a file")
        if path.exists() and not path.is_file():
            raise InputError(str(path), "this is not a regular file")
        if path.stat().st_size > _MOST_BYTES:
            raise InputError(
                str(path), "ONNX files end at 2 GiB; store the weights outside the file (external data) and try again"
            )
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(str(path), "there is no such file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(str(path), f"the file cannot be read ({reason})") from None
