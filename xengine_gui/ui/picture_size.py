"""How large a picture may be; without Qt, so that the command line can tell it before anything is loaded."""

LEAST_WIDTH_PIXELS = 320
MOST_PIXELS = 30_000
"""The most in either direction."""
