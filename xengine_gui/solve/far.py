"""A function in a process of its own: it takes no time from this one, and can be ended at any moment."""

import contextlib
import multiprocessing
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from xengine_gui.errors import PlannerError, SolverProcessError

_POLL_S = 0.05
_Result = TypeVar("_Result")


def in_child(function: Callable[..., _Result], *args: object, stop: threading.Event) -> _Result | None:
    """What `function` (found by its module) gives for `args`; `None` where `stop` was set before.

    Raises what the function raises where that is for the user, and `SolverProcessError` where the process dies.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, function, args), name="far", daemon=True)
    process.start()
    there.close()
    try:
        while not here.poll(_POLL_S):
            if stop.is_set():
                return None
        kind, value = here.recv()
    except EOFError as error:
        process.join()
        raise SolverProcessError(f"the process died (exit status {process.exitcode})") from error
    finally:
        process.kill()
        process.join()
        here.close()
    if kind == "error":
        raise value
    result: _Result = value
    return result


def _serve(pipe: Connection, function: Callable[..., Any], args: tuple[object, ...]) -> None:
    try:
        answer = "result", function(*args)
    except PlannerError as error:
        answer = "error", error
    except Exception as error:  # noqa: BLE001 - whatever goes wrong, the other side has to hear of it
        answer = "error", SolverProcessError(f"this went wrong inside the planner: {type(error).__name__}: {error}")
    with contextlib.suppress(OSError):
        pipe.send(answer)
