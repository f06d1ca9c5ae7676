"""Errors that a user may see: each is one plain sentence that names the place and what to do."""

from collections.abc import Iterable

_MOST_MEANT = 3
_FEW = 8
"""Up to so many names are listed."""


class PlannerError(Exception):
    """Anything that goes wrong in a way that is worth telling the user."""


class InputError(PlannerError):
    """A file, a field or an option that cannot be used; the text names it and says why.

    All mistakes of one input are told together; `mistakes` has one sentence each.
    """

    def __init__(self, source: str, mistakes: Iterable[str] | str) -> None:
        self.source = source
        self.mistakes = (mistakes,) if isinstance(mistakes, str) else tuple(mistakes)
        super().__init__(f"{source}: {'; '.join(self.mistakes)}" if source else "; ".join(self.mistakes))

    def __reduce__(self) -> tuple[type["InputError"], tuple[str, tuple[str, ...]]]:
        return InputError, (self.source, self.mistakes)


class BatchBoundError(InputError):
    """A batch is given, and another length of the dimension that is the batch, whose name is `symbol`."""

    def __init__(self, source: str, batch: int, symbol: str, length: int) -> None:
        self.symbol = symbol
        super().__init__(source, f"the batch is {batch}, but {symbol!r}, which is the batch, is bound to {length}")


class SolverProcessError(PlannerError):
    """The solver's process died or could not be started."""


def unknown_name(what: str, name: str, known: Iterable[str], where: str = "") -> str:
    """The sentence on a name that there is not: which one was probably meant, or else which there are.

    `where` tells in a few words where all of them are listed; they are told here where they are few.
    """
    names = list(known)
    guess = did_you_mean(name, names)
    if guess:
        return f"there is no {what} {name!r}{guess}{f' {where}' if where else ''}"
    if len(names) > _FEW and where:
        return f"there is no {what} {name!r}; {where}"
    more = f" and {len(names) - _FEW:,} more" if len(names) > _FEW else ""
    there = "there is only" if len(names) == 1 else "there are"
    return f"there is no {what} {name!r}; {there} {', '.join(names[:_FEW])}{more}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a sentence on an unknown name: what was probably meant, empty where nothing is like it."""
    import difflib  # noqa: PLC0415 - for a mistake alone

    names = {one.lower(): one for one in known}
    word = name.strip().lower()
    near = [word] if word in names else difflib.get_close_matches(word, names, 2, 0.7)
    near = near or [one for one in names if len(word) > 2 and word in one][:_MOST_MEANT]
    return f"; did you mean {' or '.join(repr(names[one]) for one in near)}?" if near else ""
