"""The entry points: what is asked for is run, and whatever goes wrong is told in plain sentences."""

import contextlib
import os
import sys
import threading
import traceback
from collections.abc import Sequence

from xengine_gui.cli.arguments import parse
from xengine_gui.cli.output import end_answer, sentence, shown, tell
from xengine_gui.cli.status import BAD_INPUT, DONE, STOPPED
from xengine_gui.errors import InputError, PlannerError

_MOST_MISTAKES = 20


def main(argv: Sequence[str] | None = None) -> int:
    """Run `xengine` and give its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        status = _ended(_guarded(words))
    except SystemExit:  # by --help and --version
        if _ended(DONE) != DONE:
            raise SystemExit(BAD_INPUT) from None
        raise
    if any(thread.name == "planning" for thread in threading.enumerate()):
        # A solver that does not hear the stop would be torn down in the middle of its work.
        os._exit(status)
    return status


def _guarded(words: Sequence[str]) -> int:
    try:
        arguments = parse(words)
        status: int = arguments.run(arguments)
    except InputError as error:
        _tell_mistakes(error)
        return BAD_INPUT
    except PlannerError as error:
        tell(sentence(str(error)))
        return BAD_INPUT
    except KeyboardInterrupt:
        tell("Stopped.")
        return STOPPED
    except Exception as error:  # noqa: BLE001 - whatever happens, the user gets a sentence
        return _unexpected(error)
    return status


def _ended(status: int) -> int:
    """The status, once the whole answer is written; whoever stops reading early (head, less) has seen enough."""
    error = end_answer()
    if error is None or isinstance(error, BrokenPipeError):
        return status
    tell(f"cannot write to the standard output: {error.strerror or error}.")
    return BAD_INPUT


def _tell_mistakes(error: InputError) -> None:
    source = f"{shown(error.source)}: " if error.source else ""
    for mistake in error.mistakes[:_MOST_MISTAKES]:
        tell(sentence(f"{source}{mistake}"))
    if len(error.mistakes) > _MOST_MISTAKES:
        tell(f"{source}{len(error.mistakes) - _MOST_MISTAKES:,} more mistakes are not listed.")


def _unexpected(error: Exception) -> int:
    if os.environ.get("XENGINE_DEBUG"):
        tell("".join(traceback.format_exception(error)).rstrip())
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    tell(
        f"Something went wrong inside the planner ({shown(what)}); please report it with the command that you gave "
        "and what XENGINE_DEBUG=1 prints before this line."
    )
    return BAD_INPUT
