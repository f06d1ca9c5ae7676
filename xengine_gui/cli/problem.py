"""`xengine problem`: write a network with its devices and costs as a problem file."""

import argparse

from xengine_gui.cli.inputs import asked_problem, check_writable
from xengine_gui.cli.output import say, shown
from xengine_gui.cli.status import DONE
from xengine_gui.model.problem_file import write_problem


def run(arguments: argparse.Namespace) -> int:
    """Write the problem that is asked for."""
    check_writable(arguments.output)
    problem = asked_problem(arguments)
    write_problem(problem, arguments.output)
    say(f"The problem ({len(problem.operators):,} operators) is in {shown(str(arguments.output))}.")
    return DONE
