"""The links of what is open, shown and edited on the left."""

from PySide6.QtCore import QObject

from xengine_gui.ui.document import Document
from xengine_gui.ui.panels.links import LinksPanel, Shown
from xengine_gui.ui.work import default_links


class LinkEditing(QObject):
    """Between the panel of links and the document: whatever is edited can be undone, and is planned anew."""

    def __init__(self, document: Document, panel: LinksPanel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document, self._panel = document, panel
        document.work_changed.connect(self._show)
        panel.links_edited.connect(document.set_links)
        panel.reset_asked.connect(document.reset_links)
        self._show()

    def _show(self) -> None:
        work, devices = self._document.work, self._document.setup.devices
        if work is None:
            self._panel.show_links(Shown(tuple(d.name for d in devices), default_links(devices)))
            return
        names = tuple(device.name for device in work.problem.devices)
        self._panel.show_links(Shown(names, work.free_problem.links, work.links_given, editable=True))
