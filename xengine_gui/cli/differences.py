"""What differs between two plans, printed and written."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from xengine_gui.cli.output import say, shown, table
from xengine_gui.model.whole_file import write_text
from xengine_gui.schedule.diff import PlanDiff
from xengine_gui.schedule.diff_file import diff_to_csv, diff_to_json
from xengine_gui.schedule.diff_words import KIND_TITLES, change_lines, format_cost, headline
from xengine_gui.units import format_duration, format_size

_MOST_LINES = 12


def print_diff(difference: PlanDiff, names: Sequence[str]) -> None:
    """Totals and peaks side by side, then the dearest changes of each kind."""
    before, after = difference.before, difference.after
    rows = [
        ["total", *(format_duration(ns, fine=True) for ns in (difference.total_before_ns, difference.total_after_ns))]
    ]
    rows += [[f"{d} peak", format_size(a), format_size(b)] for d, (a, b) in difference.peak_bytes.items()]
    rows.append(["strategy", before.strategy, after.strategy])
    table(["", "first", "second"], rows)
    say(f"\nfirst: {shown(names[0])}, second: {shown(names[1])}")
    say(f"{shown(headline(difference))}")
    for kind, group in groupby(change_lines(difference), key=lambda line: line.kind):
        lines = list(group)
        say(f"\n{KIND_TITLES[kind]} ({len(lines):,})")
        for line in lines[:_MOST_LINES]:
            cost = "" if line.cost_ns is None else f"  {format_cost(line.cost_ns)}"
            say(f"  {shown(line.sentence)}{cost}")
        if len(lines) > _MOST_LINES:
            say(f"  and {len(lines) - _MOST_LINES:,} more")


def write_diff(difference: PlanDiff, path: Path) -> None:
    """Write every change as the suffix says."""
    write_text(path, (diff_to_csv if path.suffix.lower() == ".csv" else diff_to_json)(difference))
