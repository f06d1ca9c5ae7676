"""`xengine verify`: judge a plan file by every rule."""

import argparse

from xengine_gui.cli.output import pairs, say, shown, table
from xengine_gui.cli.status import BROKEN_PLAN, DONE
from xengine_gui.model.json_file import Json, read_json
from xengine_gui.model.plan_file import parse_plan
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import read_problem
from xengine_gui.schedule.verify import verify
from xengine_gui.units import format_duration, format_duration_exact, format_size, format_size_exact

_MOST_SHOWN = 20


def run(arguments: argparse.Namespace) -> int:
    """Judge the plan, and print what is broken."""
    problem = read_problem(arguments.problem) if arguments.problem is not None else None
    data = read_json(arguments.file)
    plan = parse_plan(data, str(arguments.file), problem)
    if problem is not None and (difference := _difference(data, problem)):
        say(f"{shown(str(arguments.file))} was made for another problem: {shown(difference)}.\n")
    verdict = verify(plan, problem)
    if not verdict.ok:
        count = len(verdict.broken)
        say(f"{shown(str(arguments.file))} breaks {'a rule' if count == 1 else f'{count:,} rules'}:")
        most = count if arguments.all else _MOST_SHOWN
        for sentence in verdict.broken[:most]:
            say(f"  {shown(sentence)}")
        if count > most:
            say(f"  and {count - most:,} more (--all lists them)")
        return BROKEN_PLAN
    say(f"{shown(str(arguments.file))} keeps every rule.\n")
    pairs(
        [
            (
                "total",
                format_duration(verdict.total_ns),
                f"{format_duration_exact(verdict.total_ns)} on the {plan.clock} clock",
            ),
            ("recomputed", f"{verdict.recompute_count:,}", ""),
            ("transferred", f"{verdict.transfer_count:,}", ""),
        ]
    )
    say()
    peaks = verdict.peak_bytes.items()
    table(["device", "peak", ""], [[name, format_size(peak), format_size_exact(peak)] for name, peak in peaks])
    return DONE


def _difference(data: Json, problem: Problem) -> str:
    """How the problem that a plan file carries is not `problem`, by its name and operators; limits may well differ."""
    own = data.get("problem") if isinstance(data, dict) else None
    if not isinstance(own, dict):
        return ""
    name, rows = own.get("name") or "", own.get("operators")
    if name != problem.name:
        return f"its own is {_named(name)}, not {_named(problem.name)}"
    names = [row.get("name") if isinstance(row, dict) else None for row in rows] if isinstance(rows, list) else []
    return "" if names == [operator.name for operator in problem.operators] else "its own has other operators"


def _named(name: object) -> str:
    return repr(name) if name else "without a name"
