"""What the command line prints: plain lines and aligned tables."""

import sys
from collections.abc import Sequence


def say(line: str = "") -> None:
    """A line of the answer."""
    print(line)


def tell(line: str) -> None:
    """A line beside the answer: an error, a note, progress."""
    print(line, file=sys.stderr, flush=True)


def shown(text: str) -> str:
    """A text with its control characters escaped, so that a file cannot move the cursor."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: Sequence[int] = (0,)) -> None:
    """An aligned table; the columns numbered in `left` are words, the others figures."""
    cells = [[shown(cell) for cell in row] for row in [list(head), *rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        parts = [
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        say("  ".join(parts).rstrip())


def pairs(rows: Sequence[tuple[str, str, str]]) -> None:
    """Lines of a name, a value and a remark, aligned."""
    name_width = max(len(name) for name, _, _ in rows)
    value_width = max(len(shown(value)) for _, value, remark in rows if remark) if any(r[2] for r in rows) else 0
    for name, value, remark in rows:
        say(f"{name.ljust(name_width)}  {shown(value).ljust(value_width)}  {shown(remark)}".rstrip())
