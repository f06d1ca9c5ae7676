"""`xengine problem`: write a network with its devices and costs as a problem file, or as GraphML."""

import argparse

from xengine_gui.cli.inputs import asked_problem, check_writable
from xengine_gui.cli.output import say, shown
from xengine_gui.cli.status import DONE
from xengine_gui.model.problem_file import write_problem
from xengine_gui.schedule.export.graphml import GraphMl, graphml_remarks, write_graphml


def run(arguments: argparse.Namespace) -> int:
    """Write the problem that is asked for."""
    check_writable(arguments.output)
    problem = asked_problem(arguments)
    remarks: tuple[str, ...] = ()
    if arguments.output.suffix.lower() in GraphMl().suffixes:
        write_graphml(problem, arguments.output)
        remarks = graphml_remarks(problem)
    else:
        write_problem(problem, arguments.output)
    say(f"The problem ({len(problem.operators):,} operators) is in {shown(str(arguments.output))}.")
    for remark in remarks:
        say(remark)
    return DONE
