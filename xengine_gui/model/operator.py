"""Operators: what takes time."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Phase(StrEnum):
    """The part of a training step that an operator belongs to."""

    FORWARD = "forward"
    LOSS = "loss"
    BACKWARD = "backward"
    UPDATE = "update"


@dataclass(frozen=True, slots=True)
class Implementation:
    """One way to run an operator on a device: its time and the memory it takes only while it runs."""

    time_ns: int
    workspace_bytes: int = 0
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Operator:
    """One computation. `costs` gives per device its implementations; a device that is absent cannot run it."""

    name: str
    kind: str
    phase: Phase
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: tuple[str, ...] = ()
    recomputable: bool = True
    costs: Mapping[str, tuple[Implementation, ...]] = field(default_factory=dict)
