"""PyTorch modules by `torch.export`: `module.py:factory` names a Python file and the function in it to call.

The file is run, so it is never read unless the user has named its function. PyTorch is loaded when the first module is
read. Saved programs (`.pt2`) are read without PyTorch, and nothing in them is run.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from xengine_gui.errors import InputError
from xengine_gui.importers.base import refuse_mapping
from xengine_gui.importers.sizes import with_sizes
from xengine_gui.importers.torch_format.consent import MARK, remember_named
from xengine_gui.model.graph import NetworkGraph


class TorchExportImporter:
    """Reads what `torch.export` makes of a module, which a function gives, and what it has saved."""

    key = "torch_export"
    title = "PyTorch modules (module.py:factory) and saved programs"
    suffixes = (".py", ".pt2")

    def read(
        self, path: Path, *, batch: int | None, bindings: Mapping[str, int], mapping: Mapping[str, str],
        sizes: Mapping[str, int],
    ) -> NetworkGraph:  # fmt: skip
        """The network of a module with the shapes of its example inputs, repeated or cut to a batch size."""
        if path.suffix.lower() == ".pt2":
            refuse_mapping(path, mapping)
            from xengine_gui.importers.torch_format.archive import saved_network  # noqa: PLC0415

            return with_sizes(saved_network(path, batch, bindings), sizes, str(path))
        file, mark, factory = str(path).rpartition(MARK)
        if not mark or not factory.isidentifier():
            raise InputError(
                str(path), "name the function that gives the module and its example inputs, as in module.py:factory"
            )
        refuse_mapping(path, mapping)
        source = Path(f"{file}.py")
        if not source.is_file():
            raise InputError(str(path), f"there is no file {source}")
        remember_named(path)
        from xengine_gui.importers.torch_format.load import exported_program  # noqa: PLC0415 - loads torch
        from xengine_gui.importers.torch_format.network import network_of  # noqa: PLC0415

        program, symbols = exported_program(source, factory, str(path), batch, bindings)
        network = network_of(program, name=f"{source.stem}.{factory}")
        return with_sizes(replace(network, symbols=symbols), sizes, str(path))
