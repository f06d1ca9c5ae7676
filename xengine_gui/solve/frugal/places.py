"""Sets of places (device * N + tensor) as integers, bit by bit."""

from collections.abc import Iterator, Sequence


def bits(mask: int) -> Iterator[int]:
    """The places of a set, in order."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def mask_of(places: Sequence[int]) -> int:
    """The set of some places."""
    mask = 0
    for place in places:
        mask |= 1 << place
    return mask
