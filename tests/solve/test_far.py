"""A function in a process of its own."""

import math
import os
import threading
import time

import pytest

from xengine_gui.errors import InputError, SolverProcessError
from xengine_gui.model.json_file import read_bytes
from xengine_gui.solve.far import in_child


def test_it_gives_what_the_function_gives_in_another_process() -> None:
    assert in_child(math.gcd, 12, 18, stop=threading.Event()) == 6
    assert in_child(os.getpid, stop=threading.Event()) != os.getpid()


def test_a_mistake_of_the_user_comes_through_and_a_fault_is_told() -> None:
    from pathlib import Path  # noqa: PLC0415

    with pytest.raises(InputError, match=r"nothing\.here"):
        in_child(read_bytes, Path("nothing.here"), 4, stop=threading.Event())
    with pytest.raises(SolverProcessError, match="ZeroDivisionError"):
        in_child(divmod, 1, 0, stop=threading.Event())


def test_a_process_that_dies_is_told() -> None:
    with pytest.raises(SolverProcessError, match="exit status 3"):
        in_child(os._exit, 3, stop=threading.Event())


def test_a_stop_ends_it_at_once() -> None:
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    assert in_child(time.sleep, 600, stop=stop) is None
