"""Events and memory levels as CSV that is safe to open: no cell that a spreadsheet would run stays one."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from xengine_gui.model.plan import Compute, Event, Plan, Transfer
from xengine_gui.schedule.export.base import ExportOptions
from xengine_gui.schedule.replay import replay

Cell = str | int | float | None
EVENT_COLUMNS = (
    "event", "kind", "operator", "tensor", "device", "source", "destination", "operator_kind", "phase",
    "implementation", "start_ns", "end_ns", "duration_ns", "bytes",
)  # fmt: skip
MEMORY_COLUMNS = ("device", "time_ns", "level_bytes", "limit_bytes")
_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_ROWS_IN_A_PART = 1000


def safe_cell(cell: Cell) -> Cell:
    """The cell, with an apostrophe before a text that would be run as a formula; numbers stay as they are."""
    if isinstance(cell, str) and (cell.startswith(_STARTS_A_FORMULA) or cell.lstrip().startswith(_STARTS_A_FORMULA)):
        return f"'{cell}"
    return cell


def csv_parts(head: Sequence[str], rows: Iterable[Sequence[Cell]], options: ExportOptions) -> Iterator[bytes]:
    """A CSV file in UTF-8; `None` is an empty cell, numbers have a point and all their digits whatever the language."""
    text = io.StringIO()
    if options.byte_order_mark:
        text.write("\ufeff")
    writer = csv.writer(text, delimiter=options.separator)
    writer.writerow(head)
    for number, row in enumerate(rows, start=1):
        writer.writerow([safe_cell(cell) for cell in row])
        if number % _ROWS_IN_A_PART == 0:
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode()


@dataclass(frozen=True, slots=True)
class EventsCsv:
    """A row per event."""

    key: str = "events"
    title: str = "Events as CSV"
    summary: str = "a row per computation, recomputation, transfer and free, for a spreadsheet"
    suffixes: tuple[str, ...] = (".events.csv", ".csv", ".events.csv.gz", ".csv.gz")
    bytes_per_event: int = 80
    timed: bool = True

    def parts(self, plan: Plan, options: ExportOptions) -> Iterable[bytes]:
        """The rows in the order of the plan."""
        return csv_parts(EVENT_COLUMNS, _event_rows(plan), options)


@dataclass(frozen=True, slots=True)
class MemoryCsv:
    """A row per change of a device's memory."""

    key: str = "memory"
    title: str = "Memory as CSV"
    summary: str = "each device's memory level whenever it changes, for a spreadsheet"
    suffixes: tuple[str, ...] = (".memory.csv", ".memory.csv.gz")
    bytes_per_event: int = 20
    timed: bool = True

    def parts(self, plan: Plan, options: ExportOptions) -> Iterable[bytes]:
        """The devices one after the other; a time stands twice where an instant holds more than before and after."""
        return csv_parts(MEMORY_COLUMNS, _memory_rows(plan), options)


def _event_rows(plan: Plan) -> Iterator[list[Cell]]:
    operators = {o.name: o for o in plan.problem.operators}
    size_bytes = {t.name: t.size_bytes for t in plan.problem.tensors}
    for i, event in enumerate(plan.events):
        times = [event.start_ns, event.end_ns, event.end_ns - event.start_ns]
        if isinstance(event, Compute):
            operator = operators[event.operator]
            size = sum(size_bytes[t] for t in dict.fromkeys(operator.outputs))
            what = [operator.kind, str(operator.phase), event.implementation]
            yield [i, event.kind, event.operator, None, event.device, None, None, *what, *times, size]
        else:
            yield [i, event.kind, None, event.tensor, *_ends(event), None, None, None, *times, size_bytes[event.tensor]]


def _ends(event: Event) -> tuple[Cell, Cell, Cell]:
    """Device, source and destination."""
    return (None, event.source, event.destination) if isinstance(event, Transfer) else (event.device, None, None)


def _memory_rows(plan: Plan) -> Iterator[list[Cell]]:
    memory = replay(plan).memory
    for device in plan.problem.devices:
        curve = memory[device.name]
        for time_ns, level_bytes in zip(curve.time_ns, curve.level_bytes, strict=True):
            yield [device.name, time_ns, level_bytes, device.memory_limit_bytes]
