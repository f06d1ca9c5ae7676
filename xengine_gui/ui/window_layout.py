"""Which panels of a window are open: remembered in its settings and in sessions, in words that last."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PanelLayout:
    """What the middle shows, which tab is open below, which sections on the left are folded; empty is as usual.

    Words that this version does not know are as usual too.
    """

    centre: str = ""
    below: str = ""
    folded: tuple[str, ...] = ()
