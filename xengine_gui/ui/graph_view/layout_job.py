"""The layout beside the window: one at a time, the last one given up as soon as another one is wanted."""

import threading
from collections.abc import Callable

from PySide6.QtCore import QObject

from xengine_gui.model.problem import Problem
from xengine_gui.ui.background import Background
from xengine_gui.ui.graph_view.nodes import LayoutStoppedError
from xengine_gui.ui.graph_view.scene import Scene, scene_of
from xengine_gui.ui.graph_view.structure import Structure, structure_of


class LayoutJob(QObject):
    """Makes drawings in a thread. `Background` keeps old ones from being told; the event makes their threads end."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._background = Background(self)
        self._stop = threading.Event()

    @property
    def busy(self) -> bool:
        """Whether a drawing is being made."""
        return self._background.busy

    def run(
        self,
        problem: Problem,
        structure: Structure | None,
        expanded: frozenset[str] | None,
        done: Callable[[Scene], None],
        failed: Callable[[str], None],
    ) -> None:
        """Draw a problem with these blocks open, by default those that can be read at once; blocks may be known."""
        self._stop.set()
        self._stop = stop = threading.Event()

        def job() -> Scene | None:
            blocks = structure or structure_of(problem)
            try:
                scene = scene_of(blocks, blocks.default_expanded() if expanded is None else expanded, stop.is_set)
            except LayoutStoppedError:
                return None
            scene.prepare()
            return scene

        self._background.run(job, lambda scene: done(scene) if scene is not None else None, failed)

    def cancel(self) -> None:
        """Give up what is being drawn."""
        self._stop.set()
        self._background.forget()

    def close(self) -> None:
        """Give up, and wait a little for the thread."""
        self._stop.set()
        self._background.close()
