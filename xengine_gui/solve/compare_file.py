"""A comparison as CSV and JSON: integers as they are, nothing rounded."""

from typing import Any

from xengine_gui.model.json_file import format_json
from xengine_gui.schedule.export.base import ExportOptions
from xengine_gui.schedule.export.csv_text import csv_parts
from xengine_gui.solve.compare import ComparedStrategy, Comparison

FORMAT = "xengine-comparison"
VERSION = 1


def comparison_to_json(comparison: Comparison) -> str:
    """A JSON file's text: the problem's limits, the highest bound, and one object per strategy."""
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "name": comparison.problem.name,
        "limit_bytes": {d.name: d.memory_limit_bytes for d in comparison.problem.devices},
        "unlimited_total_ns": comparison.unlimited_total_ns,
        "lower_bound_ns": comparison.lower_bound_ns,
        "strategies": [_row(comparison, row) for row in comparison.rows],
    }
    return format_json(data)


def comparison_to_csv(comparison: Comparison) -> str:
    """A CSV file's text: a head, then a line per strategy; what is not known is empty."""
    devices = [d.name for d in comparison.problem.devices]
    table = []
    for row in comparison.rows:
        cells = _row(comparison, row)
        peaks = cells.pop("peak_bytes") or {}
        reason = cells.pop("reason")
        table.append({**cells, **{f"peak_bytes {name}": peaks.get(name) for name in devices}, "reason": reason})
    head = list(table[0]) if table else ["strategy"]
    return b"".join(csv_parts(head, [list(cells.values()) for cells in table], ExportOptions())).decode()


def _row(comparison: Comparison, row: ComparedStrategy) -> dict[str, Any]:
    figures, own_gap = row.summary, None if row.plan is None else row.plan.gap_ratio
    return {
        "strategy": row.key,
        "title": row.title,
        "status": row.status,
        "total_ns": row.total_ns,
        "overhead": figures.overhead_ratio if figures else None,
        "own_lower_bound_ns": row.lower_bound_ns,
        "own_gap": own_gap,
        "gap": comparison.gap_ratio(row),
        "recomputes": figures.recompute_count if figures else None,
        "recompute_ns": figures.recompute_ns if figures else None,
        "transfers": figures.transfer_count if figures else None,
        "transfer_ns": figures.transfer_ns if figures else None,
        "transfer_bytes": figures.transfer_bytes if figures else None,
        "took_s": None if row.took_s is None else round(row.took_s, 3),
        "peak_bytes": dict(figures.peak_bytes) if figures else None,
        "reason": row.reason,
    }
