"""Finds operators and tensors by a part of their name or kind, the best first."""

from collections.abc import Sequence
from dataclasses import dataclass

from xengine_gui.language import tr
from xengine_gui.model.problem import Problem
from xengine_gui.ui.search_popup import Entry
from xengine_gui.ui.selection import Kind, Selection
from xengine_gui.ui.timeline.details import printable
from xengine_gui.units import format_size

_MOST_FOUND = 200
_NO_MATCH = 9


def rank(text: str, query: str) -> int:
    """How well a text matches a query, both casefolded: 0 the very same … 3 somewhere in it, 4 its letters in order."""
    place = text.find(query)
    if place == 0:
        return 0 if len(text) == len(query) else 1
    if place > 0:
        return 2 if not text[place - 1].isalnum() else 3
    letters = iter(text)
    return 4 if all(letter in letters for letter in query) else _NO_MATCH


@dataclass(frozen=True, slots=True)
class _Thing:
    name: str
    words: str
    hint: str
    kind: Kind


class NameSearch:
    """All names of a problem, ready to be searched as somebody types."""

    def __init__(self, problem: Problem | None) -> None:
        self._things: list[_Thing] = []
        if problem is None:
            return
        self._things += [
            _Thing(
                o.name,
                f"{o.kind} {o.phase.value}".casefold(),
                tr("operator · {kind} · {value}", kind=o.kind, value=o.phase.value),
                Kind.OPERATOR,
            )
            for o in problem.operators
        ]
        self._things += [
            _Thing(t.name, "", tr("tensor · {size_bytes}", size_bytes=format_size(t.size_bytes)), Kind.TENSOR)
            for t in problem.tensors
        ]
        self._folded = [thing.name.casefold() for thing in self._things]

    def find(self, text: str) -> Sequence[Entry]:
        """What matches a text, the best matches and the shortest names first; operators before tensors."""
        query = text.casefold()
        if not query or not self._things:
            return ()
        found = []
        for i, (thing, folded) in enumerate(zip(self._things, self._folded, strict=True)):
            quality = rank(folded, query)
            if quality > 3 and query in thing.words:
                quality = 3
            if quality < _NO_MATCH:
                found.append((quality, thing.kind is Kind.TENSOR, len(folded), i))
        found.sort()
        if found and found[0][0] < 4:
            # Letters that only stand somewhere in order are for when nothing better is there.
            found = [row for row in found if row[0] < 4]
        return [self._entry(self._things[row[-1]]) for row in found[:_MOST_FOUND]]

    @staticmethod
    def _entry(thing: _Thing) -> Entry:
        return Entry(printable(thing.name), thing.hint, Selection(thing.kind, thing.name))
