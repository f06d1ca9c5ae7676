"""Tensors and parameters: what takes memory."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tensor:
    """One result of one operator, `size_bytes` large wherever it is held."""

    name: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Parameter:
    """Weights with all that training keeps beside them (gradient, optimizer state), `size_bytes` in all."""

    name: str
    size_bytes: int
