"""From the words of the command line to the problem that they mean."""

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from xengine_gui import planner
from xengine_gui.cli.links import parse_link, with_asked_links
from xengine_gui.cli.output import shown, tell
from xengine_gui.cost import DeviceChoice, device_preset, with_measured
from xengine_gui.errors import InputError
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.model.limits import tiny_limits
from xengine_gui.model.plan import Plan
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.peak import one_device_peak_bytes
from xengine_gui.session import SUFFIX, Session, read_session
from xengine_gui.units import format_size, parse_size_bytes

_SHARE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")


def asked_session(arguments: argparse.Namespace) -> Session | None:
    """The session that is given instead of a network or a problem."""
    path: Path | None = arguments.file
    return read_session(path) if path is not None and path.suffix.lower() == SUFFIX else None


@dataclass(frozen=True, slots=True)
class Limit:
    """A memory limit as it is written: a size, a share of what the graph takes on the device, or none at all."""

    device: str
    text: str

    def bytes_in(self, problem: Problem) -> int | None:
        """The limit in bytes for this problem."""
        if self.text.strip().lower() in {"none", "unlimited"}:
            return None
        share = _SHARE.fullmatch(self.text)
        if share is not None:
            return int(one_device_peak_bytes(problem, self.device) * Decimal(share[1]) / 100)
        try:
            return parse_size_bytes(self.text)
        except InputError as error:
            raise InputError(f"limit of {self.device}", error.mistakes) from None


def asked_problem(arguments: argparse.Namespace) -> Problem:
    """The problem of a command: a file or the demo, on the devices and under the limits that are asked for."""
    devices = [parse_device(text) for text in arguments.device]
    choices = [choice for choice, _ in devices]
    links = [parse_link(text) for text in arguments.link]
    arguments.is_of_network = False
    limits = [limit for _, given in devices for limit in given] + [parse_limit(text) for text in arguments.limit]
    problem = _demo(arguments, choices) if arguments.demo else _from_file(arguments, choices)
    problem = with_asked_links(with_measured(problem, arguments.costs), links)
    for limit in limits:
        problem = problem.with_limit(limit.device, limit.bytes_in(problem))
    if not choices and arguments.is_of_network:
        given = (f"{c.name}={c.preset} ({_memory(c)})" for c in planner.DEFAULT_DEVICES)
        tell(f"No device is given, so the plan is for {', '.join(given)}; choose others with --device.")
    if limits or not arguments.is_of_network:  # what a preset has is no slip
        for sentence in tiny_limits(problem):
            tell(f"{shown(sentence)}.")
    return problem


def _memory(choice: DeviceChoice) -> str:
    return format_size(device_preset(choice.preset).memory_bytes)


def asked_mapping(arguments: argparse.Namespace) -> dict[str, str]:
    """Which attributes of a graph are which fields, and what nodes without them get."""
    return {**dict(arguments.map), **dict(arguments.default)}


def parse_device(text: str) -> tuple[DeviceChoice, list[Limit]]:
    """A device such as `gpu=rtx-4090,limit=8GiB`, and its limit where it has one."""
    name, equals, rest = text.partition("=")
    preset, *options = rest.split(",")
    if not equals or not name.strip() or not preset.strip():
        raise InputError(f"--device {text}", "is not of the form NAME=PRESET or NAME=PRESET,limit=SIZE")
    limits: list[Limit] = []
    for option in options:
        word, equals, value = option.partition("=")
        if word.strip() != "limit" or not equals or not value.strip():
            raise InputError(f"--device {text}", f"{option!r} is not of the form limit=SIZE")
        if limits:
            raise InputError(f"--device {text}", "gives the limit twice")
        limits.append(Limit(name.strip(), value))
    device_preset(preset.strip())
    return DeviceChoice(name.strip(), preset.strip()), limits


def parse_limit(text: str) -> Limit:
    """A limit such as `gpu=8GiB`; the name may hold an equals sign, the size cannot."""
    name, equals, size = text.rpartition("=")
    if not equals or not name.strip() or not size.strip():
        raise InputError(f"--limit {text}", "is not of the form NAME=SIZE")
    return Limit(name.strip(), size)


def _demo(arguments: argparse.Namespace, choices: Sequence[DeviceChoice]) -> Problem:
    if arguments.file is not None or choices:
        raise InputError("--demo", "brings its own network and devices; leave out the file and --device")
    _refuse_setup(arguments, choices, "the demo", source="--demo")
    return planner.DEMO.problem()


def _from_file(arguments: argparse.Namespace, choices: Sequence[DeviceChoice]) -> Problem:
    if arguments.file is None:
        raise InputError("", "no file is given: name a network or a problem file, or take --demo")
    bindings = dict(arguments.bind)
    session = asked_session(arguments)
    if session is not None:
        _refuse_setup(arguments, choices, "a session with its own devices and sizes")
        return session.problem()
    opened = planner.open_file(
        arguments.file, batch=arguments.batch, bindings=bindings, mapping=asked_mapping(arguments),
        sizes=dict(arguments.size),
    )  # fmt: skip
    if isinstance(opened, NetworkGraph):
        arguments.is_of_network = True
        return _of_network(arguments, opened, choices)
    _refuse_setup(arguments, choices, "a problem with its own devices and sizes")
    return opened.problem if isinstance(opened, Plan) else opened


def _refuse_setup(
    arguments: argparse.Namespace, choices: Sequence[DeviceChoice], what: str, *, source: str = ""
) -> None:
    """Refuse options that make a problem of a network, where the problem is given: they would change nothing."""
    is_problem = what.startswith("a problem")
    for given, option in (
        (choices, "--device"),
        (arguments.batch, "--batch"),
        (arguments.bind, "--bind"),
        (arguments.inference, "--inference"),
        (arguments.optimizer is not None, "--optimizer"),
        (arguments.implementations, "--implementations"),
        (not is_problem and (arguments.size or asked_mapping(arguments)), "--size, --map or --default"),
    ):
        if given:
            raise InputError(source or str(arguments.file), f"is {what}, so {option} has no meaning")


def _of_network(arguments: argparse.Namespace, network: NetworkGraph, choices: Sequence[DeviceChoice]) -> Problem:
    if not choices:
        choices = planner.DEFAULT_DEVICES
    _refuse_repeated([choice.name for choice in choices])
    return planner.make_problem(
        network,
        choices,
        training=not arguments.inference,
        optimizer="sgd" if arguments.optimizer is None else arguments.optimizer,
        implementations=arguments.implementations,
    )


def _refuse_repeated(names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError("--device", f"the name {name!r} is given twice")


def check_writable(path: Path | None) -> None:
    """Refuse an output file that cannot be, before any time is spent on what goes into it."""
    if path is None:
        return
    if path.is_dir():
        raise InputError(str(path), "cannot be written: it is a folder")
    if not path.resolve().parent.is_dir():
        raise InputError(str(path), "cannot be written: its folder does not exist")
    # A file is written beside its place and then moved there; a device, such as /dev/stdout, is written to itself.
    target = path if path.exists() and not path.is_file() else path.resolve().parent
    if not os.access(target, os.W_OK):
        raise InputError(str(path), "cannot be written: that is not allowed there")


def check_picture(path: Path | None) -> None:
    """Refuse a picture of a kind that is not drawn."""
    if path is not None and path.suffix.lower() not in {".svg", ".png", ".pdf"}:
        raise InputError(str(path), "pictures are drawn into .svg, .png and .pdf files")
    check_writable(path)
