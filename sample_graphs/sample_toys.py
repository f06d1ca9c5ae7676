"""Three teaching toys as problem files: small enough to plan by hand."""  # noqa: INP001

import json
from pathlib import Path
from typing import Any

MIB = 2**20
MS = 10**6


def operator(name: str, phase: str, inputs: str, output: str, **time_ms: int) -> dict[str, Any]:
    """An operator with one output; its times are given per device in milliseconds."""
    costs = {device: [{"time_ns": time * MS}] for device, time in time_ms.items()}
    kind = {"forward": "Layer", "loss": "Loss", "backward": "LayerGrad"}[phase]
    return {
        "name": name, "kind": kind, "phase": phase, "inputs": inputs.split(), "outputs": [output], "costs": costs,
    }  # fmt: skip


def problem(
    name: str, notes: str, sizes_mib: dict[str, int], operators: list[dict[str, Any]], **rest: Any
) -> dict[str, Any]:
    """A problem file's content."""
    tensors = [{"name": tensor, "bytes": size * MIB} for tensor, size in sizes_mib.items()]
    head = {"format": "xengine-problem", "version": 1, "name": name, "notes": notes}
    return {**head, **rest, "tensors": tensors, "operators": operators}


def gpu(limit_mib: int) -> list[dict[str, Any]]:
    """One device."""
    return [{"name": "gpu", "kind": "gpu", "memory_limit_bytes": limit_mib * MIB}]


def chain() -> dict[str, Any]:
    """Five layers in a row, with room for four of their results."""
    operators = [operator("layer 1", "forward", "", "a1", gpu=10)]
    operators += [operator(f"layer {k}", "forward", f"a{k - 1}", f"a{k}", gpu=10) for k in range(2, 6)]
    operators.append(operator("loss", "loss", "a5", "g5", gpu=1))
    operators += [operator(f"gradient {k}", "backward", f"a{k - 1} g{k}", f"g{k - 1}", gpu=20) for k in range(5, 1, -1)]
    sizes = {f"a{k}": 100 for k in range(1, 6)} | {f"g{k}": 100 for k in range(5, 0, -1)}
    notes = (
        "A chain of five layers and its backward. Every gradient needs the result of the layer before, so memory peaks "
        "at the loss: six tensors of 100 MiB, but the limit is 400 MiB. Look which layers run twice, and that the loss "
        "is reached with few results in memory. Raise the limit to 500 MiB, then to 600 MiB: each step saves time."
    )
    return problem("chain", notes, sizes, operators, devices=gpu(400))


def skip() -> dict[str, Any]:
    """A wide tensor that a skip connection holds for long."""
    operators = [
        operator("stem", "forward", "", "wide", gpu=4),
        operator("down", "forward", "wide", "narrow", gpu=12),
        operator("middle", "forward", "narrow", "deep", gpu=30),
        operator("up", "forward", "deep", "out", gpu=12),
        operator("join", "forward", "out wide", "sum", gpu=2),
        operator("loss", "loss", "sum", "d_sum", gpu=1),
        operator("join gradient", "backward", "d_sum", "d_out", gpu=2),
        operator("up gradient", "backward", "deep d_out", "d_deep", gpu=24),
        operator("middle gradient", "backward", "narrow d_deep", "d_narrow", gpu=60),
        operator("down gradient", "backward", "wide d_narrow", "d_down", gpu=24),
        operator("add gradients", "backward", "d_skip d_down", "d_wide", gpu=2),
    ]
    operators[6]["outputs"].append("d_skip")
    sizes = dict.fromkeys(("wide", "out", "sum", "d_sum", "d_out", "d_skip", "d_down", "d_wide"), 300)
    sizes |= dict.fromkeys(("narrow", "deep", "d_deep", "d_narrow"), 100)
    notes = (
        "A skip connection, as in a U-Net: 'join' reads the wide first tensor again, and so does 'down gradient'. "
        "Holding it all the way peaks at 1400 MiB in the join's gradient; the limit is 1100 MiB. Look when 'wide' is "
        "freed, and that the cheap 'stem' runs again, not the dear 'middle'. At 1000 MiB more must run again."
    )
    return problem("skip connection", notes, sizes, operators, devices=gpu(1100))


def two_devices() -> dict[str, Any]:
    """A fast device with little memory beside a slow one with much."""
    operators = [operator("layer 1", "forward", "", "a1", gpu=10, cpu=40)]
    operators += [operator(f"layer {k}", "forward", f"a{k - 1}", f"a{k}", gpu=30, cpu=120) for k in range(2, 5)]
    operators.append(operator("loss", "loss", "a4", "g4", gpu=1, cpu=2))
    operators += [
        operator(f"gradient {k}", "backward", f"a{k - 1} g{k}", f"g{k - 1}", gpu=60, cpu=240) for k in range(4, 1, -1)
    ]
    sizes = {f"a{k}": 120 for k in range(1, 5)} | {f"g{k}": 120 for k in range(4, 0, -1)}
    devices = [*gpu(360), {"name": "cpu", "kind": "cpu", "memory_limit_bytes": 2000 * MIB}]
    links = [
        {"source": a, "destination": b, "bandwidth_bytes_per_s": 12_000_000_000, "latency_ns": 10_000}
        for a, b in (("gpu", "cpu"), ("cpu", "gpu"))
    ]
    notes = (
        "Four layers on a GPU that holds three tensors, with a slow processor beside it. A copy over the link takes "
        "about 10.5 ms, a layer 30 ms on the GPU and 120 ms on the processor: moving a result out and back costs less "
        "than computing it twice. Look which result waits on the processor, and which cheap layer runs twice."
    )
    return problem("two devices", notes, sizes, operators, devices=devices, links=links)


def write_toys(folder: Path) -> None:
    """Write the three problem files into `folder`."""
    for name, toy in (("chain", chain()), ("skip", skip()), ("two_devices", two_devices())):
        (folder / f"{name}.json").write_text(json.dumps(toy, indent=1) + "\n", encoding="utf-8")
