"""An edit on the undo stack: from one state of the work to another."""

from collections.abc import Callable

from PySide6.QtGui import QUndoCommand

from xengine_gui.ui.work import Work


class Change(QUndoCommand):
    """One edit; edits of one gesture (a number other than 0) become one step."""

    def __init__(self, text: str, old: Work, new: Work, put: Callable[[Work], None], gesture: int = 0) -> None:
        super().__init__(text)
        self.old, self.new, self._put, self._gesture = old, new, put, gesture

    def id(self) -> int:
        """Edits of one gesture have one number."""
        return self._gesture or -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        """Go on with the gesture; one that ends where it began has changed nothing."""
        if not isinstance(other, Change):
            return False
        self.new = other.new
        self.setObsolete(self.new is self.old)
        return True

    def redo(self) -> None:
        """Put on what is new."""
        self._put(self.new)

    def undo(self) -> None:
        """Go back to what was there before."""
        self._put(self.old)
