"""The links of what is open, shown and edited on the left."""

from PySide6.QtCore import QObject

from xengine_gui.ui.document import Document
from xengine_gui.ui.panels.links import LinksPanel
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
            self._panel.show_links(default_links(devices), several_devices=len(devices) > 1)
            return
        self._panel.show_links(
            work.free_problem.links,
            several_devices=len(work.problem.devices) > 1,
            changed=work.links_given,
            editable=True,
        )
