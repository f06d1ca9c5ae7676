"""A sweep as CSV and JSON: integers as they are, nothing rounded."""

import csv
import io
from collections.abc import Sequence
from typing import Any

from xengine_gui.model.json_file import format_json
from xengine_gui.solve.sweep import SweepPoint, knee, smallest_feasible

FORMAT = "xengine-sweep"
VERSION = 1
_COLUMNS = ("limit_bytes", "total_ns", "lower_bound_ns", "gap", "status", "peak_bytes")


def sweep_to_json(name: str, device: str, strategy: str, points: Sequence[SweepPoint]) -> str:
    """A JSON file's text: what was swept, the marked limits, and one object per limit."""
    smallest, bend = smallest_feasible(points), knee(points)
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "name": name,
        "device": device,
        "strategy": strategy,
        "smallest_feasible_bytes": smallest.limit_bytes if smallest else None,
        "knee_bytes": bend.limit_bytes if bend else None,
        "points": [_row(point, device) for point in points],
    }
    return format_json(data)


def sweep_to_csv(device: str, points: Sequence[SweepPoint]) -> str:
    """A CSV file's text: a head, then a line per limit; what is not known is empty."""
    smallest, bend = smallest_feasible(points), knee(points)
    text = io.StringIO()
    rows = [{**_row(point, device), "mark": mark_of(point, smallest, bend)} for point in points]
    writer = csv.DictWriter(text, fieldnames=[*_COLUMNS, "mark"])
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def mark_of(point: SweepPoint, smallest: SweepPoint | None, bend: SweepPoint | None) -> str:
    """What is remarkable about a point: the smallest limit with a plan, the knee of the curve."""
    marks = []
    if smallest is not None and point.limit_bytes == smallest.limit_bytes:
        marks.append("smallest feasible")
    if bend is not None and point.limit_bytes == bend.limit_bytes:
        marks.append("knee")
    return ", ".join(marks)


def _row(point: SweepPoint, device: str) -> dict[str, int | float | str | None]:
    peak_bytes = point.plan.peak_bytes[device] if point.plan is not None else None
    values = (point.limit_bytes, point.total_ns, point.lower_bound_ns, point.gap_ratio, str(point.status), peak_bytes)
    return dict(zip(_COLUMNS, values, strict=True))
