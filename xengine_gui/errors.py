"""Errors that a user may see: each is one plain sentence that names the place and what to do."""

from collections.abc import Iterable


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


class SolverProcessError(PlannerError):
    """The solver's process died or could not be started."""
