"""What the command line prints: plain lines and aligned tables."""

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import TextIO

_lost: list[OSError] = []
"""Why the answer cannot be written; it is told when the command is done, so that files are still written."""


def say(line: str = "") -> None:
    """A line of the answer."""
    if _lost:
        return
    if sys.stdout is None:
        _lost.append(OSError("it is closed"))
        return
    try:
        print(line)
    except OSError as error:
        _lost.append(error)


def tell(line: str) -> None:
    """A line beside the answer: an error, a note, progress. Where it cannot be written, nobody would read it."""
    if sys.stderr is None:
        return
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        _silence(sys.stderr)


def is_watched() -> bool:
    """Whether somebody follows along at a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def end_answer() -> OSError | None:
    """Write out the rest of the answer, and give what went wrong with it."""
    if sys.stdout is not None:
        try:
            sys.stdout.flush()
        except OSError as error:
            _lost.append(error)
    if not _lost:
        return None
    first = _lost[0]
    _lost.clear()
    _silence(sys.stdout)
    return first


def _silence(stream: TextIO | None) -> None:
    """Lead a stream into nothing: what is left in it would fail again when Python ends, and change the status."""
    with contextlib.suppress(OSError, ValueError):
        if stream is not None:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, stream.fileno())
            os.close(nothing)


def shown(text: str) -> str:
    """A text with its control characters escaped, so that a file cannot move the cursor."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def sentence(text: str) -> str:
    """A text that may be shown, with its full stop."""
    text = shown(text).rstrip(".")
    return text if text.endswith(("?", "!")) else f"{text}."


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
