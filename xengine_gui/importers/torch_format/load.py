"""From a Python file and the name of a function in it to an exported program."""

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from xengine_gui.errors import InputError
from xengine_gui.importers.torch_format.dynamic import Examples

_WANTED = "a module and a tuple of example inputs, as in: return Net(), (torch.zeros(1, 3, 224, 224),)"


def exported_program(
    file: Path, factory: str, source: str, batch: int | None, bindings: Mapping[str, int]
) -> tuple[Any, dict[str, int]]:
    """What `torch.export` makes of the module that the function `factory` of a file gives, and its free dimensions.

    `batch` is the leading dimension that example inputs get which share it with the first, `bindings` are lengths of
    dimensions that the function names. An `InputError` tells in a sentence whatever goes wrong in code that is not
    ours.
    """
    try:
        torch = importlib.import_module("torch")
    except ImportError as error:
        raise InputError(source, f"PyTorch is needed for modules: pip install xengine-gui[torch] ({error})") from None
    with _importable(file.resolve().parent), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = _told(source, f"{factory} of {file.name} failed", lambda: _call(file, factory, source))
        examples = _parts(made, source, factory, torch)
        if batch is not None:
            inputs, keywords = _rescaled(examples.inputs, examples.keywords, batch, source, torch)
            examples = replace(examples, inputs=inputs, keywords=keywords)
        examples = _told(source, "the dynamic shapes fail", lambda: examples.bound(bindings, source, torch))
        program = _told(
            source, "the module cannot be exported",
            lambda: torch.export.export(examples.module, examples.inputs, examples.keywords or None),
        )  # fmt: skip
        return program, examples.symbols()


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Modules beside the file can be imported by it."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _told(source: str, what: str, run: Callable[[], Any]) -> Any:
    try:
        return run()
    except InputError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - code of the user and of PyTorch raises anything
        lines = str(error).strip().splitlines()
        raise InputError(source, f"{what} ({type(error).__name__}: {lines[0][:300] if lines else ''})") from None


def _call(file: Path, factory: str, source: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"xengine_module_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise InputError(source, "this is no Python file")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pickles look their module up by its name.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    function = getattr(module, factory, None)
    if not callable(function):
        raise InputError(source, f"{file.name} has no function {factory}")
    return function()


def _parts(made: Any, source: str, factory: str, torch: Any) -> Examples:
    parts = made if isinstance(made, tuple) else (made,)
    if parts and isinstance(parts[0], torch.export.ExportedProgram):
        example = parts[0].example_inputs
        inputs, keywords = example if example is not None else ((), {})
        parts = (parts[0].module(), *(parts[1:] or (inputs, keywords)))
    if not parts or not isinstance(parts[0], torch.nn.Module):
        raise InputError(source, f"{factory} must give {_WANTED}; it gave {type(parts[0] if parts else made).__name__}")
    if len(parts) < 2:
        raise InputError(source, f"{factory} gave no example inputs; it must give {_WANTED}")
    inputs = parts[1] if isinstance(parts[1], tuple | list) else (parts[1],)
    keywords = parts[2] if len(parts) > 2 and parts[2] is not None else {}
    if not isinstance(keywords, dict):
        raise InputError(source, f"the third thing that {factory} gives must be a dict of inputs by name")
    return Examples(parts[0], tuple(inputs), keywords, parts[3] if len(parts) > 3 else None)


def _rescaled(
    inputs: tuple[Any, ...], keywords: dict[str, Any], batch: int, source: str, torch: Any
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The inputs with another leading dimension, filled from their own entries so that indices stay valid."""
    tensors = [value for value in (*inputs, *keywords.values()) if isinstance(value, torch.Tensor) and value.dim()]
    if not 1 <= batch < 2**31:
        raise InputError(source, f"the batch must be at least 1 and at most {2**31 - 1:,}, not {batch}")
    if not tensors or not tensors[0].shape[0]:
        raise InputError(source, "no example input has a leading dimension to rescale")
    before = tensors[0].shape[0]

    def rescaled(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or not value.dim() or value.shape[0] != before:
            return value
        return value[torch.arange(batch, device=value.device) % before]

    return tuple(map(rescaled, inputs)), {name: rescaled(value) for name, value in keywords.items()}
