"""`xengine export`: a plan in the files of other tools."""

import argparse
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from xengine_gui import planner
from xengine_gui.cli.inputs import check_writable
from xengine_gui.cli.output import say, shown, tell
from xengine_gui.cli.plans import verified_plan
from xengine_gui.cli.qt import qt_errors_told
from xengine_gui.cli.status import DONE
from xengine_gui.errors import InputError, PlannerError
from xengine_gui.model.plan import Plan
from xengine_gui.schedule.export import Exporter, ExportOptions, export_remarks, exporter, exporter_for, write_export
from xengine_gui.units import format_size

_PICTURES = (".svg", ".png", ".pdf")
_SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}


def run(arguments: argparse.Namespace) -> int:
    """Export the plan file."""
    output: Path = arguments.output
    check_writable(output)
    drawn = arguments.format is None and output.suffix.lower() in _PICTURES
    one = None if drawn else _exporter(arguments.format, output)
    plan = verified_plan(arguments.file, arguments.clock, done="exported", to_do="export")
    if one is None:
        from xengine_gui.cli.render import draw  # noqa: PLC0415 - Qt is loaded only for a picture

        draw(plan, output)
        say(f"The picture is in {shown(str(output))}.")
        return DONE
    options = ExportOptions(separator=_SEPARATORS[arguments.separator], byte_order_mark=arguments.bom)
    if one.key == "report":
        unlimited_total_ns = planner.unlimited_total_ns(plan.problem)
        options = replace(options, pictures=_pictures(plan), unlimited_total_ns=unlimited_total_ns)
    write_export(plan, output, one, options)
    size = f" ({format_size(output.stat().st_size)})" if output.is_file() else ""
    say(f"{one.title}: {shown(str(output))}{size}{f', on the {plan.clock} clock' if one.timed else ''}.")
    for remark in export_remarks(plan, one):
        say(remark)
    return DONE


def _exporter(key: str | None, output: Path) -> Exporter:
    if key is not None:
        return exporter(key)
    try:
        return exporter_for(output)
    except InputError as error:
        mistakes = [f"{mistake}, and {', '.join(_PICTURES)} for a picture" for mistake in error.mistakes]
        raise InputError(error.source, mistakes) from None


def _pictures(plan: Plan) -> Mapping[str, str]:
    """The picture in both themes; where Qt cannot be loaded, a report without one is better than none."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    try:
        with qt_errors_told():
            from xengine_gui.ui.picture import picture_svg  # noqa: PLC0415
        return {"light": picture_svg(plan, theme="light"), "dark": picture_svg(plan, theme="dark")}
    except PlannerError as error:
        tell(f"The report has no picture: {shown(str(error)).rstrip('.')}.")
        return {}
