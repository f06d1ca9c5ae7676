"""`xengine render`: the window's picture of a plan, without a window."""

import argparse
import os
from pathlib import Path
from typing import Literal

from xengine_gui.cli.inputs import check_picture
from xengine_gui.cli.output import say, shown
from xengine_gui.cli.plans import verified_plan
from xengine_gui.cli.qt import qt_errors_told
from xengine_gui.cli.status import DONE
from xengine_gui.model.plan import Plan


def run(arguments: argparse.Namespace) -> int:
    """Draw the plan file."""
    check_picture(arguments.output)
    plan = verified_plan(arguments.file, arguments.clock, done="drawn", to_do="draw")
    if arguments.graph:
        draw_graph(plan, arguments.output, theme=arguments.theme)
    else:
        draw(
            plan,
            arguments.output,
            width=arguments.width,
            height=arguments.height,
            theme=arguments.theme,
            memory_alone=arguments.memory,
        )
    say(f"The picture is in {shown(str(arguments.output))}.")
    return DONE


def draw(
    plan: Plan,
    path: Path,
    *,
    width: int = 1600,
    height: int | None = None,
    theme: Literal["light", "dark"] = "light",
    memory_alone: bool = False,
) -> None:
    """Draw a plan into a picture file; no display is needed."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    with qt_errors_told():
        from xengine_gui.ui.picture import render_picture  # noqa: PLC0415
    render_picture(plan, path, width=width, height=height, theme=theme, memory_alone=memory_alone)


def draw_graph(plan: Plan, path: Path, *, theme: Literal["light", "dark"] = "light") -> None:
    """Draw the graph of a plan into a picture file; no display is needed."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    with qt_errors_told():
        from xengine_gui.ui.graph_view.picture import render_graph  # noqa: PLC0415
    render_graph(plan, path, theme=theme)
