"""Lines above the timeline that offer to take up lost work, and to read a changed file again."""

from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QObject

from xengine_gui.language import tr
from xengine_gui.ui.panels.message_bar import MessageBar
from xengine_gui.ui.session_keeper import SessionKeeper
from xengine_gui.ui.session_store import Leftover


class SessionBars(QObject):
    """Each bar is there only while it has something to offer; closing one refuses the offer for now."""

    def __init__(self, keeper: SessionKeeper) -> None:
        super().__init__(keeper)
        self._keeper = keeper
        self._leftover: Leftover | None = None
        self.restore = MessageBar("restore-bar", closable=True, inset=True)
        self.restore.button_clicked.connect(self._restore)
        self.reload = MessageBar("reload-bar", closable=True, inset=True)
        self.reload.button_clicked.connect(self._reload)
        keeper.file_changed.connect(self._file_changed)
        keeper.state_changed.connect(self._forget_change)

    def offer_leftover(self) -> None:
        """Offer the latest work of a window that is gone, if there is any."""
        leftovers = self._keeper.leftovers()
        if not leftovers:
            return
        self._leftover = latest = leftovers[0]
        how = tr("The window ended") if latest.crashed else tr("The window was closed")
        more = tr(" There is more from {leftovers} other.", leftovers=len(leftovers) - 1) if len(leftovers) > 1 else ""
        sentence = tr(
            "{how} before your work on {name} was saved, {when}.{more}",
            how=how,
            name=latest.name,
            when=_when(latest.when),
            more=more,
        )
        self.restore.show_message(sentence, "warning", button=tr("Restore"))

    def _restore(self) -> None:
        self.restore.hide()
        if self._leftover is not None:
            self._keeper.restore(self._leftover)
            self._leftover = None

    def _file_changed(self, path: Path) -> None:
        self.reload.show_message(tr("{name} has changed on disk.", name=path.name), "warning", button=tr("Reload"))

    def _reload(self) -> None:
        self.reload.hide()
        self._keeper.reload()

    def _forget_change(self) -> None:
        if not self._keeper.file_has_changed:
            self.reload.hide()


def _when(moment: datetime) -> str:
    """A moment as people say it: today by the clock, earlier with the day."""
    now = datetime.now(moment.tzinfo)
    if moment.date() == now.date():
        return tr("today at {moment:%H:%M}", moment=moment)
    return tr("on {moment:%Y-%m-%d} at {moment:%H:%M}", moment=moment)
