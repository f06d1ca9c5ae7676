"""Free dimensions of example inputs, as `dynamic_shapes` of `torch.export` names them, and inputs of other lengths."""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from xengine_gui.errors import InputError

_MOST = 2**31 - 1


@dataclass(frozen=True)
class Examples:
    """A module with its example inputs, by position and by name, and the lengths of their named dimensions."""

    module: Any
    inputs: tuple[Any, ...]
    keywords: dict[str, Any]
    shapes: Any = None

    def symbols(self) -> dict[str, int]:
        """The length of every named dimension in the examples."""
        return {dim.__name__: length for dim, length in self._named() if not hasattr(dim, "root")}

    def bound(self, bindings: Mapping[str, int], source: str, torch: Any) -> "Examples":
        """The examples with other lengths, filled from their own entries so that indices stay valid.

        An `InputError` tells of dimensions that are not there, and of lengths that their declaration rules out.
        """
        there = self.symbols()
        dims = {dim.__name__: dim for dim, _ in self._named()}
        mistakes = []
        for name, length in bindings.items():
            least, most = (getattr(dims.get(name), end, None) for end in ("min", "max"))
            low, high = max(1, least or 1), min(_MOST, most or _MOST)
            if name not in there:
                known = f"its free dimensions are {', '.join(there)}" if there else f"shapes are the examples', {_HOW}"
                mistakes.append(f"there is no free dimension {name!r}; {known}")
            elif not low <= length <= high:
                mistakes.append(f"dimension {name!r} must be at least {low:,} and at most {high:,}, not {length:,}")
        if mistakes:
            raise InputError(source, mistakes)
        if not bindings:
            return self
        lengths = {**there, **bindings}
        given = self._arguments()
        specs = _specs(self.shapes, list(given))
        changed = {name: _lengthened(value, specs.get(name), lengths, torch) for name, value in given.items()}
        names = list(changed)
        count = len(self.inputs)
        return replace(
            self,
            inputs=tuple(changed[name] for name in names[:count]),
            keywords={name: changed[name] for name in names[count:]},
        )

    def _named(self) -> Iterator[tuple[Any, int]]:
        given = self._arguments()
        specs = _specs(self.shapes, list(given))
        for name, value in given.items():
            yield from _dimensions(value, specs.get(name))

    def _arguments(self) -> dict[str, Any]:
        """All inputs by the names that the module has for them, as far as it tells them."""
        try:
            names = list(inspect.signature(self.module.forward).bind_partial(*self.inputs).arguments)
        except TypeError:
            names = []
        names = names if len(names) == len(self.inputs) else [f"input {i}" for i in range(len(self.inputs))]
        return {**dict(zip(names, self.inputs, strict=True)), **self.keywords}


_HOW = "unless the function gives dynamic_shapes of torch.export as its fourth value"


def _specs(shapes: Any, names: list[str]) -> dict[str, Any]:
    if isinstance(shapes, dict):
        return shapes
    return dict(zip(names, shapes, strict=False)) if isinstance(shapes, tuple | list) else {}


def _per_dimension(value: Any, spec: Any) -> dict[int, Any]:
    """The named dimensions of one tensor."""
    if not hasattr(value, "shape"):
        return {}
    rows = spec.items() if isinstance(spec, dict) else enumerate(spec) if isinstance(spec, tuple | list) else ()
    return {
        place: dim for place, dim in rows if isinstance(place, int) and hasattr(dim, "__name__") and place < value.dim()
    }


def _dimensions(value: Any, spec: Any) -> Iterator[tuple[Any, int]]:
    if isinstance(value, tuple | list) and isinstance(spec, tuple | list):
        for one, its in zip(value, spec, strict=False):
            yield from _dimensions(one, its)
    elif isinstance(value, dict) and isinstance(spec, dict):
        for key, one in value.items():
            yield from _dimensions(one, spec.get(key))
    else:
        for place, dim in _per_dimension(value, spec).items():
            yield dim, int(value.shape[place])


def _lengthened(value: Any, spec: Any, lengths: Mapping[str, int], torch: Any) -> Any:
    if isinstance(value, tuple | list) and isinstance(spec, tuple | list):
        return type(value)(_lengthened(one, its, lengths, torch) for one, its in zip(value, spec, strict=False))
    if isinstance(value, dict) and isinstance(spec, dict):
        return {key: _lengthened(one, spec.get(key), lengths, torch) for key, one in value.items()}
    for place, dim in _per_dimension(value, spec).items():
        root = getattr(dim, "root", None)
        length = lengths.get(dim.__name__) if root is None else dim.fn(lengths.get(root.__name__, 1))
        if length is not None and length != value.shape[place] and value.shape[place]:
            value = value.index_select(place, torch.arange(length, device=value.device) % value.shape[place])
    return value
