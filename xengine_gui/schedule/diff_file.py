"""What differs between two plans, as CSV and JSON: every change, integers as they are."""

from typing import Any

from xengine_gui.model.json_file import format_json
from xengine_gui.schedule.diff import PlanDiff
from xengine_gui.schedule.diff_words import change_lines, headline
from xengine_gui.schedule.export.base import ExportOptions
from xengine_gui.schedule.export.csv_text import csv_parts

FORMAT = "xengine-diff"
VERSION = 1


def diff_to_json(difference: PlanDiff) -> str:
    """A JSON file's text: both totals and peaks, and one object per change."""
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "name": difference.after.problem.name,
        "strategies": [difference.before.strategy, difference.after.strategy],
        "total_ns": [difference.total_before_ns, difference.total_after_ns],
        "peak_bytes": {device: list(peaks) for device, peaks in difference.peak_bytes.items()},
        "summary": headline(difference),
        "changes": [
            {"kind": str(line.kind), "subject": line.subject, "cost_ns": line.cost_ns, "sentence": line.sentence}
            for line in change_lines(difference)
        ],
    }
    return format_json(data)


def diff_to_csv(difference: PlanDiff) -> str:
    """A CSV file's text: a head, then a line per change."""
    rows = [[str(line.kind), line.subject, line.cost_ns, line.sentence] for line in change_lines(difference)]
    return b"".join(csv_parts(["kind", "subject", "cost_ns", "sentence"], rows, ExportOptions())).decode()
