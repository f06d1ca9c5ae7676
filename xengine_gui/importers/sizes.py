"""Sizes that a network's file does not tell, given by the user."""

from collections.abc import Mapping
from dataclasses import replace

from xengine_gui.errors import InputError
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.units import LARGEST, format_names


def missing_sizes(network: NetworkGraph) -> tuple[str, ...]:
    """Names of the tensors and parameters whose bytes must be given before anything can be planned.

    Views of an unknown tensor are left out: they have its bytes.
    """
    tensors = [t.name for t in network.tensors.values() if t.size_bytes is None and t.storage == t.name]
    parameters = [p.name for p in network.parameters.values() if p.size_bytes is None and p.storage == p.name]
    named = {*tensors, *parameters}
    owners = {item.storage for group in (network.tensors, network.parameters) for item in group.values()}
    # A view whose owner is known, or is not there, is asked for itself.
    rest = [
        item.name
        for group in (network.tensors, network.parameters)
        for item in group.values()
        if item.size_bytes is None and item.storage not in named and item.name not in owners
    ]
    return tuple(dict.fromkeys((*tensors, *parameters, *rest)))


def with_sizes(network: NetworkGraph, sizes: Mapping[str, int], source: str) -> NetworkGraph:
    """The network with bytes for tensors whose size is unknown, and for their views.

    An `InputError` names what is not there, or has a size already.
    """
    if not sizes:
        return network
    missing = missing_sizes(network)
    known = {*network.tensors, *network.parameters}
    mistakes = []
    for name, size in sizes.items():
        if name not in known:
            there = f"sizes are missing of {format_names(missing)}" if missing else "every size is known"
            mistakes.append(f"there is no tensor {name!r}; {there}")
        elif name not in missing:
            mistakes.append(f"the size of {name!r} is known already, so it cannot be given")
        elif not 0 <= size <= LARGEST:
            mistakes.append(f"the size of {name!r} must be at least 0 and at most 2^128 bytes")
    if mistakes:
        raise InputError(source, mistakes)
    return replace(
        network,
        tensors={
            name: t if t.size_bytes is not None else replace(t, size_bytes=sizes.get(t.name, sizes.get(t.storage)))
            for name, t in network.tensors.items()
        },
        parameters={
            name: p if p.size_bytes is not None else replace(p, size_bytes=sizes.get(p.name, sizes.get(p.storage)))
            for name, p in network.parameters.items()
        },
        notes=(*network.notes, f"Sizes were given by hand: {format_names(sizes)}"),
    )
