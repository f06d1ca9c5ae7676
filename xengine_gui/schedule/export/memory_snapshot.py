"""PyTorch's memory snapshot, as pytorch.org/memory_viz and torch.cuda._memory_viz read it.

A dict of `segments` (what is allocated when the trace ends) and `device_traces` (per device what was allocated and
freed, in order), pickled with protocol 4 and nothing in it but dicts, lists, texts and integers: the viewer's own
reader knows no more. A plan says how much is held, not at which addresses, so every stay of a tensor is a segment of
its own: what is reserved is then what is held. A tensor has one address on a device however often it comes back, so
that one search finds all its stays.
"""

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from xengine_gui.errors import InputError
from xengine_gui.model.plan import Compute, Plan, Transfer
from xengine_gui.schedule.export.base import ExportOptions
from xengine_gui.schedule.walk import Walk

_FIRST_ADDRESS = 0x7F00_0000_0000
_LAST_ADDRESS = 2**53
"""Beyond it the viewer, which counts in floats, would take two addresses for one."""
_ALIGNMENT = 512
_Frames = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class MemorySnapshot:
    """Allocations and frees of every device."""

    key: str = "snapshot"
    title: str = "PyTorch memory snapshot"
    summary: str = "allocations and frees of each device for pytorch.org/memory_viz"
    suffixes: tuple[str, ...] = (".pickle", ".pkl")
    bytes_per_event: int = 230
    timed: bool = True

    def parts(self, plan: Plan, _options: ExportOptions) -> Iterable[bytes]:
        """The pickled snapshot. Raises `InputError` where the tensors need more addresses than the viewer has."""
        pieces = _Pieces()
        # Piece by piece rather than in one go, so that other threads get their turn in between.
        pickle.Pickler(pieces, protocol=4).dump(snapshot_of(plan))
        return pieces.written


class _Pieces:
    """A file that keeps what is written into it."""

    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, piece: Any) -> int:
        """Keep a piece; it may be bytes or a view of them."""
        self.written.append(bytes(piece))
        return len(piece)


def snapshot_of(plan: Plan) -> dict[str, Any]:
    """The snapshot as the dict that is pickled; `devices` names the devices in the order of the traces."""
    walk = Walk(plan.problem)
    walk.follow(enumerate(plan.events))
    names = [d.name for d in plan.problem.devices]
    traces: list[list[dict[str, Any]]] = []
    segments: list[dict[str, Any]] = []
    for number, name in enumerate(names):
        device = _Device(plan, walk, name)
        traces.append(list(device.entries()))
        segments.extend(device.segments(number))
    return {"segments": segments, "device_traces": traces, "devices": names}


@dataclass(frozen=True, slots=True)
class _Block:
    """Something that is in memory for a while."""

    address: int
    size_bytes: int
    frames: _Frames


class _Device:
    """The blocks of one device, and when they come and go."""

    def __init__(self, plan: Plan, walk: Walk, name: str) -> None:
        self.plan, self.walk, self.name = plan, walk, name
        self.next_address = _FIRST_ADDRESS
        self.number = {o.name: i for i, o in enumerate(plan.problem.operators)}
        self.producer = {t: o.name for o in plan.problem.operators for t in o.outputs}
        self.stays = [r for r in walk.residencies if r.device == name]
        sizes = walk.tensor_bytes
        self.address = {t: self._place(sizes[t]) for t in dict.fromkeys(r.tensor for r in self.stays)}
        self.workspace_address: dict[tuple[str, int], int] = {}
        parameters = [p for p in plan.problem.parameters if p.name in walk.parameters[name]]
        self.parameters = [
            _Block(self._place(p.size_bytes), p.size_bytes, [_frame("parameter", 0, p.name)]) for p in parameters
        ]
        self.left: list[_Block] = []

    def entries(self) -> Iterator[dict[str, Any]]:
        """The trace: each block taken and given back, in the order in which the replay does it."""
        changes: list[tuple[int, int, int, int, _Block]] = []  # time, event, rank, number; ranks as of walk.Change
        for stay in self.stays:
            block = self._stay_block(stay.tensor, stay.brought_by)
            changes.append((stay.start_ns, stay.brought_by, 0, len(changes), block))
            if stay.freed_by is None or stay.end_ns is None:
                self.left.append(block)
            else:
                changes.append((stay.end_ns, stay.freed_by, 1, len(changes), block))
        for i, event in enumerate(self.plan.events):
            if isinstance(event, Compute) and event.device == self.name:
                size = self.walk.workspace_bytes.get((event.operator, event.device, event.implementation), 0)
                if size:
                    block = _Block(self._workspace(event.operator, size), size, self._frames(i, "workspace"))
                    changes.append((event.start_ns, i, 0, len(changes), block))
                    changes.append((event.end_ns, i, 2, len(changes), block))
        for time_ns, _event, rank, _number, block in sorted(changes, key=lambda change: change[:4]):
            actions = ("free_requested", "free_completed", "segment_free") if rank else ("segment_alloc", "alloc")
            for action in actions:
                yield {
                    "action": action,
                    "addr": block.address,
                    "size": block.size_bytes,
                    "stream": 0,
                    "time_us": time_ns // 1000,
                    "frames": block.frames,
                }

    def segments(self, number: int) -> Iterator[dict[str, Any]]:
        """What is there when the trace ends; the parameters were there before it began."""
        for block in [*self.parameters, *self.left]:
            yield {
                "device": number,
                "address": block.address,
                "total_size": block.size_bytes,
                "allocated_size": block.size_bytes,
                "active_size": block.size_bytes,
                "requested_size": block.size_bytes,
                "stream": 0,
                "segment_type": "large",
                "segment_pool_id": [0, 0],
                "is_expandable": False,
                "frames": block.frames,
                "blocks": [
                    {
                        "address": block.address,
                        "size": block.size_bytes,
                        "requested_size": block.size_bytes,
                        "state": "active_allocated",
                        "frames": block.frames,
                    }
                ],
            }

    def _stay_block(self, tensor: str, brought_by: int) -> _Block:
        return _Block(
            self.address[tensor], self.walk.tensor_bytes[tensor], self._frames(brought_by, f"tensor {tensor}")
        )

    def _frames(self, event_number: int, what: str) -> _Frames:
        """What the viewer shows as the stack: what it is, what brought it."""
        event = self.plan.events[event_number]
        frames = [_frame("memory", event_number, what)]
        if isinstance(event, Compute):
            frames.append(_frame(event.kind, self.number[event.operator], event.operator))
        elif isinstance(event, Transfer):
            maker = self.producer[event.tensor]
            frames.append(_frame("transfer", event_number, f"from {event.source}"))
            frames.append(_frame("compute", self.number[maker], maker))
        return frames

    def _workspace(self, operator: str, size_bytes: int) -> int:
        place = operator, size_bytes
        if place not in self.workspace_address:
            self.workspace_address[place] = self._place(size_bytes)
        return self.workspace_address[place]

    def _place(self, size_bytes: int) -> int:
        """Addresses that nothing else on the device has; also what has no bytes has one of its own."""
        address = self.next_address
        self.next_address += -(-max(size_bytes, 1) // _ALIGNMENT) * _ALIGNMENT
        if self.next_address > _LAST_ADDRESS:
            what = f"the tensors that {self.name!r} ever holds need more than the 8 PiB of addresses"
            raise InputError("PyTorch memory snapshot", f"{what} that the viewer can tell apart")
        return address


def _frame(filename: str, line: int, name: str) -> dict[str, Any]:
    return {"filename": filename, "line": line, "name": name}
