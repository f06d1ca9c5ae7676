"""`xengine devices`: the device presets."""

import argparse

from xengine_gui.cli.output import say, shown, table, tell
from xengine_gui.cli.status import DONE
from xengine_gui.cost import LINK_PRESETS, device_presets
from xengine_gui.cost.own_presets import own_presets_file
from xengine_gui.cost.presets import own_presets
from xengine_gui.units import format_bandwidth, format_duration, format_power, format_size


def run(arguments: argparse.Namespace) -> int:
    """List the presets."""
    presets = device_presets()
    found = own_presets()
    for mistake in found.mistakes:
        tell(f"{shown(str(own_presets_file()))}: {shown(mistake)}.")
    rows = [
        [
            p.key,
            p.kind,
            format_size(p.memory_bytes),
            _gigaflop(p.peak_flop_per_s) if p.computes else "-",
            format_bandwidth(p.bandwidth_bytes_per_s),
            "-" if p.power_uw is None else format_power(p.power_uw),
            f"{p.title} (own)" if p.own else p.title,
        ]
        for p in presets
    ]
    table(["preset", "kind", "memory", "GFLOP/s", "bandwidth", "power", "device"], rows, left=(0, 1, 6))
    say()
    buses = [
        [p.key, format_bandwidth(p.bandwidth_bytes_per_s), format_duration(p.latency_ns), p.title] for p in LINK_PRESETS
    ]
    table(["bus", "bandwidth", "latency", "link"], buses, left=(0, 3))
    if arguments.sources:
        say()
        for p in presets:
            say(f"{p.key}: {shown(p.summary)}. Source: {shown(p.source)}")
        say("\nLaunch times, and the shares of peaks that kernels reach, are estimates unless a source tells of more.")
    return DONE


def _gigaflop(flop_per_s: int) -> str:
    value = flop_per_s / 10**9
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
