"""`xengine strategies`: the ways of planning."""

import argparse

from xengine_gui.cli.output import table
from xengine_gui.cli.status import DONE


def run(_arguments: argparse.Namespace) -> int:
    """List the strategies."""
    from xengine_gui.solve.strategies import STRATEGIES  # noqa: PLC0415 - solvers are loaded for this command alone

    rows = [[s.key, "yes" if s.proves else "no", s.summary] for s in STRATEGIES]
    table(["strategy", "proves", "what it does"], rows, left=(0, 1, 2))
    return DONE
