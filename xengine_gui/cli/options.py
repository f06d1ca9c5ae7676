"""The options that several commands share."""

import argparse

from xengine_gui.cli import values

_DEVICE_HELP = (
    "a device to plan for, made from a preset (see xengine devices); limit is a size, or a share such as 40%% of what "
    "the whole graph would take on that device; may be given several times"
)


def add_sizes(parser: argparse.ArgumentParser) -> None:
    """Values of free dimensions, sizes, and the meaning of a foreign graph's attributes."""
    parser.add_argument("--batch", metavar="N", type=values.count, help="the batch size")
    parser.add_argument(
        "--bind",
        metavar="NAME=N",
        type=values.binding,
        action="append",
        default=[],
        help="the value of a symbolic dimension",
    )
    parser.add_argument(
        "--size",
        metavar="NAME=SIZE",
        type=values.named_size,
        action="append",
        default=[],
        help="the bytes of a tensor without any",
    )
    parser.add_argument(
        "--map",
        metavar="FIELD=KEY[:UNIT]",
        type=values.field,
        action="append",
        default=[],
        help="the attribute of a graph's nodes that holds a field (time, size, workspace, backward, …) and "
        "the unit of its numbers, as in --map size=mem:MiB --map time=cost:us",
    )
    parser.add_argument(
        "--default",
        metavar="FIELD=VALUE",
        type=values.field_default,
        action="append",
        default=[],
        help="what nodes without a value for a field get, as in --default time=1ms",
    )


def add_strategies(parser: argparse.ArgumentParser, default: str) -> None:
    """The strategies to plan with."""
    parser.add_argument(
        "--strategies",
        "--strategy",
        metavar="A,B,…",
        default=default,
        help=f"how to plan (see xengine strategies), or all; default: {default}",
    )


def add_problem(parser: argparse.ArgumentParser) -> None:
    """A file, and how its problem is made."""
    parser.add_argument(
        "file",
        metavar="GRAPH|PROBLEM",
        type=values.file,
        nargs="?",
        help="a network, a problem file or a session (.xengine)",
    )
    add_problem_options(parser)


def add_problem_options(parser: argparse.ArgumentParser) -> None:
    """Devices, limits, costs and the rest of what makes a problem."""
    parser.add_argument("--device", metavar="NAME=PRESET[,limit=SIZE]", action="append", default=[], help=_DEVICE_HELP)
    parser.add_argument(
        "--limit",
        metavar="NAME=SIZE",
        action="append",
        default=[],
        help="another memory limit for a device, also in a problem file: a size, a share such as 40%%, or none",
    )
    parser.add_argument(
        "--link",
        metavar="A:B=BUS|RATE[,LATENCY]",
        action="append",
        default=[],
        help="what both directions between two devices carry: a bus (see xengine devices) or figures such as "
        "24GB/s,10us; may be given several times",
    )
    parser.add_argument("--inference", action="store_true", help="plan one forward pass instead of a training step")
    parser.add_argument(
        "--optimizer", metavar="NAME", help="what training keeps per weight: none, sgd (default), momentum, adam"
    )
    parser.add_argument("--demo", action="store_true", help="take the bundled demo instead of a file")
    parser.add_argument(
        "--implementations",
        action="store_true",
        help="let the plan choose each convolution's algorithm: faster ones take workspace (a network's problem grows)",
    )
    parser.add_argument(
        "--costs",
        metavar="FILE.csv",
        type=values.file,
        action="append",
        default=[],
        help="measured times (see xengine profile) in place of modelled ones; may be given several times",
    )
    add_sizes(parser)


def add_progress(parser: argparse.ArgumentParser) -> None:
    """Whether to tell on the standard error how far it is."""
    parser.add_argument(
        "--progress", action="store_true", help="tell on stderr how far it is; at a terminal that is done anyway"
    )
