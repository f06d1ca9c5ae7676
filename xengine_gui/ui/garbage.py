"""When Python looks for garbage, a look stops every thread: here it is told where there is none to find."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def lasting_objects() -> Iterator[None]:
    """For what makes a great many objects that stay: they are not looked through for garbage, now or soon after."""
    gc.disable()
    try:
        yield
    finally:
        # Those looked at rarely take them in at once, which else would be one long look in the middle of something.
        gc.freeze()
        gc.unfreeze()
        gc.enable()
