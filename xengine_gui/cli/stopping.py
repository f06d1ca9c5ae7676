"""Ctrl-C: the first ends the work with what there is, the second leaves at once."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

from xengine_gui.cli.output import tell


@contextlib.contextmanager
def stopped_by_ctrl_c() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def hear(*interrupt: Any) -> None:
        if stop.is_set():
            signal.default_int_handler(*interrupt)
        tell("Stopping with what there is; press Ctrl-C again to leave at once.")
        stop.set()

    before = signal.signal(signal.SIGINT, hear)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
