"""The snapshot, read by an unpickler that makes nothing but plain values, and followed as the viewer follows it."""

import io
import pickle
import pickletools
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from plans_fixed import MOVING, four_operators, plan_of_four
from problems import problems_with_steps

from xengine_gui.errors import InputError
from xengine_gui.model.plan import Clock, Plan
from xengine_gui.model.tensor import Tensor
from xengine_gui.schedule.export import ExportOptions, exporter
from xengine_gui.schedule.finish import finished_plan, on_clock

# What the reader of pytorch.org/memory_viz knows (torch/utils/viz/MemoryViz.js); anything else stops it.
KNOWN_TO_THE_VIEWER = {
    "PROTO", "FRAME", "STOP", "MARK", "MEMOIZE", "BINGET", "LONG_BINGET", "EMPTY_DICT", "SETITEM", "SETITEMS",
    "EMPTY_LIST", "APPEND", "APPENDS", "SHORT_BINUNICODE", "BINUNICODE", "BININT", "BININT1", "BININT2", "LONG1",
    "NEWTRUE", "NEWFALSE", "NONE",
}  # fmt: skip


class _OnlyValues(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        pytest.fail(f"the snapshot wants {module}.{name}")


def snapshot_of(plan: Plan) -> dict[str, Any]:
    content = b"".join(exporter("snapshot").parts(plan, ExportOptions()))
    read: dict[str, Any] = _OnlyValues(io.BytesIO(content)).load()
    return read


def follow(snapshot: dict[str, Any], device: int) -> tuple[list[int], dict[int, int]]:
    """The levels after each step, as the Active Memory Timeline adds them up, and what is left by address."""
    events = snapshot["device_traces"][device]
    at_end = {s["address"]: s for s in snapshot["segments"] if s["device"] == device}
    allocated = {e["addr"] for e in events if e["action"] == "alloc"}
    held = {a: s["total_size"] for a, s in at_end.items() if a not in allocated}
    segments = dict(held)
    levels = [sum(held.values())]
    for event in events:
        address, size = event["addr"], event["size"]
        match event["action"]:
            case "segment_alloc":
                assert not any(a < address + size and address < a + s for a, s in segments.items())
                segments[address] = size
            case "alloc":
                assert address not in held
                assert segments[address] == size
                held[address] = size
            case "free_completed":
                assert held.pop(address) == size
            case "segment_free":
                assert address not in held
                assert segments.pop(address) == size
        levels.append(sum(held.values()))
    assert segments == held == {a: s["total_size"] for a, s in at_end.items()}
    return levels, held


def test_a_plan_of_which_everything_is_known() -> None:
    snapshot = snapshot_of(plan_of_four())
    assert snapshot["devices"] == ["gpu", "cpu"]
    told = [
        (e["action"], e["size"], e["frames"][0]["name"])
        for e in snapshot["device_traces"][0]
        if e["action"] in ("alloc", "free_completed")
    ]
    assert told == [
        ("alloc", 100, "tensor t0"),
        ("alloc", 100, "tensor t1"),
        ("alloc", 30, "workspace"),
        ("free_completed", 30, "workspace"),
        ("free_completed", 100, "tensor t0"),
        ("alloc", 100, "tensor t2"),
        ("free_completed", 100, "tensor t1"),
        ("alloc", 100, "tensor t0"),
        ("alloc", 50, "tensor g"),
        ("free_completed", 100, "tensor t0"),
        ("free_completed", 100, "tensor t2"),
    ]
    assert snapshot["device_traces"][1] == []
    levels, left = follow(snapshot, 0)
    assert (levels[0], max(levels), sorted(left.values())) == (20, 270, [20, 50])
    stays = [
        e for e in snapshot["device_traces"][0] if e["action"] == "alloc" and e["frames"][0]["name"] == "tensor t0"
    ]
    assert stays[0]["addr"] == stays[1]["addr"]
    assert [frame["filename"] for frame in stays[1]["frames"]] == ["memory", "recompute"]


def test_a_transfer_is_an_allocation_of_its_destination() -> None:
    snapshot = snapshot_of(plan_of_four(MOVING))
    first = next(e for e in snapshot["device_traces"][1] if e["action"] == "alloc")
    assert [frame["name"] for frame in first["frames"]] == ["tensor t0", "from gpu", "f0"]
    assert first["time_us"] == 0
    assert max(follow(snapshot, 1)[0]) == 100


def test_the_viewer_can_read_every_opcode() -> None:
    content = b"".join(exporter("snapshot").parts(plan_of_four(MOVING), ExportOptions()))
    opcodes = list(pickletools.genops(content))
    assert {code.name for code, _, _ in opcodes} <= KNOWN_TO_THE_VIEWER
    assert opcodes[0][1] == 4
    assert all(len(str(argument)) < 17 for code, argument, _ in opcodes if code.name == "LONG1")


def test_more_addresses_than_the_viewer_can_tell_apart_are_refused() -> None:
    problem = four_operators(limit_bytes=None)
    vast = replace(problem, tensors=(Tensor("t0", 2**53), *problem.tensors[1:]))
    with pytest.raises(InputError, match="8 PiB of addresses"):
        snapshot_of(plan_of_four(problem=vast))


@settings(deadline=None, max_examples=60)
@given(given_=problems_with_steps())
def test_what_is_allocated_is_freed_or_left_and_peaks_are_reached(given_: tuple[Any, list[Any]]) -> None:
    serial = finished_plan(given_[0], "test", given_[1])
    for plan in (serial, on_clock(serial, Clock.OVERLAPPED)):
        snapshot = snapshot_of(plan)
        for number, name in enumerate(snapshot["devices"]):
            levels, _ = follow(snapshot, number)
            assert max(levels) == plan.peak_bytes[name]
