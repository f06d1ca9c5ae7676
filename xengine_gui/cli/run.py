"""The entry points: what is asked for is run, and whatever goes wrong is told in plain sentences."""

import contextlib
import os
import sys
import threading
import traceback
from collections.abc import Sequence

from xengine_gui.cli.arguments import COMMANDS, parse
from xengine_gui.cli.output import shown, tell
from xengine_gui.cli.status import BAD_INPUT, DONE, STOPPED
from xengine_gui.errors import InputError, PlannerError

_MOST_MISTAKES = 20


def main(argv: Sequence[str] | None = None) -> int:
    """Run `xengine` and give its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    status = _guarded(words)
    if any(thread.name == "planning" for thread in threading.enumerate()):
        # A solver that does not hear the stop would be torn down in the middle of its work.
        sys.stdout.flush()
        os._exit(status)
    return status


def main_window() -> int:
    """Run `xengine-gui`: the window, without a console; a sub-command is not looked for."""
    return main(["window", *sys.argv[1:]])


def _guarded(words: Sequence[str]) -> int:
    try:
        arguments = parse(words)
        status: int = arguments.run(arguments)
        sys.stdout.flush()
    except InputError as error:
        _tell_mistakes(error)
        return BAD_INPUT
    except PlannerError as error:
        tell(f"{shown(str(error)).rstrip('.')}.")
        return BAD_INPUT
    except BrokenPipeError:
        # Whoever read along (head, less) has seen enough; nothing must be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        tell("Stopped.")
        return STOPPED
    except Exception as error:  # noqa: BLE001 - whatever happens, the user gets a sentence
        return _unexpected(error)
    return status


def _tell_mistakes(error: InputError) -> None:
    source = f"{shown(error.source)}: " if error.source else ""
    for mistake in error.mistakes[:_MOST_MISTAKES]:
        tell(f"{source}{shown(mistake).rstrip('.')}.")
    if len(error.mistakes) > _MOST_MISTAKES:
        tell(f"{source}{len(error.mistakes) - _MOST_MISTAKES:,} more mistakes are not listed.")


def _unexpected(error: Exception) -> int:
    if os.environ.get("XENGINE_DEBUG"):
        traceback.print_exception(error)
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    tell(
        f"Something went wrong inside the planner ({shown(what)}); please report it with the command that you gave "
        "and what XENGINE_DEBUG=1 prints before this line."
    )
    return BAD_INPUT


__all__ = ["COMMANDS", "main", "main_window"]
