"""The commands, and the arguments of each."""

import argparse
from collections.abc import Callable

from xengine_gui.cli import values
from xengine_gui.cli.options import add_problem, add_problem_options, add_progress, add_sizes, add_strategies
from xengine_gui.model.plan import Clock
from xengine_gui.solve.objective import Objective


def _inspect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        metavar="GRAPH",
        type=values.file,
        help="a network (.onnx, .pt2, module.py:factory), a graph or a problem",
    )
    add_sizes(parser)
    parser.add_argument("--training", action="store_true", help="look at the whole training step")
    parser.add_argument("--optimizer", metavar="NAME", default="sgd", help="with --training: none, sgd, momentum, adam")
    parser.add_argument(
        "--time",
        metavar="S",
        type=values.seconds,
        default=1.0,
        help="seconds to look for the smallest limit; default: 1",
    )
    parser.add_argument("--json", action="store_true", help="print a JSON object, without the smallest limit")


def _plan(parser: argparse.ArgumentParser) -> None:
    add_problem(parser)
    _add_goal(parser)
    parser.add_argument(
        "--clock",
        choices=[str(clock) for clock in Clock],
        default=str(Clock.SERIAL),
        help="write the plan with one thing after the other, or with devices and links side by side; default: serial",
    )
    parser.add_argument("-o", "--output", metavar="PLAN", type=values.file, help="write the plan file")
    parser.add_argument(
        "--picture", metavar="FIG", type=values.file, help="draw the plan into a .svg, .png or .pdf file"
    )
    add_progress(parser)
    parser.add_argument(
        "--write-model",
        metavar="FILE",
        type=values.file,
        help="first write the strategy's model into a .lp or .mps file (checkmate, xengine and others that have one)",
    )
    parser.add_argument(
        "--model-form",
        choices=("linear", "quadratic"),
        default="linear",
        help="with --write-model: products of two binaries linearised, or as quadratic terms; default: linear",
    )


def _add_goal(parser: argparse.ArgumentParser) -> None:
    """By which strategy, of what as little as possible, how close to the best, and how long to look for it."""
    parser.add_argument(
        "--strategy", metavar="S", help="how to plan (see xengine strategies); default: optimal, or what a session says"
    )
    parser.add_argument(
        "--gap",
        metavar="R",
        type=values.ratio,
        help="stop at this proved distance, as 0.01 or 1%%; default: 0.1%%, demo 0.5%%",
    )
    parser.add_argument(
        "--time",
        metavar="S",
        type=values.seconds,
        default=argparse.SUPPRESS,  # absent means more than any number: see _options in cli.plan
        help="seconds to plan for, or none; default: 60, or 10 where 1%% is proved by then and --gap is not given",
    )
    parser.add_argument(
        "--objective",
        choices=[str(objective) for objective in Objective],
        help="what the plan is to have least of; energy needs devices and links with a power, and --strategy poet; "
        "default: time, or what a session says",
    )
    parser.add_argument(
        "--deadline",
        metavar="T",
        type=values.duration_ns,
        help="the most that the plan may take on the serial clock, as 2s or 150ms; needs --strategy poet",
    )


def _compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        metavar="GRAPH|PROBLEM|PLAN PLAN",
        type=values.file,
        nargs="*",
        help="a network or a problem file, planned by each strategy; or two plan files, to tell what differs",
    )
    add_problem_options(parser)
    add_strategies(parser, "all")
    add_progress(parser)
    parser.add_argument("--gap", metavar="R", type=values.ratio, help="stop at this proved distance; default: 0.1%%")
    parser.add_argument(
        "--time", metavar="S", type=values.seconds, default=30.0, help="seconds for each strategy, or none; default: 30"
    )
    parser.add_argument(
        "--in-process",
        action="store_true",
        help="plan in this process; by default a process of its own does, so that one strategy cannot end the others",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=values.file,
        help="write the figures (.csv, .json) or a picture (.svg, .png, .pdf); of two plans all changes (.csv, .json)",
    )


def _sweep(parser: argparse.ArgumentParser) -> None:
    add_problem(parser)
    _add_limits(parser)
    add_strategies(parser, "optimal")
    add_progress(parser)
    parser.add_argument("--gap", metavar="R", type=values.ratio, help="stop at this proved distance; default: 0.1%%")
    parser.add_argument(
        "--time", metavar="S", type=values.seconds, default=10.0, help="seconds for each plan, or none; default: 10"
    )
    parser.add_argument(
        "--workers",
        metavar="N",
        type=values.processes,
        help="processes that plan side by side, 0 for none; default: one per core",
    )
    parser.add_argument("--scheduler", metavar="ADDRESS", help="plan on the workers of this Dask scheduler instead")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=values.file,
        help="write the points (.csv, .json) or a picture (.svg, .png, .pdf)",
    )


def _add_limits(parser: argparse.ArgumentParser) -> None:
    """Which limits to sweep, from where to where."""
    size = "a size, or a share such as 40%% of what the whole graph would take on the device"
    parser.add_argument(
        "--device-limit", metavar="NAME", help="the device whose limit is swept; default: the only one with a limit"
    )
    parser.add_argument(
        "--from", metavar="SIZE", dest="from_", help=f"the smallest limit: {size}; default: what one operator takes"
    )
    parser.add_argument("--to", metavar="SIZE", help=f"the largest limit: {size}; default: 100%%")
    parser.add_argument(
        "--points", metavar="N", type=values.points, help="how many limits; default: 12, or 6 with a second device"
    )
    parser.add_argument(
        "--second-device", metavar="NAME", help="sweep the limit of this device too: a total for each pair of limits"
    )
    parser.add_argument("--second-from", metavar="SIZE", help="the smallest limit of the second device")
    parser.add_argument("--second-to", metavar="SIZE", help="the largest limit of the second device")
    parser.add_argument(
        "--second-points", metavar="N", type=values.points, default=6, help="how many of them; default: 6"
    )


def _problem(parser: argparse.ArgumentParser) -> None:
    add_problem(parser)
    parser.add_argument("-o", "--output", metavar="PROBLEM", type=values.file, required=True, help="the file to write")


def _verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="PLAN", type=values.file, help="a plan file")
    parser.add_argument(
        "problem", metavar="PROBLEM", type=values.file, nargs="?", help="judge it against this problem file"
    )
    parser.add_argument("--all", action="store_true", help="list every rule that is broken, not only the first 20")


def _render(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="PLAN", type=values.file, help="a plan file, or a session (.xengine) with a plan"
    )
    parser.add_argument(
        "-o", "--output", metavar="FIG", type=values.file, required=True, help="the picture: .svg, .png or .pdf"
    )
    parser.add_argument("--width", metavar="PIXELS", type=values.width, default=1600, help="default: 1600")
    parser.add_argument("--height", metavar="PIXELS", type=values.height, help="default: as high as the devices need")
    parser.add_argument(
        "--clock", choices=[str(clock) for clock in Clock], help="put the plan on this clock; default: the file's own"
    )
    parser.add_argument("--theme", choices=("light", "dark"), default="light", help="default: light")
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--memory", action="store_true", help="draw the memory of each device alone")
    part.add_argument("--graph", action="store_true", help="draw the graph in place of the timeline, in its own size")


def _export(parser: argparse.ArgumentParser) -> None:
    from xengine_gui.schedule.export import EXPORTERS  # noqa: PLC0415 - brings numpy, which other commands do without

    parser.add_argument(
        "file", metavar="PLAN", type=values.file, help="a plan file, or a session (.xengine) with a plan"
    )
    kinds = ", ".join(f"{'/'.join(one.suffixes[:2])} ({one.title})" for one in EXPORTERS)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=values.file,
        required=True,
        help=f"the file, whose suffix says what it is: {kinds}, .svg, .png or .pdf (picture)",
    )
    keys = [one.key for one in EXPORTERS]
    parser.add_argument(
        "--format", metavar="KEY", choices=keys, help=f"what to write whatever the suffix: {', '.join(keys)}"
    )
    parser.add_argument(
        "--clock", choices=[str(clock) for clock in Clock], help="put the plan on this clock; default: the file's own"
    )
    parser.add_argument(
        "--separator", choices=("comma", "semicolon", "tab"), default="comma", help="of CSV columns; default: comma"
    )
    parser.add_argument("--bom", action="store_true", help="begin a CSV file with a byte order mark, as Excel wants it")


def _profile(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="GRAPH", type=values.file, help="a network (.onnx, .pt2, module.py:factory)")
    parser.add_argument(
        "--runs", metavar="N", type=values.count, default=15, help="samples of each operator; default: 15"
    )
    parser.add_argument(
        "--threads", metavar="N", type=values.processes, default=0, help="default: 0, which is one per core"
    )
    parser.add_argument(
        "--processor-time",
        action="store_true",
        help="count the time that one thread has the processor, not the wall clock: for a machine with other work",
    )
    parser.add_argument(
        "--device",
        metavar="NAME",
        type=values.name,
        default="cpu",
        help="what the device is called in the table; default: cpu",
    )
    parser.add_argument("--inference", action="store_true", help="measure one forward pass, not a training step")
    parser.add_argument(
        "--optimizer", metavar="NAME", default="sgd", help="what training keeps per weight: none, sgd, momentum, adam"
    )
    add_sizes(parser)
    add_progress(parser)
    parser.add_argument("-o", "--output", metavar="FILE.csv", type=values.file, help="write the table, for --costs")


def _devices(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sources", action="store_true", help="say where each figure comes from")


def _strategies(_parser: argparse.ArgumentParser) -> None:
    pass


def _window(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", metavar="FILE", type=values.file, nargs="*", help="networks, problems and plans to open"
    )
    parser.add_argument("--demo", action="store_true", help="open a bundled network and plan it at once")


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "inspect": ("tell the sizes of a network, and its peak without recomputation", _inspect),
    "plan": ("plan a network or a problem file, and tell what the plan costs", _plan),
    "compare": ("plan with several strategies side by side, or tell what differs between two plans", _compare),
    "sweep": ("plan over a range of limits of a device, or of two: what would more memory buy?", _sweep),
    "profile": ("measure what each operator takes on this machine's processor", _profile),
    "problem": ("write a network with its devices as a problem file", _problem),
    "verify": ("judge a plan file by every rule", _verify),
    "render": ("draw a plan file without a window", _render),
    "export": ("write a plan file for Perfetto, a spreadsheet, pytorch.org/memory_viz or a browser", _export),
    "devices": ("list the device presets", _devices),
    "strategies": ("list the ways of planning", _strategies),
    "window": ("open the window (as does xengine alone)", _window),
}
