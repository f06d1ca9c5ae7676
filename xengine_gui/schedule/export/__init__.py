"""Plans in the files of other tools; adding one is a file here and an entry in the tuple."""

from collections.abc import Iterator
from pathlib import Path

from xengine_gui.errors import InputError
from xengine_gui.model.plan import Plan
from xengine_gui.schedule.export.base import Exporter, ExportOptions, write_parts
from xengine_gui.schedule.export.chrome_trace import ChromeTrace
from xengine_gui.schedule.export.csv_text import EventsCsv, MemoryCsv
from xengine_gui.schedule.export.graphml import GraphMl
from xengine_gui.schedule.export.html_report import HtmlReport
from xengine_gui.schedule.export.memory_snapshot import MemorySnapshot

__all__ = ["EXPORTERS", "ExportOptions", "Exporter", "export_remarks", "exporter", "exporter_for", "write_export"]

EXPORTERS: tuple[Exporter, ...] = (
    ChromeTrace(),
    HtmlReport(),
    EventsCsv(),
    MemoryCsv(),
    MemorySnapshot(),
    GraphMl(),
)
"""All exporters in the order of menus; where two have a suffix, the first one writes it unless the other is named."""


def exporter(key: str) -> Exporter:
    """The exporter called `key`; an `InputError` lists those there are."""
    for one in EXPORTERS:
        if one.key == key:
            return one
    raise InputError("", f"there is no export {key!r}; there are {', '.join(one.key for one in EXPORTERS)}")


def exporter_for(path: Path) -> Exporter:
    """The exporter that a file name's end means, the longest end first; an `InputError` lists those there are."""
    name = path.name.lower()
    fitting = [(len(suffix), -i) for i, suffix in _suffixes() if name.endswith(suffix) and name != suffix]
    if not fitting:
        known = ", ".join(dict.fromkeys(suffix for _, suffix in _suffixes()))
        raise InputError(str(path), f"its suffix does not tell what to write; there are {known}")
    return EXPORTERS[-max(fitting)[1]]


def write_export(plan: Plan, path: Path, one: Exporter, options: ExportOptions = ExportOptions()) -> None:  # noqa: B008
    """Write a plan that has events to `path`, whole or not at all. Raises `InputError` where it cannot be."""
    if not plan.has_events:
        raise InputError("", f"there is nothing to export: {plan.explanation or 'this plan has no events'}")
    write_parts(path, one.parts(plan, options))


def export_remarks(plan: Plan, one: Exporter) -> tuple[str, ...]:
    """What a user should know of a file besides that it is written, in sentences; mostly nothing."""
    return one.remarks(plan) if isinstance(one, GraphMl) else ()


def _suffixes() -> Iterator[tuple[int, str]]:
    for i, one in enumerate(EXPORTERS):
        for suffix in one.suffixes:
            yield i, suffix
