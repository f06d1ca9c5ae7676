"""The words of the command line, and what they are read into."""

import argparse
import importlib
from collections.abc import Callable, Sequence
from typing import NoReturn

import xengine_gui
from xengine_gui.cli.commands import COMMANDS
from xengine_gui.cli.output import say
from xengine_gui.errors import InputError, did_you_mean

_EPILOG = """\
Sizes are written as 8GiB, 900MB or 8G (read as 8 GiB). Exit status: 0 done, 1 a plan that breaks a rule,
2 bad input, 3 proved infeasible, 4 no plan within the time.
"""


class _Parser(argparse.ArgumentParser):
    """Tells a mistake in one sentence, not with the whole usage."""

    def error(self, message: str) -> NoReturn:
        raise InputError("", f"{message} (see {self.prog} --help)")

    def _print_message(self, message: str, file: object = None) -> None:  # noqa: ARG002 - help and version alone
        say(message.rstrip("\n"))


def _later(module: str) -> Callable[[argparse.Namespace], int]:
    """A command that is loaded only when it is run."""

    def run(arguments: argparse.Namespace) -> int:
        status: int = importlib.import_module(f"xengine_gui.cli.{module}").run(arguments)
        return status

    return run


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The arguments of a command, or of the window where none is named; their `run` takes them and gives a status."""
    if words and words[0] in {"-h", "--help", "--version"}:
        return _command_parser("")[0].parse_args(words[:1])
    if not words or words[0] not in COMMANDS:
        words = ["window", *words]
    parser, options = _command_parser(words[0])
    arguments, others = parser.parse_known_args(words)
    if others:
        raise InputError("", _not_understood(others[0], options, words[0]))
    return arguments


def _not_understood(word: str, options: Sequence[str], command: str) -> str:
    see = f"see xengine {command} --help"
    if not word.startswith("-"):
        return f"{word!r} is one argument too many ({see})"
    option = word.partition("=")[0]
    guess = did_you_mean(option, options)
    return f"xengine {command} has no option {option}{guess or f' ({see})'}"


def _command_parser(chosen: str) -> tuple[argparse.ArgumentParser, list[str]]:
    """The parser of all commands, of which only the chosen one has its arguments, and the options of that one."""
    parser = _Parser(
        prog="xengine",
        description="Plans networks on devices that are too small for them. Without a command, opens the window.",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"xengine {xengine_gui.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", title="commands", required=True)
    options: list[str] = []
    for name, (summary, add) in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary, epilog=_EPILOG)
        command.set_defaults(run=_later(name))
        if name == chosen:
            add(command)
            options = [option for action in command._actions for option in action.option_strings]  # noqa: SLF001
    return parser, options
