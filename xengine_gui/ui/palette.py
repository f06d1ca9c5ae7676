"""Every command of the window by its name: those of the table of actions, and the entries of its sub-menus."""

from collections.abc import Iterator, Mapping, Sequence

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

from xengine_gui.ui.search import rank
from xengine_gui.ui.search_popup import Entry

_NO_MATCH = 9


class Commands:
    """Finds commands. `actions` has all of them by key, `menus` the sub-menus, which may be filled anew at any time."""

    def __init__(self, actions: Mapping[str, QAction], menus: Mapping[str, QMenu]) -> None:
        self._actions, self._menus = actions, menus

    def find(self, text: str) -> Sequence[Entry]:
        """The commands that match, the best first; without a text all of them, those of the table first."""
        query = text.casefold()
        found = []
        for i, (title, action) in enumerate(self._all()):
            quality = _quality(title.casefold(), action.toolTip().casefold(), query)
            if quality < _NO_MATCH:
                found.append((not action.isEnabled(), quality, i, title, action))
        found.sort(key=lambda row: row[:3])
        return [Entry(title, _hint(action), action, action.isEnabled()) for *_, title, action in found]

    def _all(self) -> Iterator[tuple[str, QAction]]:
        for action in self._actions.values():
            yield _plain(action.text()), action
        for menu in self._menus.values():
            for action in menu.actions():
                if not action.isSeparator() and action.text():
                    yield f"{_plain(menu.title())}: {_plain(action.text())}", action


def run(action: QAction) -> None:
    """Do what was chosen."""
    action.trigger()


def _quality(title: str, tip: str, query: str) -> int:
    if not query:
        return 0
    words = query.split()
    if all(word in title for word in words):
        return min(rank(title, query), 3)
    if all(word in f"{title} {tip}" for word in words):
        return 4
    return 5 if rank(title, query) < _NO_MATCH else _NO_MATCH


def _hint(action: QAction) -> str:
    keys = ", ".join(s.toString(QKeySequence.SequenceFormat.NativeText) for s in action.shortcuts())
    mark = "✓" if action.isCheckable() and action.isChecked() else ""
    return "   ".join(filter(None, (mark, keys)))


def _plain(text: str) -> str:
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&").rstrip("…")
