"""A sweep as CSV and JSON: integers as they are, nothing rounded."""

from collections.abc import Sequence
from typing import Any

from xengine_gui.model.json_file import format_json
from xengine_gui.schedule.export.base import ExportOptions
from xengine_gui.schedule.export.csv_text import csv_parts
from xengine_gui.solve.sweep_points import Sweep, SweepPoint, knee, smallest_feasible

FORMAT = "xengine-sweep"
VERSION = 2
_COLUMNS = ("total_ns", "lower_bound_ns", "gap", "status")


def sweep_to_json(sweep: Sweep) -> str:
    """A JSON file's text: what was swept, the marked limits, and one object per strategy and limit."""
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "name": sweep.name,
        "devices": [axis.device for axis in sweep.axes],
        "strategies": [{"strategy": c.strategy, "title": c.title, "declined": c.declined} for c in sweep.curves],
    }
    if len(sweep.axes) == 1:
        best = sweep.best()
        smallest, bend = smallest_feasible(best), knee(best)
        data["smallest_feasible_bytes"] = smallest.limit_bytes if smallest else None
        data["knee_bytes"] = bend.limit_bytes if bend else None
    data["points"] = [
        {"strategy": curve.strategy, **_row(sweep, point), "explanation": point.explanation}
        for curve in sweep.curves
        for point in curve.points
    ]
    return format_json(data)


def sweep_to_csv(sweep: Sweep) -> str:
    """A CSV file's text: a head, then a line per strategy and limit; what is not known is empty.

    With one device the last column marks the smallest limit that has a plan, and the knee, of each strategy.
    """
    rows = []
    for curve in sweep.curves:
        for point, mark in zip(curve.points, marks(sweep, curve.points), strict=True):
            rows.append({"strategy": curve.strategy, **_row(sweep, point), "mark": mark})
    head = list(rows[0]) if rows else ["strategy", *_COLUMNS]
    return b"".join(csv_parts(head, [list(row.values()) for row in rows], ExportOptions())).decode()


def marks(sweep: Sweep, points: Sequence[SweepPoint]) -> tuple[str, ...]:
    """What is remarkable about each point: the smallest limit with a plan, the knee of the curve."""
    if len(sweep.axes) > 1:
        return ("",) * len(points)
    smallest, bend = smallest_feasible(points), knee(points)
    return tuple(_mark(point, smallest, bend) for point in points)


def _mark(point: SweepPoint, smallest: SweepPoint | None, bend: SweepPoint | None) -> str:
    told = []
    if smallest is not None and point.limit_bytes == smallest.limit_bytes:
        told.append("smallest feasible")
    if bend is not None and point.limit_bytes == bend.limit_bytes:
        told.append("knee")
    return ", ".join(told)


def _row(sweep: Sweep, point: SweepPoint) -> dict[str, int | float | str | None]:
    devices = [axis.device for axis in sweep.axes]
    limits = {f"limit_bytes {d}": limit for d, limit in zip(devices, point.limits_bytes, strict=True)}
    values = (point.total_ns, point.lower_bound_ns, point.gap_ratio, str(point.status))
    peaks = {} if point.plan is None else point.plan.peak_bytes
    return {**limits, **dict(zip(_COLUMNS, values, strict=True)), **{f"peak_bytes {d}": peaks.get(d) for d in devices}}
