"""What the heuristics look up again and again: fastest implementations, limits as plain numbers."""

from collections.abc import Sequence
from functools import cached_property

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.operator import Implementation
from xengine_gui.units import LARGEST

UNLIMITED_BYTES = LARGEST << 64
"""Stands for no limit, so that limits can be compared and subtracted."""


def _fastest_first(rows: Sequence[Implementation]) -> list[int]:
    return sorted(range(len(rows)), key=[(row.time_ns, row.workspace_bytes) for row in rows].__getitem__)


class Tables:
    """Look-up tables of one problem, shared by all tries on it."""

    def __init__(self, indexed: IndexedProblem) -> None:
        self.indexed = indexed
        devices = range(indexed.device_count)
        self.limit_bytes = [UNLIMITED_BYTES if limit is None else limit for limit in indexed.limit_bytes]
        self.ways = [[_fastest_first(rows[d]) for d in devices] for rows in indexed.implementations]
        self.run_ns: list[list[int | None]] = [
            [rows[d][ways[d][0]].time_ns if ways[d] else None for d in devices]
            for rows, ways in zip(indexed.implementations, self.ways, strict=True)
        ]
        self.run_ns_least = [min(ns for ns in times if ns is not None) for times in self.run_ns]
        self.computing = [d for d in devices if any(times[d] is not None for times in self.run_ns)]

    def operator_bytes(self, operator: int, device: int) -> int:
        """What an operator's tensors and smallest workspace take while it runs on a device, parameters aside."""
        return self.tensor_bytes_of[operator] + min(
            (row.workspace_bytes for row in self.indexed.implementations[operator][device]), default=0
        )

    @cached_property
    def tensor_bytes_of(self) -> list[int]:
        """Per operator the bytes of its inputs and outputs."""
        size = self.indexed.tensor_bytes
        return [
            sum(size[t] for t in inputs) + sum(size[t] for t in outputs)
            for inputs, outputs in zip(self.indexed.inputs, self.indexed.outputs, strict=True)
        ]

    @cached_property
    def bring_ns(self) -> list[list[int | None]]:
        """Per operator and device the least time of having its results there: run there, or elsewhere and copied."""
        indexed = self.indexed
        found: list[list[int | None]] = []
        for operator, times in enumerate(self.run_ns):
            row = list(times)
            for source, time_ns in enumerate(times):
                for device in range(indexed.device_count):
                    if time_ns is None or device == source or indexed.transfer_ns[source][device] is None:
                        continue
                    copies = [indexed.copy_ns(source, device, t) for t in indexed.outputs[operator]]
                    if copies and None not in copies:
                        through = time_ns + min(c for c in copies if c is not None)
                        here = row[device]
                        row[device] = through if here is None else min(here, through)
            found.append(row)
        return found
