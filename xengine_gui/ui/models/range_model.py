"""The sums of a stretch of time: a row per figure, a column per device."""

from collections.abc import Sequence

from PySide6.QtCore import QObject

from xengine_gui.language import tr
from xengine_gui.schedule.timeline import Category
from xengine_gui.ui.models.rows_model import ColumnOf, RowsModel
from xengine_gui.ui.theme import CATEGORY_TITLES
from xengine_gui.ui.timeline.sums import RangeSums
from xengine_gui.units import format_duration, format_duration_exact, format_size, format_size_exact

_NOTHING = "–"  # noqa: RUF001

RangeRow = tuple[str, tuple[tuple[str, str], ...]]
"""What is told, and per device how it reads and what it is exactly."""


def range_rows(sums: Sequence[RangeSums]) -> list[RangeRow]:
    """All figures that are worth a line: kinds of computations that there are, and the rest always."""
    kinds = [c for c in Category if c is not Category.TRANSFER and any(c in s.time_ns for s in sums)]
    rows: list[RangeRow] = [(CATEGORY_TITLES[c], tuple(_time(s.time_ns.get(c, 0)) for s in sums)) for c in kinds]
    rows.append(("idle", tuple(_time(s.idle_ns) for s in sums)))
    rows.append(("computations", tuple(_count(s.computations) for s in sums)))
    rows.append(("recomputations", tuple(_count(s.recomputations) for s in sums)))
    rows.append((tr("moved in"), tuple(_size(s.in_bytes) for s in sums)))
    rows.append((tr("moved out"), tuple(_size(s.out_bytes) for s in sums)))
    rows.append(("frees", tuple(_count(s.frees) for s in sums)))
    rows.append(("peak", tuple(_size(s.peak_bytes) for s in sums)))
    return rows


def range_model(devices: Sequence[str], parent: QObject | None = None) -> RowsModel[RangeRow]:
    """A model for some devices."""
    columns = [ColumnOf[RangeRow]("", lambda r: r[0], lambda r: r[0], is_number=False)]
    columns += [_column(name, i) for i, name in enumerate(devices)]
    return RowsModel(columns, name=lambda r: r[0], words=lambda r: r[0], parent=parent)


def _column(device: str, position: int) -> ColumnOf[RangeRow]:
    def text(row: RangeRow) -> str:
        return row[1][position][0]

    return ColumnOf(device, text, text, lambda row: row[1][position][1])


def _time(time_ns: int) -> tuple[str, str]:
    return (format_duration(time_ns), format_duration_exact(time_ns)) if time_ns else (_NOTHING, "none")


def _size(size_bytes: int) -> tuple[str, str]:
    return (format_size(size_bytes), format_size_exact(size_bytes)) if size_bytes else (_NOTHING, "none")


def _count(count: int) -> tuple[str, str]:
    return (f"{count:,}", f"{count:,}") if count else (_NOTHING, "none")
