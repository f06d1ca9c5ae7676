"""`xengine strategies`: the ways of planning."""

import argparse
import shutil
import textwrap

from xengine_gui.cli.output import table
from xengine_gui.cli.status import DONE


def run(_arguments: argparse.Namespace) -> int:
    """List the strategies."""
    from xengine_gui.solve.strategies import STRATEGIES  # noqa: PLC0415 - solvers are loaded for this command alone

    # As wide as the terminal, less the two columns before.
    width = max(30, min(110, shutil.get_terminal_size().columns) - max(len(s.key) for s in STRATEGIES) - 10)
    rows = []
    for s in STRATEGIES:
        first, *more = textwrap.wrap(s.summary, width)
        rows += [[s.key, "yes" if s.proves else "no", first], *(["", "", line] for line in more)]
    table(["strategy", "proves", "what it does"], rows, left=(0, 1, 2))
    return DONE
