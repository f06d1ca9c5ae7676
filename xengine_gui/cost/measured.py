"""Measured costs: a CSV table of times (and workspaces) per operator and device, laid over any problem.

The columns are `operator`, `device`, `implementation`, `time_ns`, `workspace_bytes`, `spread_ns`, `source`; operator,
device and time_ns are needed, the others may be left out, and further ones are not read. Rows of one operator and
device are its implementations there, instead of those that the problem had.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from pathlib import Path

from xengine_gui.errors import InputError, did_you_mean
from xengine_gui.model.json_file import read_bytes
from xengine_gui.model.operator import Implementation
from xengine_gui.model.problem import Problem
from xengine_gui.model.whole_file import write_text
from xengine_gui.units import LARGEST, format_names

COLUMNS = ("operator", "device", "implementation", "time_ns", "workspace_bytes", "spread_ns", "source")
_NEEDED = ("operator", "device", "time_ns")
_SEPARATORS = ",;\t"
_MOST_GUESSES = 3
"""What may be meant instead of an unknown operator is told of so many: to look through thousands takes a moment."""
_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_LONGEST_NUMBER = 60
_DIGITS = frozenset("0123456789+-.eE_")


@dataclass(frozen=True, slots=True)
class CostRow:
    """What one implementation of an operator takes on a device; `line` is where the file has it.

    `spread_ns` is how far the measured times lie apart, `source` in words where the time comes from.
    """

    operator: str
    device: str
    time_ns: int
    implementation: str | None = None
    workspace_bytes: int = 0
    spread_ns: int | None = None
    source: str = ""
    line: int = 0


@dataclass(frozen=True)
class CostTable:
    """The rows of a file (or of a measurement) and its name."""

    name: str
    rows: tuple[CostRow, ...]

    def over(self, problem: Problem) -> Problem:
        """The problem with these costs in place of its own; an `InputError` names every row that has no place in it."""
        known = {operator.name for operator in problem.operators}
        rows = [row if row.operator in known else replace(row, operator=_plain(row.operator)) for row in self.rows]
        mistakes = list(_misplaced(problem, rows))
        if mistakes:
            raise InputError(self.name, mistakes)
        measured: dict[str, dict[str, list[Implementation]]] = {}
        for row in rows:
            implementation = Implementation(row.time_ns, row.workspace_bytes, row.implementation)
            measured.setdefault(row.operator, {}).setdefault(row.device, []).append(implementation)
        operators = (
            replace(o, costs={**o.costs, **{d: tuple(ways) for d, ways in measured[o.name].items()}})
            if o.name in measured
            else o
            for o in problem.operators
        )
        return replace(problem, operators=tuple(operators))


def with_measured(problem: Problem, paths: Iterable[Path]) -> Problem:
    """The problem with the costs of these files laid over it, one after the other."""
    for path in paths:
        problem = read_costs(path).over(problem)
    return problem


def read_costs(path: Path) -> CostTable:
    """The table in a CSV file; an `InputError` tells every mistake with its line and column."""
    return parse_costs(read_bytes(path), str(path))


def parse_costs(raw: bytes, source: str) -> CostTable:
    """The table in the bytes of a CSV file, in UTF-8 or UTF-16, separated by commas, semicolons or tabs."""
    lines = _lines(_text(raw, source), source)
    head = next((cells for _, cells in lines if any(cells)), None)
    if head is None:
        raise InputError(source, "the file is empty: it needs a line of column names and a line per operator")
    columns = _columns(head, source)
    mistakes: list[str] = []
    rows = [_row(line, cells, columns, mistakes) for line, cells in lines if any(cells)]
    mistakes += _repeated(rows)
    if mistakes:
        raise InputError(source, mistakes)
    if not rows:
        raise InputError(source, "there is no row below the column names")
    return CostTable(source, tuple(rows))


def costs_to_csv(rows: Sequence[CostRow]) -> str:
    """The rows as a CSV text; names that a spreadsheet would run as a formula get an apostrophe, which is read back."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        cells = (row.operator, row.device, row.implementation or "", row.time_ns, row.workspace_bytes or "")
        writer.writerow([*map(_safe, cells), "" if row.spread_ns is None else row.spread_ns, _safe(row.source)])
    return text.getvalue()


def write_costs(rows: Sequence[CostRow], path: Path) -> None:
    """Write the rows as a CSV file, whole or not at all."""
    write_text(path, costs_to_csv(rows))


def _safe(cell: str | int) -> str | int:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_STARTS_A_FORMULA) else cell


def _plain(name: str) -> str:
    return name[1:] if name.startswith("'") and name[1:].startswith(_STARTS_A_FORMULA) else name


def _text(raw: bytes, source: str) -> str:
    wide = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        text = raw.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(source, "this is not a text file in UTF-8 or UTF-16") from None
    if "\0" in text:
        raise InputError(source, "this is not a text file")
    return text


def _lines(text: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line, with the number of the line that it starts in."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    separator = max(_SEPARATORS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    line = 1
    try:
        for cells in reader:
            yield line, [cell.strip() for cell in cells]
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(source, f"line {line}: cannot be read ({error})") from None


def _columns(head: Sequence[str], source: str) -> dict[str, int]:
    names = [name.lower() for name in head]
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise InputError(
            source, f"line 1: there is no column {' and no column '.join(missing)} (there are {format_names(head)})"
        )
    twice = [name for name in COLUMNS if names.count(name) > 1]
    if twice:
        raise InputError(source, f"line 1: the column {twice[0]} is there twice")
    return {name: names.index(name) for name in COLUMNS if name in names}


def _row(line: int, cells: Sequence[str], columns: Mapping[str, int], mistakes: list[str]) -> CostRow:
    def cell(column: str) -> str:
        place = columns.get(column, len(cells))
        return cells[place] if place < len(cells) else ""

    def number(column: str, *, needed: bool = False) -> int | None:
        text = cell(column)
        if not text and not needed:
            return None
        return _whole(text, lambda what: mistakes.append(f"line {line}: {column} {what}"))

    mistakes += [f"line {line}: {column} is empty" for column in ("operator", "device") if not cell(column)]
    return CostRow(
        operator=cell("operator"),
        device=cell("device"),
        time_ns=number("time_ns", needed=True) or 0,
        implementation=cell("implementation") or None,
        workspace_bytes=number("workspace_bytes") or 0,
        spread_ns=number("spread_ns"),
        source=cell("source"),
        line=line,
    )


def _whole(text: str, wrong: Callable[[str], None]) -> int | None:
    """A whole number, rounded up; times of other tools have decimals."""
    shown = text if len(text) <= _LONGEST_NUMBER else f"{text[:_LONGEST_NUMBER]}..."
    try:
        value = Decimal(text) if text and len(text) <= _LONGEST_NUMBER and _DIGITS.issuperset(text) else None
    except InvalidOperation:
        value = None
    if value is None:
        wrong(f"must be a number, not {shown!r}" if text else "is empty")
    elif value < 0:
        wrong(f"is negative: {shown}")
    elif value > LARGEST:
        wrong("is larger than any machine's, above 2^128")
    else:
        return int(value.to_integral_value(ROUND_CEILING))
    return None


def _repeated(rows: Iterable[CostRow]) -> Iterator[str]:
    first: dict[tuple[str, str, str | None], int] = {}
    for row in rows:
        place = (row.operator, row.device, row.implementation)
        if row.operator and row.device and place in first:
            which = f" with the implementation {row.implementation!r}" if row.implementation else ""
            yield f"line {row.line}: {row.operator!r} on {row.device!r}{which} stands in line {first[place]} already"
        first.setdefault(place, row.line)


def _misplaced(problem: Problem, rows: Iterable[CostRow]) -> Iterator[str]:
    operators = {operator.name for operator in problem.operators}
    devices = [device.name for device in problem.devices]
    guesses = 0
    for row in rows:
        where = f"line {row.line}: " if row.line else ""
        if row.operator not in operators:
            guess = did_you_mean(row.operator, operators) if guesses < _MOST_GUESSES else ""
            guesses += 1
            yield f"{where}there is no operator {row.operator!r} in {problem.name or 'the problem'}{guess}"
        if row.device not in devices:
            yield f"{where}there is no device {row.device!r}; the devices are {format_names(devices)}"
